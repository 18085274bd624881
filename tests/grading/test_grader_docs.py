"""The ten-line graders of the docs, run as they stand there, on work that is right and on work that is wrong."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from evalkit.grading.helper import path

PAGE = Path(__file__).parents[2] / "docs/writing-a-task.md"
SECTION = PAGE.read_text("utf-8").partition("## Graders in ten lines\n")[2].partition("\n## ")[0]
HEAD, *EXAMPLES = re.findall(r"^```python\n(.*?)^```", SECTION, re.MULTILINE | re.DOTALL)
ADD = """\
import sys
def add(lines): return sum(map(int, lines))
if __name__ == "__main__":
    try:
        print(add(open(sys.argv[1])))
    except OSError as error:
        sys.exit(str(error))
"""
RIGHT = {
    "pagination.py": "def page_count(total, size):\n"
    "    if size < 1:\n        raise ValueError(size)\n    return max(1, (total + size - 1) // size)\n",
    "add.py": ADD,
    "two.txt": "2\n3\n",
    "out/report.txt": "total 5\n",
}
WRONG = {
    "pagination.py": "def page_count(total, size): return total // size + 2\n",
    "add.py": "raise SystemExit(3)\n",
    "two.txt": "",
    "out/report.txt": "",
}
TESTS = (
    "from add import add\ndef test_sum(): assert add(['2']) == 2\ndef test_nothing(): assert add([]) == 0\n"
)


def test_the_examples_are_found() -> None:
    assert len(EXAMPLES) == 4


@pytest.mark.parametrize(("work", "reward"), [(RIGHT, "1"), (WRONG, "0")], ids=["right", "wrong"])
@pytest.mark.parametrize("example", EXAMPLES, ids=["values", "programs", "pytest", "anything"])
def test_a_documented_grader_passes_what_is_right_and_fails_what_is_wrong(
    open_folder: Path, example: str, work: dict[str, str], reward: str
) -> None:
    tests, app, logs = (open_folder / name for name in ("tests", "app", "logs"))
    for folder in (tests, app / "out", logs):
        folder.mkdir(parents=True)
    for name, text in work.items():
        (app / name).write_text(text)
    shutil.copytree(path(), tests / path().name)
    (tests / "check.py").write_text(HEAD + example)
    (tests / "test_add.py").write_text(TESTS)
    command = [sys.executable, "-I", "-B", tests / "check.py", app, logs]
    subprocess.run(command, check=True, timeout=60, stdin=subprocess.DEVNULL)
    assert (logs / "reward.txt").read_text().strip() == reward
    tested = json.loads((logs / "ctrf.json").read_text())["results"]["tests"]
    assert {test["status"] for test in tested} == {"passed" if reward == "1" else "failed"}
