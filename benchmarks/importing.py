"""How long does it take to import a log of Inspect, and how much memory, beside Inspect's own way to read one?

    python benchmarks/importing.py [--json] [--samples N] [--turns N] [--log PATH]...

A log of 100 samples x 30 turns, written by Inspect itself with its mock model, and one of ten times as many samples.
Each is read by fresh processes: by evalkit (converted only, converted and written as a run, and the whole command,
which scores it too), and by `inspect_ai.analysis`: `messages_df` and `events_df`. Times of the library calls are
without imports; peaks are of the whole process. Further logs can be named. About three minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

TIMES = 10
AIM_RATIO = 5
WAYS = ("convert", "import", "frames")


def make_log(folder: Path, samples: int, turns: int) -> Path:
    """Let Inspect write it: every turn thinks, calls a tool and reads what it says."""
    from inspect_ai import Task
    from inspect_ai import eval as run
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ContentReasoning, ContentText, ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import includes
    from inspect_ai.solver import generate, use_tools
    from inspect_ai.tool import Tool, tool

    @tool
    def look() -> Tool:
        async def execute(place: str) -> str:
            """Look at a file.

            Args:
                place: Where.
            """
            return f"{place}: a line of output as programs print it\n" * 30

        return execute

    dice = random.Random(1)

    def answer(messages: list[Any], *_: object) -> ModelOutput:
        turn = sum(message.role == "assistant" for message in messages)
        thought = f"What is in file {turn}? " * dice.randrange(5, 40)
        if turn >= turns - 1:
            output = ModelOutput.from_content("mockllm/model", "It says 42.")
        else:
            output = ModelOutput.for_tool_call(
                "mockllm/model", "look", {"place": f"/app/{dice.randrange(10**6)}"}
            )
        said = "It says 42." if turn >= turns - 1 else "Looking."
        output.choices[0].message.content = [ContentReasoning(reasoning=thought), ContentText(text=said)]
        output.usage = ModelUsage(
            input_tokens=900 * turn, output_tokens=90, total_tokens=900 * turn + 90, reasoning_tokens=60
        )
        return output

    task = Task(
        dataset=[
            Sample(id=number, input=f"What does file {number} say?", target="42") for number in range(samples)
        ],
        solver=[use_tools(look()), generate()],
        scorer=includes(),
        name="files",
    )
    model = get_model("mockllm/model", custom_outputs=answer)
    (log,) = run(
        task, model=model, log_dir=str(folder), display="none", log_format="eval", log_realtime=False
    )
    assert log.status == "success", log.error
    return Path(log.location)


def multiplied(path: Path, target: Path, times: int) -> Path:
    """The same log with as many epochs, each of which is a sample of its own."""
    import zipfile_zstd  # which teaches zipfile what Inspect packs with

    packing: int = zipfile_zstd.ZIP_ZSTANDARD
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(target, "w", packing) as archive:
        for name in source.namelist():
            if not name.startswith("samples/"):
                if name in ("header.json", "_journal/start.json", "reductions.json"):
                    archive.writestr(name, source.read(name))
                continue
            sample = json.loads(source.read(name))
            own = sample["uuid"]
            for epoch in range(1, times + 1):
                sample["epoch"], sample["uuid"] = epoch, f"{own}-{epoch}"
                archive.writestr(f"samples/{sample['id']}_epoch_{epoch}.json", json.dumps(sample))
    return target


def read(way: str, path: Path) -> int:
    """Read a log in one of the ways; how many rows came of it."""
    if way == "frames":
        from inspect_ai.analysis import events_df, messages_df

        return len(messages_df(str(path), quiet=True)) + len(events_df(str(path), quiet=True))
    from evalkit.convert.importer import Options

    if way == "convert":
        from evalkit.convert.inspect_logs import IMPORTER
        from evalkit.convert.notes import Notes
        from evalkit.convert.source import Source

        return sum(len(told.steps) for told in IMPORTER.convert(Source(path), Notes(), Options()))
    from evalkit.convert.importing import import_run

    with tempfile.TemporaryDirectory() as folder:
        return import_run("inspect", [path], Path(folder, "run"), Options()).adding.trials


def child(way: str, path: Path, tiny: Path) -> dict[str, float]:
    """Read a log in this process, after one of a single sample, so that all imports are done."""
    read(way, tiny)
    began = time.perf_counter()
    rows = read(way, path)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "peak_mib": peak, "rows": rows}


def fresh(*words: object) -> Any:
    """What a fresh process of this file says. This one stays small, because a child's peak begins with its parent's."""
    done = subprocess.run(
        [sys.executable, __file__, "--child", *map(str, words)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{words} ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def command(path: Path) -> dict[str, float]:
    """The whole of `evalkit import`, with start, imports and scoring."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        words = [
            sys.executable,
            "-m",
            "evalkit",
            "import",
            "inspect",
            str(path),
            "--out",
            str(Path(folder, "run")),
        ]
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - began
    if process.returncode not in (0, 6):
        raise SystemExit(f"evalkit import of {path} ended with {process.returncode}")
    return {"seconds": seconds, "peak_mib": used.ru_maxrss / 1024}


def measured(name: str, path: Path, tiny: Path) -> dict[str, Any]:
    """All ways for one log, one after the other."""
    found: dict[str, Any] = {way: fresh(way, path, tiny) for way in WAYS}
    found["command"] = command(path)
    ratios = {
        way: found["frames"]["seconds"] / found[way]["seconds"] for way in ("convert", "import", "command")
    }
    return {"log": name, "mib": path.stat().st_size / 2**20, "ways": found, "times_as_fast": ratios}


def show(rows: list[dict[str, Any]]) -> None:
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    print(f"{'':34}{'seconds':>10}{'peak MiB':>10}{'x frames':>10}")
    words = {
        "convert": "evalkit, converted",
        "import": "evalkit, converted and written",
        "command": "evalkit import, whole command",
        "frames": "messages_df + events_df",
    }
    for row in rows:
        print(f"{row['log']} ({row['mib']:.1f} MiB)")
        for way, word in words.items():
            one = row["ways"][way]
            ratio = row["times_as_fast"].get(way)
            told = "" if ratio is None else f"{ratio:>10.1f}"
            print(f"  {word:32}{one['seconds']:>10.2f}{one['peak_mib']:>10.0f}{told}")
    print(
        f"aim: converted and written {AIM_RATIO} times as fast as the frames, memory that does not grow with the log"
    )


def main() -> None:
    """Run, and print a table."""
    if sys.argv[1:3] == ["--child", "make"]:
        folder, samples, turns = sys.argv[3:]
        log = make_log(Path(folder), int(samples), int(turns))
        many = multiplied(log, Path(folder, "many.eval"), TIMES)
        print(json.dumps([str(log), str(many), str(make_log(Path(folder), 1, 2))]))
        return
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(child(sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--samples", type=int, default=100, help="of the smaller log (default: 100)")
    parser.add_argument("--turns", type=int, default=30, help="of each sample (default: 30)")
    parser.add_argument("--log", type=Path, action="append", default=[], help="a further log to measure")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(HOME=folder, XDG_DATA_HOME=folder, XDG_CACHE_HOME=folder)
        one, many, tiny = map(Path, fresh("make", folder, options.samples, options.turns))
        named = {
            f"{options.samples} samples x {options.turns} turns": one,
            f"{TIMES} times as many samples": many,
        }
        rows = [
            measured(name, path, tiny)
            for name, path in {**named, **{str(path): path for path in options.log}}.items()
        ]
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        show(rows)


if __name__ == "__main__":
    main()
