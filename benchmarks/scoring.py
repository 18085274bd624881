"""How long does `evalkit score` take on a large run, and does its memory grow with it?

    python benchmarks/scoring.py [--json] [--trials N]

A made-up run of N trials x 100 steps (default 10,000: a million steps), and one of a tenth of it, each scored by a
fresh process with all bundled scorers. The peer is what nobody can go below: pyarrow turning the same rows into Python
values, and doing nothing with them. About three minutes for the default.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa

from evalkit.trajectory.layout import compact_name
from evalkit.trajectory.manifest import RunManifest
from evalkit.trajectory.parquet import write_parquet
from evalkit.trajectory.rows import steps_table, trials_table
from evalkit.trajectory.schema import STEPS, TRIALS
from evalkit.trajectory.step import Act, Event, Prompt, Step, Think
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.writer import RunWriter

STEPS_EACH = 100
EPOCHS = 4
AIM_STEPS_A_MINUTE = 1_000_000
NOON = datetime(2025, 1, 2, 12, tzinfo=UTC)
LINES = (
    "ls -la /app",
    "cat /app/config-{0}.toml",
    "cd /app && python3 -m pytest -q tests/test_{0}.py",
    "grep -n 'total' /app/src/module_{0}.py | head -20",
    "sed -i 's/{0}/{1}/' /app/src/module_{0}.py",
    "curl -s http://localhost:8080/orders/{0}",
    "cat > /app/out/{0}.csv <<'EOF'\nid,total\n{0},{1}\nEOF",
)
TEXT = "A line of output as programs print it, with a number in it: {0}.\n"


def made_steps(dice: random.Random) -> list[Step]:
    """A hundred steps of an agent that works, fails now and then, and tries again."""
    steps: list[Step] = [Prompt(step=0, role="user", text="Repair the report.")]
    digest = 0
    while len(steps) < STEPS_EACH - 1:
        number = len(steps)
        line = dice.choice(LINES).format(dice.randrange(20), dice.randrange(20))
        failed = dice.random() < 0.2
        digest += dice.random() < 0.3
        said = TEXT.format(number) * dice.randrange(1, 12)
        steps.append(
            Think(
                step=number,
                reasoning="What next? " * dice.randrange(20),
                reasoning_visibility="full",
                text="Looking.",
                output_tokens=40,
                reasoning_tokens=30,
                input_tokens=900,
                started_at=NOON + timedelta(seconds=number),
                duration_s=0.7,
            )
        )
        steps.append(
            Act(
                step=number + 1,
                think_step=number,
                call_index=0,
                tool="bash",
                arguments=json.dumps({"command": line}),
                observation=said,
                stdout=said,
                stdout_bytes=len(said),
                exit_code=int(failed),
                workspace_digest=f"{digest:064x}",
                started_at=NOON + timedelta(seconds=number, milliseconds=700),
                duration_s=0.2,
            )
        )
    steps = steps[: STEPS_EACH - 1]
    steps.append(Event(step=len(steps), event="submit", detail='{"answer":"done","impossible":false}'))
    return steps


def made_trial(number: int, dice: random.Random) -> Trial:
    return Trial(
        run_id="made",
        trial_id=f"task-{number // (2 * EPOCHS):05d}.{number:07d}",
        suite="made",
        task_id=f"task-{number // (2 * EPOCHS):05d}",
        epoch=number % EPOCHS + 1,
        agent=f"react/provider/model-{number // EPOCHS % 2}",
        skills=("debugging",),
        status="passed" if dice.random() < 0.6 else "failed",
        reward=1.0,
        stop_reason="submitted",
        model_calls=49,
        tool_calls=49,
        output_tokens=1960 + dice.randrange(500),
        agent_s=44.0,
    )


def make_run(folder: Path, trials: int) -> Path:
    """Written as a finished run is: one large file a table."""
    manifest = RunManifest(
        run_id="made",
        created_at=NOON,
        limits={f"made/task-{task:05d}": {"steps": 50} for task in range(-(-trials // (2 * EPOCHS)))},
    )
    with RunWriter.create(folder, manifest) as writer:
        writer.finish()
    dice = random.Random(trials)
    rows = [made_trial(number, dice) for number in range(trials)]

    def tables() -> Iterator[pa.Table]:
        for row in rows:
            yield steps_table(row.trial_id, made_steps(dice))

    write_parquet(folder / "steps" / compact_name(1), STEPS, tables(), supersedes="generation <= 1")
    write_parquet(
        folder / "trials" / compact_name(1), TRIALS, [trials_table(rows)], supersedes="generation <= 1"
    )
    return folder


def child(what: str, run: Path) -> dict[str, float]:
    """Do one thing in this process."""
    began = time.perf_counter()
    if what == "score":
        from evalkit.project import find_project
        from evalkit.scoring.registry import find_scorers
        from evalkit.scoring.running import score_run

        scored = score_run(run, find_scorers(find_project(run)))
        if scored.failed:
            raise SystemExit(f"scorers failed: {scored.failures[0]}")
        rows = scored.scores
    else:
        import pyarrow.parquet as pq

        file, rows = pq.ParquetFile(run / "steps" / compact_name(1)), 0
        for group in range(file.num_row_groups):
            rows += len(file.read_row_group(group).to_pylist())
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "peak_mib": peak, "rows": rows}


def fresh(what: str, run: Path) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, __file__, "--child", what, str(run)], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def main() -> None:
    """Run, and print a table."""
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(child(sys.argv[2], Path(sys.argv[3]))))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--trials", type=int, default=10_000, help="of the larger run (default: 10000)")
    options = parser.parse_args()
    found: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        for trials in (options.trials // 10, options.trials):
            run = make_run(Path(folder, f"run-{trials}"), trials)
            scored, read = fresh("score", run), fresh("read", run)
            found.append(
                {
                    "trials": trials,
                    "steps": trials * STEPS_EACH,
                    "scores": scored["rows"],
                    "seconds": scored["seconds"],
                    "steps_a_minute": trials * STEPS_EACH / scored["seconds"] * 60,
                    "peak_mib": scored["peak_mib"],
                    "by_reading": scored["seconds"] / read["seconds"],
                }
            )
    if options.json:
        print(json.dumps(found, indent=2))
        return
    names = ("trials", "steps", "scores", "seconds", "steps a minute", "peak MiB", "x reading")
    print("".join(f"{name:>16}" for name in names))
    for row in found:
        print("".join(f"{value:>16,.1f}" if value < 1000 else f"{value:>16,.0f}" for value in row.values()))
    print(f"aim: {AIM_STEPS_A_MINUTE:,} steps a minute, memory that does not grow with the run")


if __name__ == "__main__":
    main()
