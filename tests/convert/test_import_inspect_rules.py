"""What does an Inspect log become, case by case? The logs are written here, so that this runs everywhere."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path
from typing import Any, cast

import pytest
import zstandard

from evalkit.convert.adding import Adding
from evalkit.convert.converted import Converted
from evalkit.convert.formats import importer_of, importers
from evalkit.convert.importer import Options
from evalkit.convert.importing import import_run
from evalkit.convert.inspect_archive import open_archive
from evalkit.convert.inspect_logs import IMPORTER
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.source import Source
from evalkit.trajectory.step import Act, Event, Prompt, Step, Think
from evalkit.trajectory.trial import Trial

Json = dict[str, Any]
NOON = "2026-01-02T12:00:00+00:00"


def header(**changes: Any) -> Json:
    """What every log says."""
    evaluated = {
        "task": "sums",
        "task_id": "t",
        "run_id": "r",
        "model": "openai/gpt-9",
        "dataset": {"samples": 1},
    }
    return {
        "version": 2,
        "status": "success",
        "eval": evaluated,
        "plan": {"steps": [{"solver": "react", "params": {}}], "config": {}},
        **changes,
    }


def model_event(content: Any = "4", **changes: Any) -> Json:
    """A generation that went well."""
    message = {"role": "assistant", "content": content, **changes.pop("message", {})}
    output = {"model": "gpt-9-2026", "choices": [{"message": message, "stop_reason": "stop"}]}
    output["usage"] = changes.pop("usage", {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15})
    return {
        "event": "model",
        "model": "openai/gpt-9",
        "timestamp": NOON,
        "completed": "2026-01-02T12:00:02+00:00",
        "input": [{"role": "user", "content": "2 + 2?", "id": "u1"}],
        "output": output,
        **changes,
    }


def calling(*calls: Json, **changes: Any) -> Json:
    return model_event("", message={"tool_calls": list(calls)}, **changes)


def call(identity: str, arguments: Any = None, tool: str = "bash") -> Json:
    return {"id": identity, "function": tool, "arguments": {"cmd": "ls"} if arguments is None else arguments}


def tool_event(identity: str, result: Any = "a.txt", **changes: Any) -> Json:
    told = {"event": "tool", "id": identity, "function": "bash", "arguments": {"cmd": "ls"}, "result": result}
    return {**told, "timestamp": NOON, "completed": "2026-01-02T12:00:01+00:00", **changes}


def sample(*events: Json, **changes: Any) -> Json:
    scores = {"match": {"value": "C", "answer": "4"}}
    found = {"id": 1, "epoch": 1, "input": "2 + 2?", "target": "4", "scores": scores, "events": list(events)}
    return {**found, "messages": [], "uuid": "u", **changes}


def written(path: Path, *samples: Any, head: Json | None = None) -> Path:
    """A log, in the format that the name asks for."""
    head = header() if head is None else head
    if path.suffix == ".json":
        path.write_text(json.dumps({**head, "samples": list(samples)}), "utf-8")
        return path
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("_journal/start.json", json.dumps({key: head[key] for key in ("eval", "plan")}))
        for place, one in enumerate(samples):
            archive.writestr(
                f"samples/{place}_epoch_1.json", one if isinstance(one, bytes) else json.dumps(one)
            )
        archive.writestr("header.json", json.dumps(head))
    return path


class Logs:
    """Writes logs and reads them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(
        self, *samples: Any, name: str = "log.eval", head: Json | None = None
    ) -> tuple[list[Converted], Notes]:
        return self.of(written(self.folder / name, *samples, head=head))

    def of(self, path: Path, options: Options | None = None) -> tuple[list[Converted], Notes]:
        notes = Notes()
        return list(IMPORTER.convert(Source(path, named=True), notes, options or Options())), notes

    def one(self, told: Json, head: Json | None = None) -> tuple[Trial, tuple[Step, ...], Notes]:
        (converted,), notes = self.read(told, head=head)
        trial = Adding(run_id="r").trial(converted, format="inspect", source="f", notes=notes)
        assert trial is not None
        return trial, converted.steps, notes


@pytest.fixture
def logs(tmp_path: Path) -> Logs:
    return Logs(tmp_path)


def of_kind(steps: tuple[Step, ...], kind: type[Any]) -> list[Any]:
    return [step for step in steps if isinstance(step, kind)]


def events_of(steps: tuple[Step, ...]) -> list[tuple[str, Json]]:
    return [(step.event, json.loads(step.detail or "{}")) for step in of_kind(steps, Event)]


# --- what a sample becomes


