"""Sessions of Claude Code: JSONL, one event a line, as in `~/.claude/projects/`.

    {"type": "user", "uuid": "1", "parentUuid": null, "sessionId": "s", "isSidechain": false, "cwd": "/home/x/project",
     "version": "2.0.76", "timestamp": "2026-01-31T11:00:00Z", "message": {"role": "user", "content": "..."}}
    {"type": "assistant", "uuid": "2", "parentUuid": "1", "sessionId": "s", "message": {"id": "msg_1", "model": "...",
     "content": [{"type": "thinking", ...}, {"type": "text", ...}, {"type": "tool_use", "id": "a", ...}],
     "stop_reason": "tool_use", "usage": {"input_tokens": 9, "cache_read_input_tokens": 4, "output_tokens": 3}}}
    {"type": "user", ..., "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", ...}]},
     "toolUseResult": {"stdout": "...", "stderr": ""}}
    {"type": "system", "subtype": "compact_boundary", "compactMetadata": {"trigger": "auto", "preTokens": 50000}}

| what                        | known?                                                                    |
|-----------------------------|---------------------------------------------------------------------------|
| task                        | the session, and its number in it where `/clear` began a further one      |
| suite                       | the folder that it worked in                                              |
| success                     | no: nobody judged it, so it is unscored                                   |
| thinking, text, calls       | yes; redacted thinking as such                                            |
| errors of calls             | whether a call failed; why, where Claude Code's own words tell it         |
| exit codes                  | of commands that failed                                                   |
| tokens                      | yes, of each message once, however many lines it has; reasoning is not    |
|                             | told apart from the rest of the output                                    |
| cost                        | only in files of old versions (`costUSD`)                                 |
| time                        | when steps began; not how long calls took, but for those of sub-agents    |
| why it stopped              | no                                                                        |
| sub-agents                  | part of the trial, behind the call that began them; their tokens, which   |
|                             | those of the session do not contain, are in the trial's                   |

The files of sub-agents (`agent-ID.jsonl` beside the session's, or in its folder `subagents`) are read with the session
that they belong to, and alone only where it is not there. Steps stand in the order of the file, those of branches that
were given up with them, because they were paid for. A session that was resumed into a further file tells its history
there again, and what that cost.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from evalkit.convert.asked import agent_name
from evalkit.convert.claude_files import agent_files, is_agent_file, session_file
from evalkit.convert.claude_lines import Conversation, Line, Session, split
from evalkit.convert.claude_steps import Told, convert_lines
from evalkit.convert.converted import Converted
from evalkit.convert.importer import Importer, Options
from evalkit.convert.json_lines import json_lines
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.outcome import by_reward
from evalkit.convert.reported import between
from evalkit.convert.source import Source
from evalkit.convert.subagents import with_subagents
from evalkit.models.wire.json_values import as_object, text_in
from evalkit.trajectory.step import Step

_SESSION = re.compile(rb'"sessionId"\s*:\s*"')
_TYPE = re.compile(rb'"type"\s*:\s*"(?:user|assistant|system|summary|queue-operation|file-history-snapshot)"')
_PARENT = re.compile(rb'"(?:parentUuid|leafUuid)"\s*:\s*(?:"|null)')
_LOOP = "claude-code"
_NOBODY = -1
_SETTINGS = ("version", "cwd", "gitBranch", "permissionMode", "entrypoint", "userType")


class _ClaudeCode:
    name = "claude-code"

    def expects(self, name: str) -> bool:
        del name
        return False

    def recognises(self, source: Source) -> bool:
        head = source.head
        return source.name.endswith(".jsonl") and all(
            field.search(head) is not None for field in (_SESSION, _TYPE, _PARENT)
        )

    def convert(self, source: Source, notes: Notes, options: Options) -> Iterator[Converted]:
        if is_agent_file(source):
            if session_file(source) is not None and not source.named:
                return  # It is read together with its session.
            if session_file(source) is None:
                notes.warn(
                    "a sub-agent's steps without the session that it was part of are a trial of their own"
                )
        session = split(json_lines(source, notes))
        conversations = session.conversations or session.sidechains
        alone = not session.conversations
        inner = _SubAgents([] if alone else [*_sidechains(session, notes), *_files(source, notes)])
        for place, conversation in enumerate(conversations):
            last = place == len(conversations) - 1
            yield _trial(source, conversation, inner, notes, options, place=place, last=last)


@dataclass(slots=True)
class _SubAgent:
    """A sub-agent, until the call is found that its steps belong to."""

    agent_id: str | None
    told: Told
    prompt: str | None
    placed: bool = False


class _SubAgents:
    """The sub-agents of a session."""

    def __init__(self, agents: Sequence[_SubAgent]) -> None:
        self._all = agents
        self._by_id: dict[str, _SubAgent] = {}
        self._by_prompt: dict[str, deque[_SubAgent]] = {}
        for agent in agents:
            if agent.agent_id is not None:
                self._by_id.setdefault(agent.agent_id, agent)
            if agent.prompt is not None:
                self._by_prompt.setdefault(agent.prompt, deque()).append(agent)

    def called_in(self, told: Told) -> dict[int, list[_SubAgent]]:
        """Those that a conversation called, by the call: whom its result names, else the first that was not placed and
        was told the same.
        """
        found: dict[int, list[_SubAgent]] = {}
        for number, asked in told.asked.items():
            agent = self._by_id.get(asked.agent_id) if asked.agent_id is not None else None
            if agent is not None and not agent.placed:
                agent.placed = True
                found.setdefault(number, []).append(agent)
        for number, asked in told.asked.items():
            waiting = self._by_prompt.get(asked.prompt or "")
            while waiting and waiting[0].placed:
                waiting.popleft()
            if asked.agent_id is None and waiting:
                waiting[0].placed = True
                found[number] = [waiting.popleft()]
        return found

    def rest(self) -> list[_SubAgent]:
        """Those that no call fits to."""
        return [agent for agent in self._all if not agent.placed]


def _sidechains(session: Session, notes: Notes) -> Iterator[_SubAgent]:
    for chain in session.sidechains:
        yield _sub_agent(None, chain.lines, notes)


def _files(source: Source, notes: Notes) -> Iterator[_SubAgent]:
    for agent_id, file in agent_files(source):
        try:
            session = split(json_lines(file, notes))
        except Refused as problem:
            notes.lose(f"{file.path.name}, the steps of a sub-agent: {problem}")
            continue
        lines = [line for chain in session.sidechains or session.conversations for line in chain.lines]
        yield _sub_agent(agent_id, lines, notes)


def _sub_agent(agent_id: str | None, lines: Sequence[Line], notes: Notes) -> _SubAgent:
    first = as_object(lines[0].get("message")).get("content") if lines else None
    named = agent_id or next(filter(None, (text_in(line.get("agentId")) for line in lines)), None)
    return _SubAgent(named, convert_lines(lines, notes), text_in(first))


def _trial(
    source: Source,
    conversation: Conversation,
    inner: _SubAgents,
    notes: Notes,
    options: Options,
    *,
    place: int,
    last: bool,
) -> Converted:
    told = convert_lines(conversation.lines, notes)
    steps, models = _with(told, inner, notes, last=last)
    session = _first(conversation.lines, "sessionId") or source.name.removesuffix(".jsonl")
    task = session if not place else f"{session}-{place + 1}"
    model = next((name for name, _ in Counter(told.models or models).most_common(1)), None)
    thinking = next(iter(told.levels)) if len(told.levels) == 1 else None
    return Converted(
        suite=options.suite or _project(conversation.lines) or _LOOP,
        task_id=task,
        agent=options.agent or agent_name(_LOOP, model, thinking),
        steps=steps,
        columns={
            **by_reward(None, notes, options),
            **_times(told, notes),
            "agent_loop": _LOOP,
            "model": model,
            "thinking": thinking,
        },
        settings={name: _first(conversation.lines, name) for name in _SETTINGS},
        where=f"line {conversation.first_line}",
    )


def _with(told: Told, inner: _SubAgents, notes: Notes, *, last: bool) -> tuple[tuple[Step, ...], list[str]]:
    """The conversation's steps with those of the sub-agents that it called, and whose models these used. Those that
    no call fits to are at the end of the session's last conversation.
    """
    called = inner.called_in(told)
    if last and (rest := inner.rest()):
        notes.warn("sub-agents that no call fits to are put at the end", len(rest))
        called[_NOBODY] = rest
    models = [model for agents in called.values() for agent in agents for model in agent.told.models]
    steps = {number: [agent.told.steps for agent in agents] for number, agents in called.items()}
    return with_subagents(told.steps, steps), models


def _times(told: Told, notes: Notes) -> dict[str, Any]:
    if not told.times or between(told.times[0], told.times[-1], notes) is None:
        return {"started_at": next(iter(told.times), None)}
    return {"started_at": told.times[0], "finished_at": told.times[-1]}


def _first(lines: Sequence[Line], name: str) -> str | None:
    return next(filter(None, (text_in(line.get(name)) for line in lines)), None)


def _project(lines: Sequence[Line]) -> str | None:
    """The name of the folder that the session worked in."""
    folder = _first(lines, "cwd") or ""
    kind = PureWindowsPath if re.match(r"[A-Za-z]:\\", folder) else PurePosixPath
    return kind(folder).name or None


IMPORTER: Importer = _ClaudeCode()
