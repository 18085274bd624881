"""Was the change that began the outage found, and is it all that was undone?"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from evalkit_grader import Grader, require

grader = Grader()
VERSION, SECTION, NAME, VALUE = "0031", "upstream", "pause_growth", "1.4"


def answer(field: str) -> object:
    found = json.loads(grader.deliverable("answer.json"))
    require(isinstance(found, dict) and field in found, f"answer.json has no field {field}")
    return found[field]


def first_bad_version() -> None:
    require(answer("version") == VERSION, f"version {answer('version')!r} is not where the outage began")


def guilty_setting() -> None:
    require(answer("setting") == f"{SECTION}.{NAME}", f"{answer('setting')!r} is not to blame")


def current_passes() -> None:
    cwd = grader.workspace()  # holds the gateway as it was delivered: only current.conf came from the agent
    (cwd / "current.conf").write_text(grader.deliverable("current.conf"))
    result = grader.run([sys.executable, "-I", "-B", "gateway.py", "--selftest", "current.conf"], cwd)
    require(result.code == 0, f"exit {result.code}: {result.err.strip()[-200:]}")


def nothing_else_changed() -> None:
    section = ""
    before = (grader.app / "history" / "0048.conf").read_text().splitlines()
    after = grader.deliverable("current.conf").splitlines()
    require(len(before) == len(after), f"{len(after)} lines instead of {len(before)}")
    for at, (old, new) in enumerate(zip(before, after, strict=True), 1):
        section = old.strip("[]") if old.startswith("[") else section
        if section == SECTION and old.startswith(f"{NAME} "):
            name, _, value = new.partition("=")
            wanted = name.strip() == NAME and value.strip() == VALUE
            require(wanted, f"line {at} is {new!r}: not the value from before the outage")
        else:
            require(new.rstrip() == old, f"line {at} was {old!r} and is {new!r}")


grader.checks({
    "first-bad-version": first_bad_version,
    "guilty-setting": guilty_setting,
    "current-passes": current_passes,
    "nothing-else-changed": nothing_else_changed,
})  # fmt: skip
grader.finish()
