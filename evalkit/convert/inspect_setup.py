"""What does an Inspect log say of all its samples: task, agent, model, settings?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evalkit.convert.asked import agent_name
from evalkit.convert.importer import Options
from evalkit.convert.notes import Notes
from evalkit.convert.reported import finite, moment
from evalkit.convert.retries import Retry
from evalkit.models.wire.json_values import as_object, is_list, objects_in, text_in

Raw = Mapping[str, object]
_SEED = 1 << 62


@dataclass(frozen=True, slots=True)
class Setup:
    """The part of a log that its samples have in common."""

    suite: str
    loop: str
    model: str
    agent: str
    columns: Mapping[str, Any]
    settings: Mapping[str, Any]
    sandbox: str | None
    status: str | None
    """`success`, `error`, `cancelled`, `started`; None where the run died before it could say."""
    retry: Retry | None
    """Logs of one `task_id` are one evaluation: Inspect keeps the id where it tries failed samples again."""


def setup_of(header: Raw, notes: Notes, options: Options) -> Setup:
    """Read a log's header, or what a run had written when it began."""
    told, plan = as_object(header.get("eval")), as_object(header.get("plan"))
    generation = {**as_object(told.get("model_generate_config")), **as_object(plan.get("config"))}
    model = text_in(told.get("model")) or "unknown"
    solvers = [name for step in objects_in(plan.get("steps")) if (name := text_in(step.get("solver")))]
    loop = (solvers[-1] if solvers else None) or text_in(told.get("solver")) or "inspect"
    thinking = thinking_asked(generation)
    return Setup(
        suite=options.suite or text_in(told.get("task")) or "inspect",
        loop=loop,
        model=model,
        agent=options.agent or agent_name(loop, model, thinking),
        columns={
            "agent_loop": loop,
            "model": model,
            "thinking": thinking,
            "temperature": finite(generation.get("temperature"), notes, "a temperature"),
            "seed": seed(generation.get("seed")),
        },
        settings=_settings(told, plan, generation),
        sandbox=sandbox_of(told.get("sandbox")),
        status=text_in(header.get("status")),
        retry=_retry(told, notes),
    )


def thinking_asked(config: Raw) -> str | None:
    """The thinking budget in evalkit's words, out of a generation's settings."""
    budget, effort = config.get("reasoning_tokens"), text_in(config.get("reasoning_effort"))
    if type(budget) is int and budget >= -1:
        return {0: "off", -1: "dynamic"}.get(budget, f"tokens:{budget}")
    if effort is not None:
        return "off" if effort == "none" else f"effort:{effort[:50]}"
    return None


def thinking_sent(request: Raw) -> str | None:
    """The thinking budget that a request names, in the places where providers have it. None where it names none."""
    thinking, reasoning = as_object(request.get("thinking")), as_object(request.get("reasoning"))
    google = as_object(as_object(request.get("generation_config")).get("thinkingConfig"))
    budget = thinking.get("budget_tokens", google.get("thinkingBudget", reasoning.get("max_tokens")))
    if thinking.get("type") == "disabled":
        return "off"
    effort = reasoning.get("effort", request.get("reasoning_effort", google.get("thinkingLevel")))
    return thinking_asked({"reasoning_tokens": budget, "reasoning_effort": effort})


def sandbox_of(value: object) -> str | None:
    """The name of a sandbox plug-in, which need not be installed."""
    if is_list(value):
        value = next(iter(value), None)
    return text_in(value) or text_in(as_object(value).get("type"))


def seed(value: object) -> int | None:
    """A seed that can be stored."""
    return value if type(value) is int and abs(value) < _SEED else None


def _retry(told: Raw, notes: Notes) -> Retry | None:
    task_id = text_in(told.get("task_id"))
    return Retry(of=task_id, at=moment(told.get("created"), notes)) if task_id else None


def _settings(told: Raw, plan: Raw, generation: Raw) -> dict[str, Any]:
    """Configuration as found, without what is empty."""
    found = {
        "solvers": [
            {"solver": step.get("solver"), "params": step.get("params")}
            for step in objects_in(plan.get("steps"))
        ],
        "model": told.get("model"),
        "model_args": told.get("model_args"),
        "model_base_url": told.get("model_base_url"),
        "model_roles": told.get("model_roles"),
        "generate_config": generation,
        "task_version": told.get("task_version"),
        "task_args": told.get("task_args"),
        "task_file": told.get("task_file"),
        "dataset": {
            key: value for key, value in as_object(told.get("dataset")).items() if key != "sample_ids"
        },
        "config": told.get("config"),
        "sandbox": told.get("sandbox"),
        "packages": told.get("packages"),
        "revision": told.get("revision"),
    }
    return {key: value for key, value in found.items() if value not in (None, {}, [], "")}
