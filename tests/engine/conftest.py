"""Fixtures: small suites, and runs of them through the real engine in real sandboxes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import evalkit
from evalkit.engine.plan import PlannedTrial
from evalkit.engine.prepare import RunFlags, prepare
from evalkit.trajectory.reader import Run
from evalkit.trajectory.step import Step
from evalkit.trajectory.trial import Trial

TOML = """\
schema_version = "1.4"
artifacts = ["/app/out"]
[environment]
network_mode = "no-network"
"""
GRADER = """\
#!/bin/sh
if [ "$(cat /app/out 2>/dev/null)" = done ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""
SOLVE = """\
#!/bin/sh
# step: Look first.
ls -la
# step: Write it.
echo done > out
"""


class Quiet:
    """Hears everything and keeps it."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.steps: list[Step] = []
        self.trials: list[Trial] = []

    def planned(self, total: int) -> None:
        self.total = total

    def started(self, planned: PlannedTrial) -> None:
        self.begun.append(planned.task.id)

    def stepped(self, planned: PlannedTrial, step: Step) -> None:
        self.steps.append(step)

    def finished(self, planned: PlannedTrial, trial: Trial) -> None:
        self.trials.append(trial)


@pytest.fixture
def quiet() -> Quiet:
    """Hears a run without a word."""
    return Quiet()


MakeSuite = Callable[..., Path]
RunSuite = Callable[..., Run]


@pytest.fixture
def make_suite(tmp_path: Path) -> MakeSuite:
    """Write a suite; each task is a table of files that replace the default ones (None: no such file)."""

    def make(name: str = "mini", **tasks: Mapping[str, str | None]) -> Path:
        suite = tmp_path / name
        for task, files in (tasks or {"one": {}}).items():
            whole: dict[str, str | None] = {
                "task.toml": TOML,
                "instruction.md": "Write `done` into /app/out.\n",
                "environment/Dockerfile": "FROM debian:bookworm-slim\nWORKDIR /app\n",
                "tests/test.sh": GRADER,
                "solution/solve.sh": SOLVE,
                **files,
            }
            for path, text in whole.items():
                if text is None:
                    continue
                file = suite / task / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
                file.chmod(0o755 if path.endswith(".sh") else 0o644)
        return suite

    return make


@pytest.fixture
def run_suite(tmp_path: Path, local_support: None) -> RunSuite:
    """Run a suite for real in the local sandbox and open what was recorded."""
    return _runner(tmp_path)


@pytest.fixture
def run_docker(tmp_path: Path, docker_support: None) -> RunSuite:
    """The same in the docker sandbox."""
    return _runner(tmp_path, sandbox="docker")


@pytest.fixture
def run_any(tmp_path: Path, sandbox_kind: str) -> RunSuite:
    """The same in each sandbox that can be had here."""
    return _runner(tmp_path, sandbox=sandbox_kind)


def _runner(tmp_path: Path, **always: object) -> RunSuite:
    def run(suite: Path, *models: str, out: str = "run", **flags: object) -> Run:
        from evalkit.engine.start import start

        asked = RunFlags(
            suites=(str(suite),),
            models=models or ("scripted/oracle",),
            out=tmp_path / out,
            **{**always, **flags},
        )
        return evalkit.load(start(prepare(asked), Quiet()).path)

    return run


PLAYER = '''\
from inspect_ai import Task, task
from inspect_ai.agent import AgentState, agent
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatCompletionChoice, ChatMessageAssistant, GenerateConfig, ModelAPI, ModelOutput, ModelUsage, get_model, modelapi,
)
from inspect_ai.scorer import Score, Target, accuracy, includes, scorer
from inspect_ai.solver import TaskState, generate, solver, system_message, use_tools
from inspect_ai.tool import Tool, ToolCall, bash, tool
from inspect_ai.util import sandbox

@modelapi(name="player")
class Player(ModelAPI):
    """Says what SCRIPT has for each turn: a text, or calls as (tool, arguments); the last one again and again."""

    async def generate(self, input, tools, tool_choice, config):
        turn = sum(message.role == "assistant" for message in input)
        said = SCRIPT[min(turn, len(SCRIPT) - 1)]
        if isinstance(said, Exception):
            raise said
        calls = [] if isinstance(said, str) else [
            ToolCall(id=f"call-{turn}-{index}", function=name, arguments=arguments)
            for index, (name, arguments) in enumerate(said)
        ]
        message = ChatMessageAssistant(content=said if isinstance(said, str) else "", tool_calls=calls or None)
        return ModelOutput(
            model="played",
            choices=[ChatCompletionChoice(message=message, stop_reason="tool_calls" if calls else "stop")],
            usage=ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15),
        )

'''
"""The head of a user's file that brings a model of its own, `inspect/player/NAME`."""


@pytest.fixture
def inspect_file(tmp_path: Path) -> Callable[..., Path]:
    """Write a file of somebody's Inspect code; it begins with imports and a model that plays a SCRIPT."""

    def write(text: str, name: str = "theirs.py") -> Path:
        path = tmp_path / name
        path.write_text(PLAYER + text)
        return path

    return write


@pytest.fixture
def player(tmp_path: Path) -> str:
    """The name of the model that plays; Inspect keeps models by name, so each test has its own."""
    return f"inspect/player/{tmp_path.name}"


@pytest.fixture
def run_inspect(tmp_path: Path, player: str) -> RunSuite:
    """Run an Inspect task with the player, and open what was recorded."""
    run = _runner(tmp_path)

    def start(named: str, *models: str, **flags: object) -> Run:
        return run(f"inspect:{named}", *(models or (player,)), **flags)

    return start


Variants = Mapping[str, tuple[Trial, list[Step]]]


@pytest.fixture
def play_faulted(
    make_suite: MakeSuite, inspect_file: Callable[..., Path], tmp_path: Path, player: str, sandbox_kind: str
) -> Callable[..., Variants]:
    """Run one task whose [[metadata.evalkit.faults]] are `faults` with a model that makes these calls of bash, one a
    turn, and then submits; what was recorded, by variant.
    """

    def play(faults: str, *lines: str, settings: str = "", **flags: object) -> Variants:
        from evalkit.engine.inspect_objects import find

        script = [[("bash", {"command": line})] for line in lines] + [[("submit", {"answer": ""})]]
        code = f"SCRIPT = {script!r}\n@solver\ndef plain():\n    return generate()\n"
        find(
            f"{inspect_file(code)}@plain", ("solver",)
        )  # Inspect knows the model once its file has been read
        suite = make_suite(one={"task.toml": TOML + faults})
        (tmp_path / "tools.toml").write_text(settings)
        run = _runner(tmp_path, sandbox=sandbox_kind)(suite, player, tools=tmp_path / "tools.toml", **flags)
        return {trial.variant: run.trial(trial.trial_id) for trial in run.rows()}

    return play
