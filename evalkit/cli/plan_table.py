"""What does a plan look like before it runs?"""

from __future__ import annotations

from collections import Counter

from rich.table import Table

from evalkit.cli.console import cell, printable, stdout
from evalkit.engine.agent import Agent
from evalkit.engine.prepare import Prepared


def print_plan(prepared: Prepared) -> None:
    """Print suites, agents, limits, the number of trials and what they can cost at most."""
    console = stdout()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("suite", "version", "tasks", "digest"):
        table.add_column(name, justify="right" if name == "tasks" else "left")
    for suite in prepared.suites:
        tasks = {trial.task.id for trial in prepared.plan if trial.suite is suite}
        table.add_row(cell(suite.name), cell(suite.version or "-"), str(len(tasks)), suite.digest[:12])
    console.print(table)
    epochs = max(trial.epoch for trial in prepared.plan)
    agents = ", ".join(agent.id for agent in prepared.agents)
    console.print(printable(f"agents    {agents}"), markup=False, soft_wrap=True)
    console.print(f"epochs    {epochs}")
    console.print(f"sandbox   {prepared.sandbox}, {_at_once(prepared.max_trials)}")
    for line in dict.fromkeys(map(_approvals, prepared.agents)):
        console.print(printable(f"approvals {line}"), markup=False, soft_wrap=True)
    console.print(printable(f"variants  {_variants(prepared)}"), markup=False, soft_wrap=True)
    console.print(f"trials    {len(prepared.plan)}")
    console.print(f"cost      {_cost(prepared)}")
    console.print(printable(f"out       {prepared.out}"), markup=False, soft_wrap=True)


def plan_as_json(prepared: Prepared) -> dict[str, object]:
    """The plan for programs."""
    return {
        "suites": [
            {"name": suite.name, "version": suite.version, "digest": suite.digest}
            for suite in prepared.suites
        ],
        "agents": [{"agent": agent.id, "digest": agent.digest} for agent in prepared.agents],
        "approvals": next((agent.approvals.id for agent in prepared.agents if agent.approvals), None),
        "sandbox": prepared.sandbox,
        "max_trials": prepared.max_trials or "adaptive",
        "out": str(prepared.out),
        "cost_ceiling_usd": prepared.cost_ceiling_usd,
        "trials": [
            {
                "suite": trial.suite.name,
                "task": trial.task.id,
                "variant": trial.variant,
                "agent": trial.agent.id,
                "epoch": trial.epoch,
            }
            for trial in prepared.plan
        ],
    }


def _approvals(agent: Agent) -> str:
    approvals = agent.approvals
    if approvals is None:
        return "none: every call may run"
    rules = "1 rule" if len(approvals.rule) == 1 else f"{len(approvals.rule)} rules"
    unattended = f", ask means {approvals.unattended} where nobody is there" if approvals.asks else ""
    return f"{approvals.id}: {rules}, default {approvals.default}{unattended}"


def _at_once(max_trials: int | None) -> str:
    if max_trials is None:
        return "as many trials at once as this machine takes"
    return f"at most {max_trials} trials at once"


def _variants(prepared: Prepared) -> str:
    """How many trials there are without a fault, of each kind of fault, and of impossible twins."""
    counted = Counter(trial.fault.kind if trial.fault else trial.variant for trial in prepared.plan)
    return ", ".join(f"{kind} {number}" for kind, number in counted.items())


def _cost(prepared: Prepared) -> str:
    ceiling = prepared.cost_ceiling_usd
    return "unbounded (set --cost-limit to bound it)" if ceiling is None else f"at most ${ceiling:.2f}"
