"""How much CPU does the harness spend per turn, against plain Inspect with its local sandbox?

Both run the same scripted conversation: N turns of one `bash` call (`true`), then the end. The harness's
own CPU (this process, without children) is measured at two lengths in fresh processes, and the slope is
the cost of a turn, so that start-up and imports do not count.

    python benchmarks/turns.py [--json]
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SHORT, LONG, REPEATS = 50, 350, 3
AIM_MS = 2.0
TASK = """\
artifacts = ["/app/out"]
schema_version = "1.4"
[environment]
network_mode = "no-network"
"""


def plain_inspect(turns: int) -> None:
    """The conversation in Inspect alone: its loop functions, its bash tool, its local sandbox."""
    import inspect_ai
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import (
        ChatMessageAssistant,
        ModelOutput,
        ModelUsage,
        execute_tools,
        get_model,
    )
    from inspect_ai.solver import Generate, TaskState, solver
    from inspect_ai.tool import bash

    def outputs(*_: object) -> ModelOutput:
        output = ModelOutput.for_tool_call("mockllm/model", "bash", {"command": "true"}, content="Next.")
        output.usage = ModelUsage(input_tokens=10, output_tokens=5, total_tokens=15)
        return output

    @solver
    def loop():  # type: ignore[no-untyped-def]
        async def solve(state: TaskState, _: Generate) -> TaskState:
            tools = [bash(timeout=60)]
            for _ in range(turns):
                output = await get_model().generate(state.messages, tools=tools)
                state.messages.append(output.message)
                assert isinstance(output.message, ChatMessageAssistant)
                state.messages += (await execute_tools(state.messages, tools)).messages
            return state

        return solve

    task = inspect_ai.Task(dataset=MemoryDataset([Sample("go")]), solver=loop(), sandbox="local")
    model = get_model("mockllm/model", custom_outputs=outputs)
    logs = inspect_ai.eval(
        task,
        model=model,
        display="none",
        log_realtime=False,
        log_level="error",
        ctl_server=False,
        score=False,
    )
    assert logs[0].status == "success", logs[0].error


def evalkit(turns: int) -> None:
    """The conversation in evalkit: the oracle plays a solution of as many pieces."""
    from evalkit.cli.progress import live_progress
    from evalkit.engine.prepare import RunFlags, prepare
    from evalkit.engine.start import start

    task = Path("suite/loop")
    for folder in ("environment", "tests", "solution"):
        (task / folder).mkdir(parents=True)
    (task / "task.toml").write_text(TASK)
    (task / "instruction.md").write_text("Say true again and again.\n")
    (task / "environment" / "Dockerfile").write_text("FROM debian:bookworm-slim\nWORKDIR /app\n")
    (task / "tests" / "test.sh").write_text("#!/bin/sh\necho 1 > /logs/verifier/reward.txt\n")
    (task / "solution" / "solve.sh").write_text("# step: Next.\ntrue\n" * turns)
    flags = RunFlags(suites=("suite",), models=("scripted/oracle",), step_limit=turns + 1, out=Path("run"))
    with live_progress(1) as progress:
        result = start(prepare(flags), progress)
    assert [trial.status for trial in result.trials] == ["passed"], result.trials


def child(side: str, turns: int) -> None:
    """Run one side in this process and print the CPU seconds that it took itself."""
    {"inspect": plain_inspect, "evalkit": evalkit}[side](turns)
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps(used.ru_utime + used.ru_stime))


def measure(side: str, turns: int) -> float:
    """CPU seconds of one fresh process."""
    with tempfile.TemporaryDirectory() as home:
        environ = {**os.environ, "HOME": home, "XDG_DATA_HOME": home, "XDG_CACHE_HOME": home}
        done = subprocess.run(
            [sys.executable, str(Path(__file__).resolve()), "--child", side, str(turns)],
            cwd=home, env=environ, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        return float(done.stdout.strip().splitlines()[-1])


def main() -> None:
    """Measure both sides in turn and print the slopes."""
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], int(sys.argv[3]))
        return
    slopes: dict[str, list[float]] = {"inspect": [], "evalkit": []}
    for _ in range(REPEATS):
        for side, found in slopes.items():
            found.append((measure(side, LONG) - measure(side, SHORT)) / (LONG - SHORT) * 1000)
    medians = {side: statistics.median(found) for side, found in slopes.items()}
    result = {
        "inspect_ms": medians["inspect"],
        "evalkit_ms": medians["evalkit"],
        "beyond_ms": medians["evalkit"] - medians["inspect"],
        "ratio": medians["evalkit"] / medians["inspect"],
        "aim_beyond_ms": AIM_MS,
        "all": slopes,
    }
    if "--json" in sys.argv:
        print(json.dumps(result, indent=2))
        return
    print("harness CPU per turn (this process, without children), medians of", REPEATS)
    print(f"  plain Inspect, its local sandbox   {medians['inspect']:6.2f} ms")
    print(f"  evalkit, local sandbox             {medians['evalkit']:6.2f} ms")
    print(f"  beyond Inspect's own               {result['beyond_ms']:6.2f} ms   (aim: at most {AIM_MS} ms)")


if __name__ == "__main__":
    main()
