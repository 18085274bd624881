"""How many tokens does a scripted agent count?"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from evalkit.models.reply import Reply, ToolRequest, Turn


def count_tokens(text: str) -> int:
    """ceil(UTF-8 bytes / 4): the stated convention for scripted agents, whose source is `counted`."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)


@dataclass(frozen=True, slots=True)
class Counted:
    """Tokens of one generation. `output` includes `reasoning`, as providers bill it."""

    input: int
    output: int
    reasoning: int


def count_reply(conversation: Iterable[Turn], reply: Reply) -> Counted:
    """Count what went in (every message so far) and what came out (reasoning, text and tool arguments)."""
    reasoning = count_tokens(reply.reasoning or "")
    visible = count_tokens(reply.text) + sum(map(_count_call, reply.calls))
    read = sum(count_tokens(turn.text) + sum(map(_count_call, turn.calls)) for turn in conversation)
    return Counted(input=read, output=reasoning + visible, reasoning=reasoning)


def _count_call(call: ToolRequest) -> int:
    arguments = json.dumps(dict(call.arguments), ensure_ascii=False, sort_keys=True)
    return count_tokens(call.tool) + count_tokens(arguments)
