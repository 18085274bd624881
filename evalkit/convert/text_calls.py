"""Which calls stand only in the text of what a model said?

Agents for models without function calling have the model write its calls down in a form of their own. Three of these
forms are told apart, each so strict that no prose looks like it:

    <function=NAME><parameter=KEY>VALUE</parameter></function>      (OpenHands; the last tag may be cut off)
    <tool_call>{"name": NAME, "arguments": {...}}</tool_call>       (Hermes, Qwen)
    {"commands": [{"keystrokes": "...", "duration": 1}], "task_complete": true}    (Terminus; the whole text)

Terminus' commands are named as Harbor itself names them where it writes them down as calls.
"""

from __future__ import annotations

import re

from evalkit.models.wire.json_values import as_object, decode, is_list, is_object, objects_in, text_in

TextCall = tuple[str, object]
"""A tool's name and its arguments."""

_FUNCTION = re.compile(r"<function=([\w.:-]{1,200})>")
_END = "</function>"
_PARAMETER = re.compile(r"<parameter=([\w.:-]{1,200})>")
_VALUE_END = "</parameter>"
_TOOL_CALL, _TOOL_CALL_END = "<tool_call>", "</tool_call>"
_MOST = 1000


def calls_in_text(text: str) -> list[TextCall]:
    """The calls in their order; none where the text has no such form. Takes linear time."""
    if "<function=" in text:
        return _functions(text)
    if _TOOL_CALL in text:
        return _tool_calls(text)
    if '"commands"' in text:
        return _commands(text)
    return []


def _functions(text: str) -> list[TextCall]:
    calls: list[TextCall] = []
    position = 0
    while len(calls) < _MOST and (found := _FUNCTION.search(text, position)) is not None:
        end = text.find(_END, found.end())
        inside = text[found.end() : len(text) if end < 0 else end]
        calls.append((found.group(1), _parameters(inside)))
        if end < 0:
            break
        position = end + len(_END)
    return calls


def _parameters(text: str) -> dict[str, object]:
    """Values as they were written, without the line break that the form puts around them."""
    found: dict[str, object] = {}
    position = 0
    while (tag := _PARAMETER.search(text, position)) is not None:
        end = text.find(_VALUE_END, tag.end())
        value = text[tag.end() : len(text) if end < 0 else end]
        found[tag.group(1)] = value.removeprefix("\n").removesuffix("\n")
        if end < 0:
            break
        position = end + len(_VALUE_END)
    return found


def _tool_calls(text: str) -> list[TextCall]:
    calls: list[TextCall] = []
    for piece in text.split(_TOOL_CALL)[1 : _MOST + 1]:
        call = as_object(decode(piece.partition(_TOOL_CALL_END)[0]))
        if name := text_in(call.get("name")):
            calls.append((name, call.get("arguments")))
    return calls


def _commands(text: str) -> list[TextCall]:
    told = decode(text.strip())
    if not is_object(told) or not is_list(told.get("commands")):
        return []
    commands = [command for command in objects_in(told["commands"]) if "keystrokes" in command]
    calls: list[TextCall] = [("bash_command", command) for command in commands[:_MOST]]
    if told.get("task_complete") is True:
        calls.append(("mark_task_complete", {}))
    return calls
