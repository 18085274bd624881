"""What exactly is to be run, given flags and project file?

Nothing here imports Inspect or starts anything, so that a dry run and a mistake are fast.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from evalkit.engine.agent import Agent, check_cost_limits, check_models, make_agents, settle_thinking
from evalkit.engine.approvals.policy_file import check_tools, load_approvals
from evalkit.engine.attacks import check_attacks
from evalkit.engine.capacity import refuse_oversized
from evalkit.engine.checkpoint_plan import CheckpointPlan, plan_checkpoints, remarks_on
from evalkit.engine.faults.choice import NONE, FaultChoice, load_choice
from evalkit.engine.faults.doubt import doubts
from evalkit.engine.inspect_suite import PREFIX
from evalkit.engine.own_code import OwnCode
from evalkit.engine.plan import AnySuite, Asked, Planned, PlannedSuite, make_plan, tasks_of
from evalkit.engine.tool_settings import load_tool_settings
from evalkit.errors import UsageError
from evalkit.grading.unsupported import remarks
from evalkit.models.sampling import Sampling
from evalkit.project import McpDefaults, Project, RunDefaults, find_project
from evalkit.sandbox import SandboxKind, check_kind
from evalkit.tasks.faults import STRUCK_TOOLS
from evalkit.tasks.suite import load_suite

if TYPE_CHECKING:
    from evalkit.trajectory.manifest import Json


def _no_arguments() -> Mapping[str, Json]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFlags:
    """What `evalkit run` was given; None or empty means: as evalkit.toml or the suite says."""

    suites: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    thinking: tuple[str, ...] = ()
    thinking_nearest: bool | None = None
    """Whether the nearest level will do where a model does not have the one asked for."""
    epochs: int | None = None
    sandbox: str | None = None
    out: Path | None = None
    task: str | None = None
    limit: int | None = None
    tools: Path | None = None
    step_limit: int | None = None
    token_limit: int | None = None
    time_limit_s: float | None = None
    cost_limit: float | None = None
    trial_cost_limit: float | None = None
    max_trials: int | None = None
    base_url: str | None = None
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    loop: str | None = None
    approvals: Path | None = None
    faults: str | None = None
    """A fault plan's file, or `none`; None: the tasks' own faults."""
    effects: bool | None = None
    """Whether lasting changes are measured."""
    twins: bool | None = None
    """Whether impossible twins are run, too."""
    checkpoints: bool | None = None
    """Whether states of agents' work are copied while they work, and graded."""
    checkpoint_stride: int | None = None
    checkpoint_budget: int | None = None
    task_arguments: Mapping[str, Json] = field(default_factory=_no_arguments)
    """What Inspect tasks are made with."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run that is ready to start."""

    suites: tuple[AnySuite, ...]
    agents: tuple[Agent, ...]
    plan: tuple[Planned, ...]
    sandbox: SandboxKind
    sandbox_runtime: str | None
    """The container runtime that evalkit.toml names; None: the engine's default."""
    max_trials: int | None
    """None: as many at the same time as the machine takes."""
    cost_limit_usd: float | None
    """Of the whole run; None: no limit."""
    trial_cost_limit_usd: float | None
    """Of each trial."""
    out: Path
    readonly: tuple[Path, ...]
    """Further host folders that the local sandbox may read, from evalkit.toml."""
    warnings: tuple[str, ...]
    oracle_by_default: bool
    """No model was named anywhere, so the scripted oracle runs."""
    task_arguments: Mapping[str, Json] = field(default_factory=_no_arguments)
    faults: FaultChoice = field(default_factory=FaultChoice)
    """What was asked for of faults."""
    sandbox_asked: SandboxKind | None = None
    """What was asked for by flag or evalkit.toml, which beats what an Inspect task prefers."""
    chosen: Mapping[str, Json] = field(default_factory=_no_arguments)
    """As given: which tasks (`task`, `limit`), and the files of `faults`, `tools` and `approvals`. None: not given."""
    effects: bool = True
    """Whether lasting changes are measured."""
    twins: bool = True
    """Whether impossible twins are run, too."""
    checkpoints: CheckpointPlan | None = None
    """Which states of agents' work are copied and graded; None: none."""

    @property
    def cost_ceiling_usd(self) -> float | None:
        """The most that the run can cost; None where nothing bounds it."""
        paid = sum(trial.agent.model.route != "scripted" for trial in self.plan)
        of_trials = None if self.trial_cost_limit_usd is None else paid * self.trial_cost_limit_usd
        bounds = [bound for bound in (self.cost_limit_usd, of_trials) if bound is not None]
        return min(bounds, default=None) if paid else 0.0