def test_a_sample_becomes_a_trial(logs: Logs) -> None:
    trial, steps, notes = logs.one(
        sample(calling(call("a")), tool_event("a"), model_event(input=[], usage=None), total_time=9.0)
    )

    assert [step.kind for step in steps] == ["prompt", "think", "act", "think"]
    assert (trial.suite, trial.task_id, trial.epoch, trial.agent) == ("sums", "1", 1, "react/openai/gpt-9")
    assert (trial.status, trial.reward, trial.rewards, trial.answer) == ("passed", 1.0, {"match": 1.0}, "4")
    assert (trial.stop_reason, trial.model_served, trial.agent_s) == ("submitted", "gpt-9-2026", 9.0)
    (act,) = of_kind(steps, Act)
    assert (act.think_step, act.call_index, act.observation, act.duration_s) == (1, 0, "a.txt", 1.0)
    assert trial.output_tokens is None, "one generation did not report it, and a sum over null is null"
    assert not notes.warnings


def test_both_formats_tell_the_same(logs: Logs) -> None:
    told = sample(calling(call("a")), tool_event("a"), model_event())
    (zipped,), _ = logs.read(told)
    (plain,), _ = logs.read(told, name="log.json")

    assert (zipped.steps, zipped.columns, zipped.identity) == (plain.steps, plain.columns, plain.identity)


def test_a_sample_that_a_retried_log_copied_is_a_copy(logs: Logs) -> None:
    first = written(logs.folder / "first.eval", sample(model_event(), uuid="same"))
    other = {**header()["eval"], "run_id": "r2"}
    second = written(
        logs.folder / "second.eval",
        sample(model_event(), uuid="same"),
        sample(model_event(), uuid="new", id=2),
        head=header(eval=other),
    )

    done = import_run("inspect", [first, second], logs.folder / "run", Options())

    assert (done.adding.trials, done.adding.copies) == (2, 1)


def test_numbers_and_texts_are_ids(logs: Logs) -> None:
    told, notes = logs.read(sample(id=7), sample(id="a/b\n../c", uuid="v"), sample(id=None, uuid="w"))

    assert [one.task_id for one in told] == ["7", "a/b\n../c"]
    assert notes.losses == {"sample 3: a sample without an id": 1}


@pytest.mark.parametrize(
    ("config", "suffix", "column"),
    [
        ({}, "", None),
        ({"reasoning_tokens": 2048}, "@tokens:2048", "tokens:2048"),
        ({"reasoning_tokens": 0}, "@off", "off"),
        ({"reasoning_effort": "high"}, "@effort:high", "effort:high"),
        ({"reasoning_effort": "none"}, "@off", "off"),
    ],
)
def test_a_thinking_budget_is_part_of_the_agent(
    config: Json, suffix: str, column: str | None, logs: Logs
) -> None:
    plan = {"steps": [{"solver": "setup"}, {"solver": "react"}], "config": config}
    trial, _, _ = logs.one(sample(model_event()), header(plan=plan))

    assert (trial.agent, trial.thinking) == (f"react/openai/gpt-9{suffix}", column)


@pytest.mark.parametrize(
    ("request_", "sent"),
    [
        ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, "tokens:1024"),
        ({"thinking": {"type": "disabled"}}, "off"),
        ({"reasoning": {"effort": "low"}}, "effort:low"),
        ({"reasoning_effort": "minimal"}, "effort:minimal"),
        ({"generation_config": {"thinkingConfig": {"thinkingBudget": -1}}}, "dynamic"),
        ({"messages": []}, None),
    ],
)
def test_the_budget_that_went_out_is_read_from_the_request(
    request_: Json, sent: str | None, logs: Logs
) -> None:
    trial, _, _ = logs.one(sample(model_event(call={"request": request_, "response": {}})))

    assert trial.thinking_sent == sent


def test_settings_are_told_and_secrets_are_not(logs: Logs) -> None:
    evaluated = {**header()["eval"], "model_args": {"api_key": "sk-none", "device": "cpu"}, "task_version": 3}
    done = import_run(
        "inspect",
        [written(logs.folder / "log.eval", sample(model_event()), head=header(eval=evaluated))],
        logs.folder / "run",
        Options(suite="mine", agent="me"),
    )

    (agent,) = done.adding.agents.values()
    settings = cast("Json", agent.settings)
    assert agent.id == "me"
    assert settings["model_args"]["device"] == "cpu"
    assert "sk-none" not in (logs.folder / "run" / "run.json").read_text("utf-8")
    assert settings["task_version"] == 3
    assert list(done.adding.suites) == ["mine"]


# --- verdicts


