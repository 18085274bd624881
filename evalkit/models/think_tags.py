"""Which part of an answer is reasoning that was written inline between think tags?"""

from __future__ import annotations

import re

_TAGS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("[THINK]", "[/THINK]"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<seed:think>", "</seed:think>"),
    ("◁think▷", "◁/think▷"),
    ("<|channel|>analysis<|message|>", "<|end|>"),
)
_CHANNEL_END = "<|end|>"
_ASSISTANT = "<|start|>assistant"
_FINAL = "<|channel|>final<|message|>"
_ENDS = ("<|return|>", "<|end|>")
_QUOTES = frozenset("`\"'")
_SPACE = re.compile(r"\s*")


def split_inline(text: str) -> tuple[str | None, str]:
    """The reasoning, or None where there is none, and the answer.

    Think blocks count only where they begin the text, after white space; several in a row are joined by an empty line.
    An unclosed tag makes all the rest reasoning. A closing tag that was never opened makes all before it reasoning, as
    with templates that open the tag in the prompt, unless it stands in quotes. Empty blocks are dropped from the
    answer and are no reasoning. Without any think block the text comes back as it is. Takes linear time.
    """
    thoughts: list[str] = []
    start = _opened_by_template(text)
    if start is not None:
        before, position = start
        thoughts.append(before)
    else:
        position = 0
    begun = start is not None
    while (tag := _tag_at(text, position)) is not None:
        begun = True
        inside, closing = tag
        end = text.find(closing, inside)
        if end < 0:
            thoughts.append(text[inside:])
            position = len(text)
            break
        thoughts.append(text[inside:end])
        position = end + len(closing)
    if not begun and not text.startswith(_FINAL, _lead(text, 0)):
        return None, text
    thought = "\n\n".join(filter(None, (piece.strip() for piece in thoughts)))
    return thought or None, _answer(text, position)


def _opened_by_template(text: str) -> tuple[str, int] | None:
    """What stands before the first closing tag that was never opened, and where the tag ends."""
    if _tag_at(text, 0) is not None:
        return None
    found: tuple[int, int] | None = None
    for opening, closing in _TAGS:
        end = -1 if closing == _CHANNEL_END else _bare(text, closing)
        if end < 0 or text.find(opening, 0, end) >= 0:
            continue
        if found is None or end < found[0]:
            found = end, end + len(closing)
    return None if found is None else (text[: found[0]], found[1])


def _bare(text: str, closing: str) -> int:
    """The first place of a closing tag that is not in quotes; -1 where there is none."""
    end = text.find(closing)
    while end >= 0:
        before, after = text[end - 1 : end], text[end + len(closing) : end + len(closing) + 1]
        if before not in _QUOTES or before != after:
            return end
        end = text.find(closing, end + len(closing))
    return -1


def _tag_at(text: str, position: int) -> tuple[int, str] | None:
    """Where the inside of the think block begins that opens here, after white space, and the tag that closes it."""
    position = _lead(text, position)
    for opening, closing in _TAGS:
        if text.startswith(opening, position):
            return position + len(opening), closing
    return None


def _lead(text: str, position: int) -> int:
    """The position after white space and after a header of OpenAI's harmony format."""
    position = _spaces(text, position)
    if text.startswith(_ASSISTANT + "<|channel|>", position):
        position += len(_ASSISTANT)
    return position


def _spaces(text: str, position: int) -> int:
    found = _SPACE.match(text, position)
    return found.end() if found else position


def _answer(text: str, position: int) -> str:
    position = _lead(text, position)
    if not text.startswith(_FINAL, position):
        return text[position:]
    answer = text[position + len(_FINAL) :]
    for end in _ENDS:
        answer = answer.removesuffix(end)
    return answer