def prepare(flags: RunFlags, *, start: Path | None = None, use_defaults: bool = True) -> Prepared:
    """Resolve names, load suites, make the plan. Raises UsageError or ConfigError before anything is spent.

    Without `use_defaults` the project's [run] settings do not count, only where its content is.
    """
    project = find_project(start)
    settings = project.settings.run if use_defaults else RunDefaults()
    if use_defaults:
        _refuse_later(project)
    _refuse_remote(flags.out)
    names = flags.suites or settings.suites
    if not names:
        known = ", ".join(project.names("suites"))
        raise UsageError("no suite was named", hint=f"Try: evalkit run core. Known suites: {known}.")
    insisted = flags.sandbox or settings.sandbox
    sandbox = check_kind(insisted or "local")
    asked_kind = sandbox if insisted else None
    suites = _suites(project, names, flags.task_arguments, asked_kind)
    loop = flags.loop or settings.loop
    own = _own_code(project, loop, with_tools=use_defaults)
    agents = _agents(project, flags, settings, own)
    limit = flags.cost_limit or settings.cost_limit or _suites_cost_limit(suites)
    of_trial = flags.trial_cost_limit or settings.trial_cost_limit
    if limit is not None or of_trial is not None:
        check_cost_limits(agents)
    faults = _faults(project, flags, settings)
    asked = _asked(flags, settings, sandbox, loop, faults)
    plan = make_plan(suites, agents, asked)
    checkpoints = _checkpoints(flags, settings)
    _check_approvals(project, flags, settings, plan)
    check_attacks(plan)
    refuse_oversized(tasks_of(plan), sandbox)
    return Prepared(
        suites=suites,
        agents=tuple({trial.agent.id: trial.agent for trial in plan}.values()),
        plan=plan,
        sandbox=sandbox,
        sandbox_runtime=_runtime(project, sandbox),
        max_trials=flags.max_trials or settings.max_trials or _suites_max(suites),
        cost_limit_usd=limit,
        trial_cost_limit_usd=of_trial,
        out=flags.out or _in_project(project, settings.out) or _default_out(suites),
        readonly=tuple(project.root / folder for folder in project.settings.sandbox.readonly),
        warnings=(
            *_warnings(suites, plan),
            *_host_warnings(own),
            *doubts(plan),
            *(remarks_on(tasks_of(plan)) if checkpoints else ()),
        ),
        oracle_by_default=not (flags.models or settings.models),
        task_arguments=flags.task_arguments,
        faults=faults,
        sandbox_asked=asked_kind,
        chosen=_chosen(project, flags, settings, faults),
        effects=flags.effects if flags.effects is not None else settings.effects is not False,
        twins=asked.twins,
        checkpoints=checkpoints,
    )


def _asked(
    flags: RunFlags, settings: RunDefaults, sandbox: SandboxKind, loop: str | None, faults: FaultChoice
) -> Asked:
    return Asked(
        sandbox=sandbox,
        task=flags.task or settings.task,
        limit=flags.limit or settings.limit,
        epochs=flags.epochs or settings.epochs,
        step_limit=flags.step_limit or settings.step_limit,
        token_limit=flags.token_limit or settings.token_limit,
        time_limit_s=flags.time_limit_s or settings.time_limit_s,
        loop=loop,
        faults=faults,
        twins=_twins(flags, settings),
    )


