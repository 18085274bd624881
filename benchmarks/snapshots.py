"""What do snapshots and listings cost against the number of files, beside programs that read the same tree?

    python benchmarks/snapshots.py [--json] [--rounds N] [--files N...] [--sandbox local docker]

The peers are `find | xargs sha256sum` on the machine, which reads the same files but not their modes and owners, and
`docker export | tar t`, which lists a whole container and hashes nothing. Everything is measured in the same run,
alternating, and reported as medians; the ratios are what can be compared between machines. A digest and a listing of
more than 20,000 files are not made: what is measured then is how long that takes to say.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping

from figures import Figure, figure, show, timed

from evalkit.sandbox import Environment, Sandbox, check_sandbox, open_sandbox
from evalkit.sandbox.docker.engine import connect

SIZES = (1_000, 10_000, 100_000)
A_FOLDER = 100
"""Files in each folder."""
RUN = f"benchmark-{os.getpid()}"

Work = Callable[[], Awaitable[object]]


def making(files: int) -> str:
    """A shell line that makes a tree below the working directory."""
    return (
        f"d=0; while [ $d -lt {files // A_FOLDER} ]; do mkdir -p tree/$d; i=0; "
        f'while [ $i -lt {A_FOLDER} ]; do echo "file $i of folder $d" > tree/$d/$i; i=$((i+1)); done; d=$((d+1)); done'
    )


async def run(command: str, cwd: str | None = None) -> None:
    """A shell line on the machine itself."""
    process = await asyncio.create_subprocess_shell(command, cwd=cwd, stdout=subprocess.DEVNULL)
    if await process.wait() != 0:
        raise SystemExit(f"this failed: {command}")


async def digest_and_listing(box: Sandbox) -> None:
    """As after a call whose effects are told: one look serves both."""
    await box.workspace_digest()
    await box.listing()


def peer(kind: str, folder: str) -> tuple[str, str] | None:
    """Its name, and its shell line; None where it is not installed."""
    if kind == "local":
        return "find | sha256sum", f"cd {folder} && find . -type f -print0 | xargs -0 sha256sum"
    if shutil.which("docker") is None:
        print("the docker command line is not installed: not compared with it", file=sys.stderr)
        return None
    [container] = connect().owned(f"evalkit.run={RUN}")
    return "docker export | tar t", f"docker export {container.id} | tar t"


async def alternating(rounds: int, works: Mapping[str, Work]) -> dict[str, list[float]]:
    """Seconds of each, in every round one after the other; a first round is not counted."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for number in range(rounds + 1):
        for name, work in works.items():
            took = await timed(work)
            if number:
                times[name].append(took)
    return times


async def measure(kind: str, files: int, rounds: int) -> tuple[list[Figure], dict[str, float]]:
    box = open_sandbox(kind, Environment(), run_id=RUN, trial_id=f"{files}")
    with tempfile.TemporaryDirectory(prefix="evalkit-benchmark-", dir="/var/tmp") as folder:
        await box.start()
        try:
            await box.exec(making(files), timeout_s=600)
            works: dict[str, Work] = {
                "snapshot": box.snapshot,
                "listing": box.listing,  # before the digest, or it would have nothing to do
                "digest": box.workspace_digest,
                "digest and listing": lambda: digest_and_listing(box),
            }
            other = peer(kind, folder)
            if other is not None:
                await run(making(files), cwd=folder)
                works[other[0]] = lambda: run(other[1])
            if files == min(SIZES):
                works["processes"], works["listeners"] = box.processes, box.listeners
            times = await alternating(rounds, works)
        finally:
            await box.stop()
    figures = [figure(f"{kind} {files:>6}: {name}", seconds) for name, seconds in times.items()]
    medians = dict(zip(times, (one.median_ms for one in figures), strict=True))
    if other is None:
        return figures, {}
    return figures, {f"{kind} {files}: snapshot / peer": medians["snapshot"] / medians[other[0]]}


async def measure_all(
    kinds: list[str], sizes: list[int], rounds: int
) -> tuple[list[Figure], dict[str, float]]:
    figures, ratios = list[Figure](), dict[str, float]()
    for kind in kinds:
        for files in sizes:
            more, their_ratios = await measure(kind, files, rounds)
            figures += more
            ratios.update(their_ratios)
    return figures, ratios


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--rounds", type=int, default=5, help="of each measurement (default: 5)")
    parser.add_argument("--files", type=int, nargs="+", default=list(SIZES), help="sizes of the trees")
    parser.add_argument("--sandbox", nargs="+", default=["local", "docker"], choices=["local", "docker"])
    options = parser.parse_args()
    kinds: list[str] = []
    for kind in options.sandbox:
        support = check_sandbox(kind)
        if support.ok:
            kinds.append(kind)
        else:
            print(f"not measured: {support.problem}\n{support.hint}", file=sys.stderr)
    figures, ratios = asyncio.run(measure_all(kinds, options.files, options.rounds))
    show(" and ".join(kinds), figures, ratios, as_json=options.json)


if __name__ == "__main__":
    main()