@pytest.mark.parametrize(
    ("value", "status", "reward"),
    [
        ("C", "passed", 1.0),
        ("I", "failed", 0.0),
        ("P", "failed", 0.5),
        ("N", "failed", 0.0),
        (True, "passed", 1.0),
        (False, "failed", 0.0),
        (1, "passed", 1.0),
        (0.4, "failed", 0.4),
        ("yes", "passed", 1.0),
        ("0.25", "failed", 0.25),
        ("a word", "unscored", None),
        (None, "unscored", None),
        (float("nan"), "unscored", None),
        ({"score": 1, "style": 0.2}, "passed", 1.0),
        ({"only": 0}, "failed", 0.0),
        ({"a": 1, "b": 0}, "unscored", None),
        ([1], "passed", 1.0),
        ([1, 0], "unscored", None),
    ],
)
def test_a_score_is_a_verdict(value: Any, status: str, reward: float | None, logs: Logs) -> None:
    trial, _, _ = logs.one(sample(model_event(), scores={"s": {"value": value}}))

    assert (trial.status, trial.reward) == (status, reward)


def test_the_first_scorer_decides_and_the_others_are_rewards(logs: Logs) -> None:
    scores = {"first": {"value": "I"}, "second": {"value": {"a": 1, "b": 0.5}}, "third": {"value": "C"}}
    trial, _, _ = logs.one(sample(model_event(), scores=scores))

    assert trial.status == "failed"
    assert trial.rewards == {"first": 0.0, "second.a": 1.0, "second.b": 0.5, "third": 1.0}


def test_the_reward_from_which_on_it_passes_can_be_said(logs: Logs) -> None:
    path = written(logs.folder / "log.eval", sample(model_event(), scores={"s": {"value": "P"}}))
    (told,), _ = logs.of(path, Options(pass_reward=0.5))

    assert told.columns["status"] == "passed"


@pytest.mark.parametrize(
    ("message", "origin", "stop"),
    [
        ("RuntimeError('lost')", "harness", "error"),
        ("RateLimitError('slow down')", "model", "error"),
        ("anthropic.InternalServerError: 500", "model", "error"),
        ("SandboxTimeoutError('gone')", "sandbox", "error"),
        ("CancelledError('by scope')", "harness", "cancelled"),
        ("", "harness", "error"),
    ],
)
def test_an_error_makes_it_unscored_and_never_a_failure(
    message: str, origin: str, stop: str, logs: Logs
) -> None:
    trial, _, _ = logs.one(sample(model_event(), error={"message": message, "traceback": "..."}))

    assert (trial.status, trial.reward, trial.error_origin, trial.stop_reason) == (
        "unscored",
        None,
        origin,
        stop,
    )


def test_an_error_while_scoring_is_the_graders(logs: Logs) -> None:
    begun = {"event": "span_begin", "id": "s", "type": "scorers", "name": "scorers", "timestamp": NOON}
    failed = {"event": "error", "error": {"message": "ValueError('x')"}}
    trial, steps, _ = logs.one(sample(model_event(), begun, failed, error={"message": "ValueError('x')"}))

    assert (trial.error_origin, trial.error_type) == ("grader", "ValueError")
    assert events_of(steps) == [("error", {"error": "ValueError('x')"})]


@pytest.mark.parametrize(
    ("kind", "stop"),
    [
        ("message", "step_limit"),
        ("turn", "step_limit"),
        ("token", "token_limit"),
        ("time", "time_limit"),
        ("working", "time_limit"),
        ("cost", "cost_limit"),
        ("context", "context_limit"),
        ("operator", "cancelled"),
        ("custom", None),
    ],
)
def test_a_limit_is_why_it_stopped(kind: str, stop: str | None, logs: Logs) -> None:
    struck = {"event": "sample_limit", "type": kind, "message": "enough", "limit": 3}
    trial, steps, _ = logs.one(sample(model_event(), struck, limit={"type": kind, "limit": 3}))

    assert (trial.status, trial.stop_reason) == ("passed", stop)
    assert events_of(steps) == [("limit", {"type": kind, "message": "enough", "limit": 3})]


def test_an_invalidated_sample_is_unscored(logs: Logs) -> None:
    trial, _, _ = logs.one(sample(model_event(), invalidation={"author": "me"}))

    assert (trial.status, trial.reward, trial.error_type) == ("unscored", None, "invalidated")


# --- usage


def test_reasoning_beside_the_output_is_counted_in_it(logs: Logs) -> None:
    usage = {"input_tokens": 10, "output_tokens": 1, "reasoning_tokens": 90, "total_tokens": 101}
    trial, _, _ = logs.one(sample(model_event(usage=usage, model="google/gemini-9")))

    assert (trial.input_tokens, trial.output_tokens, trial.reasoning_tokens) == (10, 91, 90)


