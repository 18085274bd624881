"""Do real logs of Inspect come out with the numbers that are known of them?"""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evalkit.convert.adding import Adding
from evalkit.convert.converted import Converted
from evalkit.convert.importer import Options
from evalkit.convert.importing import import_run
from evalkit.convert.inspect_logs import IMPORTER
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.source import Source
from evalkit.errors import UsageError
from evalkit.trajectory.step import Act, Event, Think
from evalkit.trajectory.trial import Trial

POPULARITY = (
    "gpt-5",
    "gpt-5_5-epochs",
    "gpt-4o-mini",
    "claude-sonnet-4",
    "gemini-2.5-pro",
    "gemini-2.5-flash",
    "gemini-2.5-flash-lite",
    "gemini-2.5-flash-lite_rerun",
)
METR = ("small", "class-eval")


def read(path: Path) -> tuple[list[Converted], Notes]:
    notes = Notes()
    return list(IMPORTER.convert(Source(path, named=True), notes, Options())), notes


def trials_of(told: list[Converted]) -> list[Trial]:
    adding = Adding(run_id="r")
    found = [adding.trial(one, format="inspect", source="f", notes=Notes()) for one in told]
    return [trial for trial in found if trial is not None]


def total(trials: list[Trial], name: str) -> int | None:
    values = [getattr(trial, name) for trial in trials]
    return None if None in values else sum(values)


def thinks_of(told: list[Converted]) -> list[Think]:
    return [step for one in told for step in one.steps if isinstance(step, Think)]


def acts_of(told: list[Converted]) -> list[Act]:
    return [step for one in told for step in one.steps if isinstance(step, Act)]


def passed_by_task(trials: list[Trial]) -> dict[str, bool]:
    return {trial.task_id: trial.status == "passed" for trial in trials}


@pytest.fixture(scope="module")
def expected(shared_data: Path) -> dict[str, Any]:
    values = json.loads((shared_data / "expected.json").read_text("utf-8"))["values"]
    return {key: value["value"] for key, value in values.items()}


@pytest.fixture(scope="module")
def popularity(shared_data: Path) -> dict[str, tuple[list[Converted], Notes]]:
    return {name: read(shared_data / "inspect_ai" / "popularity" / f"{name}.eval") for name in POPULARITY}


@pytest.mark.parametrize("name", POPULARITY)
def test_counts_of_a_popularity_log_are_those_that_are_known(
    name: str, popularity: dict[str, tuple[list[Converted], Notes]], expected: dict[str, Any]
) -> None:
    told, notes = popularity[name]
    trials = trials_of(told)
    known = {key.rpartition("/")[2]: value for key, value in expected.items() if f"popularity/{name}/" in key}

    assert len(trials) == known["samples"]
    assert sum(trial.status == "passed" for trial in trials) == known["correct"]
    assert {trial.model for trial in trials} == {known["model"]}
    assert not notes.warnings
    assert not notes.losses


@pytest.mark.parametrize("name", POPULARITY)
def test_output_includes_the_reasoning_whatever_the_provider_does(
    name: str, popularity: dict[str, tuple[list[Converted], Notes]], expected: dict[str, Any]
) -> None:
    trials = trials_of(popularity[name][0])
    usage = expected[f"inspect_ai/popularity/{name}/usage"]
    outside = expected[f"inspect_ai/popularity/{name}/total_is"] == "input+output+reasoning"

    output = usage["output_tokens"] + (usage["reasoning_tokens"] if outside else 0)
    assert total(trials, "input_tokens") == usage["input_tokens"]
    assert total(trials, "output_tokens") == output
    assert total(trials, "reasoning_tokens") == usage["reasoning_tokens"]
    assert total(trials, "cache_read_tokens") == usage["input_tokens_cache_read"]
    assert total(trials, "cache_write_tokens") == usage["input_tokens_cache_write"]
    assert usage["input_tokens"] + output == usage["total_tokens"]


def test_a_count_that_nobody_reported_is_null_in_every_trial_and_never_0(
    popularity: dict[str, tuple[list[Converted], Notes]], expected: dict[str, Any]
) -> None:
    unknown = [
        name
        for name in POPULARITY
        if expected[f"inspect_ai/popularity/{name}/usage"]["reasoning_tokens"] is None
    ]
    assert unknown == ["claude-sonnet-4"]
    told = popularity["claude-sonnet-4"][0]
    assert {trial.reasoning_tokens for trial in trials_of(told)} == {None}
    assert {think.reasoning_tokens for think in thinks_of(told)} == {None}


