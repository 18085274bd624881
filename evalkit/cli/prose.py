"""How is a sentence about a run told, whole and as nothing but text, at the width of the page?"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Mapping

from rich.text import Text

from evalkit.cli.console import stdout

INDENT = "  "


def one_line(text: str) -> str:
    """The text with all that does not print, line breaks and invisible characters too, shown as escapes.

    Names come from files that anybody may have written: one with a line break must not look like two rows.
    """
    return "".join(character if character.isprintable() else _escaped(character) for character in text)


def say(text: str, *, indent: str = "", hanging: str = "") -> None:
    """Print a sentence, broken between words, and its further lines hanging; no word is ever cut."""
    console = stdout()
    lines = textwrap.wrap(
        one_line(text),
        width=max(console.width, 20),
        initial_indent=indent,
        subsequent_indent=indent + hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
    for line in lines or [""]:
        say_unbroken(line)


def say_unbroken(text: str, style: str = "") -> None:
    """Print one line as it is, however long: an id, or a command to be copied."""
    stdout().print(Text(one_line(text), style=style), soft_wrap=True)


def say_reasons(intro: str, names_of: Mapping[str, Iterable[str]]) -> None:
    """Each reason once, with the names that it is the reason of; nothing where there are none."""
    if not names_of:
        return
    say(intro)
    for reason, names in names_of.items():
        say(f"{reason}: {', '.join(dict.fromkeys(names))}", indent=INDENT, hanging=INDENT)


def say_not_shown(intro: str, names: Collection[str]) -> None:
    """The names of what a table leaves out; nothing where it leaves nothing out."""
    if names:
        say(f"{intro} (--metric NAME says why): {', '.join(dict.fromkeys(names))}")


def _escaped(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
