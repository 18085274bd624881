"""Recorded runs of verifiers give the numbers that somebody else counted in them."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

import evalkit
from evalkit.convert.importer import Options
from evalkit.convert.importing import import_run
from evalkit.convert.source import Source
from evalkit.convert.verifiers import IMPORTER
from evalkit.errors import UsageError
from evalkit.trajectory.step import Act, Prompt, Think

FOLDERS = (
    "continuation_llama-405b_text",
    "math_python_gpt-4.1-mini_dict-calls",
    "math_python_gpt-5-nano",
    "tool_test_gpt-4.1-mini_stale",
    "wiki_search_gpt-5",
    "wordle_qwen3-30b-thinking_stale",
)


@pytest.fixture(scope="module", params=FOLDERS)
def recorded(request, shared_data: Path, tmp_path_factory: pytest.TempPathFactory):
    """One folder: its name, the trials with their steps, the remarks, and what `expected.json` says of it."""
    values = json.loads((shared_data / "expected.json").read_text("utf-8"))["values"]
    out = tmp_path_factory.mktemp("verifiers") / "run"
    done = import_run("verifiers", [shared_data / "verifiers" / request.param], out, Options())
    assert (done.incomplete, done.adding.copies, done.left_alone) == ([], 0, 1)
    trials = list(evalkit.load(out).iter_trials())
    return request.param, trials, done.files[0].notes, values[f"verifiers/{request.param}"]["value"]


@pytest.fixture
def rollouts(tmp_path):
    """Import these rows: the trials with their steps, and the remarks."""

    def run(*rows, metadata=None, folder="outputs", text=None, **options):
        place = tmp_path / folder
        place.mkdir(parents=True)
        (place / "results.jsonl").write_text("\n".join(map(json.dumps, rows)) if text is None else text)
        if metadata is not None:
            (place / "metadata.json").write_text(
                metadata if isinstance(metadata, str) else json.dumps(metadata)
            )
        done = import_run(
            "verifiers", [place / "results.jsonl"], tmp_path / f"run-{folder[:4]}", Options(**options)
        )
        return list(evalkit.load(done.path).iter_trials()), done.files[0].notes

    return run


def row(example=0, reward=1.0, **keys):
    said = [{"role": "assistant", "content": "four"}]
    return {"example_id": example, "prompt": "2+2?", "completion": said, "reward": reward, **keys}


META = {"env_id": "sums", "model": "openai/gpt-5"}


def test_rewards_are_as_counted_and_stale_averages_remarked_on(recorded):
    _, trials, notes, known = recorded
    rewards = [trial.reward for trial, _ in trials]
    assert len(rewards) == known["rows"]
    assert sum(rewards) / len(rewards) == pytest.approx(known["mean_reward"], abs=1e-8)
    assert [min(rewards), max(rewards)] == pytest.approx(known["min_max_reward"], abs=1e-8)
    stale = [warning for warning in notes.warnings if warning.startswith("metadata.json says that reward is")]
    assert bool(stale) == known["metadata_is_stale"]
    for warning in stale:
        assert f"reward is {known['metadata_avg_reward']:.6g} on average" in warning
        assert warning.endswith(f"the rows give {known['mean_reward']:.6g}")
    assert all((t.status == "passed") == (t.reward >= 1) for t, _ in trials)
    assert {trial.model for trial, _ in trials} == {known["model"]}
    assert {trial.agent for trial, _ in trials} == {f"verifiers/{known['model']}"}


def test_calls_are_as_counted(recorded):
    name, trials, notes, known = recorded
    acts = [step for _, steps in trials for step in steps if isinstance(step, Act)]
    assert len(acts) == known["tool_calls_in_messages"]
    assert all(act.tool and act.arguments and act.observation is not None for act in acts)
    if (told := known["recorded_total_tool_calls"]) is not None:
        assert sum(trial.tool_calls for trial, _ in trials) == told
        assert sum(trial.rewards["total_tool_calls"] for trial, _ in trials) == told
        remark = f"the rows tell of {told:.0f} calls, but their messages hold {len(acts)}"
        assert (remark in notes.warnings) == (told != len(acts)) == (name == "tool_test_gpt-4.1-mini_stale")
    if known["completion_types"] == ["str"]:
        assert all([type(step) for step in steps] == [Prompt, Think] for _, steps in trials)


def test_rows_of_an_example_are_its_epochs(recorded):
    name, trials, _, known = recorded
    each = 1 if name == "wiki_search_gpt-5" else 3
    epochs = Counter(trial.epoch for trial, _ in trials)
    assert epochs == dict.fromkeys(range(1, each + 1), known["rows"] // each)
    assert len({trial.suite for trial, _ in trials}) == 1


def test_messages_that_were_not_kept_are_unknown_and_not_none(shared_data, tmp_path):
    import_run("verifiers", [shared_data / "verifiers" / FOLDERS[3]], tmp_path / "run", Options())
    for trial, steps in evalkit.load(tmp_path / "run").iter_trials():
        assert steps == ()
        assert trial.model_calls is None
        assert trial.tool_calls in {1, 2, 3}
        assert (trial.agent_s, trial.grade_s) == (None, None)  # 0.0 ms


def test_times_are_seconds(shared_data, tmp_path):
    import_run(
        "verifiers", [shared_data / "verifiers" / "math_python_gpt-5-nano"], tmp_path / "run", Options()
    )
    first = next(t for t in evalkit.load(tmp_path / "run").rows() if (t.task_id, t.epoch) == ("0", 1))
    assert first.agent_s == pytest.approx(16.2351307868958)
    assert first.grade_s == pytest.approx(0.0003020763397)
    assert first.suite == "math-python"


@pytest.mark.parametrize(
    ("name", "tasks", "losses"),
    [
        (
            "mixed_lines",
            [("0", 1, 0.0), ("1", 1, 1.0), ("1", 2, 1.0), ("2", 1, 0.0)],
            ["line 4: holds a number", "line 5: holds null", "line 6: not JSON"],
        ),
        ("truncated_last_line", [("0", 1, 0.0), ("1", 1, 1.0), ("2", 1, 0.0)], ["line 4: not JSON"]),
    ],
)
def test_good_lines_of_weird_files_are_kept_and_bad_ones_named(shared_data, tmp_path, name, tasks, losses):
    file = shared_data / "weird" / f"{name}.jsonl"
    assert IMPORTER.recognises(Source(file))
    done = import_run("verifiers", [file], tmp_path / "run", Options())
    found = evalkit.load(done.path).rows()
    assert sorted((t.task_id, t.epoch, t.reward) for t in found) == tasks
    assert {(t.suite, t.agent) for t in found} == {(name, "verifiers/unknown")}
    told = list(done.files[0].notes.losses)
    assert [loss.startswith(begin) for loss, begin in zip(told, losses, strict=True)] == [True] * len(losses)


def test_an_empty_file_gives_no_run(shared_data, tmp_path):
    file = shared_data / "weird" / "empty.jsonl"
    assert not IMPORTER.recognises(Source(file))
    with pytest.raises(UsageError, match="it holds no trial"):
        import_run("verifiers", [file], tmp_path / "run", Options())


def test_only_its_own_files_are_recognised(shared_data):
    for file in sorted((shared_data / "verifiers").rglob("*.json*")):
        assert IMPORTER.recognises(Source(file)) == (file.name == "results.jsonl")
    for file in sorted((shared_data / "inspect_scout").rglob("*.jsonl")):
        assert not IMPORTER.recognises(Source(file))


def test_bad_lines_before_the_first_good_one_hide_nothing(rollouts, tmp_path):
    found, notes = rollouts(text="\ufeff\n42\nno\n" + json.dumps(row()), metadata=META)
    assert (len(found), len(notes.losses)) == (1, 2)
    assert IMPORTER.recognises(Source(tmp_path / "outputs" / "results.jsonl"))


def test_a_row_longer_than_the_head_is_recognised_by_its_files_name(rollouts, tmp_path):
    rollouts({**row(), "prompt": "x" * 100_000})
    assert IMPORTER.recognises(Source(tmp_path / "outputs" / "results.jsonl"))


def test_equal_rows_are_epochs_and_a_copied_file_is_not(tmp_path):
    text = "\n".join(json.dumps(row()) for _ in range(3))
    for name in ("sums--gpt-5", "copy/sums--gpt-5"):
        place = tmp_path / "in" / name
        place.mkdir(parents=True)
        (place / "results.jsonl").write_text(text)
    done = import_run("verifiers", [tmp_path / "in"], tmp_path / "run", Options())
    rows = evalkit.load(done.path).rows()
    assert sorted((t.suite, t.agent, t.task_id, t.epoch) for t in rows) == [
        ("sums", "verifiers/gpt-5", "0", epoch) for epoch in (1, 2, 3)
    ]
    assert done.adding.copies == 3


def test_without_metadata_the_folders_name_tells(rollouts):
    ((trial, _),), notes = rollouts(row(), folder="math-env--org--model-7b/0a1b")
    assert (trial.suite, trial.model) == ("math-env", "org/model-7b")
    assert not notes.warnings
    ((trial, _),), notes = rollouts(row(), folder="somewhere")
    assert (trial.suite, trial.model, trial.agent) == ("somewhere", None, "verifiers/unknown")
    assert any("--agent" in warning for warning in notes.warnings)


def test_broken_metadata_is_a_loss_and_the_rows_are_there(rollouts):
    found, notes = rollouts(row(), metadata='{"env_id": ')
    assert len(found) == 1
    assert [loss.startswith("metadata.json: not JSON") for loss in notes.losses] == [True]


def test_metadata_are_read_packed_too(shared_data, tmp_path):
    import gzip

    place = tmp_path / "in"
    place.mkdir()
    for name in ("results.jsonl", "metadata.json"):
        raw = (shared_data / "verifiers" / "wiki_search_gpt-5" / name).read_bytes()
        (place / f"{name}.gz").write_bytes(gzip.compress(raw))
    done = import_run("verifiers", [place], tmp_path / "run", Options())
    rows = evalkit.load(done.path).rows()
    assert ({row.agent for row in rows}, len(rows)) == ({"verifiers/gpt-5"}, 50)


def test_sampling_is_told(rollouts):
    sampling = {"temperature": 0.7, "extra_body": {"chat_template_kwargs": {"enable_thinking": False}}}
    ((trial, _),), _ = rollouts(row(), metadata={**META, "sampling_args": sampling})
    assert (trial.agent, trial.temperature, trial.thinking) == ("verifiers/openai/gpt-5@off", 0.7, "off")


def test_from_which_reward_on_it_passed_can_be_said(rollouts):
    found, _ = rollouts(row(0, 0.5), row(1, 0.4), row(2, 1.45), metadata=META, pass_reward=0.5)
    assert [(t.status, t.reward) for t, _ in found] == [("passed", 0.5), ("failed", 0.4), ("passed", 1.45)]


def test_null_zero_and_missing_rewards_are_three_things(rollouts):
    missing = row(2)
    del missing["reward"]
    found, notes = rollouts(
        row(0, 0.0), row(1, None), missing, row(3, float("nan")), row(4, "1"), metadata=META
    )
    assert [(t.status, t.reward) for t, _ in found] == [("failed", 0.0)] + [("unscored", None)] * 4
    assert "a reward that makes no sense counts as unknown" in notes.warnings


def test_columns_and_metrics_of_reward_functions_are_kept(rollouts):
    ((trial, _),), notes = rollouts(
        row(judge=0.5, metrics={"turns": 2, "judge": 0.1}, is_completed=True, generation_ms=1500.0, note="x"),
        metadata={**META, "avg_judge": 0.5, "avg_metrics": {"turns": 3.0}},
    )
    assert trial.rewards == {"judge": 0.5, "turns": 2.0}
    assert trial.agent_s == 1.5
    assert list(notes.warnings) == ["metadata.json says that turns is 3 on average; the rows give 2"]


def test_an_error_of_the_harness_is_unscored(rollouts):
    found, _ = rollouts(
        row(0, 0.0, error={"error": "SandboxError", "error_chain_str": "SandboxError -> timed\nout"}),
        row(1, 0.0, error="ModelError(quota)"),
        row(2, 0.0, error=None),
        metadata=META,
    )
    assert [(t.status, t.reward, t.error_origin, t.error_type, t.error_message) for t, _ in found] == [
        ("unscored", None, "sandbox", "SandboxError", "SandboxError -> timed out"),
        ("unscored", None, "model", "ModelError", "ModelError(quota)"),
        ("failed", 0.0, None, None, None),
    ]


def test_why_it_stopped_and_what_it_used_are_told_by_newer_versions(rollouts):
    found, _ = rollouts(
        row(0, stop_condition="max_turns_reached", token_usage={"input_tokens": 10.0, "output_tokens": 5}),
        row(1, stop_condition="mine", timing={"generation_ms": 2000.0, "scoring_ms": 500}),
        metadata=META,
    )
    (one, _), (two, _) = found
    assert (one.stop_reason, one.input_tokens, one.output_tokens) == ("step_limit", 10, 5)
    assert json.loads(one.raw_usage) == {"input_tokens": 10.0, "output_tokens": 5}
    assert (two.stop_reason, two.input_tokens, two.agent_s, two.grade_s) == (None, None, 2.0, 0.5)


def test_examples_of_several_environments_are_kept_apart(rollouts):
    found, _ = rollouts(
        row(0, task="default"), row(0, task="sums"), row(0, task="other"), {**row(), "example_id": None}
    )
    assert [(t.task_id, t.epoch) for t, _ in found] == [
        ("0", 1),
        ("line-4", 1),
        ("other/0", 1),
        ("sums/0", 1),
    ]


def test_texts_hold_their_thinking(rollouts):
    ((_, steps),), _ = rollouts({**row(), "completion": "<think>two and two</think>four"}, metadata=META)
    assert [type(step) for step in steps] == [Prompt, Think]
    assert (steps[1].reasoning, steps[1].text.strip()) == ("two and two", "four")


def test_what_is_no_rollout_is_named(rollouts):
    text = "\n".join(["", json.dumps({"prompt": "x"}), "[1]", '{"completion": 4}', json.dumps(row())])
    found, notes = rollouts(text=text, metadata=META)
    assert len(found) == 1
    assert list(notes.losses) == [
        "line 2: has no completion",
        "line 3: holds a list, not an object",
        "line 4: has no completion",
    ]


def test_a_copy_of_the_recorded_folder_changes_nothing(shared_data, tmp_path):
    source = shared_data / "verifiers" / "math_python_gpt-5-nano"
    for name in ("a", "b"):
        shutil.copytree(source, tmp_path / "in" / name)
    done = import_run("verifiers", [tmp_path / "in"], tmp_path / "run", Options())
    assert (done.adding.trials, done.adding.copies) == (15, 15)