@pytest.mark.parametrize("name", POPULARITY)
def test_reasoning_blocks_and_what_they_show(
    name: str, popularity: dict[str, tuple[list[Converted], Notes]], expected: dict[str, Any]
) -> None:
    thinks = thinks_of(popularity[name][0])
    blocks = [
        block
        for think in thinks
        for block in json.loads(think.blocks or "[]")
        if block["type"] == "reasoning"
    ]

    assert len(blocks) == expected[f"inspect_ai/popularity/{name}/reasoning_blocks"]
    without = expected[f"inspect_ai/popularity/{name}/reasoning_blocks_without_text"]
    assert sum(not block["reasoning"] for block in blocks) == without


@pytest.mark.parametrize(
    ("name", "visibility"),
    [
        ("gpt-5", "encrypted"),
        ("gemini-2.5-pro", "summary"),
        ("claude-sonnet-4", "unknown"),
        ("gpt-4o-mini", "none"),
    ],
)
def test_visibility_of_reasoning(
    name: str, visibility: str, popularity: dict[str, tuple[list[Converted], Notes]]
) -> None:
    assert {think.reasoning_visibility for think in thinks_of(popularity[name][0])} == {visibility}


@pytest.mark.parametrize(
    "name", [name for name in POPULARITY if name.startswith(("gpt-5", "gemini-2.5-pro"))]
)
def test_wrong_answers_took_more_thinking(
    name: str, popularity: dict[str, tuple[list[Converted], Notes]], expected: dict[str, Any]
) -> None:
    trials = trials_of(popularity[name][0])

    for status, word in (("passed", "right"), ("failed", "wrong")):
        tokens = [trial.reasoning_tokens for trial in trials if trial.status == status]
        known = expected[f"inspect_ai/popularity/{name}/mean_reasoning_tokens_when_{word}"]
        assert statistics.fmean(map(float, filter(None, tokens))) == pytest.approx(known, abs=1e-4)


@pytest.mark.parametrize("name", POPULARITY)
def test_standard_error_is_over_items(
    name: str, popularity: dict[str, tuple[list[Converted], Notes]], expected: dict[str, Any]
) -> None:
    by_task: dict[str, list[float]] = {}
    for trial in trials_of(popularity[name][0]):
        by_task.setdefault(trial.task_id, []).append(trial.reward or 0.0)
    means = [statistics.fmean(values) for values in by_task.values()]

    assert statistics.fmean(means) == pytest.approx(expected[f"inspect_ai/popularity/{name}/header_accuracy"])
    assert statistics.stdev(means) / math.sqrt(len(means)) == pytest.approx(
        expected[f"inspect_ai/popularity/{name}/stderr_over_items"], abs=1e-9
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("gemini-2.5-flash-lite", "gemini-2.5-flash"),
        ("gemini-2.5-flash-lite", "gemini-2.5-flash-lite_rerun"),
        ("gemini-2.5-flash", "gemini-2.5-pro"),
    ],
)
def test_pairs_that_were_gained_and_lost(
    before: str, after: str, popularity: dict[str, tuple[list[Converted], Notes]], expected: dict[str, Any]
) -> None:
    one, other = (passed_by_task(trials_of(popularity[name][0])) for name in (before, after))
    known = expected[f"inspect_ai/popularity/paired/{before}_to_{after}"]

    gained = sum(other[task] and not one[task] for task in one)
    lost = sum(one[task] and not other[task] for task in one)
    assert (gained, lost) == (known["gained"], known["lost"])
    tail = sum(math.comb(gained + lost, few) for few in range(min(gained, lost) + 1))
    assert min(1.0, 2 * tail / 2 ** (gained + lost)) == pytest.approx(known["mcnemar_exact_p"], abs=1e-6)


def test_epochs_are_repeats_of_an_item(popularity: dict[str, tuple[list[Converted], Notes]]) -> None:
    trials = trials_of(popularity["gpt-5_5-epochs"][0])

    assert len({trial.task_id for trial in trials}) == 10
    assert Counter(trial.epoch for trial in trials) == dict.fromkeys(range(1, 6), 10)


@pytest.mark.parametrize("name", METR)
def test_usage_of_the_agentic_logs(name: str, shared_data: Path, expected: dict[str, Any]) -> None:
    told, notes = read(shared_data / "metr_inspect_action" / f"{name}.eval")
    trials, usage = trials_of(told), expected[f"metr_inspect_action/{name}/usage"]

    assert not notes.warnings
    assert total(trials, "input_tokens") == usage["input_tokens"]
    assert total(trials, "output_tokens") == usage["output_tokens"]
    assert total(trials, "reasoning_tokens") == usage["reasoning_tokens"]
    assert total(trials, "cache_read_tokens") == usage["input_tokens_cache_read"]
    assert total(trials, "cache_write_tokens") == usage["input_tokens_cache_write"]


