"""Made up trajectories and reports of mini-swe-agent."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalkit.convert.converted import Converted
from evalkit.convert.importer import Options
from evalkit.convert.mini_swe_agent import IMPORTER
from evalkit.convert.notes import Notes
from evalkit.convert.source import Source
from evalkit.trajectory.step import Act, Event, Think

PATCH = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n"
USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "total_tokens": 120,
    "prompt_tokens_details": {"cached_tokens": 60},
}


def make_answer(
    text: str = "I look.", call: str | None = "a", at: float = 1.0, **more: Any
) -> dict[str, Any]:
    function = {"name": "bash", "arguments": '{"command": "ls"}'}
    return {
        "role": "assistant",
        "content": text,
        "tool_calls": [{"id": call, "type": "function", "function": function}] if call else None,
        "extra": {
            "response": {"model": "served-1", "usage": USAGE, "choices": [{"finish_reason": "tool_calls"}]},
            "cost": 0.5,
            "timestamp": 1700000000.0 + at,
        },
        **more,
    }


def make_result(call: str = "a", code: object = 0, at: float = 2.0, exception: str = "") -> dict[str, Any]:
    return {
        "role": "tool",
        "tool_call_id": call,
        "content": f"<returncode>{code}</returncode>",
        "extra": {
            "raw_output": "out",
            "returncode": code,
            "exception_info": exception,
            "timestamp": 1700000000.0 + at,
        },
    }


def make_trajectory(*messages: object, status: str | None = "Submitted", **info: Any) -> dict[str, Any]:
    submission = info.pop("submission", PATCH if status == "Submitted" else "")
    config = {
        "agent": {"step_limit": 250, "cost_limit": 3.0},
        "model": {"model_name": "maker/model-1", "model_kwargs": info.pop("model_kwargs", {})},
        "environment": {"image": "swebench/x:latest", "run_args": ["--rm"]},
        "environment_type": "minisweagent.environments.docker.DockerEnvironment",
    }
    return {
        "info": {
            "model_stats": {"instance_cost": 0.5, "api_calls": 1},
            "config": config,
            "mini_version": "2.2.7",
            "exit_status": status,
            "submission": submission,
            **info,
        },
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}, *messages],
        "trajectory_format": "mini-swe-agent-1.1",
        "instance_id": "one__one-1",
    }


def make_report(
    *, resolved: object = True, instance: str = "one__one-1", broken: bool = False
) -> dict[str, Any]:
    passing = {"success": [] if broken else ["test_b"], "failure": ["test_b"] if broken else []}
    tests = {"FAIL_TO_PASS": {"success": ["test_a"], "failure": []}, "PASS_TO_PASS": passing}
    return {
        instance: {
            "patch_is_None": False,
            "patch_exists": True,
            "patch_successfully_applied": True,
            "resolved": resolved,
            "tests_status": tests,
        }
    }


class Files:
    """A folder of made up files, and what is made of them."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.notes = Notes()

    def write(self, name: str, content: object) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    def convert(self, content: object, name: str = "one__one-1.traj.json", **options: Any) -> Converted:
        found = self.read(self.write(name, content), **options)
        assert len(found) == 1
        return found[0]

    def read(self, path: Path, **options: Any) -> list[Converted]:
        return list(IMPORTER.convert(Source(path), self.notes, Options(**options)))


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path / "in")


def thinks_of(told: Converted) -> list[Think]:
    return [step for step in told.steps if isinstance(step, Think)]


def acts_of(told: Converted) -> list[Act]:
    return [step for step in told.steps if isinstance(step, Act)]


def events_of(told: Converted) -> list[Event]:
    return [step for step in told.steps if isinstance(step, Event)]


FIRST = [
    {"role": "system", "content": "s", "timestamp": 1700000000.0},
    {"role": "user", "content": "Answer in ```bash\nyour_command\n``` blocks", "timestamp": 1700000000.0},
    {"role": "assistant", "content": "THOUGHT: look\n\n```bash\nls -la\n```", "timestamp": 1700000003.0},
    {
        "role": "user",
        "content": "<returncode>2</returncode>\n<output>\nno\n</output>",
        "timestamp": 1700000004.0,
    },
    {"role": "assistant", "content": "```bash\na\n```\nor\n```bash\nb\n```", "timestamp": 1700000005.0},
    {"role": "user", "content": "Please always provide EXACTLY ONE action.", "timestamp": 1700000005.5},
    {"role": "assistant", "content": "```mswea_bash_command\nsleep 99\n```", "timestamp": 1700000006.0},
    {
        "role": "user",
        "content": "The last command <command>sleep 99</command> timed out and has been killed.",
    },
    {"role": "assistant", "content": "no action at all"},
    {"role": "user", "content": "Please always provide EXACTLY ONE action."},
    {"role": "assistant", "content": "```bash\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n```"},
]


def make_first_version(*, status: str, result: str) -> dict[str, Any]:
    return {
        "info": {
            "exit_status": status,
            "submission": result,
            "model_stats": {"instance_cost": 0.25, "api_calls": 5},
            "mini_version": "1.14.2",
            "config": {"model": {"model_name": "maker/model-0"}},
        },
        "messages": [*FIRST, {"role": "user", "content": result}],
        "trajectory_format": "mini-swe-agent-1",
    }


@pytest.fixture
def answer() -> Callable[..., dict[str, Any]]:
    return make_answer


@pytest.fixture
def result() -> Callable[..., dict[str, Any]]:
    return make_result


@pytest.fixture
def trajectory() -> Callable[..., dict[str, Any]]:
    return make_trajectory


@pytest.fixture
def report() -> Callable[..., dict[str, Any]]:
    return make_report


@pytest.fixture
def first_version() -> Callable[..., dict[str, Any]]:
    return make_first_version


@pytest.fixture
def thinks() -> Callable[[Converted], list[Any]]:
    return thinks_of


@pytest.fixture
def acts() -> Callable[[Converted], list[Any]]:
    return acts_of


@pytest.fixture
def events() -> Callable[[Converted], list[Any]]:
    return events_of


@pytest.fixture
def patch() -> str:
    return PATCH


@pytest.fixture
def seeds() -> tuple[dict[str, Any], ...]:
    """One of every kind of file."""
    ended = {"role": "exit", "content": "", "extra": {}}
    whole = make_trajectory(make_answer(), make_result(), make_answer(call="b"), ended)
    return copy.deepcopy((whole, make_first_version(status="Submitted", result=PATCH), make_report()))
