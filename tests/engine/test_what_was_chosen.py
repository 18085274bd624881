"""A run writes down what of its suites was chosen, so that it can be repeated exactly."""

from __future__ import annotations

from evalkit.engine.prepare import RunFlags, prepare


def test_what_was_given_is_written_down_as_it_was_given(make_suite, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    suite = str(make_suite())
    (tmp_path / "short.toml").write_text("timeout_s = 5\n")
    (tmp_path / "plan.toml").write_text(
        '[[faults]]\nid = "slow"\nkind = "timeout"\nwhen = { tool = "bash", nth = 1 }\n'
    )
    (tmp_path / "rules.toml").write_text('default = "allow"\n')
    given = RunFlags(
        approvals=tmp_path / "rules.toml",
        suites=(suite,),
        task="*",
        limit=1,
        faults="plan.toml",
        tools=tmp_path / "short.toml",
        models=("scripted/oracle",),
    )
    assert prepare(given).chosen == {
        "task": "*",
        "limit": 1,
        "faults": "plan.toml",
        "tools": str(tmp_path / "short.toml"),
        "approvals": str(tmp_path / "rules.toml"),
    }
    assert prepare(RunFlags(suites=(suite,), faults="none")).chosen == {
        "task": None,
        "limit": None,
        "faults": "none",
        "tools": None,
        "approvals": None,
    }
