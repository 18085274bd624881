"""Has the end of a fault come?

The line of `until` is asked in the sandbox, as who the agent is. It is told to its shell on standard input, so that no
command line shows it.
"""

from __future__ import annotations

from dataclasses import dataclass

from evalkit.engine.faults.site import Site

UNTIL_S = 30.0
"""A line that takes longer than this does not hold."""
_ASK = 'line=$(cat) || exit 126; exec </dev/null; printf "%s\\n" "$line" | sh -n || exit 126; eval "$line"'
_CANNOT_RUN = frozenset({126, 127})
_SAID = 200
"""Characters of its stderr that are kept."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of asking."""

    holds: bool
    trouble: str | None
    """Why it could not be asked; None where it could."""
    late: str
    """What the background wrote meanwhile."""


async def ask(line: str, site: Site) -> Answer:
    """Run the line; it holds where it exits 0."""
    done = await site.sandbox.exec(
        ("sh", "-c", _ASK), stdin=line.encode("utf-8", "replace"), user=site.user, timeout_s=UNTIL_S
    )
    trouble = None
    if done.timed_out:
        trouble = f"it did not end within {UNTIL_S:g} s"
    elif done.exit_code is None:
        trouble = "it took the shell with it"
    elif done.exit_code in _CANNOT_RUN:
        said = " ".join(done.stderr.text.split())[:_SAID]
        trouble = f"exit code {done.exit_code}{said and f': {said}'}"
    return Answer(done.exit_code == 0 and not done.timed_out, trouble, done.late)
