"""The gate's pages: the policy that they show is one, and their jobs use the action as it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from evalkit.gate.gated import gated
from evalkit.gate.policy_file import read_policy
from evalkit.gate.zero_tolerance import find_scorer
from evalkit.project import find_project
from evalkit.scoring.registry import find_scorers
from evalkit.stats.lower_bound import tasks_needed

ROOT = Path(__file__).parents[2]
GATE, CI = ((ROOT / "docs" / name).read_text("utf-8") for name in ("gate.md", "ci.md"))


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


@pytest.fixture
def policy(tmp_path):
    (shown,) = (block for block in blocks(GATE, "toml") if block.startswith("# gate.toml"))
    (tmp_path / "gate.toml").write_text(shown)
    return read_policy(tmp_path / "gate.toml")


def test_the_policy_that_is_shown_gates_metrics_that_there_are(policy):
    declared = {found.name: found.scorer.metrics for found in find_scorers(find_project(ROOT))}
    assert [gated(rule, declared, ()).rule.name for rule in policy.metrics]
    assert all(find_scorer(rule, declared) for rule in policy.zero_tolerance)


def test_every_key_of_the_policy_is_explained(policy):
    table = GATE[GATE.index("| key | what it says |") :]
    keys = ("max_drop", "max_rise", "max_ratio", "[metrics]", "[faulted]", "[zero_tolerance]", "min_tasks")
    for key in (*keys, "max_unscored", "suite", "require", "known_failing"):
        assert re.search(rf"^\| `{re.escape(key)}` \|", table, re.MULTILINE), key


def test_the_numbers_of_tasks_are_those_of_the_gate():
    rows = re.findall(r"^\| (\d+) points \| (\d+) \|$", GATE, re.MULTILINE)
    assert [(int(points), int(tasks)) for points, tasks in rows] == [
        (points, tasks_needed(points / 100)) for points in (20, 10, 5, 2)
    ]


def test_jobs_are_yaml_and_give_the_action_inputs_that_it_has():
    action = yaml.safe_load((ROOT / ".github/actions/evalkit-gate/action.yml").read_text("utf-8"))
    github, *_, gitlab, _ = [yaml.safe_load(block) for block in blocks(CI, "yaml")]
    steps = github["jobs"]["gate"]["steps"]
    (gate,) = (step for step in steps if "evalkit-gate" in step.get("uses", ""))
    assert set(gate["with"]) <= set(action["inputs"])
    assert gitlab["evals"]["artifacts"]["reports"]["junit"] == "evalkit-gate/gate.junit.xml"
    rows = re.findall(r"^\| `([\w-]+)` \|", CI, re.MULTILINE)
    assert rows == list(action["inputs"])


def test_jobs_hold_no_expression_in_a_script_and_give_secrets_to_one_step():
    steps = yaml.safe_load(blocks(CI, "yaml")[0])["jobs"]["gate"]["steps"]
    assert all("${{" not in step.get("run", "") for step in steps)
    assert [step["name"] for step in steps if "secrets." in str(step)] == ["Run the suite"]
