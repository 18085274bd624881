"""How many tokens does a scripted agent count?"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace

from evalkit.models.reply import Reply, ToolRequest, Turn
from evalkit.models.thinking import tokens_in


def count_tokens(text: str) -> int:
    """ceil(UTF-8 bytes / 4): the stated convention for scripted agents, whose source is `counted`."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)


def within(reply: Reply, level: str) -> Reply:
    """A reply whose thinking keeps to a level exactly: cut to its number of tokens, left out for `off`."""
    most = 0 if level == "off" else tokens_in(level)
    if most is None or reply.reasoning is None or count_tokens(reply.reasoning) <= most:
        return reply
    kept = reply.reasoning.encode("utf-8", "surrogatepass")[: 4 * most].decode("utf-8", "ignore")
    return replace(reply, reasoning=kept or None)


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
