"""`suite check` says no to graders that can be fooled and to twins that can be done, and remarks old helpers."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.cli.suite_proof import announced
from evalkit.engine.check import check_suite
from evalkit.engine.check_plan import check_plan
from evalkit.engine.prepare import RunFlags, prepare
from evalkit.grading.helper import texts

pytestmark = pytest.mark.local

PROVERS = ("scripted/oracle", "scripted/nop", "scripted/naive")
SEALED = """\
schema_version = "1.4"
artifacts = ["/app/out"]
[environment]
network_mode = "no-network"
[metadata.evalkit.grading]
mode = "sealed"
[metadata.evalkit.effects]
allowed = ["/app/out"]
"""
BELIEVING = """\
#!/bin/sh
# Runs what was delivered, and believes it.
if [ "$(sh /app/out)" = done ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""
ANSWER = "#!/bin/sh\n# codes: T4\n# title: it says what is expected\n# step: Say it.\necho 'echo done' > /app/out\n"
SOLVE = "#!/bin/sh\n# step: Do it.\necho 'echo do''ne' > out\n"
EASY = {
    "task.toml": SEALED + '[metadata.evalkit.twin]\nkind = "contradicting-check"\n',
    "twin/instruction.md": "Write `done` into /app/out, and nothing at all.\n",
}
COPY = {f"tests/evalkit_grader/{name}": text.decode() for name, text in texts().items()}


@pytest.fixture
def check(make_suite, quiet, tmp_path, local_support):
    """Prove a suite of one task; `exploits` as for the command."""

    def run(files, exploits="own"):
        prepared = prepare(RunFlags(suites=(str(make_suite(one=files)),), models=PROVERS), use_defaults=False)
        return check_suite(prepared, None, tmp_path / "proof", quiet, exploits=exploits).findings[0]

    return run


def test_a_sealed_grader_that_believes_what_was_delivered_is_refused(check):
    finding = check(
        {
            "task.toml": SEALED,
            "tests/test.sh": BELIEVING,
            "solution/solve.sh": SOLVE,
            "exploits/say-it.sh": ANSWER,
        }
    )
    assert finding.exploits[0].status == "passed"
    assert "attack say-it (it says what is expected): it passes the sealed grader" in finding.problems


def test_a_twin_that_the_solution_passes_is_refused(check):
    finding = check(EASY)
    assert finding.problems == (
        "twin: oracle passes it, so it is not impossible",
        "twin: naive passes it, so it is not impossible",
    )


def test_an_old_copy_of_the_helper_is_remarked_with_the_command_that_makes_it_new(check):
    finding = check({"task.toml": SEALED} | COPY | {"tests/evalkit_grader/old.py": "# older\n"})
    (remark,) = finding.remarks
    assert remark.startswith("tests/evalkit_grader is another version's copy of the grader's helper: evalkit")
    assert finding.problems == ()
    command, suite = remark.partition("evalkit suite ")[2].split()
    assert (command, Path(suite).is_dir()) == ("refresh", True)


def test_a_current_copy_of_the_helper_is_fine(check):
    finding = check({"task.toml": SEALED} | COPY)
    assert (finding.problems, finding.remarks) == ((), ())


def test_a_task_is_attacked_by_its_own_list_and_its_twin_where_it_is_sealed(make_suite):
    weak = (
        SEALED.replace('"sealed"', '"snapshot"') + '[metadata.evalkit.twin]\nkind = "contradicting-check"\n'
    )
    twin = {"twin/instruction.md": "Do it without doing it.\n", "exploits/say-it.sh": ANSWER}
    suite = make_suite(one={"task.toml": SEALED}, two={**EASY, **twin}, three={**twin, "task.toml": weak})
    prepared = prepare(RunFlags(suites=(str(suite),), models=PROVERS), use_defaults=False)
    plan = [one for one in check_plan(prepared, None, "own") if "cheater" in one.agent.id]
    assert sorted((one.task.id, one.variant, one.agent.model.name) for one in plan) == [
        ("three", "clean", "cheater:say-it"),
        ("two", "clean", "cheater:say-it"),
        ("two", "twin", "cheater:say-it"),
    ]
    assert not [one for one in check_plan(prepared, None, "none") if "cheater" in one.agent.id]
    of_one = [one for one in check_plan(prepared, "one", "all") if "cheater" in one.agent.id]
    assert all(one.only_verdict for one in of_one)
    assert not [one for one in check_plan(prepared, None, "none") if one.only_verdict]
    assert len(of_one) >= 24


def test_what_is_to_come_is_said_before(make_suite):
    suite = make_suite(one={"task.toml": SEALED, "exploits/say-it.sh": ANSWER})
    prepared = prepare(RunFlags(suites=(str(suite),), models=PROVERS), use_defaults=False)
    assert announced(check_plan(prepared, None, "own"), "local") == (
        "4 trials in local sandboxes, 1 of them attacks: about 5 s"
    )
    assert "attacks" not in announced(check_plan(prepared, None, "none"), "local")