def _twins(flags: RunFlags, settings: RunDefaults) -> bool:
    return flags.twins if flags.twins is not None else settings.twins is not False


def _checkpoints(flags: RunFlags, settings: RunDefaults) -> CheckpointPlan | None:
    stride, budget = flags.checkpoint_stride, flags.checkpoint_budget
    return plan_checkpoints(
        settings.checkpoints if flags.checkpoints is None else flags.checkpoints,
        settings.checkpoint_stride if stride is None else stride,
        settings.checkpoint_budget if budget is None else budget,
    )


def _refuse_remote(out: Path | None) -> None:
    if out is not None and ":/" in str(out):
        raise UsageError("a run is written to a local folder", where=str(out), hint="Give --out a path.")


def _chosen(project: Project, flags: RunFlags, settings: RunDefaults, faults: FaultChoice) -> dict[str, Json]:
    tools = flags.tools or _in_project(project, settings.tool_settings)
    approvals = _approvals(project, flags, settings)
    plan = None if faults.source is None else str(faults.source.path)
    return {
        "task": flags.task or settings.task,
        "limit": flags.limit or settings.limit,
        "faults": plan if faults.own else NONE,
        "tools": None if tools is None else str(tools),
        "approvals": None if approvals is None else str(approvals),
    }


def _agents(project: Project, flags: RunFlags, settings: RunDefaults, own: OwnCode) -> tuple[Agent, ...]:
    tools = flags.tools or _in_project(project, settings.tool_settings)
    agents = make_agents(
        flags.models or settings.models or ("scripted/oracle",),
        flags.thinking or settings.thinking,
        load_tool_settings(tools),
        own,
        sampling=_sampling(flags, settings),
        base_url=settings.base_url if flags.base_url is None else flags.base_url,
        approvals=load_approvals(_approvals(project, flags, settings)),
        thinking_from="--thinking" if flags.thinking else f"{project.path}: run.thinking",
    )
    check_models(agents)
    nearest = settings.thinking_nearest if flags.thinking_nearest is None else flags.thinking_nearest
    return settle_thinking(agents, nearest=bool(nearest))


def _approvals(project: Project, flags: RunFlags, settings: RunDefaults) -> Path | None:
    return flags.approvals or _in_project(project, settings.approvals)


def _check_approvals(
    project: Project, flags: RunFlags, settings: RunDefaults, plan: Sequence[Planned]
) -> None:
    """Where agents have only evalkit's own tools, a rule for another is a mistake."""
    path, agents = _approvals(project, flags, settings), [trial.agent for trial in plan]
    if path is None or any(agent.loop != "react" or agent.own.parts for agent in agents):
        return
    for approvals in dict.fromkeys(agent.approvals for agent in agents):
        if approvals is not None:
            check_tools(path, approvals, STRUCK_TOOLS)


def _sampling(flags: RunFlags, settings: RunDefaults) -> Sampling:
    return Sampling(
        temperature=settings.temperature if flags.temperature is None else flags.temperature,
        seed=settings.seed if flags.seed is None else flags.seed,
        max_tokens=flags.max_tokens or settings.max_tokens,
    )


def _suites(
    project: Project, names: Sequence[str], arguments: Mapping[str, Json], asked: SandboxKind | None
) -> tuple[AnySuite, ...]:
    if arguments and not any(name.startswith(PREFIX) for name in names):
        raise UsageError(
            "-T gives arguments to Inspect tasks, and none is named", hint=f"Name one: {PREFIX}FILE.py@task."
        )
    suites = tuple(_suite(project, name, arguments, asked) for name in names)
    _refuse_doubles(suites)
    return suites