def test_calls_and_thinking_of_the_agentic_log(shared_data: Path, expected: dict[str, Any]) -> None:
    told, _ = read(shared_data / "metr_inspect_action" / "small.eval")
    thinks, acts = thinks_of(told), acts_of(told)

    key = "metr_inspect_action/small/"
    assert len(told) == expected[key + "samples"]
    assert len(thinks) == expected[key + "assistant_messages"]
    commands = [act for act in acts if act.tool == "bash"]
    assert len(commands) == expected[key + "tool_calls"]
    assert {act.tool for act in acts} == {"bash", "submit"}, "the call that ends a run is in its events only"
    assert all(act.observation is not None and act.think_step is not None for act in acts)
    assert all(act.exit_code is not None and act.duration_s is not None for act in commands)
    asking = [[act.think_step for act in acts_of([one]) if act.tool == "bash"] for one in told]
    answers = [
        step for one, numbers in zip(told, asking, strict=True) for step in one.steps if step.step in numbers
    ]
    reasoning = [step.reasoning for step in answers if isinstance(step, Think) and step.reasoning]
    assert len(reasoning) == expected[key + "reasoning_blocks"], (
        "those of the last answers are in events only"
    )
    assert sum(map(len, reasoning)) == expected[key + "reasoning_chars"]
    assert {think.reasoning_visibility for think in thinks if think.reasoning} == {"full"}
    assert [one.columns["reward"] for one in told] == expected[key + "scores"]
    assert {one.columns["sandbox"] for one in told} == {"k8s"}
    assert {one.agent for one in told} == {
        "metr_agents/react/anthropic/claude-opus-4-1-20250805@tokens:16000"
    }
    assert {one.columns["thinking_sent"] for one in told} == {"tokens:16000"}
    assert {think.model_served for think in thinks} == {"claude-opus-4-1-20250805"}


def test_redacted_thinking_is_never_shown_as_thinking(shared_data: Path, expected: dict[str, Any]) -> None:
    told, _ = read(shared_data / "metr_inspect_action" / "class-eval.eval")
    thinks = thinks_of(told)
    blocks = [
        block
        for think in thinks
        for block in json.loads(think.blocks or "[]")
        if block["type"] == "reasoning"
    ]

    assert len(blocks) == expected["metr_inspect_action/class-eval/reasoning_blocks_redacted"]
    assert all(block["opaque"].startswith("gAAAA") for block in blocks)
    assert not any("gAAAA" in (think.reasoning or "") for think in thinks)
    assert {think.reasoning_visibility for think in thinks} <= {"summary", "encrypted"}


def test_one_log_in_both_formats_is_one_trajectory(shared_data: Path, tmp_path: Path) -> None:
    (zipped,), _ = read(shared_data / "inspect_ai" / "same_log.eval")
    (plain,), _ = read(shared_data / "inspect_ai" / "same_log.json")

    assert zipped.steps == plain.steps
    assert zipped.columns == plain.columns
    paths = [shared_data / "inspect_ai" / f"same_log.{ending}" for ending in ("eval", "json")]
    done = import_run("inspect", paths, tmp_path / "run", Options())
    assert (done.adding.trials, done.adding.copies) == (1, 1)


def test_a_cancelled_log_says_so(shared_data: Path) -> None:
    told, notes = read(shared_data / "inspect_ai" / "cancelled.json")

    assert [one.columns["status"] for one in told] == ["passed", "passed", "failed"]
    assert any("status is cancelled" in text for text in notes.warnings)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (
            "inspect_ai/cancelled_no_samples.json",
            r"holds no samples, its status is cancelled; its results are of 3",
        ),
        (
            "inspect_ai/eval_set/2024-08-29T15-11-17_popularity.json",
            r"holds no samples, its status is success",
        ),
        (
            "inspect_ai/eval_set/2024-08-29T15-11-18_popularity_error.json",
            r"holds no samples, its status is error",
        ),
        ("inspect_ai/git_lfs_pointer.eval", "Git LFS pointer"),
        ("weird/lfs_pointer.eval", "Git LFS pointer"),
        ("weird/half.eval", "truncated"),
        ("weird/not_a_zip.eval", "truncated or damaged"),
    ],
)
def test_a_log_of_which_nothing_can_be_had_is_refused(name: str, why: str, shared_data: Path) -> None:
    with pytest.raises(Refused, match=why):
        read(shared_data / name)


