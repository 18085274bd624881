"""Sessions of Claude Code: conversations, their messages of many lines, and sub-agents."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evalkit.convert.claude_code import IMPORTER
from evalkit.convert.importer import Options
from evalkit.convert.importing import Imported, import_run
from evalkit.convert.notes import Refused
from evalkit.convert.source import Source
from evalkit.trajectory.reader import load
from evalkit.trajectory.step import Act, Event, Prompt, Step, Think
from evalkit.trajectory.trial import Trial

NAMES = (
    "agent-atest01.jsonl",
    "agent_session.jsonl",
    "clear_split_session.jsonl",
    "compaction_session.jsonl",
    "simple_conversation.jsonl",
    "tool_call_conversation.jsonl",
)
Whole = list[tuple[Trial, tuple[Step, ...]]]
Line = dict[str, Any]


def take(*paths: Path, out: Path) -> tuple[Imported, Whole, Counter[str]]:
    done = import_run("claude-code", paths, out / "run", Options())
    remarks = sum((report.notes.warnings for report in done.files), Counter[str]())
    return done, list(load(done.path).iter_trials()), remarks


def of(steps: tuple[Step, ...], kind: type[Any]) -> list[Any]:
    return [step for step in steps if isinstance(step, kind)]


class Session:
    """Writes lines, each the child of the one before."""

    def __init__(self, session: str = "s-1", **fields: Any) -> None:
        self.lines: list[Line] = []
        self._fields = {"sessionId": session, "isSidechain": False, "cwd": "/home/x/project", **fields}

    def add(self, kind: str, **fields: Any) -> Session:
        number = len(self.lines)
        session, side = self._fields["sessionId"], self._fields["isSidechain"]
        self.lines.append(
            {
                **self._fields,
                "type": kind,
                "uuid": f"{session}-{side}-{number}",
                "parentUuid": self.lines[-1]["uuid"] if self.lines else None,
                "timestamp": f"2026-01-31T10:00:{number % 60:02}.000Z",
                **fields,
            }
        )
        return self

    def user(self, content: Any, **fields: Any) -> Session:
        return self.add("user", message={"role": "user", "content": content}, **fields)

    def answer(self, *content: Any, id: str = "", usage: Any = None, **fields: Any) -> Session:  # noqa: A002
        message: Line = {
            "id": id or f"msg-{len(self.lines)}",
            "model": "claude-opus-4-5",
            "type": "message",
            "role": "assistant",
            "content": list(content),
            "stop_reason": "end_turn",
        }
        if usage is not None:
            message["usage"] = usage
        return self.add("assistant", message={**message, **fields.pop("message", {})}, **fields)

    def result(self, id_: str, content: Any, more: Any = None, **fields: Any) -> Session:
        block = {"type": "tool_result", "tool_use_id": id_, "content": content, **fields}
        return self.user([block], **({} if more is None else {"toolUseResult": more}))

    def write(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines), encoding="utf-8")
        return path


def text(said: str) -> Line:
    return {"type": "text", "text": said}


def call(id_: str, name: str = "Bash", **given: Any) -> Line:
    return {"type": "tool_use", "id": id_, "name": name, "input": given}


def usage(read: int, wrote: int, **more: Any) -> Line:
    return {"input_tokens": read, "output_tokens": wrote, **more}


@pytest.fixture
def sessions(shared_data: Path) -> Path:
    return shared_data / "inspect_scout" / "claude_code"


@pytest.mark.parametrize("name", NAMES)
def test_every_expected_number_of_a_file_is_in_what_it_became(
    name: str, sessions: Path, shared_data: Path, tmp_path: Path
) -> None:
    # Alone in a folder, so that the numbers are those of this file and of no other.
    values = json.loads((shared_data / "expected.json").read_text(encoding="utf-8"))["values"]
    want = values[f"inspect_scout/claude_code/{name}"]["value"]
    _, trials, remarks = take(Path(shutil.copy(sessions / name, tmp_path / name)), out=tmp_path)
    steps = tuple(step for _, own in trials for step in own)
    clears = len(trials) - 1
    results = sum(act.observation is not None for act in of(steps, Act))
    seen = {
        "assistant": len(of(steps, Think)),
        "user": len(of(steps, Prompt)) + results + clears,
        "system": len(of(steps, Event)),
    }
    assert {kind: count for kind, count in seen.items() if count} == want["types"]
    assert sum(seen.values()) == want["lines"]
    assert len(of(steps, Act)) == want["tool_use"]
    assert sum(think.reasoning is not None for think in of(steps, Think)) == want["thinking"]
    assert sum(trial.input_tokens or 0 for trial, _ in trials) == want["input_tokens"]
    assert sum(trial.output_tokens or 0 for trial, _ in trials) == want["output_tokens"]
    alone = "a sub-agent's steps without the session that it was part of are a trial of their own"
    assert (alone in remarks) == bool(want["sidechain_lines"])
    assert len(trials) == (2 if name.startswith("clear_split") else 1)


def test_a_folder_of_sessions_becomes_trials_and_a_sub_agent_none(sessions: Path, tmp_path: Path) -> None:
    done, trials, remarks = take(sessions, out=tmp_path)
    assert sorted(trial.task_id for trial, _ in trials) == [
        "test-session-001",
        "test-session-002",
        "test-session-003",
        "test-session-003-2",
        "test-session-004",
        "test-session-005",
    ]
    assert not remarks
    assert not done.incomplete
    assert {trial.agent for trial, _ in trials} == {"claude-code/claude-opus-4-5-20251101"}
    assert {(trial.suite, trial.status, trial.error_type) for trial, _ in trials} == {
        ("project", "unscored", "unjudged")
    }


def test_a_sub_agents_steps_and_tokens_are_behind_the_call_that_began_it(
    sessions: Path, tmp_path: Path
) -> None:
    _, trials, _ = take(sessions, out=tmp_path)
    [(trial, steps)] = [found for found in trials if found[0].task_id == "test-session-004"]
    assert [(type(step).__name__, step.parent_step) for step in steps] == [
        ("Prompt", None),
        ("Think", None),
        ("Act", 1),
        ("Prompt", 2),
        ("Think", 2),
        ("Act", 4),
        ("Think", 2),
        ("Think", None),
    ]
    assert [act.tool for act in of(steps, Act)] == ["Task", "Bash"]
    assert of(steps, Act)[0].duration_s == 5.0
    # 300 in and 80 out of the session, 200 in and 60 out of the sub-agent.
    assert (trial.input_tokens, trial.output_tokens, trial.model_calls) == (500, 140, 4)
    own = [think for think in of(steps, Think) if think.parent_step is None]
    assert (sum(think.input_tokens for think in own), sum(think.output_tokens for think in own)) == (300, 80)


def test_clear_begins_another_conversation(sessions: Path, tmp_path: Path) -> None:
    _, trials, _ = take(sessions / "clear_split_session.jsonl", out=tmp_path)
    told = {trial.task_id: [prompt.text for prompt in of(steps, Prompt)] for trial, steps in trials}
    assert told == {
        "test-session-003": ["First conversation message"],
        "test-session-003-2": ["Second conversation after clear"],
    }


def test_a_compaction_is_an_event_and_its_summary_a_prompt(sessions: Path, tmp_path: Path) -> None:
    _, [(_, steps)], _ = take(sessions / "compaction_session.jsonl", out=tmp_path)
    [event] = of(steps, Event)
    assert (event.event, json.loads(event.detail)) == ("compaction", {"trigger": "auto", "preTokens": 50000})
    assert of(steps, Prompt)[1].text.startswith("Summary of previous conversation")


def test_thinking_and_caches_are_told(sessions: Path, tmp_path: Path) -> None:
    _, [(trial, steps)], _ = take(sessions / "tool_call_conversation.jsonl", out=tmp_path)
    first, second = of(steps, Think)
    assert first.reasoning.startswith("The user wants me to read")
    assert first.reasoning_visibility == "full"
    assert "sig_abc123" in first.blocks
    assert (first.input_tokens, first.cache_read_tokens, first.cache_write_tokens) == (200, 50, 100)
    assert (second.cache_read_tokens, trial.cache_read_tokens) == (None, None)
    assert (trial.reasoning_tokens, trial.cost_usd) == (None, None)
    assert of(steps, Act)[0].observation.startswith("# My Project")


def test_a_message_of_many_lines_is_one_generation_whose_usage_counts_once(tmp_path: Path) -> None:
    lines = (
        Session()
        .user("hi")
        .answer({"type": "thinking", "thinking": "hm", "signature": "x"}, id="m", usage=usage(10, 1))
        .answer(call("a"), id="m", usage=usage(10, 5))
        .result("a", "one")
        .answer(call("b"), id="m", usage=usage(10, 30))
        .result("b", "two")
    )
    _, [(trial, steps)], _ = take(lines.write(tmp_path / "a.jsonl"), out=tmp_path)
    assert (trial.model_calls, trial.input_tokens, trial.output_tokens) == (1, 10, 30)
    assert [(act.call_index, act.observation) for act in of(steps, Act)] == [(0, "one"), (1, "two")]
    assert of(steps, Think)[0].reasoning == "hm"


def test_lines_and_blocks_that_come_twice_count_once(tmp_path: Path) -> None:
    lines = Session().user("hi").answer(call("a"), id="m", usage=usage(1, 1))
    lines.lines.append(lines.lines[-1])
    lines.answer(call("a"), text("x"), id="m", usage=usage(1, 1))
    _, [(trial, steps)], _ = take(lines.write(tmp_path / "a.jsonl"), out=tmp_path)
    assert (trial.tool_calls, trial.model_calls, of(steps, Think)[0].text) == (1, 1, "x")


def test_redacted_thinking_is_told_as_such(tmp_path: Path) -> None:
    lines = Session().user("hi").answer({"type": "redacted_thinking", "data": "zzz"}, usage=usage(1, 1))
    _, [(trial, steps)], _ = take(lines.write(tmp_path / "a.jsonl"), out=tmp_path)
    assert (of(steps, Think)[0].reasoning, trial.reasoning_visibility) == (None, "encrypted")


def test_an_error_of_the_api_is_no_generation(tmp_path: Path) -> None:
    lines = (
        Session()
        .user("hi")
        .add("system", subtype="api_error", retryAttempt=1, error={"status": 529})
        .answer(
            text("API Error: 529"),
            usage=usage(0, 0),
            isApiErrorMessage=True,
            message={"model": "<synthetic>"},
        )
        .answer(text("hello"), usage=usage(5, 2))
    )
    _, [(trial, steps)], _ = take(lines.write(tmp_path / "a.jsonl"), out=tmp_path)
    assert [event.event for event in of(steps, Event)] == ["retry", "error"]
    assert (trial.model_calls, trial.input_tokens, trial.model) == (1, 5, "claude-opus-4-5")


@pytest.mark.parametrize(
    ("content", "kind", "code"),
    [
        ("Exit code 2\nno such file", "unknown", 2),
        ("<tool_use_error>InputValidationError: x", "parsing", None),
        ("The user doesn't want to proceed with this tool use.", "denied", None),
        ("Command timed out after 2m 0.0s", "timeout", None),
    ],
)
def test_a_failed_call_says_why(content: str, kind: str, code: int | None, tmp_path: Path) -> None:
    lines = Session().user("hi").answer(call("a"), usage=usage(1, 1)).result("a", content, is_error=True)
    _, [(_, steps)], _ = take(lines.write(tmp_path / "a.jsonl"), out=tmp_path)
    [act] = of(steps, Act)
    assert (act.error_kind, act.exit_code, act.observation) == (kind, code, content)


def test_output_streams_are_kept_and_a_result_of_no_call_is_too(tmp_path: Path) -> None:
    lines = (
        Session()
        .user("hi")
        .answer(call("a"), call("b"), usage=usage(1, 1))
        .result("a", "out", {"stdout": "out", "stderr": "err"})
        .result("zzz", [text("lost")], "a text")
    )
    _, [(_, steps)], remarks = take(lines.write(tmp_path / "a.jsonl"), out=tmp_path)
    first, second, orphan = of(steps, Act)
    assert (first.stdout, first.stderr, first.error_kind) == ("out", "err", None)
    assert (second.observation, orphan.observation, orphan.think_step) == (None, "lost", None)
    assert set(remarks) == {"a result of no known call is kept without one"}


def test_missing_usage_is_unknown(tmp_path: Path) -> None:
    lines = Session().user("hi").answer(text("a"), usage=usage(1, 1)).answer(text("b"))
    _, [(trial, _)], remarks = take(lines.write(tmp_path / "a.jsonl"), out=tmp_path)
    assert (trial.input_tokens, trial.output_tokens) == (None, None)
    assert set(remarks) == {"messages of the model without usage have unknown tokens"}


@pytest.mark.parametrize(
    ("told", "suffix"),
    [
        ({"maxThinkingTokens": 31999}, "@31999"),
        ({"maxThinkingTokens": 0}, "@off"),
        ({"level": "high", "disabled": False}, "@effort:high"),
        ({"level": "high", "disabled": True}, "@off"),
        ({}, ""),
        ("x", ""),
    ],
)
def test_the_thinking_setting_is_in_the_agent(told: object, suffix: str, tmp_path: Path) -> None:
    lines = Session().user("hi", thinkingMetadata=told).answer(text("a"), usage=usage(1, 1))
    _, [(trial, _)], _ = take(lines.write(tmp_path / "a.jsonl"), out=tmp_path)
    assert trial.agent == f"claude-code/claude-opus-4-5{suffix}"


def test_lines_that_are_bad_are_named_and_the_others_kept(tmp_path: Path) -> None:
    path = Session().user("hi").answer(text("a"), usage=usage(1, 1)).write(tmp_path / "a.jsonl")
    with path.open("a", encoding="utf-8") as file:
        file.write('42\n\n{"type": "summary", "summary": "x"}\n{"type": "new-kind"}\n{"type": "user", "mess')
    done, [(trial, steps)], remarks = take(path, out=tmp_path)
    assert (trial.input_tokens, len(steps)) == (1, 2)
    [report] = done.files
    assert [loss.partition(":")[0] for loss in report.notes.losses] == ["line 3", "line 7"]
    assert set(remarks) == {"lines of the type 'new-kind' are left out"}


def test_only_its_own_files_are_recognised(shared_data: Path) -> None:
    found = {
        str(path.relative_to(shared_data))
        for path in shared_data.rglob("*")
        if path.is_file() and _recognised(path)
    }
    assert found == {f"inspect_scout/claude_code/{name}" for name in NAMES}


def _recognised(path: Path) -> bool:
    try:
        return IMPORTER.recognises(Source(path))
    except Refused:
        return False
