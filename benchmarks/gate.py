"""How long does `evalkit gate` take, as a whole process?

    python benchmarks/gate.py [--json]

Two made-up runs of N tasks x 10 epochs, scored by `success` and `tool_use`; the candidate is gated against the
baseline's file by two metrics and a cost. N is 20, 200 and 2,000. The peer is what nobody can go below: a process that
reads the same trials and scores with pyarrow, and does nothing with them. About a minute.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from figures import Figure, figure, show

from evalkit.project import find_project
from evalkit.scoring.registry import find_scorers
from evalkit.scoring.running import score_run
from evalkit.trajectory.layout import compact_name
from evalkit.trajectory.manifest import PlannedRow, RunManifest, SuiteEntry
from evalkit.trajectory.parquet import write_parquet
from evalkit.trajectory.rows import steps_table, trials_table
from evalkit.trajectory.schema import STEPS, TRIALS
from evalkit.trajectory.step import Act, Prompt, Step, Think
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.writer import RunWriter

EPOCHS = 10
SIZES = (20, 200, 2_000)
"""Tasks."""
ROUNDS = 5
AIM_MS = 1_000
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
POLICY = """\
[metrics]
success = { max_drop = "5pp" }
tool_error_rate = { max_rise = "5pp" }
output_tokens = { max_ratio = 1.15 }
"""
READ = """\
import sys, pyarrow.parquet as pq
from pathlib import Path
for table in ("trials", "scores"):
    for path in sorted(Path(sys.argv[1], table).glob("*.parquet")):
        pq.read_table(path).to_pylist()
"""


def make_run(folder: Path, tasks: int, seed: int) -> Path:
    """Written as a finished run is, one large file a table; tasks differ in how hard they are."""
    dice = random.Random(seed)
    hard = [random.Random(task).random() for task in range(tasks)]
    keys = [(task, epoch) for task in range(tasks) for epoch in range(1, EPOCHS + 1)]
    planned = tuple(
        PlannedRow(suite="made", task_id=f"t{task:05}", epoch=epoch, agent="a") for task, epoch in keys
    )
    suites = (SuiteEntry(name="made", digest="s"),)
    about = RunManifest(run_id=folder.name, created_at=NOON, suites=suites, planned=planned)
    with RunWriter.create(folder, about) as writer:
        writer.finish()
    trials = [made_trial(about.run_id, task, epoch, hard[task], dice) for task, epoch in keys]
    steps = (steps_table(trial.trial_id, made_steps(dice)) for trial in trials)
    write_parquet(folder / "steps" / compact_name(1), STEPS, steps, supersedes="generation <= 1")
    rows = [trials_table(trials)]
    write_parquet(folder / "trials" / compact_name(1), TRIALS, rows, supersedes="generation <= 1")
    score_run(folder, find_scorers(find_project(), ["success", "tool_use"]))
    return folder


def made_trial(run_id: str, task: int, epoch: int, hard: float, dice: random.Random) -> Trial:
    return Trial(
        run_id=run_id,
        trial_id=f"t{task:05}.{epoch}",
        suite="made",
        suite_digest="s",
        task_id=f"t{task:05}",
        task_digest="d",
        epoch=epoch,
        agent="a",
        status="passed" if dice.random() > hard**2 else "failed",
        reward=1.0,
        output_tokens=dice.randrange(500, 1_500),
        tool_calls=1,
        model_calls=1,
    )


def made_steps(dice: random.Random) -> list[Step]:
    exit_code = int(dice.random() < 0.2)
    arguments = '{"command": "make"}'
    return [
        Prompt(step=0, role="user", text="Do it."),
        Think(step=1, output_tokens=100),
        Act(step=2, think_step=1, call_index=0, tool="bash", arguments=arguments, exit_code=exit_code),
    ]


def process(command: Sequence[str], codes: Sequence[int]) -> float:
    """Seconds that a whole process took."""
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        raise SystemExit(f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return time.perf_counter() - began


def measure(folder: Path, tasks: int) -> tuple[Figure, Figure]:
    runs = [make_run(folder / f"{name}-{tasks}", tasks, seed) for seed, name in enumerate(("base", "new"))]
    evalkit = (sys.executable, "-m", "evalkit")
    baseline, policy = folder / f"{tasks}.json", folder / "gate.toml"
    policy.write_text(POLICY)
    process([*evalkit, "baseline", "accept", str(runs[0]), "--why", "x", "--file", str(baseline)], [0])
    gate = [*evalkit, "gate", str(runs[1]), "--baseline", str(baseline), "--policy", str(policy)]
    times: list[float] = []
    peers: list[float] = []
    for _ in range(ROUNDS):
        peers.append(process([sys.executable, "-c", READ, str(runs[1])], [0]))
        times.append(process(gate, [0, 3]))
    return (
        figure(f"gate, {tasks} tasks x {EPOCHS}", times, AIM_MS if tasks == 200 else None),
        figure(f"reading alone, {tasks} tasks", peers),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = [measure(Path(folder), tasks) for tasks in SIZES]
    ratios = {f"{own[0].what} / reading": own[0].median_ms / own[1].median_ms for own in found}
    show("evalkit gate", [one for own in found for one in own], ratios, as_json=asked.json)


if __name__ == "__main__":
    main()
