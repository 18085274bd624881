"""How do the steps of a run in ATIF, and those of its sub-agents, become steps of a trial?"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from evalkit.convert.atif_files import Document, beside, read_document, subagents_of, whole_run
from evalkit.convert.atif_tally import Tally, compare, step_usage
from evalkit.convert.content import text_of
from evalkit.convert.generation import chat_blocks, think_columns
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.reported import moment, tokens
from evalkit.convert.source import Source
from evalkit.convert.steps import Steps
from evalkit.convert.subagents import one_after_another, with_subagents
from evalkit.convert.text_calls import calls_in_text
from evalkit.models.wire.blocks import thinking_in
from evalkit.models.wire.json_values import as_list, as_object, is_object, objects_in, text_in
from evalkit.trajectory.step import ErrorKind, Event, Step

_DEEPEST = 5
"""Sub-agents of sub-agents that are followed."""
_KNOWN = re.compile(r"ATIF-v1\.[0-8]")
_NOBODY = -1
_ORPHAN = "a result of no call"
_Asked: TypeAlias = tuple[str, str | None]
"""A call: the key under which it waits for its result, and its id in the file."""
TEXT_CALLS = "calls that stand only in the text of a message were told from it"


@dataclass(slots=True)
class Told:
    """A run, converted."""

    steps: tuple[Step, ...]
    tally: Tally
    further_calls: int
    """Generations that share a step with another."""
    efforts: tuple[str, ...]
    """The thinking settings of the steps, each once."""
    times: tuple[datetime, ...]
    inner: tuple[Step, ...] = ()
    """Those of the steps that are sub-agents', as they were numbered there."""

    def followed_by(self, further: Told, checkpoint: str) -> Told:
        """Both as one run, with an event `checkpoint` between them."""
        mark = Event(step=0, event="checkpoint", detail=checkpoint)
        return Told(
            steps=one_after_another((self.steps, (mark,), further.steps)),
            tally=self.tally + further.tally,
            further_calls=self.further_calls + further.further_calls,
            efforts=tuple(dict.fromkeys((*self.efforts, *further.efforts))),
            times=(*self.times, *further.times),
            inner=(*self.inner, *further.inner),
        )


def convert_run(
    run: Sequence[Document], notes: Notes, *, depth: int = 0, seen: set[object] | None = None
) -> Told:
    """The steps of all files of a run. Sub-agents that are here are in it, each once; those that are not are remarked
    on. `seen`: what is in it already.
    """
    known: set[object] = set() if seen is None else seen
    known.update(document.key for document in run)
    conversion = _Conversion(notes, depth, known)
    for number, document in enumerate(run):
        conversion.add(document, goes_on=number > 0)
    return conversion.told()