def test_cached_input_is_beside_the_input(logs: Logs) -> None:
    usage = {
        "input_tokens": 8,
        "output_tokens": 5,
        "total_tokens": 113,
        "input_tokens_cache_read": 70,
        "input_tokens_cache_write": 30,
    }
    trial, _, _ = logs.one(sample(model_event(usage=usage)))

    assert (trial.input_tokens, trial.cache_read_tokens, trial.cache_write_tokens) == (8, 70, 30)


def test_missing_zero_and_nonsense_are_kept_apart(logs: Logs) -> None:
    missing, _, _ = logs.one(sample(model_event(usage=None)))
    zero, _, _ = logs.one(
        sample(model_event(usage={"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}))
    )
    bad, _, notes = logs.one(sample(model_event(usage={"input_tokens": -5, "output_tokens": 2**64})))

    assert (missing.input_tokens, zero.input_tokens, bad.input_tokens) == (None, 0, None)
    assert (missing.output_tokens, zero.output_tokens, bad.output_tokens) == (None, 0, None)
    assert any("no sense" in text for text in notes.warnings)


def test_an_old_log_has_usage_of_the_whole_sample(logs: Logs) -> None:
    messages = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "a"}]
    messages += [{"role": "user", "content": "and?"}, {"role": "assistant", "content": "b"}]
    usage = {
        "openai/gpt-9": {"input_tokens": 20, "output_tokens": 9, "reasoning_tokens": 4, "total_tokens": 29}
    }
    trial, steps, _ = logs.one(sample(messages=messages, model_usage=usage))

    assert [step.kind for step in steps] == ["prompt", "think", "prompt", "think"]
    assert (trial.input_tokens, trial.output_tokens, trial.reasoning_tokens) == (20, 9, 4)
    assert trial.raw_usage is not None
    assert json.loads(trial.raw_usage) == usage


def test_a_models_usage_that_differs_from_its_generations_is_remarked(logs: Logs) -> None:
    usage = {"openai/gpt-9": {"input_tokens": 10, "output_tokens": 500, "total_tokens": 15}}
    trial, _, notes = logs.one(sample(model_event(), model_usage=usage))

    assert trial.output_tokens == 5
    (text,) = [text for text in notes.warnings if "output_tokens" in text]
    assert text.endswith("in the model_usage of 1 samples are 500, their generations come to 5")


def test_what_a_grader_spent_is_not_the_agents(logs: Logs) -> None:
    begun = {"event": "span_begin", "id": "s", "type": "scorer", "name": "judge", "timestamp": NOON}
    judged = model_event("GRADE: C", span_id="s")
    asked = model_event("hm", role="critic", model="openai/other")
    trial, steps, notes = logs.one(sample(asked, model_event(), begun, judged))

    assert (trial.model_calls, trial.output_tokens) == (1, 5)
    assert [(name, told["role"]) for name, told in events_of(steps)] == [
        ("intervention", "critic"),
        ("intervention", "grader"),
    ]
    assert any("role of their own" in text for text in notes.warnings)


def test_old_steps_of_scorers_are_no_work_of_the_agent(logs: Logs) -> None:
    begin = {"event": "step", "action": "begin", "type": "scorer", "name": "judge"}
    end = {**begin, "action": "end"}
    trial, _, _ = logs.one(sample(model_event(), begin, model_event("C"), tool_event("z"), end))

    assert (trial.model_calls, trial.tool_calls) == (1, 0)


# --- generations


def test_failed_attempts_are_retries(logs: Logs) -> None:
    failed = model_event(error="RateLimitError('x')\nmore", usage=None)
    _, steps, _ = logs.one(
        sample(failed, failed, model_event(retries=1), error_retries=[{"message": "lost"}])
    )

    assert [name for name, _ in events_of(steps)] == ["retry", "retry", "retry"]
    assert events_of(steps)[0] == ("retry", {"sample": "lost"})
    (think,) = of_kind(steps, Think)
    assert think.retries == 2


def test_a_sample_that_never_got_an_answer_keeps_its_failed_attempts(logs: Logs) -> None:
    failed = model_event(error="InternalServerError('x')", usage=None)
    trial, steps, _ = logs.one(
        sample(failed, failed, scores={}, error={"message": "InternalServerError('x')"})
    )

    assert [step.kind for step in steps] == ["prompt", "event", "event"]
    assert (trial.status, trial.error_origin, trial.model_calls) == ("unscored", "model", 0)


def test_no_retries_reported_is_unknown(logs: Logs) -> None:
    _, steps, _ = logs.one(sample(model_event()))

    assert of_kind(steps, Think)[0].retries is None


@pytest.mark.parametrize(
    ("content", "reasoning", "text", "visibility"),
    [
        ([{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "4"}], "hm", "4", "full"),
        ([{"type": "reasoning", "reasoning": "hm", "signature": "rs_1"}], "hm", "", "summary"),
        ([{"type": "reasoning", "reasoning": "", "signature": "rs_1"}], None, "", "encrypted"),
        ([{"type": "reasoning", "reasoning": "cipher", "redacted": True}], None, "", "encrypted"),
        (
            [{"type": "reasoning", "reasoning": "cipher", "summary": "so", "redacted": True}],
            "so",
            "",
            "summary",
        ),
        ("<think>hm</think>4", "hm", "4", "full"),
        ("<think>never closed", "never closed", "", "full"),
        ("4", None, "4", "unknown"),
    ],
)
def test_thinking_is_shown_as_far_as_it_is_open(
    content: Any, reasoning: str | None, text: str, visibility: str, logs: Logs
) -> None:
    _, steps, _ = logs.one(sample(model_event(content)))

    (think,) = of_kind(steps, Think)
    assert (think.reasoning, think.text, think.reasoning_visibility) == (reasoning, text, visibility)
    assert "cipher" not in f"{think.reasoning}{think.text}"


def test_another_model_than_the_one_asked_is_remarked(logs: Logs) -> None:
    trial, _, notes = logs.one(sample(model_event(call={"response": {"model": "mini-1"}})))

    assert trial.model_served == "mini-1"
    assert notes.warnings["mini-1 answered where openai/gpt-9 was asked"] == 1


def test_prompts_are_told_once_and_repeats_again(logs: Logs) -> None:
    again = {"role": "user", "content": "Go on."}
    first = [{"role": "system", "content": "Be good."}, {"role": "user", "content": "2 + 2?"}]
    answer = {"role": "assistant", "content": "4"}
    _, steps, _ = logs.one(
        sample(
            model_event(input=first),
            model_event(input=[*first, answer, again]),
            model_event(input=[*first, answer, again, answer, again]),
        )
    )

    assert [(step.role, step.text) for step in of_kind(steps, Prompt)] == [
        ("system", "Be good."),
        ("user", "2 + 2?"),
        ("user", "Go on."),
        ("user", "Go on."),
    ]


@pytest.mark.parametrize("where", ["events_data", "message_pool"])
def test_messages_in_a_pool_are_told_in_order(where: str, logs: Logs) -> None:
    pool = [{"role": "user", "content": text} for text in ("a", "b", "c")]
    held = {where: {"messages": pool, "calls": []} if where == "events_data" else pool}
    _, steps, _ = logs.one(
        sample(
            model_event(input=[], input_refs=[[0, 1]]),
            model_event(input=[], input_refs=[[0, 1], [2, 3]]),
            model_event(input=[], input_refs=[[0, 99], ["x", 2], [-1, 1], 7]),
            **held,
        )
    )

    assert [step.text for step in of_kind(steps, Prompt)] == ["a", "c", "b"]


@pytest.mark.parametrize("prefix", ["attachment://", "tc://"])
def test_attached_texts_are_put_in_wherever_they_stand(prefix: str, logs: Logs) -> None:
    texts = {"h1": "a long prompt", "h2": "a long thought", "h3": "a long command", "h4": "a long result"}
    event = model_event(
        [{"type": "reasoning", "reasoning": f"{prefix}h2"}],
        input=[{"role": "user", "content": f"{prefix}h1"}],
        message={"tool_calls": [call("a", {"cmd": f"{prefix}h3"})]},
    )
    held: Json = {"attachments": texts} if prefix == "attachment://" else {"transcript": {"content": texts}}
    _, steps, _ = logs.one(sample(event, tool_event("a", f"{prefix}h4"), **held))

    prompt, think, act = steps
    assert isinstance(prompt, Prompt)
    assert isinstance(think, Think)
    assert isinstance(act, Act)
    assert (prompt.text, think.reasoning) == ("a long prompt", "a long thought")
    assert (act.arguments, act.observation) == ('{"cmd":"a long command"}', "a long result")


def test_a_reference_to_nothing_is_kept_and_remarked(logs: Logs) -> None:
    _, steps, notes = logs.one(sample(model_event("attachment://gone")))

    assert of_kind(steps, Think)[0].text == "attachment://gone"
    assert any("does not hold" in text for text in notes.warnings)


# --- calls


def test_calls_with_one_id_are_told_apart_by_order(logs: Logs) -> None:
    _, steps, _ = logs.one(
        sample(calling(call("0"), call("0")), tool_event("0", "first"), tool_event("0", "second"))
    )

    assert [act.observation for act in of_kind(steps, Act)] == ["first", "second"]


def test_calls_without_results_and_results_without_calls_are_kept(logs: Logs) -> None:
    _, steps, notes = logs.one(sample(calling(call("a")), tool_event("b", "orphan")))

    asked, orphan = of_kind(steps, Act)
    assert (asked.observation, asked.think_step) == (None, 1)
    assert (orphan.observation, orphan.think_step, orphan.tool) == ("orphan", None, "bash")
    assert orphan.arguments == '{"cmd":"ls"}'
    assert any("no known call" in text for text in notes.warnings)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"type": "timeout", "message": "late"}, "timeout"),
        ({"type": "file_not_found", "message": "late"}, "not_found"),
        ({"type": "approval", "message": "late"}, "denied"),
        ({"type": "sandbox_unavailable", "message": "late"}, "sandbox"),
        ({"type": "unheard_of", "message": "late"}, "unknown"),
        ({"type": [1], "message": "late"}, "unknown"),
    ],
)
def test_errors_of_calls_have_a_kind(error: Json, kind: str, logs: Logs) -> None:
    _, steps, _ = logs.one(sample(calling(call("a")), tool_event("a", "", error=error)))

    (act,) = of_kind(steps, Act)
    assert (act.error_kind, act.observation) == (kind, "late")


