"""Trajectories in ATIF, alone: what becomes of them, against recorded files with known numbers."""

from __future__ import annotations

import json
import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evalkit.convert.atif import IMPORTER
from evalkit.convert.atif_steps import TEXT_CALLS
from evalkit.convert.importer import Options
from evalkit.convert.importing import Imported, import_run
from evalkit.convert.notes import Refused
from evalkit.convert.source import Source
from evalkit.trajectory.reader import load
from evalkit.trajectory.step import Act, Event, Prompt, Step, Think
from evalkit.trajectory.trial import Trial

OPENHANDS = "openhands_hello-world.trajectory.json"
TEXT_ONLY = "openhands_hello-world.trajectory.no_function_calling.json"
FIRST = "terminus_2_hello-world-context-summarization-linear-history.trajectory.json"
CONTINUED = "terminus_2_hello-world-context-summarization-linear-history.trajectory.cont-1.json"
Whole = list[tuple[Trial, tuple[Step, ...]]]


def take(*paths: Path, out: Path, options: Options | None = None) -> tuple[Imported, Whole]:
    """Import, and read what came of it."""
    target = out / f"run-{random.randrange(1 << 40)}"
    done = import_run("atif", paths, target, options or Options())
    return done, list(load(target).iter_trials())


def only(*paths: Path, out: Path) -> tuple[Trial, tuple[Step, ...], Counter[str]]:
    """The one trial there is, and all remarks."""
    done, trials = take(*paths, out=out)
    [(trial, steps)] = trials
    return trial, steps, sum((report.notes.warnings for report in done.files), Counter[str]())


def of(steps: tuple[Step, ...], kind: type[Any]) -> list[Any]:
    return [step for step in steps if isinstance(step, kind)]


def trajectory(*steps: dict[str, Any], **root: Any) -> dict[str, Any]:
    """A small trajectory."""
    numbered = [{"step_id": place + 1, **step} for place, step in enumerate(steps)]
    agent = {"name": "loop", "version": "1", "model_name": "some/model"}
    return {"schema_version": "ATIF-v1.7", "session_id": "s", "agent": agent, "steps": numbered, **root}


