"""How many trials a minute, with 1, 4 and 16 at once, against plain Inspect without isolation?

    python benchmarks/trials_per_minute.py [--json]

A trial is the smallest that does everything: its sandbox, two shell calls and `submit` by a scripted agent, deliverables
taken out, a grader in a fresh sandbox, its files committed. Plain Inspect has the same conversation in its own local
sandbox, which isolates nothing, and neither grades nor records steps. Start-up and imports do not count. Trials that
wait a second, as an agent waits for its model, show what sandboxes at once are for; `adaptive` is a run without
--max-trials.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tiny_trials import COMMANDS, in_fresh_process, run_trials

AT_ONCE = (1, 4, 16)
ROWS: dict[str, dict[int | None, int]] = {
    "plain Inspect": {1: 12, 4: 32, 16: 64},
    "local": {1: 12, 4: 32, 16: 64},
    "docker": {1: 4, 4: 12, 16: 32},
    "local, waiting 1 s": {1: 5, 4: 20, 16: 64, None: 96},
}


def plain_inspect(trials: int, at_once: int) -> float:
    """Seconds for so many samples of the same conversation in Inspect alone."""
    import inspect_ai
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessage, ModelOutput, execute_tools, get_model
    from inspect_ai.solver import Generate, Solver, TaskState, solver
    from inspect_ai.tool import bash

    def answer(messages: list[ChatMessage], *_: object) -> ModelOutput:
        turn = sum(message.role == "assistant" for message in messages)
        if turn == len(COMMANDS):
            return ModelOutput.from_content("mockllm/model", "submitted")
        arguments = {"command": COMMANDS[turn]}
        return ModelOutput.for_tool_call("mockllm/model", "bash", arguments, content="Next.")

    times: list[float] = []

    @solver
    def conversation() -> Solver:
        async def solve(state: TaskState, _: Generate) -> TaskState:
            times.append(time.perf_counter())
            tools = [bash(timeout=60)]
            for _ in range(len(COMMANDS) + 1):
                output = await get_model().generate(state.messages, tools=tools)
                state.messages.append(output.message)
                state.messages += (await execute_tools(state.messages, tools)).messages
            times.append(time.perf_counter())
            return state

        return solve

    samples = [Sample("go", id=number) for number in range(1, trials + 1)]
    logs = inspect_ai.eval(
        inspect_ai.Task(dataset=MemoryDataset(samples), solver=conversation(), sandbox="local"),
        model=get_model("mockllm/model", custom_outputs=answer),
        display="none",
        log_realtime=False,
        log_level="error",
        max_samples=at_once,
        ctl_server=False,
        score=False,
    )
    assert logs[0].status == "success", logs[0].error
    return max(times) - min(times)


def child(row: str, at_once: int | None, trials: int) -> float:
    """Trials a minute in this process."""
    if row == "plain Inspect":
        return 60 * trials / plain_inspect(trials, at_once or 1)
    wait_s = 1.0 if "waiting" in row else 0.0
    sandbox = row.partition(",")[0]
    watch = run_trials(trials, sandbox=sandbox, at_once=at_once, wait_s=wait_s, models=("scripted/oracle",))
    return 60 * trials / watch.finished_s[-1]


def missing() -> dict[str, str]:
    """Which sandboxes are not there, and why."""
    from evalkit.sandbox import check_sandbox

    supports = {kind: check_sandbox(kind) for kind in ("local", "docker")}
    return {kind: f"{found.problem} {found.hint or ''}" for kind, found in supports.items() if not found.ok}


def measure(say: Callable[[str], None]) -> dict[str, dict[str, float]]:
    """Trials a minute, by row and number at once."""
    absent, found = missing(), dict[str, dict[str, float]]()
    for row, plan in ROWS.items():
        sandbox = row.partition(",")[0]
        if sandbox in absent:
            say(f"{row}: not measured. {absent[sandbox]}")
            continue
        found[row] = {
            "adaptive" if at_once is None else str(at_once): float(
                in_fresh_process(__file__, row, at_once or 0, trials)["per_minute"]
            )
            for at_once, trials in plan.items()
        }
    return found


def main() -> None:
    """Measure every row and print a table."""
    if sys.argv[1:2] == ["--child"]:
        row, at_once, trials = sys.argv[2], int(sys.argv[3]) or None, int(sys.argv[4])
        print(json.dumps({"per_minute": child(row, at_once, trials)}))
        return
    found = measure(lambda line: print(line, file=sys.stderr))
    if "--json" in sys.argv:
        print(json.dumps({"cpus": os.cpu_count(), "trials_per_minute": found}, indent=2))
        return
    columns = [*map(str, AT_ONCE), "adaptive"]
    print(f"trials a minute, by trials at once, {os.cpu_count()} processors ({Path(sys.executable).name})")
    print(f"{'':22}" + "".join(f"{name:>10}" for name in columns) + f"{'16 : 1':>10}")
    for row, numbers in found.items():
        cells = [f"{numbers[name]:.0f}" if name in numbers else "" for name in columns]
        print(
            f"{row:22}" + "".join(f"{cell:>10}" for cell in cells) + f"{numbers['16'] / numbers['1']:>10.1f}"
        )


if __name__ == "__main__":
    main()
