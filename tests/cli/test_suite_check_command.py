"""`evalkit suite check` tells all of its proof, as a table and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalkit.grading.helper import is_current

pytestmark = pytest.mark.local
ATTACK = """\
#!/bin/sh
# codes: T9
# title: the reward is planted
# step: Plant it.
echo 1 > /logs/verifier/reward.txt
"""


@pytest.fixture
def suite(command, folder, local_support):
    """A suite of one task with an attack of its own, and a twin that is not impossible."""
    command("suite", "new", "mine")
    (toml,) = Path("suites/mine").rglob("task.toml")
    toml.write_text(toml.read_text() + '\n[metadata.evalkit.twin]\nkind = "contradicting-check"\n')
    for name, text in {"twin/instruction.md": "Do it otherwise.\n", "exploits/plant.sh": ATTACK}.items():
        file = toml.parent / name
        file.parent.mkdir()
        file.write_text(text)
    return "mine"


def test_refreshing_a_suite_makes_old_copies_of_the_helper_this_versions(command, folder):
    command("suite", "new", "mine")
    (copy,) = Path("suites/mine").rglob("evalkit_grader")
    (copy / "jail.py").write_text("# older\n")
    (copy / "gone.py").write_text("# of an older version\n")

    said = command("suite", "refresh", "mine")

    assert (said.code, said.out) == (0, f"refreshed {copy.resolve()}\n")
    assert is_current(copy)


def test_refreshing_a_suite_that_is_current_changes_nothing(command, folder):
    command("suite", "new", "mine")
    said = command("suite", "refresh", "mine")
    assert (said.code, said.out) == (0, "")
    assert "Every copy is this version's already." in said.err


def test_the_table_fits_80_columns_and_what_is_wrong_gives_exit_3(command, suite):
    said = command("suite", "check", suite, "--exploits", "own")
    assert said.code == 3
    head, row = said.out.splitlines()[:2]
    assert head.split() == ["task", "oracle", "nothing", "attacks", "twin", "verdict"]
    assert row.split()[1:] == ["2", "of", "2", "failed", "1", "of", "1", "no", "not", "proven"]
    assert max(len(head), len(row)) <= 80
    assert "twin: oracle passes it, so it is not impossible" in said.out
    assert "8 trials in local sandboxes, 2 of them attacks: about 5 s" in said.err


def test_programs_get_the_same(command, suite):
    (task,) = json.loads(command("suite", "check", suite, "--exploits", "own", "--json").out)["tasks"]
    assert (task["twin"]["oracle"], task["twin"]["nop"]) == ("passed", "failed")
    (exploit,) = task["exploits"]
    assert (exploit["exploit"], exploit["own"], exploit["status"]) == ("plant", True, "failed")
    assert "T9" in exploit["codes"]


def test_without_attacks_there_is_no_column_of_them(command, suite):
    said = command("suite", "check", suite, "--exploits", "none")
    assert "attacks" not in said.out.splitlines()[0]
