"""Which planned faults can hardly do what they should?

None of this is refused: a tool of the user's own may have any name, and a wait that is too long is a fault as well.
"""

from __future__ import annotations

from collections.abc import Iterable

from evalkit.engine.faults.refusal import wait_s
from evalkit.engine.plan import Planned, PlannedTrial
from evalkit.tasks.faults import STRUCK_TOOLS
from evalkit.tomlfile import nearest


def doubts(plan: Iterable[Planned]) -> tuple[str, ...]:
    """A sentence for each doubt, once."""
    found: dict[str, None] = {}
    for planned in plan:
        if not isinstance(planned, PlannedTrial) or planned.fault is None:
            continue
        for doubt in (_of_its_tool(planned), _of_its_wait(planned)):
            if doubt is not None:
                found[f"the fault {planned.fault.id!r} of {planned.suite.name}/{planned.task.id} {doubt}"] = (
                    None
                )
    return tuple(found)


def _of_its_tool(planned: PlannedTrial) -> str | None:
    own = planned.agent.own
    known = {*STRUCK_TOOLS, *(tool.name for tool in own.tools)}
    tool = planned.fault.when.tool if planned.fault else None
    if tool is None or tool in known or own.servers:
        return None
    hint = nearest(tool, known).replace("Known here", "Tools known here")
    return f"strikes calls of {tool!r}, and no tool is known by that name. {hint}"


def _of_its_wait(planned: PlannedTrial) -> str | None:
    if planned.fault is None:
        return None
    wait = wait_s(planned.fault, planned.agent.tool_settings)
    stages = planned.task.stages if planned.task.is_staged else ()
    bounds = [planned.limits.time_s, *(stage.agent_timeout_s for stage in stages)]
    least = min((bound for bound in bounds if bound is not None), default=None)
    if least is None or wait < least:
        return None
    return (
        f"waits {wait:g} s, and the agent has {least:g} s: nobody can recover from it. "
        "Give it a shorter wait_s, or fast"
    )
