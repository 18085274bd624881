"""Where does each form of a verdict go?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from evalkit.errors import UsageError
from evalkit.tomlfile import nearest

if TYPE_CHECKING:
    from evalkit.gate.verdict import Verdict

_FILES = {
    "json": "gate.json",
    "junit": "gate.junit.xml",
    "markdown": "gate.md",
    "sarif": "gate.sarif",
}
"""By format, the file in the folder of `--out`."""
FORMATS = ("text", *_FILES)


def wanted_formats(given: Sequence[str], out: Path | None) -> tuple[str, ...]:
    """The formats; where none is named, text, and with a folder for files all of them. Raises UsageError for one that
    is not known, and for several that would all be printed."""
    for name in given:
        if name not in FORMATS:
            raise UsageError(f"there is no format {name!r}", hint=nearest(name, FORMATS))
    formats = tuple(dict.fromkeys(given)) or (("text",) if out is None else FORMATS)
    if out is None and len(formats) > 1:
        raise UsageError("only one format can be printed", hint="Name a folder for the files: --out DIR")
    return formats


def deliver(
    verdict: Verdict,
    formats: Sequence[str],
    *,
    out: Path | None,
    github: bool,
    strict: bool,
    key: str | None = None,
) -> None:
    """Print what is to be printed, and write what is to be written.

    Without a folder the one format is printed; with one, text is printed and all others become files. For GitHub the
    annotations go where text goes, and to standard error where a format for programs is printed. `key` marks the
    Markdown.
    """
    printed = "text" if out is not None else formats[0]
    is_text = printed == "text"
    text = _rendered(verdict, printed, strict=strict, key=key)
    if is_text and (github or os.environ.get("GITHUB_ACTIONS") == "true"):
        from evalkit.gate.github_output import without_commands

        text = without_commands(text)
    typer.echo(text, nl=False)
    if github:
        from evalkit.gate.github_output import append_summary, workflow_commands

        typer.echo(workflow_commands(verdict, strict=strict), nl=False, err=not is_text)
        append_summary(verdict, os.environ, strict=strict)
    if out is not None:
        _write(
            out,
            {
                _FILES[name]: _rendered(verdict, name, strict=strict, key=key)
                for name in formats
                if name != "text"
            },
        )


def _rendered(verdict: Verdict, name: str, *, strict: bool, key: str | None) -> str:
    match name:
        case "json":
            from evalkit.gate.json_output import as_json

            return as_json(verdict, strict=strict)
        case "junit":
            from evalkit.gate.junit_output import as_junit

            return as_junit(verdict, strict=strict)
        case "markdown":
            from evalkit.gate.markdown_output import as_markdown

            return as_markdown(verdict, strict=strict, key=key)
        case "sarif":
            from evalkit.gate.sarif_output import as_sarif

            return as_sarif(verdict)
        case _:
            from evalkit.gate.text_output import as_text

            return as_text(verdict, strict=strict)


def _write(folder: Path, texts: dict[str, str]) -> None:
    """Each file appears whole or not at all, and replaces one of before."""
    from evalkit.trajectory.atomic import write_text

    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            write_text(folder / name, text)
    except OSError as error:
        raise UsageError(
            f"cannot write the verdict: {error.strerror or error}",
            where=str(folder),
            hint="Name another folder with --out.",
        ) from error
