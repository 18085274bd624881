"""What does the docker sandbox cost, against a fresh exec for every call through the SDK and the command line?

    python benchmarks/docker_sandbox.py [--json] [--rounds N]

Everything is measured in the same run, alternating, and reported as medians; the ratios are what can be compared
between machines.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import docker
from figures import Figure, figure, show, timed

from evalkit.sandbox import Environment
from evalkit.sandbox.docker.provider import DockerSandbox
from evalkit.sandbox.docker.support import check_docker
from evalkit.trajectory.artifacts import ArtifactStore

FILES = 1000
AT_ONCE = 16
RUN = f"benchmark-{os.getpid()}"


def sandbox() -> DockerSandbox:
    return DockerSandbox(Environment(private=("/logs", "/tests")), run_id=RUN, trial_id="benchmark")


async def start_and_stop() -> None:
    box = sandbox()
    await box.start()
    await box.stop()


async def calls(box: DockerSandbox, rounds: int) -> list[Figure]:
    client = docker.from_env()
    try:
        [container] = client.containers.list(filters={"label": f"evalkit.run={RUN}"})
        command_line = shutil.which("docker")

        async def by_sdk() -> None:
            assert container.exec_run(["sh", "-c", "true"]).exit_code == 0

        async def by_command_line() -> None:
            subprocess.run([str(command_line), "exec", container.id, "sh", "-c", "true"], check=True)

        kept, sdk, cli = list[float](), list[float](), list[float]()
        for number in range(rounds):
            kept.append(await timed(lambda: box.exec("true")))
            if number % 10 == 0:
                sdk.append(await timed(by_sdk))
                if command_line:
                    cli.append(await timed(by_command_line))
    finally:
        client.close()
    if not command_line:
        print("the docker command line is not installed: not compared with it", file=sys.stderr)
    figures = [figure("call: kept shell", kept, aim_ms=3.0), figure("call: fresh exec, SDK", sdk)]
    return [*figures, figure("call: fresh exec, CLI", cli)] if cli else figures


async def at_once() -> list[Figure]:
    """Calls in many sandboxes at the same time, each waiting for its own."""
    boxes = [sandbox() for _ in range(AT_ONCE)]
    try:
        up = await timed(lambda: asyncio.gather(*(box.start() for box in boxes)))
        times: list[float] = []

        async def some(box: DockerSandbox) -> None:
            times.extend([await timed(lambda: box.exec("true")) for _ in range(20)])

        await asyncio.gather(*(some(box) for box in boxes))
    finally:
        down = await timed(lambda: asyncio.gather(*(box.stop() for box in boxes)))
    return [
        figure(f"{AT_ONCE} at once: start of all", [up]),
        figure(f"{AT_ONCE} at once: a call", times),
        figure(f"{AT_ONCE} at once: stop of all", [down]),
    ]


async def files(box: DockerSandbox, rounds: int) -> list[Figure]:
    await box.exec(f"mkdir out; for i in $(seq {FILES}); do echo $i > out/$i; done")
    with tempfile.TemporaryDirectory() as folder:
        store = ArtifactStore(Path(folder))
        takes = [await timed(lambda: box.export(["/app/out"], store)) for _ in range(rounds)]
    digests = [await timed(box.workspace_digest) for _ in range(rounds)]
    await box.snapshot()
    snapshots = [await timed(box.snapshot) for _ in range(rounds)]
    reads = [await timed(lambda: box.read_file("/app/out/1")) for _ in range(rounds)]
    writes = [await timed(lambda: box.write_file("/app/out/1", b"x")) for _ in range(rounds)]
    return [
        figure(f"export of {FILES} files", takes),
        figure(f"workspace digest of {FILES} files", digests),
        figure(f"snapshot with {FILES} new files", snapshots),
        figure("read of one file", reads),
        figure("write of one file", writes),
    ]


async def measure(rounds: int) -> list[Figure]:
    await start_and_stop()
    lives = [await timed(start_and_stop) for _ in range(max(5, rounds // 20))]
    box = sandbox()
    await box.start()
    try:
        figures = [
            figure("start and stop", lives, aim_ms=600.0),
            *await calls(box, rounds),
            *await files(box, max(5, rounds // 40)),
        ]
    finally:
        await box.stop()
    return figures + await at_once()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--rounds", type=int, default=300, help="calls in the kept shell (default: 300)")
    options = parser.parse_args()
    support = check_docker()
    if not support.ok:
        print(f"not measured: {support.problem}\n{support.hint}")
        return
    figures = asyncio.run(measure(options.rounds))
    by_name = {one.what: one.median_ms for one in figures}
    ratios = {
        f"fresh exec, {other} / kept shell": by_name[f"call: fresh exec, {other}"]
        / by_name["call: kept shell"]
        for other in ("SDK", "CLI")
        if f"call: fresh exec, {other}" in by_name
    }
    show(support.runtime or "", figures, ratios, as_json=options.json)


if __name__ == "__main__":
    main()