def write(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def call(id_: str, name: str = "bash", **arguments: Any) -> dict[str, Any]:
    return {"tool_call_id": id_, "function_name": name, "arguments": arguments}


def told(*results: dict[str, Any]) -> dict[str, Any]:
    return {"results": list(results)}


@pytest.fixture
def atif(shared_data: Path) -> Path:
    return shared_data / "inspect_scout" / "atif"


@pytest.fixture
def expected(shared_data: Path) -> dict[str, Any]:
    values = json.loads((shared_data / "expected.json").read_text(encoding="utf-8"))["values"]
    return {
        key.rpartition("/")[2]: told["value"] for key, told in values.items() if "inspect_scout/atif/" in key
    }


@pytest.mark.parametrize("name", [OPENHANDS, TEXT_ONLY, FIRST, CONTINUED])
def test_every_expected_number_of_a_file_is_in_what_it_became(
    name: str, atif: Path, expected: dict[str, Any], tmp_path: Path
) -> None:
    # Alone in a folder, so that the numbers are those of this file and of no other.
    trial, steps, remarks = only(Path(shutil.copy(atif / name, tmp_path / name)), out=tmp_path)
    want = expected[name]
    raw = json.loads((atif / name).read_text(encoding="utf-8"))
    copied = sum(json.loads(event.detail or "{}").get("copied_steps", 0) for event in of(steps, Event))
    seen = [*of(steps, Think), *(prompt for prompt in of(steps, Prompt))]
    compactions = [event for event in of(steps, Event) if "message" in json.loads(event.detail or "{}")]
    assert raw["schema_version"] == want["schema_version"]
    assert not any("schema_version" in remark for remark in remarks)
    assert copied == want["copied_context_steps"]
    assert len(seen) + len(compactions) + copied == want["steps"]
    copied_sources = Counter(step["source"] for step in raw["steps"] if step.get("is_copied_context"))
    sources = (
        Counter(
            "agent" if isinstance(step, Think) else "system" if step.role == "system" else "user"
            for step in seen
        )
        + Counter("system" for _ in compactions)
        + copied_sources
    )
    assert sources == want["sources"]
    assert trial.tool_calls == len(of(steps, Act))
    assert (trial.tool_calls or 0) - remarks[TEXT_CALLS] == want["tool_calls"]
    observed = sum(act.observation is not None for act in of(steps, Act)) + len(compactions)
    assert observed == want["observations"]
    sums = want["step_metrics_sum"]
    assert trial.input_tokens == sums["prompt_tokens"]
    assert trial.output_tokens == sums["completion_tokens"]
    assert trial.cost_usd == pytest.approx(sums["cost_usd"], abs=1e-8)
    finals = json.loads(trial.raw_usage or "{}")["final_metrics"][-1]
    assert finals == pytest.approx(want["final_metrics"], abs=1e-8)
    gone = [remark for remark in remarks if "goes on in" in remark]
    reference = want["continued_trajectory_ref"]
    assert gone == ([f"the trajectory goes on in {reference}, which is not beside it"] if reference else [])


def test_files_of_one_run_are_one_trial_in_which_nothing_counts_twice(atif: Path, tmp_path: Path) -> None:
    done, trials = take(atif, out=tmp_path)
    assert len(trials) == 3
    assert done.adding.copies == 0
    [(trial, steps)] = [found for found in trials if found[0].agent == "terminus-2/openai/gpt-4o"]
    assert (trial.input_tokens, trial.output_tokens, trial.model_calls) == (2252 + 4250, 160 + 530, 7)
    assert trial.cost_usd == pytest.approx(0.00723 + 0.015925)
    [seam] = of(steps, Event)
    assert (seam.event, seam.step) == ("compaction", 7)
    detail = json.loads(seam.detail or "{}")
    assert detail["copied_steps"] == 4
    # The task, which the continuation repeats, is not told twice; the hand-over is new.
    assert [context["source"] for context in detail["context"]] == ["user", "agent", "user"]
    assert len(of(steps, Prompt)) == 1
    remarks = sum((report.notes.warnings for report in done.files), Counter[str]())
    assert remarks["final_metrics say 7,802 prompt tokens, and the steps add up to 6,502"] == 1
    assert sum("the trajectory of a sub-agent is not here" in remark for remark in remarks) == 3
    assert not done.incomplete


def test_a_continuation_that_is_named_itself_is_still_the_same_one_trial(atif: Path, tmp_path: Path) -> None:
    trial, _, _ = only(atif / CONTINUED, atif / FIRST, out=tmp_path)
    assert trial.input_tokens == 6502


def test_calls_in_the_text_are_told_as_those_of_the_same_run_with_function_calls(
    atif: Path, tmp_path: Path
) -> None:
    _, called, _ = only(atif / OPENHANDS, out=tmp_path)
    _, written, _ = only(atif / TEXT_ONLY, out=tmp_path)
    assert [act.tool for act in of(called, Act)] == ["str_replace_editor", "finish"]
    acts = of(written, Act)
    assert [act.tool for act in acts] == ["execute_bash", "finish"]
    command = "cat > /app/hello.txt << 'EOF'\nHello, world!\nEOF"
    assert json.loads(acts[0].arguments) == {"command": command, "security_risk": "LOW"}
    assert "exit code 0" in acts[0].observation
    assert acts[1].observation is None


def test_a_trajectory_alone_is_unscored(atif: Path, tmp_path: Path) -> None:
    trial, _, _ = only(atif / OPENHANDS, out=tmp_path)
    assert (trial.status, trial.error_type, trial.reward) == ("unscored", "unjudged", None)
    assert (trial.agent, trial.model, trial.source) == ("openhands/unknown", None, "atif")


def test_an_orphan_and_a_step_id_that_comes_twice_are_kept_with_remarks(
    shared_data: Path, tmp_path: Path
) -> None:
    path = shared_data / "weird" / "atif_orphan_and_duplicate_step.json"
    trial, steps, remarks = only(path, out=tmp_path)
    asked, orphan = of(steps, Act)
    assert (asked.observation, asked.think_step) == ("hello", 1)
    assert (orphan.observation, orphan.think_step) == ("nobody asked", None)
    assert [think.text for think in of(steps, Think)] == ["", "the step number 2 again"]
    assert (trial.input_tokens, trial.output_tokens, trial.cost_usd) == (230, 25, 0.002)
    assert set(remarks) == {
        "steps whose step_id comes twice are kept",
        "a result of no known call is kept without one",
        "final_metrics say 999 prompt tokens, and the steps add up to 230",
    }


def test_an_unknown_version_is_read_as_far_as_it_is_known(shared_data: Path, tmp_path: Path) -> None:
    trial, steps, remarks = only(shared_data / "weird" / "atif_unknown_version.json", out=tmp_path)
    assert (trial.input_tokens, trial.output_tokens, len(steps)) == (100, 20, 3)
    assert set(remarks) == {"schema_version 'ATIF-v9.0' is not a known one; its known fields are read"}


def test_tokens_are_unknown_where_there_are_no_metrics(shared_data: Path, tmp_path: Path) -> None:
    trial, steps, _ = only(shared_data / "weird" / "atif_no_metrics.json", out=tmp_path)
    assert (trial.input_tokens, trial.output_tokens, trial.cost_usd, trial.raw_usage) == (None,) * 4
    assert (trial.model_calls, trial.tool_calls) == (1, 1)
    assert of(steps, Think)[0].reasoning == "short"


def test_cached_tokens_are_taken_out_of_the_prompt(tmp_path: Path) -> None:
    metrics = {
        "prompt_tokens": 100,
        "cached_tokens": 60,
        "completion_tokens": 9,
        "extra": {"cache_creation_input_tokens": 10, "reasoning_tokens": 4},
    }
    path = write(tmp_path / "a.json", trajectory({"source": "agent", "message": "x", "metrics": metrics}))
    trial, _, _ = only(path, out=tmp_path)
    assert (trial.input_tokens, trial.cache_read_tokens, trial.cache_write_tokens) == (30, 60, 10)
    assert (trial.output_tokens, trial.reasoning_tokens) == (9, 4)


def test_null_zero_and_missing_are_three_things(tmp_path: Path) -> None:
    zero = {"prompt_tokens": 0, "completion_tokens": 0, "cost_usd": 0.0}
    for metrics, wanted in ((zero, (0, 0, 0.0)), ({"prompt_tokens": None}, (None,) * 3), ({}, (None,) * 3)):
        path = write(tmp_path / "a.json", trajectory({"source": "agent", "message": "x", "metrics": metrics}))
        trial, _, _ = only(path, out=tmp_path)
        assert (trial.input_tokens, trial.output_tokens, trial.cost_usd) == wanted


def test_final_metrics_count_where_steps_tell_nothing(tmp_path: Path) -> None:
    final = {"total_prompt_tokens": 50, "total_completion_tokens": 7, "total_cached_tokens": 20}
    path = write(tmp_path / "a.json", trajectory({"source": "agent", "message": "x"}, final_metrics=final))
    trial, _, remarks = only(path, out=tmp_path)
    assert (trial.input_tokens, trial.cache_read_tokens, trial.output_tokens) == (30, 20, 7)
    assert (
        "final_metrics say 50 prompt tokens, and the steps add up to 0, 1 generations without counts"
        in remarks
    )


def test_results_belong_to_calls_by_id_and_else_in_order(tmp_path: Path) -> None:
    by_id = {
        "source": "agent",
        "message": "",
        "tool_calls": [call("a", path="1"), call("b", path="2")],
        "observation": told(
            {"source_call_id": "b", "content": "two"}, {"source_call_id": "a", "content": "one"}
        ),
    }
    in_order = {
        "source": "agent",
        "message": "",
        "tool_calls": [call("a"), call("a"), call("a")],
        "observation": told({"content": "three"}, {"source_call_id": "a", "content": "four"}),
    }
    _, steps, _ = only(write(tmp_path / "a.json", trajectory(by_id, in_order)), out=tmp_path)
    assert [act.observation for act in of(steps, Act)] == ["one", "two", "three", "four", None]


def test_a_call_left_open_does_not_take_the_result_of_a_later_step(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.json",
        trajectory(
            {"source": "agent", "message": "", "tool_calls": [call("a")]},
            {
                "source": "agent",
                "message": "",
                "tool_calls": [call("b")],
                "observation": told({"content": "b"}),
            },
        ),
    )
    _, steps, _ = only(path, out=tmp_path)
    assert [act.observation for act in of(steps, Act)] == [None, "b"]


def test_a_call_that_failed_is_told_by_the_extra_of_its_result_or_its_step(tmp_path: Path) -> None:
    result = {"source_call_id": "a", "content": "no", "extra": {"is_error": True, "exit_code": 2}}
    own = {"source": "agent", "message": "", "tool_calls": [call("a")], "observation": told(result)}
    of_step = {**own, "observation": told({"content": "no"}), "extra": {"metadata": {"is_error": True}}}
    fine = {**own, "observation": told({"content": "yes"}), "extra": {"metadata": {"is_error": False}}}
    _, steps, _ = only(write(tmp_path / "a.json", trajectory(own, of_step, fine)), out=tmp_path)
    assert [(act.error_kind, act.exit_code) for act in of(steps, Act)] == [
        ("unknown", 2),
        ("unknown", None),
        (None, None),
    ]


def test_what_an_agent_without_calls_is_told_is_a_prompt(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.json",
        trajectory({"source": "agent", "message": "I think so.", "observation": told({"content": "Go on."})}),
    )
    trial, steps, _ = only(path, out=tmp_path)
    assert [type(step).__name__ for step in steps] == ["Think", "Prompt"]
    assert trial.tool_calls == 0


def test_calls_in_the_text_do_not_count_where_the_agent_has_function_calls(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.json",
        trajectory(
            {"source": "agent", "message": "like <function=rm><parameter=x>1</parameter></function>"},
            {"source": "agent", "message": "", "tool_calls": [call("a", "ls")]},
        ),
    )
    _, steps, _ = only(path, out=tmp_path)
    assert [act.tool for act in of(steps, Act)] == ["ls"]


def test_calls_in_hermes_form_and_cut_off_ones_are_told(tmp_path: Path) -> None:
    hermes = '<tool_call>{"name": "ls", "arguments": {"path": "/"}}</tool_call><tool_call>{"name": '
    path = write(
        tmp_path / "a.json",
        trajectory(
            {"source": "agent", "message": hermes},
            {"source": "agent", "message": "<function=bash>\n<parameter=command>\nls\n"},
        ),
    )
    _, steps, _ = only(path, out=tmp_path)
    assert [(act.tool, act.arguments) for act in of(steps, Act)] == [
        ("ls", '{"path":"/"}'),
        ("bash", '{"command":"ls"}'),
    ]


def test_parts_of_a_message_are_its_text(tmp_path: Path) -> None:
    parts = [
        {"type": "text", "text": "look"},
        {"type": "image", "source": {"media_type": "image/png", "path": "a.png"}},
    ]
    path = write(
        tmp_path / "a.json",
        trajectory({"source": "user", "message": parts}, {"source": "agent", "message": parts}),
    )
    _, steps, _ = only(path, out=tmp_path)
    assert [step.text for step in (*of(steps, Prompt), *of(steps, Think))] == ["look\n[image]", "look"]


def test_a_step_of_several_generations_and_one_of_none_count_as_such(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.json",
        trajectory(
            {"source": "agent", "message": "x", "llm_call_count": 3},
            {"source": "agent", "message": "planned", "llm_call_count": 0, "tool_calls": [call("a")]},
        ),
    )
    trial, steps, _ = only(path, out=tmp_path)
    assert trial.model_calls == 3
    assert of(steps, Act)[0].think_step is None


@pytest.mark.parametrize(
    ("effort", "agent"),
    [
        ("high", "@effort:high"),
        (1024, "@tokens:1024"),
        (1024.0, "@tokens:1024"),
        ("none", "@off"),
        (0, "@off"),
        (None, ""),
    ],
)
def test_the_thinking_setting_is_in_the_agent(effort: object, agent: str, tmp_path: Path) -> None:
    step = {"source": "agent", "message": "x", "reasoning_effort": effort}
    trial, _, _ = only(write(tmp_path / "a.json", trajectory(step)), out=tmp_path)
    assert trial.agent == f"loop/some/model{agent}"
    assert trial.thinking == (agent.removeprefix("@") or None)


def test_only_its_own_files_are_recognised(shared_data: Path) -> None:
    found = {
        str(path.relative_to(shared_data))
        for path in shared_data.rglob("*.json*")
        if path.is_file() and _recognised(path)
    }
    assert found == {
        *(f"inspect_scout/atif/{name}" for name in (OPENHANDS, TEXT_ONLY, FIRST, CONTINUED)),
        *(
            f"weird/atif_{name}.json"
            for name in ("no_metrics", "orphan_and_duplicate_step", "unknown_version")
        ),
    }


def _recognised(path: Path) -> bool:
    try:
        return IMPORTER.recognises(Source(path))
    except Refused:
        return False
