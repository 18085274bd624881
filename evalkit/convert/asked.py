"""What was a model asked for, by the parameters that were sent to it?"""

from __future__ import annotations

from collections.abc import Mapping

from evalkit.errors import UsageError
from evalkit.models.reconcile import count
from evalkit.models.thinking import parse_thinking
from evalkit.models.wire.json_values import as_object, text_in

_KINDS = {"disabled": "off", "enabled": "on", "adaptive": "dynamic"}


def thinking_asked(arguments: Mapping[str, object]) -> str | None:
    """The thinking budget among the arguments of a call of litellm or of an OpenAI-compatible server, as evalkit names
    it; None where nothing is said about it.
    """
    extra = as_object(arguments.get("extra_body"))
    for told in (arguments, extra):
        found = _effort(told.get("reasoning_effort")) or _budget(told.get("thinking"))
        found = found or _budget(told.get("reasoning"))
        if found:
            return found
    switch = as_object(extra.get("chat_template_kwargs")).get("enable_thinking")
    return ("on" if switch else "off") if isinstance(switch, bool) else None


def agent_name(loop: str, model: str | None, thinking: str | None) -> str:
    """An agent's readable id."""
    name = f"{loop}/{model or 'unknown'}"
    return f"{name}@{thinking}" if thinking else name


def _budget(told: object) -> str | None:
    fields = as_object(told)
    for key in ("budget_tokens", "max_tokens"):
        if (budget := count(fields.get(key))) is not None:
            return _asked(str(budget))
    kind = _KINDS.get(text_in(fields.get("type")) or "")
    return kind or _effort(fields.get("effort")) or ("off" if fields.get("enabled") is False else None)


def _effort(told: object) -> str | None:
    word = text_in(told)
    return _asked("off" if word == "none" else word) if word else None


def _asked(text: str) -> str | None:
    try:
        return parse_thinking(text).asked
    except UsageError:
        return None
