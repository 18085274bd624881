"""Every malformed trajectory of the recorded data comes out as its table says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import evalkit
from evalkit.convert.importer import Options
from evalkit.convert.importing import Imported, import_run
from evalkit.errors import UsageError
from evalkit.trajectory.step import Act, Event, Step, Think
from evalkit.trajectory.trial import Trial

NOT_OBJECT = "arguments that are no JSON object are kept as they were written"
STALE = "instance_cost says 0.002, but the answers cost"
KEPT: dict[str, tuple[str, ...]] = {
    "ansi_escapes.traj.json": (),
    "args_deep_nesting.traj.json": (NOT_OBJECT,),
    "args_dict.traj.json": (),
    "args_json_in_json.traj.json": (),
    "args_not_an_object.traj.json": (NOT_OBJECT,),
    "args_truncated.traj.json": (NOT_OBJECT,),
    "bad_token_numbers.traj.json": (
        "token counts that make no sense count as unknown",
        "token counts are a text, not a number",
    ),
    "bom.traj.json": (),
    "clock_backwards.traj.json": (
        "a time that makes no sense counts as unknown",
        "the clock went backwards, so a duration is unknown",
    ),
    "duplicate_call_ids.traj.json": (f"{STALE} 0.003, which counts",),
    "duplicate_keys.traj.json": ("the key 'exit_status' comes twice, and the last counts",),
    "empty_assistant_message.traj.json": ("answers without any text, thinking or call",),
    "encrypted_reasoning_only.traj.json": (),
    "html_and_markup.traj.json": (),
    "huge_output_2mb.traj.json.gz": (),
    "invalid_utf8.traj.json": ("characters that are no valid text became U+FFFD",),
    "killed_without_exit.traj.json": (
        f"{STALE} 0.001, which counts",
        "how it ended is not known: it was killed, or goes on",
    ),
    "lone_surrogate.traj.json": (),
    "nan_infinity.traj.json": (
        "Infinity is no number and counts as unknown",
        "NaN is no number and counts as unknown",
    ),
    "no_messages.traj.json": ("there are no messages",),
    "nul_escaped.traj.json": (),
    "orphan_tool_result.traj.json": ("a result of no known call is kept without one",),
    "parallel_results_swapped.traj.json": (f"{STALE} 0.001, which counts",),
    "path_traversal_id.traj.json": (),
    "reasoning_exceeds_completion.traj.json": (
        "thinking tokens that contradict the other counts, or the thinking, count as unknown",
    ),
    "secret_fields.traj.json": (),
    "unclosed_think_tag.traj.json": (f"{STALE} 0.001, which counts",),
    "usage_missing.traj.json": (),
    "usage_zero.traj.json": ("instance_cost says 0, but the answers cost 0.002, which counts",),
    "utf16.traj.json": (),
}
REFUSED = {
    "empty.traj.json": "empty",
    "top_level_list.traj.json": "holds a list, not an object",
    "whitespace_only.json": "empty",
}


class Case:
    """One file, imported alone."""

    def __init__(self, path: Path, out: Path) -> None:
        self.done: Imported = import_run("mini-swe-agent", [path], out, Options())
        self.run = evalkit.load(out)
        found = list(self.run.iter_trials())
        assert len(found) == 1
        self.trial: Trial = found[0][0]
        self.steps: tuple[Step, ...] = found[0][1]

    @property
    def thinks(self) -> list[Think]:
        return [step for step in self.steps if isinstance(step, Think)]

    @property
    def acts(self) -> list[Act]:
        return [step for step in self.steps if isinstance(step, Act)]

    @property
    def warnings(self) -> dict[str, int]:
        return dict(self.done.files[0].notes.warnings)


@pytest.fixture
def case(shared_data: Path, tmp_path: Path) -> Any:
    def read(name: str) -> Case:
        full = f"{name}.traj.json"
        path = shared_data / "weird" / full
        return Case(path if path.is_file() else path.with_name(f"{full}.gz"), tmp_path / "run")

    return read


def test_no_file_is_forgotten(shared_data):
    there = {path.name for path in (shared_data / "weird").iterdir() if ".traj.json" in path.name}
    assert there | {"whitespace_only.json"} == set(KEPT) | set(REFUSED)


@pytest.mark.parametrize("name", KEPT)
def test_what_can_be_kept_is_kept_and_remarked_on(shared_data, tmp_path, name):
    case = Case(shared_data / "weird" / name, tmp_path / "run")
    assert case.done.incomplete == []
    assert tuple(sorted(case.warnings)) == tuple(sorted(KEPT[name]))
    assert (case.trial.status, case.trial.reward) == ("unscored", None)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_is_refused(shared_data, tmp_path, name):
    with pytest.raises(UsageError, match=REFUSED[name]):
        import_run("mini-swe-agent", [shared_data / "weird" / name], tmp_path / "run", Options())
    assert not (tmp_path / "run").exists()


def test_a_bad_file_does_not_stop_the_others(shared_data, tmp_path):
    done = import_run("mini-swe-agent", [shared_data / "weird"], tmp_path / "run", Options())
    refused = {Path(report.name).name: report.refused for report in done.incomplete}
    assert refused == {name: why for name, why in REFUSED.items() if name.endswith(".traj.json")}
    # The same run in another encoding, or with its arguments in another form, is the same run.
    assert (done.adding.trials, done.adding.copies) == (26, 4)


def test_lone_surrogates_are_replaced_and_counted(case):
    found = case("lone_surrogate")
    assert found.thinks[0].text == "pair \U0001f600 is fine, \ufffd alone is not"
    assert found.thinks[0].replaced_chars == 1
    assert (found.acts[0].observation, found.acts[0].stdout) == ("before \ufffd after", "before \ufffd after")


def test_bytes_that_are_no_text_are_replaced(case):
    assert case("invalid_utf8").thinks[0].text == "caf\ufffd \ufffd\ufffd \ufffd( bytes"


@pytest.mark.parametrize("name", ["bom", "utf16"])
def test_byte_order_marks(case, name):
    assert case(name).thinks[0].text == "I print it."


def test_nul_and_terminal_codes_are_kept_as_they_are(case):
    assert case("nul_escaped").acts[0].stdout == "binary \x00\x00 output \x01\x02\x7f"


def test_terminal_codes_are_kept(case):
    assert case("ansi_escapes").acts[0].stdout.startswith("\x1b[31mFAILED\x1b[0m")


def test_markup_in_names_is_kept(case):
    trial = case("html_and_markup").trial
    assert trial.task_id == '<img src=x onerror="alert(3)">'
    assert trial.agent.startswith("mini-swe-agent/example/<b>bold</b> [link=")


def test_an_id_is_never_a_path(case, tmp_path):
    assert case("path_traversal_id").trial.task_id == "../../outside/evil"
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert not list(tmp_path.parent.rglob("evil*"))


def test_costs_that_are_no_numbers_are_unknown(case):
    found = case("nan_infinity")
    assert [think.cost_usd for think in found.thinks] == [None, None]
    assert found.trial.cost_usd is None
    assert json.loads(found.trial.raw_usage) == {"api_calls": 2, "instance_cost": None}


def test_token_counts_that_are_none(case):
    first, second = case("bad_token_numbers").thinks
    assert (first.input_tokens, first.output_tokens) == (None, None)
    assert (second.input_tokens, second.output_tokens) == (None, 12)


def test_no_duration_is_negative(case):
    found = case("clock_backwards")
    assert [step.duration_s for step in found.steps if step.duration_s is not None] == []
    assert found.trial.started_at <= found.trial.finished_at


def test_a_result_of_no_call(case):
    acts = case("orphan_tool_result").acts
    assert sorted((act.think_step is None, act.stdout or "") for act in acts) == [
        (False, ""),
        (False, "hello"),
        (True, "result of a call nobody made"),
    ]
    orphan = next(act for act in acts if act.think_step is None)
    assert (orphan.duration_s, orphan.exit_code) == (None, 0)


def test_ids_that_come_again(case):
    acts = case("duplicate_call_ids").acts
    assert [(act.stdout, act.exit_code, act.call_index) for act in acts] == [
        ("first", 0, 0),
        ("second", 1, 0),
        ("third", 0, 0),
        ("fourth", 0, 1),
    ]
    assert [json.loads(act.arguments or "")["command"] for act in acts[1:]] == ["false", "echo 3", "echo 4"]


def test_results_in_another_order(case):
    acts = case("parallel_results_swapped").acts
    assert [(json.loads(act.arguments or "")["command"], act.stdout) for act in acts] == [
        ("sleep 2; echo a", "a"),
        ("echo b", "b"),
    ]


def test_arguments_that_were_cut(case):
    found = case("args_truncated")
    first = found.acts[0]
    assert first.arguments is None
    assert first.arguments_raw == '{"command": "cat <<EOF > a.py\\nprint(1'
    assert found.thinks[0].finish_reason == "length"


@pytest.mark.parametrize("name", ["args_dict", "args_json_in_json"])
def test_arguments_in_other_forms(case, name):
    first = case(name).acts[0]
    assert (first.arguments, first.arguments_raw, first.stdout) == ('{"command":"echo hello"}', None, "hello")


def test_arguments_that_are_no_object(case):
    acts = case("args_not_an_object").acts[:4]
    assert [(act.arguments, act.arguments_raw) for act in acts] == [
        ("{}", None),
        (None, "null"),
        (None, '["echo", "hello"]'),
        (None, None),
    ]
    assert [act.call_index for act in acts] == [0, 1, 2, 3]


def test_arguments_that_nest_too_deeply(case):
    first = case("args_deep_nesting").acts[0]
    assert first.arguments is None
    assert first.arguments_raw is not None
    assert first.arguments_raw.count("[") == 3000
    assert first.stdout == "hello"


def test_missing_usage_is_unknown(case):
    trial = case("usage_missing").trial
    assert (trial.input_tokens, trial.output_tokens, trial.reasoning_tokens) == (None, None, None)


def test_zero_usage_is_zero(case):
    trial = case("usage_zero").trial
    assert (trial.input_tokens, trial.output_tokens, trial.reasoning_tokens) == (0, 0, 0)


def test_encrypted_thinking_counts(case):
    first = case("encrypted_reasoning_only").thinks[0]
    assert (first.output_tokens, first.reasoning_tokens) == (532, 512)
    assert (first.reasoning, first.reasoning_visibility) == (None, "encrypted")


def test_more_thinking_than_output_is_a_contradiction(case):
    first = case("reasoning_exceeds_completion").thinks[0]
    assert (first.output_tokens, first.reasoning_tokens) == (10, None)
    assert first.reasoning == "more reasoning tokens than completion tokens"


def test_a_think_tag_that_is_never_closed(case):
    found = case("unclosed_think_tag")
    assert found.thinks[0].reasoning == "The closing tag never comes because the answer was cut"
    assert found.thinks[0].text == ""
    # Neither limit was reached, so which one it was is unknown.
    assert (found.trial.stop_reason, found.trial.error_type) == (None, "unjudged")
    assert [step.event for step in found.steps if isinstance(step, Event)] == ["limit"]


def test_empty_answers_are_an_error_of_the_agent(case):
    found = case("empty_assistant_message")
    assert [think.text for think in found.thinks] == ["", ""]
    assert found.trial.tool_calls == 0
    assert (found.trial.stop_reason, found.trial.error_type) == ("error", "agent_error")
    assert found.trial.error_origin is None


def test_a_run_that_was_killed(case):
    trial = case("killed_without_exit").trial
    assert (trial.error_type, trial.error_origin, trial.stop_reason) == ("incomplete", "harness", None)
    assert trial.answer is None
    assert trial.model_calls == 1


def test_a_file_without_messages(case):
    found = case("no_messages")
    assert found.steps == ()
    assert (found.trial.error_type, found.trial.model_calls, found.trial.output_tokens) == (
        "incomplete",
        None,
        None,
    )
    assert found.trial.task_id == "no_messages"


def test_of_a_key_that_comes_twice_the_last_counts(case):
    assert case("duplicate_keys").trial.stop_reason == "submitted"


def test_secrets_go_by_the_names_of_their_fields(case):
    found = case("secret_fields")
    stored = everything_stored(found.done.path)
    assert "not-a-real" not in stored
    settings = found.run.manifest.agents[0].settings
    kwargs: Any = settings["config"]["model"]["model_kwargs"]
    assert kwargs["api_key"].startswith("[redacted:")
    assert kwargs["extra_headers"]["Authorization"].startswith("[redacted:")


def test_a_large_output_is_kept(case):
    first = case("huge_output_2mb").acts[0]
    assert first.stdout is not None
    assert first.observation is not None
    assert len(first.stdout) == len(first.observation) == 2 * 1024 * 1024


def everything_stored(folder: Path) -> str:
    """All bytes of a run, and what its tables say once they are unpacked."""
    parts: list[str] = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            parts.append(path.read_bytes().decode("latin-1"))
            if path.suffix == ".parquet":
                parts.append(repr(pq.read_table(path).to_pylist()))
    return "\n".join(parts)
