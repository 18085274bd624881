"""Can a model be asked from here, and where?"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (litellm is loosely typed)

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from evalkit.errors import UsageError
from evalkit.models.endpoint import Endpoint
from evalkit.models.litellm_setup import load
from evalkit.models.name import COMPATIBLE, ModelName
from evalkit.models.responses_input import RESPONSES
from evalkit.models.thinking_wire import wire_of

COMPATIBLE_KEY = "OPENAI_COMPATIBLE_API_KEY"
"""Whose value an openai-compatible server is sent. Nobody else's key goes to a server that may be anyone's."""
_ADDRESS = re.compile(r"[!-~]+")
NO_KEY = "none"
"""For servers that want a key to be sent and do not look at it."""
_STREAMED = frozenset({"anthropic"})
"""Providers that break off long answers which are not streamed."""
_KEEPING: Mapping[str, object] = {"include": ["reasoning.encrypted_content"], "store": False}
"""Reasoning comes back encrypted, to be sent again between tool calls, and nothing is kept at the provider."""


def check_known(model: ModelName, base_url: str | None) -> None:
    """Raise UsageError for a provider that litellm does not know, and for one that needs a base URL and has none."""
    if model.provider == COMPATIBLE:
        if base_url is None:
            raise UsageError(
                f"{model} does not say where its server is",
                hint="Give its address, such as --base-url http://127.0.0.1:8000/v1",
            )
        return
    known = _providers()
    if model.provider in known:
        return
    near = difflib.get_close_matches(model.provider, [*known, "scripted", "inspect"], n=1)
    guess = f"Did you mean {near[0]}/{model.name.partition('/')[2]}? " if near else ""
    raise UsageError(
        f"there is no provider '{model.provider}'",
        hint=f"{guess}Any that litellm knows can be named, such as openai, anthropic, gemini, deepseek, groq, mistral "
        f"or openrouter; for a server of your own: {COMPATIBLE}/NAME with --base-url.",
    )


def check_base_url(base_url: str | None) -> None:
    """Raise UsageError for what is no http address, and for one that holds a password, as it is stored."""
    if base_url is None:
        return
    try:
        parts = urlsplit(base_url)
        secret = parts.username or parts.password or parts.query or parts.fragment
        sound = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        secret, sound = None, False
    if not sound or not _ADDRESS.fullmatch(base_url):
        raise UsageError(
            f"'{base_url}' is no address of a model endpoint",
            hint="Write it with its scheme, such as --base-url http://127.0.0.1:8000/v1",
        )
    if secret:
        raise UsageError(
            "the base URL holds a user name, a password, a query or a fragment, which would be stored with the run",
            hint=f"Leave it out, and put the key into the environment: {COMPATIBLE_KEY}",
        )


def check_keys(models: Iterable[tuple[ModelName, str | None]]) -> None:
    """Raise UsageError naming every environment variable that is missing, and for which models. Asks no endpoint.

    A server of one's own (with a base URL) may need no key, so none is asked for.
    """
    missing: dict[str, list[str]] = {}
    models = list(models)
    for model, _ in models:
        _check_spelling(model)
    for model, base_url in models:
        if model.route == "litellm" and base_url is None:
            for variable in _missing(model):
                missing.setdefault(variable, []).append(str(model))
    if not missing:
        return
    listed = "; ".join(f"{variable} (for {', '.join(models)})" for variable, models in missing.items())
    raise UsageError(
        f"missing in the environment: {listed}",
        hint=f"Set it, such as: export {next(iter(missing))}=...  Keys are read from there and never stored.",
    )


def endpoint_for(model: ModelName, base_url: str | None, level: str = "default") -> Endpoint:
    """The endpoint of a model on the route `litellm`, where it is told to think as much as a level says.

    Loads litellm, so that no agent's time goes by with that.
    """
    load()
    if model.provider == COMPATIBLE:
        name = f"openai/{model.name.partition('/')[2]}"
        key = os.environ.get(COMPATIBLE_KEY) or NO_KEY
        thinking = wire_of(model, level)
        return Endpoint(model=name, base_url=base_url, api_key=key, thinking=thinking, name=str(model))
    key = NO_KEY if base_url is not None and _missing(model) else None
    name = _interface(model, at_openai=base_url is None)
    return Endpoint(
        model=name,
        base_url=base_url,
        api_key=key,
        stream=model.provider in _STREAMED,
        always=_KEEPING if name.startswith(RESPONSES) else {},
        thinking=wire_of(model, level, responses=name.startswith(RESPONSES)),
        name=str(model),
    )


def _interface(model: ModelName, *, at_openai: bool) -> str:
    """litellm's name for a model and the interface by which it is asked.

    OpenAI's reasoning models keep what they thought from call to call only in the Responses interface, so they are
    asked through that; `openai/chat/NAME` and `openai/responses/NAME` choose.
    """
    provider, _, name = model.name.partition("/")
    if provider == "openai" and name.startswith("chat/"):
        return f"openai/{name.removeprefix('chat/')}"
    if provider != "openai" or name.startswith("responses/"):
        return model.name
    return f"openai/responses/{name}" if at_openai and load().supports_reasoning(model=name) else model.name


def _missing(model: ModelName) -> list[str]:
    found = load().validate_environment(model=model.name)
    missing = [str(name) for name in found.get("missing_keys", [])]
    return missing or [name for name in _key_names(model) if not os.environ.get(name, "-").strip()]


def _key_names(model: ModelName) -> tuple[str, ...]:
    """Where a provider's key is looked for, as far as it has one name."""
    if model.provider == COMPATIBLE:
        return (COMPATIBLE_KEY,)
    return (f"{re.sub(r'[^A-Za-z0-9]', '_', model.provider).upper()}_API_KEY",)


def _check_spelling(model: ModelName) -> None:
    """Raise UsageError for a key that no request can carry, such as one with a line break in it."""
    for name in _key_names(model):
        if not re.fullmatch(r"[!-~]*", os.environ.get(name, "").strip(" ")):
            raise UsageError(
                f"the value of {name} is no API key: it holds a line break, a space or letters that no key has",
                hint="Set it again, without what does not belong to it.",
            )


def _providers() -> list[str]:
    return [str(getattr(provider, "value", provider)) for provider in load().provider_list]
