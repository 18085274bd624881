"""How many trials a minute, with 1, 4 and 16 at once, against plain Inspect without isolation?

    python benchmarks/trials_per_minute.py [--json]

A trial is the smallest that does everything: its sandbox, two shell calls and `submit` by a scripted agent, its
deliverable taken out, a grader in a fresh sandbox, its files committed. Plain Inspect has the same conversation in its
own local sandbox, which isolates nothing, and neither grades nor records steps. Start-up and imports do not count.
Trials that wait two seconds, as an agent waits for its model, show what sandboxes at once are for; `adaptive` is a run
without --max-trials, which needs an idle machine to find room.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable

from tiny_trials import COMMANDS, in_fresh_process, run_trials

AT_ONCE = (1, 4, 16)
ROWS: dict[str, dict[int | None, int]] = {
    "plain Inspect": {1: 8, 4: 24, 16: 48},
    "local": {1: 8, 4: 24, 16: 48},
    "docker": {1: 3, 4: 10, 16: 24},
    "local, waiting 2 s": {1: 3, 4: 12, 16: 32, None: 40},
}


def plain_inspect(trials: int, at_once: int) -> float:
    """Seconds for so many samples of the same conversation in Inspect alone."""
    import inspect_ai
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage, execute_tools, get_model
    from inspect_ai.solver import Generate, Solver, TaskState, solver
    from inspect_ai.tool import bash

    def answer(messages: list[ChatMessage], *_: object) -> ModelOutput:
        turn = sum(message.role == "assistant" for message in messages)
        if turn == len(COMMANDS):
            output = ModelOutput.from_content("mockllm/model", "submitted")
        else:
            arguments = {"command": COMMANDS[turn]}
            output = ModelOutput.for_tool_call("mockllm/model", "bash", arguments, content="Next.")
        output.usage = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)
        return output

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
    assert logs[0].status == "success", logs[0].error and logs[0].error.message
    return max(times) - min(times)


def child(row: str) -> dict[str, float]:
    """Trials a minute in this process, by number at once."""
    found: dict[str, float] = {}
    for at_once, trials in ROWS[row].items():
        if row == "plain Inspect":
            seconds = plain_inspect(trials, at_once or 1)
        else:
            wait_s = 2.0 if "waiting" in row else 0.0
            kind, models = row.partition(",")[0], ("scripted/oracle",)
            watch = run_trials(trials, sandbox=kind, at_once=at_once, wait_s=wait_s, models=models)
            seconds = watch.finished_s[-1]
        found["adaptive" if at_once is None else str(at_once)] = 60 * trials / seconds
    return found


def missing() -> dict[str, str]:
    """Which sandboxes are not there, and why."""
    from evalkit.sandbox import check_sandbox

    supports = {kind: check_sandbox(kind) for kind in ("local", "docker")}
    return {kind: f"{found.problem} {found.hint or ''}" for kind, found in supports.items() if not found.ok}


def measure(say: Callable[[str], None]) -> dict[str, dict[str, object]]:
    """Trials a minute, by row and number at once."""
    absent, found = missing(), dict[str, dict[str, object]]()
    for row in ROWS:
        sandbox = row.partition(",")[0]
        if sandbox in absent:
            say(f"{row}: not measured. {absent[sandbox]}")
            continue
        found[row] = in_fresh_process(__file__, row)
    return found


def main() -> None:
    """Measure every row and print a table."""
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(child(sys.argv[2])))
        return
    found = measure(lambda line: print(line, file=sys.stderr))
    if "--json" in sys.argv:
        print(json.dumps({"cpus": os.cpu_count(), "trials_per_minute": found}, indent=2))
        return
    columns = [*map(str, AT_ONCE), "adaptive"]
    print(f"trials a minute, by trials at once, {os.cpu_count()} processors")
    print(f"{'':22}" + "".join(f"{name:>10}" for name in columns) + f"{'16 : 1':>10}")
    for row, numbers in found.items():
        cells = [f"{numbers[name]:.0f}" if name in numbers else "" for name in columns]
        print(
            f"{row:22}" + "".join(f"{cell:>10}" for cell in cells) + f"{numbers['16'] / numbers['1']:>10.1f}"
        )


if __name__ == "__main__":
    main()