def test_a_call_that_was_still_going_on_hit_a_limit(logs: Logs) -> None:
    _, steps, _ = logs.one(sample(calling(call("a")), tool_event("a", pending=True, completed=None)))

    (act,) = of_kind(steps, Act)
    assert (act.error_kind, act.observation) == ("limit", None)


def test_arguments_that_did_not_parse_are_marked(logs: Logs) -> None:
    broken = {**call("a", '{"cmd": "l'), "parse_error": "cut"}
    _, steps, _ = logs.one(sample(calling(broken)))

    (act,) = of_kind(steps, Act)
    assert (act.arguments, act.arguments_raw, act.error_kind) == (None, '{"cmd": "l', "parsing")


def test_the_exit_code_is_that_of_the_one_command_of_a_call(logs: Logs) -> None:
    span = {"event": "span_begin", "type": "tool", "name": "bash", "parent_id": "agent", "timestamp": NOON}
    ran = {"event": "sandbox", "action": "exec", "result": 3, "output": "x"}
    _, steps, _ = logs.one(
        sample(
            calling(call("a"), call("b"), call("c")),
            {**span, "id": "one"},
            tool_event("a", span_id="agent"),
            {**ran, "span_id": "one"},
            {**span, "id": "two"},
            tool_event("b", span_id="agent"),
            {**ran, "span_id": "two"},
            {**ran, "span_id": "two"},
            tool_event("c", events=[{**ran, "result": 4}]),
            {**ran, "span_id": "scorer"},
        )
    )

    assert [act.exit_code for act in of_kind(steps, Act)] == [3, None, 4]


