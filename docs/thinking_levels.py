"""The table of thinking budgets in the page about them, from the file that evalkit itself reads."""

from __future__ import annotations

import json

from evalkit.models.thinking_table import Row, rows


def thinking_table() -> str:
    """One row a family: what it is, what each level sends, and where that is known from."""
    lines = ["| models | off | N tokens | on, dynamic | efforts | known from |", "|---|---|---|---|---|---|"]
    return "\n".join([*lines, *map(_line, rows())])


def _line(row: Row) -> str:
    models = f"**{row.name}**<br>{', '.join(row.providers)}" + (f"<br>{row.note}" if row.note else "")
    if row.exact:
        return f"| {models} | exact | exact | exact | exact | {row.source} |"
    words = list(row.efforts or row.effort_tokens)
    efforts = f"{', '.join(words)}: {_code(row.effort) if row.effort else 'as tokens'}" if words else "-"
    tokens = "-" if row.tokens is None else f"{_code(row.tokens)}<br>{row.numbers} tokens"
    switched = [
        f"{name}: {_code(piece) if piece else 'default'}"
        for name, piece in (("on", row.on), ("dynamic", row.dynamic))
        if piece is not None
    ]
    off = "-" if row.off is None else _code(row.off)
    return f"| {models} | {off} | {tokens} | {'<br>'.join(switched) or '-'} | {efforts} | {row.source} |"


def _code(piece: object) -> str:
    return f"`{json.dumps(piece)}`"
