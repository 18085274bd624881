"""Conversations in OpenAI's chat format, one JSON object a line. Most keys may be missing.

    {"task_id": "17", "epoch": 1, "model": "openai/gpt-5", "reward": 1.0, "suite": "mine", "messages": [
        {"role": "user", "content": "..."},
        {"role": "assistant", "content": "...", "reasoning_content": "...", "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "bash", "arguments": "{\"cmd\": \"ls\"}"}}]},
        {"role": "tool", "tool_call_id": "a", "content": "..."}]}

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

import json
from collections.abc import Iterator, Mapping

from evalkit.convert.chat_steps import add_messages
from evalkit.convert.converted import Converted
from evalkit.convert.importer import Importer, Options
from evalkit.convert.json_lines import json_lines
from evalkit.convert.notes import Notes
from evalkit.convert.outcome import by_reward
from evalkit.convert.reported import tokens
from evalkit.convert.source import Source
from evalkit.convert.steps import Steps
from evalkit.models.wire.json_values import is_list, text_in


class _OpenaiMessages:
    name = "openai-messages"

    def expects(self, name: str) -> bool:
        del name
        return False

    def recognises(self, source: Source) -> bool:
        line, _, _ = source.head.partition(b"\n")
        return (
            b'"messages"' in line and b'"role"' in source.head and source.name.endswith((".jsonl", ".ndjson"))
        )

    def convert(self, source: Source, notes: Notes, options: Options) -> Iterator[Converted]:
        for number, line in json_lines(source, notes):
            if not is_list(line.get("messages")):
                notes.lose(f"line {number}: has no list of messages")
                continue
            yield _trial(line, number, source, notes, options)


def _trial(
    line: Mapping[str, object], number: int, source: Source, notes: Notes, options: Options
) -> Converted:
    steps = Steps(notes)
    messages = line["messages"]
    assert is_list(messages)
    add_messages(steps, messages)
    model = text_in(line.get("model"))
    task = line.get("task_id")
    return Converted(
        suite=options.suite or text_in(line.get("suite")) or source.name.rpartition(".")[0] or source.name,
        task_id=task
        if isinstance(task, str) and task
        else f"line-{number}"
        if task is None
        else json.dumps(task),
        epoch=tokens(line.get("epoch"), notes, "an epoch"),
        agent=options.agent or model or "unknown",
        steps=steps.done(),
        columns={**by_reward(line.get("reward"), notes, options), "model": model},
        settings={"model": model},
        where=f"line {number}",
    )


IMPORTER: Importer = _OpenaiMessages()