def test_a_generation_of_a_sub_agent_has_the_call_that_began_it_as_its_parent(logs: Logs) -> None:
    span = {"event": "span_begin", "timestamp": NOON}
    _, steps, _ = logs.one(
        sample(
            calling(call("a", tool="helper"), span_id="agent"),
            {**span, "id": "call", "type": "tool", "name": "helper", "parent_id": "agent"},
            tool_event("a", "helped", function="helper", span_id="agent"),
            {**span, "id": "sub", "type": "agent", "name": "helper", "parent_id": "call"},
            model_event("I help.", span_id="sub"),
            model_event("Done.", span_id="agent"),
        )
    )

    assert [(step.step, step.parent_step) for step in of_kind(steps, Think)] == [(1, None), (3, 2), (4, None)]


@pytest.mark.parametrize(
    ("decision", "approver", "verdict"),
    [
        ("approve", "auto", "allow:auto"),
        ("modify", "auto", "allow:auto"),
        ("reject", "auto", "deny:auto"),
        ("terminate", "auto", "deny:auto"),
        ("approve", "human", "ask_allowed:human"),
        ("reject", "human", "ask_denied:human"),
    ],
)
def test_an_approval_belongs_to_its_call(decision: str, approver: str, verdict: str, logs: Logs) -> None:
    told = {"event": "approval", "call": call("a"), "decision": decision, "approver": approver, "message": ""}
    _, steps, _ = logs.one(sample(calling(call("a")), told, tool_event("a")))

    assert of_kind(steps, Act)[0].approval == verdict
    assert events_of(steps)[0][0] == "approval"


