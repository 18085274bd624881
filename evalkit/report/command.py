"""What does somebody type to get an agent's trials again?

All that run.json knows is in the command; what it does not know, or what no option says, is stated beside it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from evalkit.report.shown_text import fact
from evalkit.trajectory.manifest import AgentEntry, Json, RunManifest
from evalkit.trajectory.printable import quoted

MOST = 4_000
"""Characters of a command that anybody reads or copies."""
_INSPECT = "inspect:"
_GLOB = re.compile(r"([*?\[])")
_LIMITS = (("steps", "--step-limit"), ("tokens", "--token-limit"), ("time_s", "--time-limit"))
_SENT = (("temperature", "--temperature"), ("seed", "--seed"), ("max_tokens", "--max-tokens"))
_CHOSEN = (
    ("task", "--task"),
    ("limit", "--limit"),
    ("faults", "--faults"),
    ("tools", "--tools"),
    ("approvals", "--approvals"),
)
_OF_THE_RUN = (
    ("cost_limit_usd", "--cost-limit"),
    ("trial_cost_limit_usd", "--trial-cost-limit"),
    ("max_trials", "--max-trials"),
)
_CHECKPOINTS = (("stride", "--checkpoint-stride"), ("budget", "--checkpoint-budget"))
_NAMED = 10


@dataclass(frozen=True, slots=True)
class Command:
    """What to type, and what has to be known beside it."""

    text: str | None
    """None where no command makes such trials again."""
    beside: tuple[str, ...] = ()


def command_of(manifest: RunManifest, agent: str, told: Mapping[str, str]) -> Command:
    """The command for one agent of a run. `told` are its settings as its trials say them.

    A word that is not plain is quoted for a shell, so that no name in a record does anything when it is pasted.
    """
    entry = next((own for own in manifest.agents if own.id == agent), None)
    if entry is None or not all(suite.source for suite in manifest.suites) or not manifest.suites:
        return Command(None, ("The run does not say how it was made: an imported one cannot be repeated.",))
    words = ["evalkit", "run", *(str(suite.source) for suite in manifest.suites)]
    words += [*_of_agent(entry, manifest), *_of_plan(manifest), *_of_run(manifest)]
    text = " ".join(map(quoted, words))
    beside = tuple(map(fact, _beside(manifest, entry, told)))
    if len(text) > MOST:
        return Command(None, (f"The command has {len(text):,} characters and is not shown.", *beside))
    return Command(text, beside)


def _of_agent(entry: AgentEntry, manifest: RunManifest) -> Iterator[str]:
    settings = _mapping(entry.settings)
    yield from ("--model", str(settings.get("model")))
    if settings.get("thinking", "default") != "default":
        yield from ("--thinking", str(settings["thinking"]))
    if loop := _mapping(_own(entry).get("loop")):
        yield from ("--loop", str(loop.get("text")))
    elif settings.get("loop") == "react" and _of_inspect(manifest):
        yield from ("--loop", "react")
    if settings.get("base_url") is not None:
        yield from ("--base-url", str(settings["base_url"]))
    yield from _options(_SENT, settings)


def _of_plan(manifest: RunManifest) -> Iterator[str]:
    if "chosen" in manifest.settings:
        yield from _options(_CHOSEN, _mapping(manifest.settings["chosen"]))
    else:  # of a version that did not write down what was chosen
        tasks = _tasks(manifest)
        if len(tasks) == 1:
            yield from ("--task", _GLOB.sub(r"[\1]", tasks[0].partition("/")[2]))
        if manifest.planned and all(row.variant == "clean" for row in manifest.planned):
            yield from ("--faults", "none")
    if manifest.epochs is not None:
        yield from ("--epochs", str(manifest.epochs))
    for name, option in _LIMITS:
        values = {_amount(_mapping(own).get(name)) for own in manifest.limits.values()}
        # Where tasks differ the limits are their own: an option would have been for all.
        if len(values) == 1 and (value := values.pop()) is not None:
            yield from (option, value)


def _of_run(manifest: RunManifest) -> Iterator[str]:
    settings = manifest.settings
    kind = settings.get("sandbox_asked" if _of_inspect(manifest) else "sandbox")
    if kind is not None:
        yield from ("--sandbox", str(kind))
    for key, value in _mapping(settings.get("task_arguments")).items():
        yield from ("-T", f"{key}={json.dumps(value)}")
    yield from _options(_OF_THE_RUN, settings)
    if settings.get("effects") is False:
        yield "--no-effects"
    if settings.get("twins") is False:
        yield "--no-twins"
    if checkpoints := _mapping(settings.get("checkpoints")):
        yield "--checkpoints"
        yield from _options(_CHECKPOINTS, checkpoints)


def _options(options: Sequence[tuple[str, str]], settings: Mapping[str, Json]) -> Iterator[str]:
    for name, option in options:
        if (value := _amount(settings.get(name))) is not None:
            yield from (option, value)


def _amount(value: Json) -> str | None:
    if value is None:
        return None
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _beside(manifest: RunManifest, entry: AgentEntry, told: Mapping[str, str]) -> Iterator[str]:
    if "chosen" not in manifest.settings:
        yield from _not_told(manifest)
    if told.get("tool_settings", "-") not in ("-", "default"):
        yield f"Tool settings (--tools FILE.toml): {json.dumps(_mapping(entry.settings).get('tool_settings'))}"
    if own := {key: value for key, value in _own(entry).items() if key != "loop"}:
        yield f"Of its evalkit.toml: {json.dumps(own)}"
    for name, label in (("sandbox_runtime", "Container runtime"), ("readonly", "Read-only folders")):
        if value := manifest.settings.get(name):
            yield f"{label}, of evalkit.toml: {json.dumps(value)}"
    if rules := manifest.policy.get("approvals"):
        yield f"Approvals (--approvals FILE.toml): {json.dumps(rules)}"
    commit = f", in a repository at commit {manifest.git_commit}" if manifest.git_commit else ""
    if version := manifest.versions.get("evalkit"):
        yield f"Made with evalkit {version}{commit}"


def _not_told(manifest: RunManifest) -> Iterator[str]:
    tasks = _tasks(manifest)
    if len(tasks) > 1:
        more = f" and {len(tasks) - _NAMED} more" if len(tasks) > _NAMED else ""
        yield (
            f"These {len(tasks)} tasks were planned, and the run does not say whether by --task or --limit: "
            f"{', '.join(tasks[:_NAMED])}{more}"
        )
    if any(row.variant != "clean" for row in manifest.planned):
        yield "The run does not say whether its faults are the tasks' own only, or also of a plan (--faults PLAN.toml)."


def _own(entry: AgentEntry) -> Mapping[str, Json]:
    return _mapping(_mapping(entry.settings).get("own"))


def _mapping(value: Json) -> Mapping[str, Json]:
    """What run.json should have there; nothing where it has anything else."""
    return cast("Mapping[str, Json]", value) if isinstance(value, Mapping) else {}


def _tasks(manifest: RunManifest) -> list[str]:
    return list(dict.fromkeys(f"{row.suite}/{row.task_id}" for row in manifest.planned))


def _of_inspect(manifest: RunManifest) -> bool:
    return all(str(suite.source).startswith(_INSPECT) for suite in manifest.suites)
