"""What does the local sandbox cost, against running without one and against a fresh bubblewrap for every call?

    python benchmarks/local_sandbox.py [--json] [--rounds N]

Everything is measured in the same run, alternating, and reported as medians; the ratios are what can be compared
between machines.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from figures import Figure, figure, show, timed

from evalkit.sandbox import Environment, check_local
from evalkit.sandbox.local import bubblewrap, scratch
from evalkit.sandbox.local.provider import LocalSandbox
from evalkit.trajectory.artifacts import ArtifactStore

FILES = 1000


def sandbox() -> LocalSandbox:
    return LocalSandbox(Environment(), run_id="benchmark", trial_id="benchmark")


async def start_and_stop() -> None:
    box = sandbox()
    await box.start()
    await box.stop()


async def bare() -> None:
    subprocess.run(["sh", "-c", "true"], check=True)


def fresh() -> Callable[[], Awaitable[None]]:
    """A new bubblewrap for one call, with the fewest options that isolate."""
    who = bubblewrap.account()
    found = bubblewrap.find(scratch.base_folder(), who)
    args = [
        *(str(found.path), "--unshare-all", "--unshare-user", "--die-with-parent", "--new-session"),
        *(*bubblewrap.system_folders(), "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),
        *("--", "sh", "-c", "true"),
    ]

    async def call() -> None:
        if who.switch:
            subprocess.run(args, check=True, user=who.uid, group=who.gid, extra_groups=[])
        else:
            subprocess.run(args, check=True)

    return call


async def calls(box: LocalSandbox, rounds: int) -> list[Figure]:
    kept, plain, new = list[float](), list[float](), list[float]()
    in_new = fresh()
    for _ in range(rounds):
        kept.append(await timed(lambda: box.exec("true")))
        plain.append(await timed(bare))
        new.append(await timed(in_new))
    return [
        figure("call: kept shell", kept, aim_ms=3.0),
        figure("call: bare subprocess", plain),
        figure("call: fresh bubblewrap", new),
    ]


async def files(box: LocalSandbox, rounds: int) -> list[Figure]:
    await box.exec(f"mkdir out; for i in $(seq {FILES}); do echo $i > out/$i; done")
    with tempfile.TemporaryDirectory() as folder:
        store = ArtifactStore(Path(folder))
        takes = [await timed(lambda: box.export(["/app/out"], store)) for _ in range(rounds)]
    digests = [await timed(box.workspace_digest) for _ in range(rounds)]
    snapshots = [await timed(box.snapshot) for _ in range(rounds)]
    return [
        figure(f"export of {FILES} files", takes),
        figure(f"workspace digest of {FILES} files", digests),
        figure(f"snapshot of {FILES} files and /etc", snapshots),
    ]


async def measure(rounds: int) -> list[Figure]:
    await start_and_stop()
    lives = [await timed(start_and_stop) for _ in range(max(10, rounds // 10))]
    box = sandbox()
    await box.start()
    try:
        return [
            figure("start and stop", lives, aim_ms=40.0),
            *await calls(box, rounds),
            *await files(box, max(10, rounds // 20)),
        ]
    finally:
        await box.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--rounds", type=int, default=300, help="calls of each kind (default: 300)")
    options = parser.parse_args()
    support = check_local()
    if not support.ok:
        print(f"not measured: {support.problem}\n{support.hint}")
        return
    figures = asyncio.run(measure(options.rounds))
    by_name = {one.what: one.median_ms for one in figures}
    ratios = {
        f"kept shell / {other}": by_name["call: kept shell"] / by_name[f"call: {other}"]
        for other in ("bare subprocess", "fresh bubblewrap")
    }
    show(support.runtime or "", figures, ratios, as_json=options.json)


if __name__ == "__main__":
    main()
