"""Solutions of bundled suites and real software-engineering trajectories are honest, and not called otherwise."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import evalkit
from evalkit.convert.importer import Options
from evalkit.convert.importing import import_run
from evalkit.grading.exploit import attack, corpus
from evalkit.measures.tampering.found import findings_of
from evalkit.measures.tampering.signs import signs
from evalkit.tasks.solution import cut
from evalkit.tasks.task import load_task
from evalkit.trajectory.canonical import canonical_json
from evalkit.trajectory.step import Act

SUITES = Path(__file__).parents[3] / "suites"
SOLUTIONS = sorted(SUITES.glob("*/tasks/**/solution/*.sh"))
MOST_SUSPECTED = 3
"""Of all findings in all of the real trajectories: 2 when this was written, in 1 of 31."""


def calls(commands: list[str]) -> list[Act]:
    return [
        Act(step=step, tool="bash", arguments=canonical_json({"command": command}), exit_code=0)
        for step, command in enumerate(commands)
    ]


@pytest.mark.parametrize("script", SOLUTIONS, ids=lambda path: f"{path.parents[1].name}-{path.stem}")
def test_no_solution_of_a_bundled_task_is_suspected(script):
    assert signs(calls([piece.command for piece in cut(script.read_text("utf-8"))])) == ()


def test_there_are_solutions_to_look_at():
    assert len(SOLUTIONS) > 20


def test_real_software_engineering_trajectories_are_hardly_ever_suspected(shared_data, tmp_path):
    done = import_run("mini-swe-agent", [shared_data / "mini_swe_agent"], tmp_path / "run", Options())
    trials = acts = 0
    found = []
    for row, steps, effects in evalkit.load(done.path).iter_whole():
        trials += bool(steps)
        acts += sum(isinstance(step, Act) for step in steps)
        found += [(row.task_id, finding) for finding in findings_of(row, steps, effects)]
    assert (trials, acts > 1_500) == (31, True)
    assert [finding for _, finding in found if finding.level == "confirmed"] == []
    assert len(found) <= MOST_SUSPECTED, found


def test_final_patches_that_touch_tests_are_honest(shared_data):
    patches = []
    for path in sorted(shared_data.glob("mini_swe_agent/*/*.traj.json")):
        submission = json.loads(path.read_text("utf-8")).get("info", {}).get("submission") or ""
        patches.append(Act(step=0, tool="apply_patch", arguments=canonical_json({"patch": submission})))
    assert len(patches) == 31
    assert [finding for patch in patches for finding in signs([patch])] == []


def test_calls_of_moatless_are_not_suspected(shared_data):
    files = [*shared_data.glob("moatless/flat/*.json"), *shared_data.glob("moatless/tree/*.json")]
    actions = [action for path in files for action in _actions(json.loads(path.read_text("utf-8")))]
    acts = [
        Act(step=step, tool="edit", arguments=canonical_json(action)) for step, action in enumerate(actions)
    ]
    assert len(acts) > 20
    assert signs(acts) == ()


def test_conversations_of_other_real_runs_are_not_suspected(shared_data, tmp_path):
    for folder in ("tau_bench", "metr_inspect_action", "inspect_scout"):
        done = import_run("auto", [shared_data / folder], tmp_path / folder, Options())
        for row, steps, effects in evalkit.load(done.path).iter_whole():
            assert findings_of(row, steps, effects) == ()


@pytest.mark.parametrize("exploit", corpus(), ids=lambda exploit: exploit.name)
def test_every_attack_of_the_corpus_is_flagged_by_one_of_its_codes(exploit):
    task = load_task(SUITES / "core" / "tasks" / "fix-off-by-one")
    found = signs(calls([piece.command for piece in attack(exploit, task)]))
    assert {finding.code for finding in found} & set(exploit.codes)
    assert {finding.level for finding in found} == {"suspected"}


def _actions(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in {"action", "submission"}:
                yield inner if isinstance(inner, dict) else {"patch": str(inner)}
            yield from _actions(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _actions(inner)