@dataclass
class _Conversion:
    notes: Notes
    depth: int
    seen: set[object]
    """Documents that are in the trial already, its sub-agents' too."""
    own: Tally = field(default_factory=Tally)
    """Of the run's own steps."""
    inner: Tally = field(default_factory=Tally)
    """Of its sub-agents'."""
    further_calls: int = 0
    efforts: dict[str, None] = field(default_factory=dict[str, None])
    times: list[datetime] = field(default_factory=list[datetime])

    def __post_init__(self) -> None:
        self._steps = Steps(self.notes)
        self._called: dict[int, list[tuple[Step, ...]]] = {}
        self._open: dict[str, deque[str]] = {}
        """By the file's own id of a call, the keys under which such calls wait for their results."""
        self._answered: set[str] = set()
        self._said: set[int] = set()
        """Hashes of all that was said so far: copies of it need not be kept."""
        self._copied: list[dict[str, str]] = []
        self._copies = 0
        self._seam = False
        self._embedded: dict[tuple[str, str], Mapping[str, object]] = {}
        self._calls = 0
        self._text_calls = False
        self._document: Document | None = None

    def told(self) -> Told:
        return Told(
            steps=with_subagents(self._steps.done(), self._called),
            tally=self.own + self.inner,
            further_calls=self.further_calls,
            efforts=tuple(self.efforts),
            times=tuple(self.times),
            inner=tuple(step for called in self._called.values() for steps in called for step in steps),
        )

    def add(self, document: Document, *, goes_on: bool) -> None:
        """Add the steps of a further file."""
        self._document, self._seam = document, goes_on
        self._embedded = {
            (name, value): root
            for root in reversed(document.embedded)
            for name in ("trajectory_id", "session_id")
            if (value := text_in(root.get(name))) is not None
        }
        before = self.own
        steps = document.steps
        self._text_calls = not any(step.get("tool_calls") for step in steps)
        dropped = len(as_list(document.root.get("steps"))) - len(steps)
        if dropped:
            self.notes.lose("steps that are no objects are left out", dropped)
        version = document.root.get("schema_version")
        if not isinstance(version, str) or not _KNOWN.fullmatch(version):
            self.notes.warn(f"schema_version {version!r} is not a known one; its known fields are read")
        self._check_ids(steps)
        for step in steps:
            if step.get("is_copied_context") is True:
                self._copy(step)
                continue
            self._end_of_copies()
            self._add_step(step)
        self._end_of_copies()
        self._rest_of_embedded(document)
        self._compare(document, before)

    def _check_ids(self, steps: Sequence[Mapping[str, object]]) -> None:
        seen: set[object] = set()
        for step in steps:
            number = step.get("step_id")
            if not isinstance(number, int):
                self.notes.warn("steps without a step_id are kept")
            elif number in seen:
                self.notes.warn("steps whose step_id comes twice are kept")
            else:
                seen.add(number)

    def _compare(self, document: Document, before: Tally) -> None:
        final = as_object(document.root.get("final_metrics"))
        own = Tally(
            self.own.prompt - before.prompt,
            self.own.completion - before.completion,
            self.own.cost - before.cost,
            self.own.untold - before.untold,
        )
        added = {"all": self.own + self.inner, "without sub-agents": self.own, "this file": own}
        compare(final, added, self.notes)
        count = final.get("total_steps")
        if isinstance(count, int) and count != len(document.steps):
            self.notes.warn(f"final_metrics say {count:,} steps, and there are {len(document.steps):,}")

    def _copy(self, step: Mapping[str, object]) -> None:
        text = text_of(step.get("message"))
        self._copies += 1
        if text and hash(text) not in self._said:
            self._copied.append({"source": text_in(step.get("source")) or "", "text": text})

    def _end_of_copies(self) -> None:
        """Where the copied context ends, or a file begins without one, the context was replaced."""
        if not self._copies and not self._seam:
            return
        detail: dict[str, object] = {"copied_steps": self._copies, "context": self._copied}
        last = next(reversed(self._steps.done()), None) if self._seam else None
        if isinstance(last, Event) and last.event == "compaction":
            known = json.loads(last.detail or "{}")
            self._steps.change(last.step, detail=_json({**known, **detail}))
        else:
            self._steps.event("compaction", _json(detail))
        self._copies, self._copied, self._seam = 0, [], False

    def _add_step(self, step: Mapping[str, object]) -> None:
        at = moment(step.get("timestamp"), self.notes)
        if at is not None:
            self.times.append(at)
        text = text_of(step.get("message"))
        self._said.add(hash(text))
        source = step.get("source")
        calls: list[_Asked] = []
        place: int | None = None
        if source == "agent":
            calls = self._agent(step, text, at)
        elif _is_compaction(step):
            told = {"message": text, "context_management": _context_management(step)}
            place = self._steps.event("compaction", _json(told), at=at)
        else:
            if source not in ("user", "system"):
                self.notes.warn(
                    "steps of a source that is none of system, user and agent are kept as prompts"
                )
            place = self._steps.prompt("system" if source == "system" else "user", text, at=at)
        self._results(step, calls, place)

    def _agent(self, step: Mapping[str, object], text: str, at: datetime | None) -> list[_Asked]:
        """A generation and its calls."""
        calls = [
            (text_in(call.get("function_name")), call.get("arguments"), text_in(call.get("tool_call_id")))
            for call in objects_in(step.get("tool_calls"))
        ]
        if not calls and self._text_calls:
            calls = [(name, arguments, None) for name, arguments in calls_in_text(text)]
            self.notes.warn(TEXT_CALLS, len(calls))
        models = tokens(step.get("llm_call_count"), self.notes, "a number of calls")
        think = self._think(step, calls, at) if models != 0 else None
        if models == 0 and text:
            self._steps.event("intervention", _json({"source": "agent", "message": text}), at=at)
        self.further_calls += max(0, (models or 1) - 1)
        found: list[_Asked] = []
        for name, arguments, id_ in calls:
            key = str(self._calls)
            self._calls += 1
            self._steps.call(think, name, arguments, id=key, at=at)
            if id_ is not None:
                self._open.setdefault(id_, deque()).append(key)
            found.append((key, id_))
        return found

    def _think(
        self,
        step: Mapping[str, object],
        calls: Sequence[tuple[str | None, object, str | None]],
        at: datetime | None,
    ) -> int:
        message = {
            "content": step.get("message"),
            "reasoning_content": step.get("reasoning_content"),
            "tool_calls": [
                {"id": id_ or "", "function": {"name": name or "", "arguments": arguments}}
                for name, arguments, id_ in calls
            ],
        }
        blocks = chat_blocks(message)
        metrics = as_object(step.get("metrics"))
        usage = step_usage(metrics, self.notes, thinking_shown=thinking_in(blocks))
        self.own += Tally(
            sum(filter(None, (usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens))),
            usage.output_tokens or 0,
            usage.reported_cost_usd or 0.0,
            int(usage.input_tokens is None or usage.output_tokens is None),
        )
        effort = step.get("reasoning_effort")
        if isinstance(effort, str | float | int) and not isinstance(effort, bool) and effort != "":
            self.efforts[str(effort)] = None
        extra = as_object(step.get("extra"))
        return self._steps.think(
            **think_columns(blocks, usage),
            cost_usd=usage.reported_cost_usd,
            model_served=text_in(step.get("model_name")),
            finish_reason=text_in(extra.get("stop_reason")) or text_in(extra.get("finish_reason")),
            started_at=at,
        )

    def _results(self, step: Mapping[str, object], calls: Sequence[_Asked], place: int | None) -> None:
        """The results of a step: those with an id belong to the call that has it, the others to the step's calls in
        their order. What belongs to no call is what the agent was told next.
        """
        observation = step.get("observation")
        told = as_object(observation).get("results") if is_object(observation) else observation
        waiting = _Waiting(calls)
        for result in [told] if isinstance(told, str) else as_list(told):
            fields = result if is_object(result) else {"content": result}
            key = self._key(text_in(fields.get("source_call_id")), waiting)
            content = fields.get("content")
            text = None if content is None else text_of(content)
            number = place
            if key is not None:
                number = self._steps.result(
                    key, text, error_kind=_error(fields, step), exit_code=_exit_code(fields)
                )
            elif text:
                number = self._steps.prompt("user", text)
            for reference in subagents_of(fields):
                self._subagent(reference, _NOBODY if number is None else number)

    def _key(self, id_: str | None, waiting: _Waiting) -> str | None:
        """Under which key the call of a result waits; None where it names none and none waits."""
        queues = (
            (waiting.keys,)
            if id_ is None
            else (waiting.by_id.get(id_, deque[str]()), self._open.get(id_, deque[str]()))
        )
        for queue in queues:
            while queue:
                key = queue.popleft()
                if key not in self._answered:
                    self._answered.add(key)
                    return key
        return None if id_ is None else _ORPHAN

    def _subagent(self, reference: Mapping[str, object], number: int) -> None:
        document = self._resolve(reference)
        if document is not None:
            self._insert(document, number)

    def _resolve(self, reference: Mapping[str, object]) -> Document | None:
        assert self._document is not None
        names = ("trajectory_id", "session_id")
        wanted = next(((name, value) for name in names if (value := text_in(reference.get(name)))), None)
        if wanted is not None and (root := self._embedded.get(wanted)) is not None:
            return Document(self._document.path, root, embedded_in=self._document)
        name = text_in(reference.get("trajectory_path"))
        path: Path | None = beside(self._document.path, name) if name else None
        if path is None:
            called = name or (wanted[1] if wanted else "one without a name")
            self.notes.warn(f"the trajectory of a sub-agent is not here: {called}")
            return None
        if path in self.seen:
            return None
        try:
            return read_document(Source(path), self.notes)
        except Refused as problem:
            self.notes.lose(f"{name}, the trajectory of a sub-agent: {problem}")
            return None

    def _rest_of_embedded(self, document: Document) -> None:
        """Embedded trajectories that no observation refers to."""
        for root in document.embedded:
            inner = Document(document.path, root, embedded_in=document)
            if inner.key not in self.seen:
                self.notes.warn("sub-agents that no observation names are put at the end")
                self._insert(inner, _NOBODY)

    def _insert(self, document: Document, number: int) -> None:
        if document.key in self.seen:
            return
        if self.depth == _DEEPEST:
            self.notes.lose(f"sub-agents of sub-agents, more than {_DEEPEST} deep")
            return
        run = whole_run(document, self.notes) if document.continued else [document]
        run = [part for part in run if part.key not in self.seen]
        told = convert_run(run, self.notes, depth=self.depth + 1, seen=self.seen)
        self.inner += told.tally
        self.further_calls += told.further_calls
        self._called.setdefault(number, []).append(told.steps)


