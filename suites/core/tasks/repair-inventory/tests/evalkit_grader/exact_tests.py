"""Do exactly the expected tests run, and pass?"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from .check_failed import require
from .child_code import PYTEST
from .evidence import Evidence
from .talk import Talk
from .workshop import Workshop


class ExactTests(NamedTuple):
    """One check by pytest."""

    name: str
    texts: Mapping[str, bytes]
    """The files, by name."""
    ids: frozenset[str]
    timeout: float


def run_tests(workshop: Workshop, evidence: Evidence, asked: ExactTests) -> None:
    """Run the files with pytest. Raises CheckFailed unless exactly these tests ran, and passed."""
    name, texts, ids = asked.name, asked.texts, asked.ids
    with workshop.scratch() as cwd:
        hidden = cwd.parent / "hidden"
        hidden.mkdir()
        for file, text in texts.items():
            (hidden / file).write_bytes(text)
        talk = Talk(workshop, cwd, PYTEST, time.monotonic() + workshop.bounded(asked.timeout))
        try:
            reply = talk.ask({"app": str(cwd), "root": str(hidden), "files": sorted(texts)})
            talk.bye()
        finally:
            result = workshop.ended(talk.child, max(0.0, talk.end - time.monotonic()))
            talk.tell(name, result, evidence, level="confirmed")
    told = cast("dict[str, Any]", (reply or {}).get("r") or {})
    require(reply is not None, f"pytest ended with {result.code} and gave no report: {result.err[-200:]}")
    unexpected = sorted(told.keys() - ids)
    require(not unexpected, f"tests that nobody expected: {unexpected[:5]}")
    bad = sorted(one for one in ids if told.get(one) != "passed")
    require(not bad, f"{len(bad)} of {len(ids)} tests did not pass: {bad[:5]}")
