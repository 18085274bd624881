"""Which agent made a trajectory of mini-swe-agent, and which limits did it have?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from evalkit.convert.asked import agent_name, thinking_asked
from evalkit.convert.json_text import JsonReader
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.reported import finite
from evalkit.convert.secret_fields import MARK, is_secret
from evalkit.convert.source import Source
from evalkit.convert.swe_bench_report import trajectories
from evalkit.models.reconcile import count
from evalkit.models.wire.json_values import as_list, as_object, text_in
from evalkit.trajectory.manifest import Json
from evalkit.trajectory.trial import StopReason

LOOP = "mini-swe-agent"
_MODEL_NAME = re.compile(rb'"model_name": ?("(?:[^"\\]|\\.){0,500}")')
_SANDBOXES = {
    "dockerenvironment": "docker",
    "localenvironment": "local",
    "singularityenvironment": "singularity",
}
_ASKED = 20
"""Trajectories beside a report that are asked which agent made them."""


def thinking_of(config: Mapping[str, object]) -> str | None:
    """The thinking that was asked for: `effort:high`, `tokens:1024`, `off`; None where nothing is said about it."""
    return thinking_asked(as_object(as_object(config.get("model")).get("model_kwargs")))


def asked_of(config: Mapping[str, object], notes: Notes) -> dict[str, Any]:
    """Columns of `Trial` that tell what was asked of the model, and where commands ran."""
    kwargs = as_object(as_object(config.get("model")).get("model_kwargs"))
    temperature, seed = kwargs.get("temperature"), kwargs.get("seed")
    kind = (text_in(config.get("environment_type")) or "").rpartition(".")[2].lower()
    return {
        "agent_loop": LOOP,
        "model": text_in(as_object(config.get("model")).get("model_name")) or text_in(config.get("model")),
        "thinking": thinking_of(config),
        "temperature": finite(temperature, notes, "a temperature"),
        "seed": seed if isinstance(seed, int) and not isinstance(seed, bool) and abs(seed) < 2**63 else None,
        "sandbox": _SANDBOXES.get(kind),
    }


def settings_of(info: Mapping[str, object]) -> dict[str, Json]:
    """The configuration as it was found, without what belongs to the task or to a machine. `importing` takes secrets
    out by their names; those in a container's arguments (`NAME=value`) are taken out here.
    """
    config = dict(as_object(info.get("config")))
    environment = {
        key: value for key, value in as_object(config.get("environment")).items() if key != "image"
    }
    for name in ("run_args", "forward_env"):
        if name in environment:
            environment[name] = [_without_value(item) for item in as_list(environment[name])]
    agent = {key: value for key, value in as_object(config.get("agent")).items() if key != "output_path"}
    config.update(environment=environment, agent=agent)
    version = text_in(info.get("mini_version"))
    return {"loop": LOOP, "version": version, "config": cast("Json", config)}


def limit_reached(config: Mapping[str, object], calls: int, cost: float | None) -> StopReason | None:
    """Which limit ended a run that a limit ended; None where the numbers do not tell."""
    agent = as_object(config.get("agent"))
    steps = count(agent.get("step_limit"))
    most = agent.get("cost_limit")
    if steps and calls >= steps:
        return "step_limit"
    if isinstance(most, (int, float)) and cost is not None and 0 < most <= cost:
        return "cost_limit"
    return None


def agent_beside(path: Path, notes: Notes) -> str:
    """The agent that made the trajectories in a report's folder, if they are all by one; else unknown."""
    found = {_model_name(place) for place in trajectories(path.parent)[:_ASKED]} - {None}
    if len(found) != 1:
        return agent_name(LOOP, None, None)
    notes.warn("a report without a trajectory counts for the agent that made those beside it")
    return agent_name(LOOP, found.pop(), None)


def _model_name(path: Path) -> str | None:
    try:
        found = _MODEL_NAME.search(Source(path).head)
        return text_in(JsonReader(Notes()).value(found[1].decode("utf-8", "replace"))) if found else None
    except Refused:
        return None


def _without_value(item: object) -> object:
    name, is_set, _ = item.partition("=") if isinstance(item, str) else ("", "", "")
    return f"{name}={MARK}" if is_set and is_secret(name) else item
