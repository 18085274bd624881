"""`evalkit models`: which thinking budgets do models take?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from evalkit.errors import UsageError

if TYPE_CHECKING:
    from evalkit.models.thinking_table import Row


def models(
    name: Annotated[str | None, typer.Argument(help="A model, such as openai/gpt-5-mini.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Show which thinking budgets families of models take, or one model, and where that is known from."""
    from evalkit.cli.console import print_json
    from evalkit.models.thinking_table import rows

    if name is not None:
        _one(name, json=json)
    elif json:
        print_json({"families": [row_as_json(row) for row in rows()]})
    else:
        _table()


def row_as_json(row: Row) -> dict[str, Any]:
    """A row for programs: `levels` has what each sends, `tokens:N` the number as `$N`."""
    return {
        "family": row.name,
        "providers": list(row.providers),
        "models": list(row.models),
        "levels": {level: _sends(row, level) for level in row.levels},
        **({"responses": responses} if (responses := _on_responses(row)) else {}),
        "tokens": {"least": row.least, "most": row.most} if row.numbers else None,
        "below_max_tokens": row.below_max_tokens,
        "temperatures": None if row.temperatures is None else list(row.temperatures),
        "headers": dict(row.headers),
        "note": row.note or None,
        "source": row.source,
    }


def _on_responses(row: Row) -> dict[str, Any]:
    """What levels send on OpenAI's Responses interface, where that is something else."""
    known = [level for level in row.levels if level != "tokens:N"]
    pieces = {level: dict(row.piece(level, responses=True)) for level in known}
    return {level: piece for level, piece in pieces.items() if piece != row.piece(level)}


def _sends(row: Row, level: str) -> dict[str, Any]:
    if level == "tokens:N":
        return dict(row.tokens or {})
    return dict(row.piece(level))


def _one(name: str, *, json: bool) -> None:
    from evalkit.cli.console import print_json
    from evalkit.models.name import parse_model
    from evalkit.models.thinking_table import row_for

    model = parse_model(name)
    row = row_for(model)
    if json:
        print_json({"model": str(model), **({"family": None} if row is None else row_as_json(row))})
    elif row is None:
        raise UsageError(
            f"it is not known which thinking budgets {model} takes",
            hint="It can be run with --thinking default. What is known: evalkit models",
        )
    else:
        _say_row(str(model), row)


def _say_row(model: str, row: Row) -> None:
    from json import dumps

    from evalkit.cli.prose import INDENT, say, say_unbroken
    from evalkit.models.thinking_choice import takes

    say(f"{model}: {row.name}", hanging=INDENT)
    say(f"takes {takes(row)}", hanging=INDENT)
    say_unbroken("")
    for level in row.levels:
        sent = _sends(row, level)
        words = (
            "nothing is sent"
            if not sent and not row.exact
            else "kept to exactly"
            if row.exact
            else dumps(sent)
        )
        if level in {f"effort:{effort}" for effort in row.effort_tokens}:
            words += " (evalkit's own number)"
        say(f"{_given(level):<8} {words}", hanging=" " * 9)
    for level, sent in _on_responses(row).items():
        say(f"{_given(level):<8} {dumps(sent)} on the Responses interface", hanging=" " * 9)
    say_unbroken("")
    if row.below_max_tokens:
        say("The number must be below the tokens of one answer (--max-tokens).", hanging=INDENT)
    if row.temperatures is not None:
        allowed = " or ".join(f"{one:g}" for one in row.temperatures)
        say(f"While it thinks, --temperature can be {allowed or 'nothing'}.", hanging=INDENT)
    if row.headers:
        say("Headers: " + ", ".join(f"{key}: {value}" for key, value in row.headers.items()), hanging=INDENT)
    if row.note:
        say(f"Note: {row.note}.", hanging=INDENT)
    say(f"Source: {row.source}", hanging=INDENT)


def _given(level: str) -> str:
    """A level as it is given to --thinking."""
    return level.removeprefix("effort:").removeprefix("tokens:")


def _table() -> None:
    from evalkit.cli.prose import INDENT, say, say_unbroken
    from evalkit.models.thinking_choice import takes
    from evalkit.models.thinking_table import rows

    for row in rows():
        say(row.name)
        for line in (
            f"models: {', '.join(row.providers)}: {', '.join(row.models)}",
            f"takes: {takes(row)}",
            f"note: {row.note}" if row.note else "",
            f"source: {row.source}",
        ):
            if line:
                say(f"{INDENT}{line}", hanging=INDENT * 2)
        say_unbroken("")
    say("What one model is sent for each: evalkit models PROVIDER/MODEL")
