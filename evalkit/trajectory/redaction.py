"""Which parts of a text are secrets, and what is kept in their place?

Every pattern begins with a literal, and every repetition in it is bounded or cannot fail, so that the
time stays linear in the text whatever the text is. Texts without any of the literals are not scanned.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

_SHORTEST = 12
"""No secret together with what announces it is shorter."""


@dataclass(frozen=True, slots=True)
class _Shape:
    """A provider's key, known by how it begins. `strict` ones must hold a digit or mixed case."""

    kind: str
    literal: str
    rest: str
    after: str = r"[A-Za-z0-9_-]"
    """What may not stand before the literal, since then it is the middle of a word."""
    convincing: Callable[[str], bool] = lambda _: True


_PIECE = re.compile(r"[A-Za-z0-9]{16,}")
_RUNS = re.compile(r"[0-9]+|[A-Za-z]+")
_CONSONANTS = re.compile(r"[b-df-hj-np-tv-xz]{7}", re.IGNORECASE)
_LONG_WORD = 32
"""No word, nor words written in one, are as long."""


def _is_random(key: str) -> bool:
    """Has a stretch of letters and digits that words and years put together do not look like."""
    return any(map(_is_random_piece, _PIECE.findall(key)))


def _is_random_piece(piece: str) -> bool:
    letters = len(piece) - sum(map(str.isdigit, piece))
    if not letters:
        return False
    capitals = sum(map(str.isupper, piece)) / letters
    runs: list[str] = _RUNS.findall(piece)
    numbers = [run for run in runs if run[0].isdigit()]
    if numbers and (len(runs) > 3 or len(max(numbers, key=len)) >= 6):
        return True
    # Words written in one have a capital in five letters or so.
    mixed = letters >= 16 and 0.3 <= capitals <= 0.7
    return mixed or letters >= _LONG_WORD or (letters >= 20 and _CONSONANTS.search(piece) is not None)


def _is_openai_key(key: str) -> bool:
    return not key.startswith("sk-learn") and _is_random(key)


def _is_hf_token(key: str) -> bool:
    return any(map(str.isdigit, key)) or key.lower() != key or len(key) >= _LONG_WORD


def _is_word(value: str) -> bool:
    """Words, joined in one of the usual ways: what stands for a secret and is none."""
    return not any(map(str.isdigit, value)) and not _is_random(value)


