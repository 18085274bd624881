"""Trajectories in ATIF with sub-agents in them, and with everything wrong that can be."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any, cast

import pytest

from evalkit.convert.atif import IMPORTER
from evalkit.convert.importer import Options
from evalkit.convert.importing import Imported, import_run
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.source import Source
from evalkit.errors import UsageError
from evalkit.trajectory.reader import load
from evalkit.trajectory.step import Act, Prompt, Step, Think
from evalkit.trajectory.trial import Trial

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


def sub_agent(tokens: int, **root: Any) -> dict[str, Any]:
    metrics = {"prompt_tokens": tokens, "completion_tokens": 1}
    return trajectory(
        {"source": "user", "message": "do it"},
        {"source": "agent", "message": "done", "metrics": metrics, "tool_calls": [call("z")]},
        **root,
    )


def caller(*references: dict[str, Any], **root: Any) -> dict[str, Any]:
    result = {"source_call_id": "a", "content": "it says done", "subagent_trajectory_ref": list(references)}
    return trajectory(
        {
            "source": "agent",
            "message": "",
            "tool_calls": [call("a", "delegate"), call("b")],
            "observation": told(result, {"source_call_id": "b", "content": "b"}),
            "metrics": {"prompt_tokens": 100, "completion_tokens": 1},
        },
        **root,
    )


def test_an_embedded_sub_agent_is_part_of_the_trial_behind_its_call(tmp_path: Path) -> None:
    root = caller({"trajectory_id": "inner"}, subagent_trajectories=[sub_agent(7, trajectory_id="inner")])
    root["final_metrics"] = {"total_prompt_tokens": 107}
    trial, steps, remarks = only(write(tmp_path / "a.json", root), out=tmp_path)
    assert [(type(step).__name__, step.parent_step) for step in steps] == [
        ("Think", None),
        ("Act", 0),
        ("Prompt", 1),
        ("Think", 1),
        ("Act", 3),
        ("Act", 0),
    ]
    assert [(act.tool, act.think_step, act.call_index) for act in of(steps, Act)] == [
        ("delegate", 0, 0),
        ("bash", 3, 0),
        ("bash", 0, 1),
    ]
    assert trial.input_tokens == 107
    assert not remarks


def test_a_sub_agent_in_a_file_of_its_own_is_no_trial_of_its_own(tmp_path: Path) -> None:
    write(
        tmp_path / "in" / "trajectory.json",
        caller({"trajectory_path": "trajectory.summarization-1-summary.json"}),
    )
    write(tmp_path / "in" / "trajectory.summarization-1-summary.json", sub_agent(7))
    trial, steps, _ = only(tmp_path / "in", out=tmp_path)
    assert (trial.input_tokens, len(of(steps, Think))) == (107, 2)


def test_references_out_of_the_folder_and_in_circles_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "secret.json", sub_agent(7))
    path = tmp_path / "in" / "trajectory.json"
    write(
        path,
        caller(
            {"trajectory_path": "../secret.json"},
            {"trajectory_path": str(tmp_path / "secret.json")},
            {"trajectory_path": "trajectory.json"},
            {"trajectory_path": "a\0b"},
            continued_trajectory_ref="trajectory.json",
        ),
    )
    trial, _, remarks = only(path, out=tmp_path)
    assert trial.input_tokens == 100
    assert "the trajectory goes on in trajectory.json, which is in it already" in remarks
    assert sum("sub-agent is not here" in remark for remark in remarks) == 3


def test_a_sub_agent_counts_once_however_often_it_is_named(tmp_path: Path) -> None:
    names = [{"trajectory_path": f"trajectory.{name}.json"} for name in "abab" * 20]
    write(tmp_path / "in" / "trajectory.json", caller(*names))
    for name in "ab":
        write(tmp_path / "in" / f"trajectory.{name}.json", caller(*names))
    trial, steps, _ = only(tmp_path / "in", out=tmp_path)
    assert (trial.input_tokens, len(of(steps, Think))) == (300, 3)


def test_embedded_sub_agents_that_nobody_names_are_at_the_end(tmp_path: Path) -> None:
    root = caller(subagent_trajectories=[sub_agent(7, trajectory_id="x"), sub_agent(9)])
    trial, steps, remarks = only(write(tmp_path / "a.json", root), out=tmp_path)
    assert trial.input_tokens == 116
    assert [think.parent_step for think in of(steps, Think)] == [None, None, None]
    assert remarks["sub-agents that no observation names are put at the end"] == 2


def test_a_bad_continuation_is_a_loss_and_the_rest_is_kept(tmp_path: Path) -> None:
    first = trajectory({"source": "user", "message": "x"}, continued_trajectory_ref="trajectory.cont-1.json")
    path = write(tmp_path / "in" / "trajectory.json", first)
    path.with_name("trajectory.cont-1.json").write_text('{"schema_version": "ATIF-v1.7", "steps": [')
    done, trials = take(path, out=tmp_path)
    assert len(trials) == 1
    [loss] = done.files[0].notes.losses
    assert loss.startswith("trajectory.cont-1.json, in which the trajectory goes on: not JSON")


def test_nonsense_in_numbers_and_times_is_unknown(tmp_path: Path) -> None:
    metrics = '{"prompt_tokens": -5, "completion_tokens": 7.5, "cost_usd": NaN, "cached_tokens": 1e400}'
    text = json.dumps(
        trajectory(
            {"source": "agent", "message": "x", "timestamp": "2026-01-02T00:00:00Z", "metrics": "METRICS"},
            {"source": "user", "message": "x", "timestamp": "2026-01-01T00:00:00Z"},
        )
    ).replace('"METRICS"', metrics)
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    trial, _, remarks = only(path, out=tmp_path)
    assert (trial.input_tokens, trial.output_tokens, trial.cost_usd) == (None, None, None)
    assert (trial.started_at is not None, trial.finished_at) == (True, None)
    assert "the clock went backwards, so a duration is unknown" in remarks


def test_totals_that_no_number_holds_are_no_totals(tmp_path: Path) -> None:
    final = {"total_prompt_tokens": 10**3000, "total_cost_usd": -1, "total_completion_tokens": True}
    path = write(tmp_path / "a.json", trajectory({"source": "agent", "message": "x"}, final_metrics=final))
    trial, _, _ = only(path, out=tmp_path)
    assert (trial.input_tokens, trial.output_tokens, trial.cost_usd) == (None, None, None)


def test_a_packed_file_a_byte_order_mark_and_lone_surrogates_are_read(tmp_path: Path) -> None:
    text = json.dumps(trajectory({"source": "user", "message": "\ud800 \x00"}))
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + text.encode()))
    assert IMPORTER.recognises(Source(path))
    _, steps, _ = only(path, out=tmp_path)
    assert "\ufffd" in of(steps, Prompt)[0].text


def test_secrets_among_the_settings_are_taken_out(tmp_path: Path) -> None:
    root = trajectory({"source": "user", "message": "x"})
    root["agent"]["extra"] = {"api_key": "abc", "huge": "HUGE", "parser": "json"}
    path = tmp_path / "a.json"
    path.write_text(json.dumps(root).replace('"HUGE"', "9" * 5000), encoding="utf-8")
    done, _ = take(path, out=tmp_path)
    [agent] = load(done.path).manifest.agents
    extra: Any = agent.settings["extra"]
    assert extra["api_key"].startswith("[redacted")
    assert (extra["parser"], extra["huge"]) == ("json", None)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "empty"),
        ("[]", "holds a list, not an object"),
        ("{}", "has no list of steps"),
        ('{"steps": 3}', "has no list of steps"),
        ("version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        ('{"steps": ' + "[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_trajectory_is_refused_with_a_reason(content: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match=reason):
        take(path, out=tmp_path)


NONSENSE: tuple[Any, ...] = (
    None,
    0,
    -1,
    2**70,
    1.5,
    "",
    "x",
    "12",
    True,
    [],
    [1],
    {},
    {"a": 1},
    [[]],
    "\ud800",
)


def mutated(value: Any, chance: random.Random) -> Any:
    """The same value with something in it that is of another type, or missing."""
    if chance.random() < 0.06:
        return chance.choice(NONSENSE)
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value).items()
        return {key: mutated(item, chance) for key, item in pairs if chance.random() > 0.04}
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return [mutated(item, chance) for item in items for _ in range(chance.choice((1, 1, 1, 1, 2)))]
    return value


def test_no_mutation_comes_out_as_anything_but_trials_losses_and_refusals(tmp_path: Path) -> None:
    chance = random.Random(8)
    root = caller({"trajectory_id": "inner"}, subagent_trajectories=[sub_agent(7, trajectory_id="inner")])
    root["steps"] += [
        {
            "step_id": 2,
            "source": "system",
            "message": "x",
            "extra": {"context_management": {"type": "compaction"}},
        },
        {"step_id": 3, "source": "user", "message": "c", "is_copied_context": True},
        {"step_id": 4, "source": "agent", "message": [{"type": "text", "text": "<function=a>"}]},
    ]
    root["final_metrics"] = {"total_prompt_tokens": 3, "total_cost_usd": 0.5, "total_steps": 4}
    place = tmp_path / "trajectory.json"
    for case in range(400):
        text = json.dumps(mutated(root, chance) if case % 2 else root).encode()
        if case % 2 == 0:
            cut = chance.randrange(len(text))
            flipped = bytes([chance.randrange(256)])
            text = text[:cut] + (flipped + text[cut + 1 :] if case % 4 else b"")
        place.write_bytes(text)
        notes = Notes()
        try:
            for converted in IMPORTER.convert(Source(place, named=True), notes, Options()):
                assert [step.step for step in converted.steps] == list(range(len(converted.steps)))
        except Refused:
            continue


@pytest.mark.parametrize(
    ("prompt", "output", "cost"),
    [(107, 30, 0.7), (100, 32, None), (90, None, None), (110, None, None)],
)
def test_one_total_tells_whether_sub_agents_are_in_all(
    tmp_path: Path, prompt: int, output: int | None, cost: float | None
) -> None:
    """The sub-agent's cost is unknown, so that a total of the caller's alone is none of the trial's."""
    root = caller({"trajectory_id": "inner"}, subagent_trajectories=[sub_agent(7, trajectory_id="inner")])
    root["subagent_trajectories"][0]["steps"][1]["metrics"]["completion_tokens"] = 2
    root["steps"].append({"step_id": 2, "source": "agent", "message": "b", "metrics": None})
    root["final_metrics"] = {
        "total_prompt_tokens": prompt,
        "total_completion_tokens": 30,
        "total_cost_usd": 0.7,
    }
    trial, _, _ = only(write(tmp_path / "a.json", root), out=tmp_path)
    assert (trial.output_tokens, trial.cost_usd) == (output, cost)