def test_compaction_and_interruptions_are_events(logs: Logs) -> None:
    compacted = {"event": "compaction", "type": "summary", "tokens_before": 900, "tokens_after": 90}
    stopped = {"event": "interrupt", "source": "user_cancel", "interrupted": "generate"}
    _, steps, _ = logs.one(sample(model_event(), compacted, stopped))

    assert [name for name, _ in events_of(steps)] == ["compaction", "intervention"]


def test_times_that_run_backwards_are_unknown(logs: Logs) -> None:
    _, steps, notes = logs.one(sample(model_event(completed="2026-01-02T11:00:00+00:00")))

    assert of_kind(steps, Think)[0].duration_s is None
    assert any("clock went backwards" in text for text in notes.warnings)


def test_messages_written_by_a_solver_are_steps_with_the_times_of_their_calls(logs: Logs) -> None:
    messages = [
        {"role": "user", "content": "2 + 2?"},
        {"role": "assistant", "content": "", "tool_calls": [call("a")]},
        {"role": "tool", "tool_call_id": "a", "function": "bash", "content": "4"},
    ]
    _, steps, _ = logs.one(sample(tool_event("a"), messages=messages))

    assert [step.kind for step in steps] == ["prompt", "think", "act"]
    assert of_kind(steps, Act)[0].duration_s == 1.0


# --- whole logs


def test_averages_of_the_header_are_recomputed(logs: Logs) -> None:
    metrics = {"accuracy": {"name": "accuracy", "value": 0.9}, "stderr": {"name": "stderr", "value": 0.5}}
    results = {
        "total_samples": 2,
        "scores": [{"name": "match", "scorer": "match", "metrics": metrics}],
    }
    _, notes = logs.read(
        sample(model_event()),
        sample(model_event(), id=2, uuid="v", scores={"match": {"value": "I"}}),
        head=header(results=results),
    )

    assert notes.warnings == {"accuracy of match in the header is 0.9, the samples give 0.5": 1}


def test_usage_of_the_header_is_recomputed(logs: Logs) -> None:
    stats = {"model_usage": {"openai/gpt-9": {"input_tokens": 999, "output_tokens": 5}}}
    usage = {"openai/gpt-9": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}}
    _, notes = logs.read(sample(model_event(), model_usage=usage), head=header(stats=stats))

    assert notes.warnings == {"input_tokens of openai/gpt-9 in the header are 999, the samples come to 10": 1}


@pytest.mark.parametrize("status", ["cancelled", "error", "started"])
def test_a_log_that_did_not_end_well_says_so(status: str, logs: Logs) -> None:
    told, notes = logs.read(sample(model_event()), head=header(status=status))

    assert told[0].columns["status"] == "passed"
    assert notes.warnings == {f"the log's status is {status}: 1 samples are here, of 1 planned": 1}


def test_a_sample_that_is_no_json_is_a_loss_and_the_others_stay(logs: Logs) -> None:
    told, notes = logs.read(b"{not json", b"[1]", b"[" * 100_000, sample(model_event()))

    assert len(told) == 1
    assert sum(notes.losses.values()) == 3
    assert any("nested too deeply" in text for text in notes.losses)


def test_invalid_bytes_and_lone_surrogates_are_kept(logs: Logs) -> None:
    text = json.dumps(sample(model_event("\udce9 MARK"))).encode().replace(b"MARK", b"\xe9\xff")
    done = import_run("inspect", [written(logs.folder / "log.eval", text)], logs.folder / "run", Options())

    assert done.adding.trials == 1
    assert any("no valid text" in found for found in done.files[0].notes.warnings)


def test_a_cut_json_log_keeps_the_samples_before_the_cut(logs: Logs) -> None:
    path = written(logs.folder / "log.json", sample(model_event()), sample(model_event(), id=2, uuid="v"))
    path.write_bytes(path.read_bytes()[:-200])
    told, notes = logs.of(path)

    assert len(told) == 1
    assert any("cut off" in text for text in notes.losses)