_SHAPES = (
    _Shape("openai_key", "sk-", r"[A-Za-z0-9_-]{16,300}", convincing=_is_openai_key),
    _Shape("stripe_key", "sk_live_", r"[A-Za-z0-9]{16,200}"),
    _Shape("stripe_key", "rk_live_", r"[A-Za-z0-9]{16,200}"),
    _Shape("aws_key", "AKIA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _Shape("aws_key", "ASIA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _Shape("github_token", "ghp_", r"[A-Za-z0-9]{20,255}"),
    _Shape("github_token", "gho_", r"[A-Za-z0-9]{20,255}"),
    _Shape("github_token", "ghu_", r"[A-Za-z0-9]{20,255}"),
    _Shape("github_token", "ghs_", r"[A-Za-z0-9]{20,255}"),
    _Shape("github_token", "ghr_", r"[A-Za-z0-9]{20,255}"),
    _Shape("github_token", "github_pat_", r"[A-Za-z0-9_]{22,255}"),
    _Shape("gitlab_token", "glpat-", r"[A-Za-z0-9_-]{20,255}"),
    _Shape("hf_token", "hf_", r"[A-Za-z0-9]{20,255}", convincing=_is_hf_token),
    _Shape("google_key", "AIza", r"[A-Za-z0-9_-]{30,100}"),
    _Shape("slack_token", "xox", r"[abeoprs]-[A-Za-z0-9-]{10,255}"),
    _Shape("groq_key", "gsk_", r"[A-Za-z0-9]{32,255}"),
    _Shape("xai_key", "xai-", r"[A-Za-z0-9]{32,255}"),
    _Shape("nvidia_key", "nvapi-", r"[A-Za-z0-9_-]{20,255}", convincing=_is_random),
    _Shape("perplexity_key", "pplx-", r"[A-Za-z0-9]{32,255}"),
    _Shape("replicate_token", "r8_", r"[A-Za-z0-9]{30,255}"),
    _Shape("slack_webhook", "hooks.slack.com/", r"(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,255}"),
    _Shape("npm_token", "npm_", r"[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    _Shape("pypi_token", "pypi-", r"[A-Za-z0-9_-]{16,400}", convincing=_is_random),
    _Shape(
        "jwt",
        "eyJ",
        r"(?<![A-Za-z0-9_-]eyJ)[A-Za-z0-9_-]{8,4096}\.eyJ[A-Za-z0-9_-]{4,16384}\.[A-Za-z0-9_-]{8,4096}",
    ),
)
_SHAPE_PATTERNS = tuple((shape, re.compile(re.escape(shape.literal) + shape.rest)) for shape in _SHAPES)

_CLOSE = r"""(?P<closed>\\{0,8}["'])?"""
_IS = rf"{_CLOSE}[ \t]{{0,4}}(?::=|=>|[:=])[ \t]{{0,4}}"
_OPEN = r"""(?P<quote>\\{0,8}["'])?"""
# Up to the quote that closes it, with as many backslashes; where none does on this line, one word.
_QUOTED = r"""(?:(?:(?!(?<!\\)(?P=quote))[^\n]){1,4096}(?=(?P=quote))(?<!\\)(?P<whole>)|[^"'\s]{1,4096})"""
_PROVIDERS = "openai|anthropic|gemini|mistral|cohere|groq|deepseek|openrouter|replicate|perplexity"
_VALUE = rf"""(?(quote){_QUOTED}|[A-Za-z0-9_.~+/=-]{{6,4096}}(?![A-Za-z0-9_.~+/=-]{{0,64}}[(\[{{]))"""
_NAMED = re.compile(
    rf"(?P<lead>(?:(?:api|{_PROVIDERS})[_ -]?key|secret[_-]?(?:access[_-]?)?key|client[_-]?secret"
    r"|(?:access|auth|refresh|session)[_-]?token)"
    rf"(?:{_IS}|[ \t]{{1,4}}(?=[A-Za-z0-9_-]{{16}})){_OPEN})(?P<value>{_VALUE})",
    re.IGNORECASE,
)
_PASSWORD = re.compile(
    rf"(?P<lead>(?:password|passwd|passphrase|private[_-]?key|ssh[_-]?key){_IS}{_OPEN})(?P<value>{_VALUE})",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    rf"(?P<lead>(?:[_-](?:token|secret|cookie)|(?<![A-Za-z])cookie){_IS}{_OPEN})(?P<value>{_VALUE})",
    re.IGNORECASE,
)
_PAIR = r"""[A-Za-z0-9_.-]{1,64}=[^\s"'\\;,]{0,4096}"""
_AUTHORIZATION = re.compile(
    rf"(?P<lead>authorization{_IS}{_OPEN}(?P<scheme>(?:bearer|basic|token)[ \t]{{1,4}})?)"
    r"(?P<value>[A-Za-z0-9_.~+/=-]{6,4096})",
    re.IGNORECASE,
)
_COOKIE = re.compile(
    rf"(?P<lead>cookie{_IS}{_OPEN})(?P<value>{_PAIR}(?:;[ \t]{{0,4}}{_PAIR}){{0,50}})", re.IGNORECASE
)
_USER = re.compile(
    r"""(?P<lead>(?:-u|-U|--user|--proxy-user)(?:=|[ \t]{0,4})(?:\\{0,8}["'])?[^\s:"'\\=-][^\s:"'\\]{0,127}:)"""
    r"""(?P<value>[^\s"'\\]{1,256})"""
)
_CURL_WITHIN = 500
"""Characters before the option in which the command's name is looked for."""
_BEARER = re.compile(
    r"(?P<lead>bearer:?[ \t]{1,4})(?P<value>[A-Za-z0-9_.~+/=-]{16,4096})",
    re.IGNORECASE,
)
# The last @ is the one before the host: a password may hold others.
_URL = re.compile(r"""(?P<lead>://[^\s/:@"'<>?#\\]{0,128}:)(?P<value>[^\s/"'<>?#\\]{1,256})(?=@)""")
_PASSWORDS = frozenset({"password", "passwd", "pass"})
_PATHS = ("/", "./", "../", "~")
_CODE = re.compile(
    r"[A-Za-z_][A-Za-z_]{0,200}(?:\.[A-Za-z_]{1,200}){1,20}|(?:[A-Za-z_]{0,200}_)?(?:key|token|secret|env)",
    re.I,
)
_NOTHING = frozenset(
    {"none", "null", "true", "false", "undefined", "string", "optional", "required", "missing"}
)

_BLOCK = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_BLOCK_END = re.compile(r"-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_BLOCK_LONGEST = 32 * 1024
_BLOCK_BODY = re.compile(r"(?:(?:\s|\\[nr]){1,4}[A-Za-z0-9+/=]{16,}){0,1000}")


_KEPT_CHARS = 200


def redact(text: str) -> str:
    """The same text with `[redacted:KIND]` for every secret found. Doing it twice changes nothing more."""
    if len(text) < _SHORTEST:
        return text
    return _known(text) if len(text) <= _KEPT_CHARS else _redacted(text)


@lru_cache(maxsize=4096)
def _known(text: str) -> str:
    """Of short texts, which often come again: a run has the same few reasons of scores a hundred thousand times."""
    return _redacted(text)


def _redacted(text: str) -> str:
    if "-----BEGIN " in text:
        text = _without_blocks(text)
    for shape, pattern in _SHAPE_PATTERNS:
        if shape.literal in text:
            text = pattern.sub(lambda found, shape=shape: _shape_marker(found, shape), text)
    lowered = text.lower()
    for names, pattern, marker in _ANNOUNCED:
        if any(name in lowered for name in names):
            text = pattern.sub(marker, text)
    return text


def _shape_marker(found: re.Match[str], shape: _Shape) -> str:
    key, start = found[0], found.start()
    inside_a_word = start > 0 and re.match(shape.after, found.string[start - 1]) is not None
    return key if inside_a_word or not shape.convincing(key) else f"[redacted:{shape.kind}]"


def _authorization_marker(found: re.Match[str]) -> str:
    convincing = found["scheme"] or (len(found["value"]) >= 16 and not _is_word(found["value"]))
    return f"{found['lead']}[redacted:authorization]" if convincing else found[0]


def _url_marker(found: re.Match[str]) -> str:
    stands_for_one = found["value"][0] in "$<{*%" or found["value"].startswith("[redacted:")
    return found[0] if stands_for_one else f"{found['lead']}[redacted:url_password]"


def _bearer_marker(found: re.Match[str]) -> str:
    convincing = _is_random(found["value"])
    return f"{found['lead']}[redacted:bearer]" if convincing else found[0]


def _named_marker(found: re.Match[str]) -> str:
    # A quoted value in JSON within JSON ends with the backslashes of its closing quote.
    value = found["value"] if found["whole"] is not None else found["value"].rstrip("\\")
    if not value or value[0] in "$<{*%" or value.lower() in _NOTHING:
        return found[0]
    marker = "[redacted:api_key]"
    if found["quote"]:
        return f"{found['lead']}{marker}{found['value'][len(value) :]}"
    is_a_type = found["lead"].rstrip().endswith(":") and value.isalpha() and len(value) <= 16
    if is_a_type or _is_word(value) or _CODE.fullmatch(value):
        return found[0]
    # A bare number in JSON becomes a string, for the text must still parse.
    quote = found["closed"] or ""
    return f"{found['lead']}{quote}{marker}{quote}"


def _password_marker(found: re.Match[str]) -> str:
    return _judged(found, "password", shortest=6)


def _token_marker(found: re.Match[str]) -> str:
    return _judged(found, "secret", shortest=8)


def _judged(found: re.Match[str], kind: str, *, shortest: int) -> str:
    """A marker for a value under a name that often stands before something else, if the value looks like a secret."""
    value = found["value"] if found["whole"] is not None else found["value"].rstrip("\\")
    if len(value) < shortest or not _looks_secret(value):
        return found[0]
    name = value.rstrip("0123456789")
    if not found["quote"] and (_CODE.fullmatch(name) or name.lower() in _PASSWORDS):
        return found[0]
    quote = "" if found["quote"] else found["closed"] or ""
    return f"{found['lead']}{quote}[redacted:{kind}]{quote}{found['value'][len(value) :]}"


def _looks_secret(value: str) -> bool:
    """Letters and digits that are neither words nor a place nor code."""
    if value[0] in "$<{*%" or value.startswith((*_PATHS, "[redacted:")) or "://" in value:
        return False
    if _is_random(value):
        return True
    letters, digits = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    return letters and digits and not any(map(str.isspace, value))


def _cookie_marker(found: re.Match[str]) -> str:
    values = (pair.partition("=")[2] for pair in found["value"].split(";"))
    convincing = any(len(value) >= 6 and _looks_secret(value) for value in values)
    return f"{found['lead']}[redacted:cookie]" if convincing else found[0]


def _user_marker(found: re.Match[str]) -> str:
    text, start, value = found.string, found.start(), found["value"]
    is_option = start > 0 and text[start - 1] in " \t'\""
    stands_for_one = value[0] in "$<{*%[" or value.isdigit()
    if not is_option or stands_for_one or text.rfind("curl", max(0, start - _CURL_WITHIN), start) < 0:
        return found[0]
    return f"{found['lead']}[redacted:password]"


def _without_blocks(text: str) -> str:
    """Private keys, whole ones and such as were cut off."""
    kept: list[str] = []
    position = 0
    end = _BLOCK_END.search(text)
    for begin in _BLOCK.finditer(text):
        if begin.start() < position:
            continue
        while end is not None and end.start() < begin.end():
            end = _BLOCK_END.search(text, end.end())
        if end is not None and end.start() - begin.end() <= _BLOCK_LONGEST:
            stop = end.end()
        else:
            body = _BLOCK_BODY.match(text, begin.end())
            stop = body.end() if body and body.end() > begin.end() else begin.start()
        if stop > begin.start():
            kept += (text[position : begin.start()], "[redacted:private_key]")
            position = stop
    return "".join((*kept, text[position:]))


_ANNOUNCED: tuple[tuple[tuple[str, ...], re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (("://",), _URL, _url_marker),
    (("authorization",), _AUTHORIZATION, _authorization_marker),
    (("bearer",), _BEARER, _bearer_marker),
    (("key", "secret", "token"), _NAMED, _named_marker),
    (("cookie",), _COOKIE, _cookie_marker),
    (("passw", "passphrase", "private", "ssh"), _PASSWORD, _password_marker),
    (("token", "secret", "cookie"), _TOKEN, _token_marker),
    (("curl",), _USER, _user_marker),
)
"""What announces a secret, each with the words without which it is not looked for. They are tried in this order."""