@pytest.mark.parametrize(
    ("inner", "final", "output"),
    [
        (None, 20, 20),
        (None, 15, 15),
        (None, 14, None),
        (5, 15, 20),
        (5, 17, 22),
        (5, 20, 20),
        (5, 30, None),
        (5, 12, None),
        (0, 15, 15),
        ("untold", 15, None),
        ("untold", 12, None),
        ("untold", 30, None),
    ],
    ids=str,
)
def test_a_total_below_the_known_steps_is_not_the_trials(
    tmp_path: Path, inner: int | str | None, final: int, output: int | None
) -> None:
    """The caller's own generations: 15 tokens, and one that tells none."""
    told_steps = [
        {"source": "agent", "message": "a", "metrics": {"completion_tokens": 15}},
        {"source": "agent", "message": "b", "metrics": None},
    ]
    root = trajectory(*told_steps, final_metrics={"total_completion_tokens": final})
    if inner is not None:
        metrics = None if inner == "untold" else {"completion_tokens": inner}
        step = {"source": "agent", "message": "c", "metrics": metrics}
        root["subagent_trajectories"] = [trajectory(step, trajectory_id="i")]
    trial, steps, remarks = only(write(tmp_path / "a.json", root), out=tmp_path)
    assert trial.output_tokens == output
    assert trial.output_tokens is None or trial.output_tokens >= sum(
        step.output_tokens or 0 for step in of(steps, Think)
    )
    assert (output is None) == any("a total of output_tokens that may" in remark for remark in remarks)


def test_the_agents_report_does_not_count_below_the_known_steps_either(tmp_path: Path) -> None:
    folder = tmp_path / "job" / "trial"
    steps = [
        {"source": "agent", "message": "a", "metrics": {"completion_tokens": 15, "prompt_tokens": 5}},
        {"source": "agent", "message": "b"},
    ]
    write(folder / "agent" / "trajectory.json", trajectory(*steps))
    report = {"n_output_tokens": 3, "n_input_tokens": 8}
    write(
        folder / "result.json",
        {
            "task_name": "t",
            "trial_name": "trial",
            "trial_uri": "u",
            "agent_info": {"name": "loop"},
            "config": {},
            "agent_result": report,
            "verifier_result": {"rewards": {"reward": 1}},
        },
    )
    trial, _, _ = only(folder / "result.json", out=tmp_path)
    assert (trial.output_tokens, trial.input_tokens, trial.status) == (None, 8, "passed")
