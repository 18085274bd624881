"""What an impossible twin is of its task, and which declarations of one are mistakes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from evalkit.errors import ConfigError
from evalkit.tasks.task import load_task
from evalkit.tasks.twin import twin_of

HEAD = """\
[metadata.evalkit.grading]
mode = "sealed"
keep = ["/app/out"]
[metadata.evalkit.twin]
"""
CONTRADICTING = HEAD + 'kind = "contradicting-check"\n'
UNCHANGING = HEAD + 'kind = "must-not-change"\npath = "/app/out/total.txt"\n'
WriteTask = Callable[..., Path]


def test_a_task_without_a_twin_has_none(write_task: WriteTask) -> None:
    assert twin_of(load_task(write_task())) is None


def test_files_of_the_folder_stand_over_the_tasks_own(write_task: WriteTask) -> None:
    folder = write_task(
        CONTRADICTING,
        files={
            "tests/expected.csv": "3\n",
            "twin/instruction.md": "Write it without writing.\n",
            "twin/tests/expected.csv": "4\n",
            "twin/workdir/notes/more.txt": "more\n",
        },
    )
    task = load_task(folder)
    twin = twin_of(task)

    assert twin is not None
    assert (twin.id, twin.digest) == (task.id, task.digest)
    assert twin.instruction == twin.stages[0].instruction == "Write it without writing.\n"
    assert {name: path.read_text() for name, path in twin.stages[0].verifier.test_files.items()} == {
        "test.sh": "#!/bin/sh\necho 1 > /logs/verifier/reward.txt\n",
        "expected.csv": "4\n",
    }
    assert list(twin.stages[0].workdir_files) == ["notes/more.txt"]
    assert (task.stages[0].workdir_files, task.instruction) == (
        {},
        "Write the sum into /app/out/total.txt.\n",
    )


def test_what_the_folder_leaves_out_is_as_in_the_task(write_task: WriteTask) -> None:
    task = load_task(write_task(CONTRADICTING, files={"twin/tests/more.txt": ""}))
    twin = twin_of(task)

    assert twin is not None
    assert twin.instruction == task.instruction
    assert twin.stages[0].verifier.script == task.path / "tests/test.sh"


def test_a_file_that_must_not_change_is_asked_for_in_one_more_paragraph(write_task: WriteTask) -> None:
    twin = twin_of(load_task(write_task(UNCHANGING)))

    assert twin is not None
    assert twin.stages[0].must_stay == "/app/out/total.txt"
    assert twin.instruction == (
        "Write the sum into /app/out/total.txt.\n\n"
        "`/app/out/total.txt` must stay exactly as it is: not a single byte of it may change.\n"
    )


def test_the_digest_covers_the_twin(write_task: WriteTask) -> None:
    folder = write_task(CONTRADICTING, files={"twin/tests/more.txt": "one"})
    before = load_task(folder).digest
    (folder / "twin/tests/more.txt").write_text("another")

    assert load_task(folder).digest != before


def test_a_folder_that_nobody_uses_is_warned_about(write_task: WriteTask) -> None:
    task = load_task(write_task(files={"twin/instruction.md": "Do it otherwise.\n"}))

    assert [warning.partition("/twin: ")[2] for warning in task.warnings] == [
        "no twin of the kind contradicting-check is declared, so this is not used"
    ]


STEPS = '[[steps]]\nname = "first"\n'
MISTAKES = {
    "no folder": (CONTRADICTING, {}, "task.toml:5: the twin contradicts itself by files of its own"),
    "a stray file": (CONTRADICTING, {"twin/solve.sh": "ls\n"}, "twin/solve.sh: a twin has no such file"),
    "a file for a folder": (CONTRADICTING, {"twin/tests": "ls\n"}, "twin/tests: a twin has no such file"),
    "an empty instruction": (
        CONTRADICTING,
        {"twin/instruction.md": " \n"},
        "twin/instruction.md: the instruction is empty",
    ),
    "a path that belongs to the other kind": (
        CONTRADICTING + 'path = "/app/out"\n',
        {"twin/instruction.md": "Do.\n"},
        "task.toml:6: path belongs to a twin of the kind must-not-change",
    ),
    "no path": (
        HEAD + 'kind = "must-not-change"\n',
        {},
        "task.toml:4: the twin does not say which file must not change",
    ),
    "a path that no grader looks at": (
        UNCHANGING.replace("/app/out/total.txt", "/app/orders.csv"),
        {},
        "task.toml:6: the grader does not look at /app/orders.csv: it gets /app/out",
    ),
    "a path that is forbidden anyway": (
        UNCHANGING + '[metadata.evalkit.effects]\nforbidden = ["/app/out/total.txt"]\n',
        {},
        "task.toml:6: the task itself forbids to change /app/out/total.txt",
    ),
    "a check that is called as the twin's own": (
        UNCHANGING.replace('mode = "sealed"\n', 'mode = "sealed"\nchecks = ["unchanged"]\n'),
        {},
        "task.toml:3: the task has a check 'unchanged'",
    ),
    "a task with steps": (
        STEPS + CONTRADICTING,
        {"steps/first/instruction.md": "Do.\n", "twin/instruction.md": "Do not.\n"},
        "task.toml:6: a task with steps can have no twin",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_said_with_its_place_and_a_remedy(write_task: WriteTask, mistake: str) -> None:
    toml, files, said = MISTAKES[mistake]
    folder = write_task(toml, files=files)

    with pytest.raises(ConfigError) as caught:
        load_task(folder)

    assert str(caught.value).removeprefix(f"{folder}/").startswith(said)
    assert caught.value.hint