def _suite(project: Project, name: str, arguments: Mapping[str, Json], asked: SandboxKind | None) -> AnySuite:
    if not name.startswith(PREFIX):
        return load_suite(project.resolve("suites", name))
    from evalkit.engine.inspect_loading import load_inspect_suite
    from evalkit.engine.own_parts import in_project

    return load_inspect_suite(in_project(project, name.removeprefix(PREFIX)), arguments, asked)


def _own_code(project: Project, loop: str | None, *, with_tools: bool) -> OwnCode:
    """The user's own loop and tools; none of it costs anything where there is none."""
    tools = project.settings.tools if with_tools else ()
    servers: Mapping[str, McpDefaults] = project.settings.mcp if with_tools else {}
    if loop in {None, "react"} and not tools and not servers:
        return OwnCode()
    from evalkit.engine.own_parts import own_code

    return own_code(project, loop, tools, servers)


def _warnings(suites: Sequence[PlannedSuite], plan: Sequence[Planned]) -> tuple[str, ...]:
    loading = [warning for suite in suites for warning in suite.warnings]
    return (*loading, *(remark for task in tasks_of(plan) for remark in remarks(task)))


def _host_warnings(own: OwnCode) -> tuple[str, ...]:
    names = [
        *(tool.name for tool in own.tools),
        *(f"those of the MCP server {one.name}" for one in own.servers),
    ]
    said = "tools of your own run on this machine, outside every sandbox, with all that you may do"
    return (f"{said}: {', '.join(names)}",) if names else ()


def _runtime(project: Project, sandbox: SandboxKind) -> str | None:
    """A runtime is asked for so that agents are held in more firmly: where it cannot be had nothing runs."""
    runtime = project.settings.sandbox.runtime
    if runtime is not None and sandbox != "docker":
        raise UsageError(
            f"evalkit.toml asks for the container runtime {runtime}, which the {sandbox} sandbox does not use",
            where=str(project.path),
            hint="Use --sandbox docker, or take [sandbox] runtime out.",
        )
    return runtime


def _refuse_doubles(suites: Sequence[PlannedSuite]) -> None:
    paths: dict[str, str] = {}
    for suite in suites:
        if suite.name in paths:
            raise UsageError(
                f"two suites are called '{suite.name}': {paths[suite.name]} and {suite.source}",
                hint="Give each suite a name of its own, and name each only once.",
            )
        paths[suite.name] = suite.source


def _refuse_later(project: Project) -> None:
    """What evalkit.toml may say but this version cannot do is refused by name, never ignored."""
    run = project.settings.run
    later = {"run.executor": run.executor is not None}
    named = [name for name, present in later.items() if present]
    if named:
        raise UsageError(
            f"this version of evalkit cannot do what is set here: {', '.join(named)}",
            where=str(project.path),
            hint="Take these keys out, or wait for the version that brings them.",
        )


def _faults(project: Project, flags: RunFlags, settings: RunDefaults) -> FaultChoice:
    if flags.faults is not None:
        return load_choice(flags.faults)
    return load_choice(NONE if settings.faults == NONE else _in_project(project, settings.faults))


def _suites_cost_limit(suites: Sequence[PlannedSuite]) -> float | None:
    asked = [suite.run.cost_limit for suite in suites if suite.run.cost_limit is not None]
    return min(asked, default=None)


def _suites_max(suites: Sequence[PlannedSuite]) -> int | None:
    asked = [suite.run.max_trials for suite in suites if suite.run.max_trials is not None]
    return min(asked) if asked else None


def _in_project(project: Project, path: str | Path | None) -> Path | None:
    return None if path is None else project.root / path


def _default_out(suites: Sequence[PlannedSuite]) -> Path:
    name = "+".join(suite.name.replace("/", "-") for suite in suites)
    first = Path("runs") / f"{datetime.now().astimezone():%Y%m%d-%H%M%S}-{name}"
    further = (first.with_name(f"{first.name}-{number}") for number in itertools.count(2))
    return next(path for path in itertools.chain([first], further) if not path.exists())