def test_refused_logs_do_not_stop_the_others(shared_data: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Git LFS pointer"):
        import_run("inspect", [shared_data / "weird" / "lfs_pointer.eval"], tmp_path / "none", Options())

    done = import_run("inspect", [shared_data / "weird"], tmp_path / "run", Options())

    refused = {Path(report.name).name for report in done.files if report.refused}
    assert refused == {"lfs_pointer.eval", "half.eval", "not_a_zip.eval"}
    assert done.adding.trials == 1 + 3 + 5
    assert {report.format for report in done.files if report.trials} == {"inspect"}


def test_a_log_without_scores_is_unscored(shared_data: Path) -> None:
    told, _ = read(shared_data / "inspect_ai" / "unscored.eval")

    assert Counter(one.columns["status"] for one in told) == {"unscored": 10}
    assert {one.columns["error_type"] for one in told} == {"unjudged"}


def test_results_without_calls_keep_the_kind_of_their_error(
    shared_data: Path, expected: dict[str, Any]
) -> None:
    told, notes = read(shared_data / "inspect_ai" / "tool_call_errors.json")
    kinds = {
        "parsing": "parsing",
        "timeout": "timeout",
        "permission": "permission",
        "file_not_found": "not_found",
        "limit": "limit",
        "output_limit": "limit",
        "approval": "denied",
    }

    acts = acts_of(told)
    assert [act.error_kind for act in acts] == [
        kinds.get(kind, "unknown") for kind in expected["inspect_ai/tool_call_errors/types"]
    ]
    assert all(act.think_step is None and act.tool == "bash" for act in acts)
    assert notes.warnings["the results are of 4 samples, the file has 1"] == 1
    assert told[0].columns["status"] == "unscored"


def test_attached_texts_are_put_in_and_images_only_named(shared_data: Path) -> None:
    (told,), _ = read(shared_data / "inspect_ai" / "images.json")

    texts = [getattr(step, "text", "") for step in told.steps]
    assert any("only a single word" in text for text in texts)
    assert any("[image]" in text for text in texts)
    assert not any("attachment://" in text or "base64" in text for text in texts)


def test_pooled_messages_are_told_once(shared_data: Path) -> None:
    (told,), _ = read(shared_data / "inspect_ai" / "message_dedup.eval")

    assert Counter(step.kind for step in told.steps) == {"prompt": 1, "think": 6, "act": 5}
    assert told.columns["sandbox"] == "docker"
    assert all(act.exit_code == 0 and act.observation for act in acts_of([told]))
    assert told.steps[2].started_at is not None


def test_failed_attempts_are_retries_of_the_answer(shared_data: Path, expected: dict[str, Any]) -> None:
    (told,), _ = read(shared_data / "inspect_ai" / "zstd_retries.eval")

    (think,) = thinks_of([told])
    retries = [step for step in told.steps if isinstance(step, Event) and step.event == "retry"]
    assert think.retries == expected["inspect_ai/zstd_retries.eval/retries_field"][-1]
    assert len(retries) == 2
    assert think.output_tokens is None, "no usage was reported, which is not 0"


def test_a_run_that_died_is_kept_as_incomplete(shared_data: Path) -> None:
    told, notes = read(shared_data / "weird" / "no_header.eval")

    assert [one.columns["status"] for one in told] == ["failed"]
    assert any("died or goes on" in text for text in notes.losses)


def test_an_errored_sample_is_unscored_and_a_limit_is_the_reason_to_stop(shared_data: Path) -> None:
    told, notes = read(shared_data / "weird" / "inspect_sample_error_and_limit.eval")
    by_task = {one.task_id: one.columns for one in told}

    statuses = {task: columns["status"] for task, columns in by_task.items()}
    assert statuses == {
        "1-right": "passed",
        "2-wrong": "failed",
        "3-recover": "passed",
        "4-error": "unscored",
        "5-limit": "failed",
    }
    assert by_task["5-limit"]["stop_reason"] == "step_limit"
    error = by_task["4-error"]
    assert (error["stop_reason"], error["error_type"], error["error_origin"]) == (
        "error",
        "RuntimeError",
        "harness",
    )
    assert error["reward"] is None
    assert any(text.startswith("1 of 5 samples have no score") for text in notes.warnings)
    assert not any("accuracy" in text for text in notes.warnings), "0.5 is right, over the four"
    failed = {
        task: sum(act.error_kind is not None for act in acts_of([one]))
        for one in told
        for task in [one.task_id]
    }
    assert (failed["3-recover"], failed["5-limit"]) == (1, 5)


def test_a_sample_cancelled_by_the_error_of_another_did_not_fail(shared_data: Path) -> None:
    told, notes = read(shared_data / "weird" / "inspect_run_error.eval")
    by_task = {one.task_id: one.columns for one in told}

    assert by_task["1-right"]["status"] == "passed"
    assert (by_task["2-error"]["status"], by_task["2-error"]["stop_reason"]) == ("unscored", "error")
    assert (by_task["3-wrong"]["status"], by_task["3-wrong"]["stop_reason"]) == ("unscored", "cancelled")
    assert any("status is error" in text for text in notes.warnings)
