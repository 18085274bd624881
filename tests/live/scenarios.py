"""Which runs are made against the model, and what must come of them?"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from model_server import Served

TEXT = Served("text", context=8192)
"""The model as it is. It is not told about tools, writes text, and has given up after three answers."""
TOOLS = Served("tools", context=2048, calls_tools=True)
"""The server makes it call tools: well-formed calls that make no sense, which are really executed."""
SMALL = Served("small", context=256)
"""Less context than the conversations need."""
OFFERED = (TEXT, TOOLS, SMALL)
_BOUNDS = ("--temperature", "0", "--time-limit", "300")
_LONGEST_S = 1200.0


@dataclass(frozen=True, slots=True)
class Scenario:
    """One run of evalkit."""

    name: str
    served: Served
    tasks: str
    """Pattern of the ids of tasks of the suite core."""
    max_tokens: int | None
    """Of an answer; None where the level of thinking says it."""
    step_limit: int
    stops: frozenset[str]
    """What may end a trial. That is always the agent's doing: none of these leaves a trial unscored."""
    must_finish: frozenset[str] = field(default_factory=frozenset[str])
    """How some generation must end."""
    thinking: tuple[int, ...] = ()
    """Levels of thinking. Of an open model they bound the tokens of the whole answer."""

    def run(self, address: str, out: Path) -> None:
        """Run it. What went wrong is in the record, which is checked."""
        options = {
            "--model": f"openai-compatible/{self.served.name}",
            "--base-url": f"{address}/v1",
            "--task": self.tasks,
            "--step-limit": str(self.step_limit),
            "--out": str(out),
        }
        if self.max_tokens is not None:
            options["--max-tokens"] = str(self.max_tokens)
        if self.thinking:
            options["--thinking"] = ",".join(map(str, self.thinking))
        _evalkit(["run", "core", *_BOUNDS, *(word for pair in options.items() for word in pair)])


SCENARIOS = (
    Scenario(
        "text",
        TEXT,
        tasks="!fix-ledger-race",  # Its grader alone takes a minute.
        max_tokens=100,
        step_limit=6,
        stops=frozenset({"gave_up", "step_limit"}),
    ),
    Scenario(
        "tools",
        TOOLS,
        tasks="*-*-*[!e]",
        max_tokens=100,
        step_limit=4,
        stops=frozenset({"gave_up", "step_limit", "submitted", "context_limit"}),
        must_finish=frozenset({"tool_calls"}),
    ),
    Scenario(
        "short answers",
        TEXT,
        tasks="fix-off-by-one",
        max_tokens=4,
        step_limit=6,
        stops=frozenset({"gave_up"}),
        must_finish=frozenset({"max_tokens"}),
    ),
    Scenario(
        "sweep",
        TEXT,
        tasks="*-off-*",
        max_tokens=None,
        step_limit=6,
        stops=frozenset({"gave_up", "step_limit"}),
        must_finish=frozenset({"max_tokens"}),
        thinking=(8, 24, 72),
    ),
    Scenario(
        "full context",
        SMALL,
        tasks="*-*-*o*",  # One task that is too long at once, and one whose conversation grows too long.
        max_tokens=100,
        step_limit=6,
        stops=frozenset({"context_limit"}),
        must_finish=frozenset({"max_tokens"}),
    ),
)


def _evalkit(arguments: Sequence[str]) -> None:
    """Run it in a session of its own, so that it hears of Ctrl-C once, from here, and puts its run in order."""
    command = [sys.executable, "-m", "evalkit", *arguments]
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        code = child.wait(_LONGEST_S)
    except BaseException:
        child.send_signal(signal.SIGINT)
        try:
            child.wait(30)
        finally:
            child.kill()
            child.wait()
        raise
    if code != 0:
        print(f"evalkit ended with exit code {code}", flush=True)