@pytest.mark.parametrize("name", ["log.eval", "log.json"])
def test_a_log_in_gzip_is_opened(name: str, logs: Logs) -> None:
    path = written(logs.folder / name, sample(model_event()))
    packed = path.with_name(path.name + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    told, _ = logs.of(packed)

    assert len(told) == 1
    assert IMPORTER.recognises(Source(packed))


def test_a_sample_in_pieces_is_one(logs: Logs) -> None:
    path = logs.folder / "log.eval"
    pool = [{"role": "user", "content": "attachment://0"}, {"role": "assistant", "content": "4"}]
    shell = {**sample(), "message_refs": [[0, 2]]}
    del shell["events"], shell["messages"]
    place = "samples/1_epoch_1"
    events = [model_event(input=[], input_refs=[[0, 1]]), calling(call("a"), input=[]), tool_event("a")]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps(header()))
        archive.writestr(f"{place}/sample.json", json.dumps(shell))
        archive.writestr(f"{place}/metadata.json", json.dumps({"difficulty": "hard"}))
        archive.writestr(f"{place}/messages/0.json", json.dumps(pool))
        archive.writestr(f"{place}/events/2.json", json.dumps(events[2:]))
        archive.writestr(f"{place}/events/0.json", json.dumps(events[:2]))
        archive.writestr(f"{place}/events/stats.json", "{}")
        archive.writestr(f"{place}/attachments/0.json", json.dumps(["a long question"]))
    (told,), notes = logs.of(path)

    assert [step.kind for step in told.steps] == ["prompt", "think", "think", "act"]
    assert isinstance(told.steps[0], Prompt)
    assert told.steps[0].text == "a long question"
    assert told.columns["difficulty"] == "hard"
    assert not notes.losses


# --- hostile archives


def test_members_packed_with_zstd_are_read(logs: Logs) -> None:
    path = written(logs.folder / "log.eval", sample(model_event()))
    data = b'{"packed": true}'
    raw = zstandard.ZstdCompressor().compress(data)
    with zipfile.ZipFile(path, "a") as archive:
        info = zipfile.ZipInfo("samples/zstd_epoch_1.json")
        archive.writestr(info, raw)
        info.compress_type, info.file_size, info.CRC = 93, len(data), zipfile.crc32(data)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    with open_archive(Source(path), Notes()) as opened:
        assert opened.read("samples/zstd_epoch_1.json") == data


def test_a_member_larger_than_the_archive_says_is_refused(logs: Logs) -> None:
    path = logs.folder / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb", b" " * 50_000_000)
        archive.getinfo("bomb").file_size = 1000
    with (
        open_archive(Source(path), Notes()) as opened,
        pytest.raises(Refused, match="larger than the archive says"),
    ):
        opened.read("bomb")


def test_a_member_beyond_a_gigabyte_is_not_unpacked(logs: Logs) -> None:
    path = logs.folder / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb", b" ")
        archive.getinfo("bomb").file_size = 1 << 31
    with open_archive(Source(path), Notes()) as opened, pytest.raises(Refused, match="larger than 1 GiB"):
        opened.read("bomb")


def test_damage_to_a_member_is_noticed(logs: Logs) -> None:
    path = written(logs.folder / "log.eval", sample(model_event()))
    data = bytearray(path.read_bytes())
    data[data.index(b"samples/0_epoch_1.json") + 60] ^= 0xFF
    path.write_bytes(data)

    _, notes = logs.of(path)
    assert any("damaged" in text for text in notes.losses)


def test_members_of_one_name_count_once(logs: Logs) -> None:
    path = written(logs.folder / "log.eval", sample(model_event()))
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr(
            "samples/0_epoch_1.json", json.dumps(sample(model_event(), scores={"m": {"value": "I"}}))
        )
    told, notes = logs.of(path)

    assert [one.columns["status"] for one in told] == ["failed"]
    assert any("the same name" in text for text in notes.warnings)


def test_names_in_an_archive_are_never_paths(logs: Logs) -> None:
    path = written(logs.folder / "log.eval", sample(model_event()))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(
            "samples/../../../evil.json", json.dumps(sample(model_event(), id="../../evil", uuid="v"))
        )
    done = import_run("inspect", [path], logs.folder / "run", Options())

    assert done.adding.trials == 2
    assert {one.name for one in logs.folder.iterdir()} == {"log.eval", "run"}


# --- recognising


@pytest.mark.parametrize("name", ["log.eval", "log.json", "renamed.zip", "utf16.json"])
def test_a_log_is_recognised(name: str, logs: Logs) -> None:
    path = logs.folder / name
    written(path if path.suffix == ".json" else path.with_suffix(".eval"), sample(model_event()))
    if name == "renamed.zip":
        path.with_suffix(".eval").rename(path)
    if name == "utf16.json":
        path.write_bytes(path.read_text("utf-8").encode("utf-16"))

    assert importer_of(Source(path), importers("inspect")) is IMPORTER
    assert len(logs.of(path)[0]) == 1


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"eval": 3}', '{"messages": [{"role": "user"}]}', '{"trajectory_format": "x"}', "eval"],
)
def test_other_files_are_not(text: str, logs: Logs) -> None:
    path = logs.folder / "other.json"
    path.write_text(text, "utf-8")

    assert not IMPORTER.recognises(Source(path))
