r"""Conversations in OpenAI's chat format, one JSON object a line. Most keys may be missing.

    {"task_id": "17", "epoch": 1, "model": "openai/gpt-5", "reward": 1.0, "suite": "mine", "messages": [
        {"role": "user", "content": "..."},
        {"role": "assistant", "content": "...", "reasoning_content": "...", "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "bash", "arguments": "{\"cmd\": \"ls\"}"}}]},
        {"role": "tool", "tool_call_id": "a", "content": "..."}]}

Calls of custom tools (`"custom": {"name": "sh", "input": "ls"}`) have a text for arguments. Of what was said in sound
the transcript counts; content of no known form is kept as JSON, and a part without a text, such as an image, by its
type.

Equal lines that name no epoch are attempts that went alike, and are kept; with an epoch, one is a copy of the other.
Lines that are messages themselves (`{"role": "user", "content": "..."}`) are together one conversation, that of the
file, of which nothing else is known.

| what                        | known?                                                                    |
|-----------------------------|---------------------------------------------------------------------------|
| task, epoch, model          | where the line names them; else the number of the line, in order, unknown |
| success                     | by the reward; a line without one is unscored                             |
| thinking, text, calls       | yes                                                                       |
| errors of calls, exit codes | no                                                                        |
| tokens, cost, time          | no                                                                        |
| why it stopped              | no                                                                        |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evalkit.convert.chat_steps import add_message
from evalkit.convert.converted import Converted
from evalkit.convert.first_line import first_object
from evalkit.convert.importer import Importer, Options
from evalkit.convert.json_lines import json_lines
from evalkit.convert.naming import name_of
from evalkit.convert.notes import Notes
from evalkit.convert.occurrences import Occurrences
from evalkit.convert.outcome import by_reward
from evalkit.convert.reported import tokens
from evalkit.convert.source import Source
from evalkit.convert.steps import Steps
from evalkit.models.wire.json_values import is_list, is_object, objects_in, text_in
from evalkit.trajectory.step import Step

_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})


class _OpenaiMessages:
    name = "openai-messages"

    def expects(self, name: str) -> bool:
        del name
        return False

    def recognises(self, source: Source) -> bool:
        if not source.name.endswith((".jsonl", ".ndjson")):
            return False
        first = first_object(source)
        if not first:  # longer than the head
            head = source.head
            return b'"messages"' in head and b'"role"' in head and b"\n" not in head
        return any("role" in message for message in objects_in(first.get("messages"))) or _is_message(first)

    def convert(self, source: Source, notes: Notes, options: Options) -> Iterator[Converted]:
        seen = Occurrences()
        own: list[object] = []
        for number, line in json_lines(source, notes):
            messages = line.get("messages")
            if is_list(messages):
                identity = seen.identity(line) if line.get("epoch") is None else None
                yield _trial(
                    line, messages, f"line {number}", identity, notes=notes, options=options, source=source
                )
            elif _is_message(line):
                own.append(line)
            else:
                notes.lose(f"line {number}: has no list of messages")
        if own:
            line = {"task_id": _stem(source)}
            yield _trial(line, own, "all lines", None, notes=notes, options=options, source=source)


def _is_message(line: Mapping[str, object]) -> bool:
    return text_in(line.get("role")) in _ROLES and "content" in line and "type" not in line


def _trial(
    line: Mapping[str, object],
    messages: list[object],
    where: str,
    identity: str | None,
    *,
    notes: Notes,
    options: Options,
    source: Source,
) -> Converted:
    model = text_in(line.get("model"))
    return Converted(
        suite=options.suite or text_in(line.get("suite")) or _stem(source),
        task_id=name_of(line.get("task_id")) or where.replace(" ", "-"),
        epoch=tokens(line.get("epoch"), notes, "an epoch"),
        agent=options.agent or model or "unknown",
        identity=identity,
        steps=_steps(messages, notes),
        columns={**by_reward(line.get("reward"), notes, options), "model": model},
        settings={"model": model},
        where=where,
    )


def _steps(messages: list[object], notes: Notes) -> tuple[Step, ...]:
    steps = Steps(notes)
    for message in messages:
        if not is_object(message):
            notes.warn("messages that are no objects are left out")
            continue
        if text_in(message.get("role")) not in _ROLES:
            notes.warn("messages of an unknown role count as said by the user")
        add_message(steps, message)
    return steps.done()


def _stem(source: Source) -> str:
    return source.name.rpartition(".")[0] or source.name


IMPORTER: Importer = _OpenaiMessages()