class _Waiting:
    """The calls of one step, as far as they have no results."""

    def __init__(self, calls: Sequence[_Asked]) -> None:
        self.keys = deque(key for key, _ in calls)
        self.by_id: dict[str, deque[str]] = {}
        for key, id_ in calls:
            if id_ is not None:
                self.by_id.setdefault(id_, deque()).append(key)


def _is_compaction(step: Mapping[str, object]) -> bool:
    return as_object(_context_management(step)).get("type") == "compaction"


def _context_management(step: Mapping[str, object]) -> object:
    return as_object(step.get("extra")).get("context_management")


def _exit_code(result: Mapping[str, object]) -> int | None:
    code = as_object(result.get("extra")).get("exit_code")
    return code if isinstance(code, int) and not isinstance(code, bool) and abs(code) < 1 << 31 else None


def _error(result: Mapping[str, object], step: Mapping[str, object]) -> ErrorKind | None:
    """Whether a call failed: `extra` of its result says so, or that of its step where this has one call only, as Harbor
    writes it for Claude Code.
    """
    alone = len(as_list(step.get("tool_calls"))) == 1
    of_step = as_object(as_object(step.get("extra")).get("metadata") if alone else None)
    failed = as_object(result.get("extra")).get("is_error") is True or of_step.get("is_error") is True
    return "unknown" if failed else None


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    except (ValueError, TypeError, RecursionError):
        return "{}"
