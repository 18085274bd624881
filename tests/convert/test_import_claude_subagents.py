"""Sub-agents of Claude Code inside the session that called them, and sessions with anything wrong in them."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any, cast

from evalkit.convert.claude_code import IMPORTER
from evalkit.convert.importer import Options
from evalkit.convert.importing import Imported, import_run
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.source import Source
from evalkit.trajectory.reader import load
from evalkit.trajectory.step import Act, Step, Think
from evalkit.trajectory.trial import Trial

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


def sub_agent(said: str, tokens: int) -> Session:
    inner = Session(isSidechain=True)
    return inner.user(said).answer(text("done"), id=f"inner-{tokens}", usage=usage(tokens, 1))


def calling() -> Session:
    return (
        Session()
        .user("hi")
        .answer(call("a", "Task", prompt="one"), call("b", "Task", prompt="two"), usage=usage(100, 1))
        .result("a", "done")
        .result("b", "done")
    )


def test_sub_agents_of_newer_versions_are_found_in_the_sessions_folder(tmp_path: Path) -> None:
    calling().write(tmp_path / "in" / "s-1.jsonl")
    sub_agent("two", 7).write(tmp_path / "in" / "s-1" / "subagents" / "agent-x.jsonl")
    _, [(trial, steps)], remarks = take(tmp_path / "in", out=tmp_path)
    assert trial.input_tokens == 107
    [inner] = [think for think in of(steps, Think) if think.input_tokens == 7]
    assert json.loads(cast("Act", steps[inner.parent_step]).arguments or "")["prompt"] == "two"
    assert not remarks


def test_sidechains_inside_the_sessions_own_file_are_sub_agents_too(tmp_path: Path) -> None:
    lines = calling()
    lines.lines[2:2] = [*sub_agent("one", 7).lines, *_renamed(sub_agent("two", 9).lines)]
    _, [(trial, steps)], remarks = take(lines.write(tmp_path / "a.jsonl"), out=tmp_path)
    assert trial.input_tokens == 116
    tasks = {step.step: json.loads(step.arguments or "")["prompt"] for step in of(steps, Act)}
    found = {think.input_tokens: tasks[think.parent_step] for think in of(steps, Think) if think.parent_step}
    assert found == {7: "one", 9: "two"}
    assert not remarks


def _renamed(lines: list[Line]) -> list[Line]:
    names = {line["uuid"]: line["uuid"] + "-other" for line in lines}
    return [
        {**line, "uuid": names[line["uuid"]], "parentUuid": names.get(line["parentUuid"])} for line in lines
    ]


def test_a_sub_agent_that_no_call_fits_to_is_at_the_end_and_not_lost(tmp_path: Path) -> None:
    calling().write(tmp_path / "in" / "s-1.jsonl")
    sub_agent("something else", 7).write(tmp_path / "in" / "agent-x.jsonl")
    _, [(trial, steps)], remarks = take(tmp_path / "in", out=tmp_path)
    assert trial.input_tokens == 107
    assert steps[-1].parent_step is None
    assert set(remarks) == {"sub-agents that no call fits to are put at the end"}


def test_another_sessions_sub_agent_is_not_taken_for_ones_own(tmp_path: Path) -> None:
    calling().write(tmp_path / "in" / "s-1.jsonl")
    other = Session("s-2", isSidechain=True).user("one").answer(text("x"), usage=usage(7, 1))
    other.write(tmp_path / "in" / "agent-x.jsonl")
    _, trials, _ = take(tmp_path / "in", out=tmp_path)
    assert sorted(trial.input_tokens or 0 for trial, _ in trials) == [7, 100]


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
    if chance.random() < 0.05:
        return chance.choice(NONSENSE)
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value).items()
        return {key: mutated(item, chance) for key, item in pairs if chance.random() > 0.04}
    if isinstance(value, list):
        return [mutated(item, chance) for item in cast("list[Any]", value)]
    return value


def test_no_mutation_comes_out_as_anything_but_trials_losses_and_refusals(tmp_path: Path) -> None:
    chance = random.Random(8)
    lines = calling()
    lines.lines[2:2] = sub_agent("one", 7).lines
    lines.add("system", subtype="compact_boundary", compactMetadata={"trigger": "auto"})
    lines.user("<command-name>/clear</command-name>").user("on", thinkingMetadata={"level": "high"})
    lines.answer(call("c"), usage=usage(1, 1)).result(
        "c", "x", {"stdout": "x", "agentId": "y", "durationMs": 5}
    )
    whole = lines.write(tmp_path / "whole.jsonl").read_bytes()
    place = tmp_path / "a.jsonl"
    for case in range(400):
        if case % 2:
            place.write_bytes(b"\n".join(json.dumps(mutated(line, chance)).encode() for line in lines.lines))
        else:
            cut = chance.randrange(len(whole))
            place.write_bytes(
                whole[:cut] + (bytes([chance.randrange(256)]) + whole[cut + 1 :] if case % 4 else b"")
            )
        try:
            for converted in IMPORTER.convert(Source(place, named=True), Notes(), Options()):
                assert [step.step for step in converted.steps] == list(range(len(converted.steps)))
        except Refused:
            continue
