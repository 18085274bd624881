"""A run with faults is gone on with as it was begun, and what did not fire is said."""

from __future__ import annotations

import json

import pytest

from evalkit.cli.run_table import print_run, run_as_json
from evalkit.engine.resume import remaining
from evalkit.errors import ConfigError
from evalkit.trajectory.manifest import RunManifest

pytestmark = pytest.mark.local

PLAN = """\
[[faults]]
id = "drift"
kind = "schema_drift"
when = { matches = "ls" }
[[faults]]
id = "never"
kind = "error_500"
when = { matches = "curl", nth = 3 }
"""


@pytest.fixture
def run(make_suite, run_suite, tmp_path):
    """A run of the oracle with a plan file's faults."""
    (tmp_path / "plan.toml").write_text(PLAN)
    return run_suite(make_suite(), faults=str(tmp_path / "plan.toml"))


def test_run_json_holds_every_fault_with_all_that_it_left_open(run):
    drift, never = run.manifest.faults
    assert (drift["suite"], drift["task"], drift["id"], drift["loud"]) == ("mini", "one", "drift", False)
    assert (drift["canary"].isalpha(), drift["when"]) == (True, {"tool": None, "matches": "ls", "nth": 1})
    assert (never["loud"], never["canary"], never["times"]) == (True, None, None)


def test_a_fault_that_did_not_fire_is_said_with_its_reason(run, capsys):
    print_run(run)
    said = " ".join(capsys.readouterr().out.split())
    assert "warning: 2 of 2 faults did not fire:" in said
    assert "it strikes the 3rd call that matches 'curl', and there were 0" in said
    told = run_as_json(run)["unfired_faults"]
    assert [one["trial"].split(".")[1] for one in told] == ["drift", "never"]


def test_what_is_left_of_a_run_has_its_plan_files_faults(run, tmp_path):
    (tmp_path / "plan.toml").unlink()
    for part in (tmp_path / "run" / "trials").iterdir():
        part.unlink()
    import evalkit

    left = remaining(evalkit.load(tmp_path / "run"))
    assert [(one.variant, one.fault and one.fault.kind) for one in left] == [
        ("clean", None),
        ("drift", "schema_drift"),
        ("never", "error_500"),
    ]


def test_a_fault_in_run_json_that_is_none_is_a_mistake(run):
    from evalkit.engine.faults.entry import planned_faults

    fields = json.loads(run.manifest.to_json())
    fields["faults"][1]["kind"] = "nonsense"
    with pytest.raises(ConfigError, match=r"faults\[1\] is not a fault"):
        planned_faults(RunManifest.from_json(json.dumps(fields)))


def test_a_fault_whose_end_nobody_could_tell_is_said_once(make_suite, run_suite, tmp_path, capsys):
    (tmp_path / "plan.toml").write_text(
        '[[faults]]\nid = "locked"\nkind = "permission"\nuntil = "no-such-program"\n'
    )
    run = run_suite(make_suite(), faults=str(tmp_path / "plan.toml"), epochs=2)
    print_run(run)
    said = " ".join(capsys.readouterr().out.split())
    assert said.count("until of locked could not be asked") == 1
    assert "exit code 127" in said
