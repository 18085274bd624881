"""How long does a leaderboard take to build, how large is it, and when can it be used?

    python benchmarks/report.py [--json] [--agents N] [--tasks N]

A made-up run of 50 agents x 200 tasks (10,000 trials of six steps), scored by `success`, `tool_use` and `recovery`, as
one file and as a folder, each by a fresh process. The peer is what nobody can go below: reading the same trials and
scores with pyarrow. Time to usable is from opening the file to a table that answers, in Chromium, where it and
playwright are installed. About two minutes.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import shutil
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
from evalkit.trajectory.manifest import RunManifest, SuiteEntry
from evalkit.trajectory.parquet import write_parquet
from evalkit.trajectory.rows import steps_table, trials_table
from evalkit.trajectory.schema import STEPS, TRIALS
from evalkit.trajectory.step import Act, Prompt, Step, Think
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.writer import RunWriter

ROUNDS = 3
AIM_BUILD_MS = 5_000
AIM_USABLE_MS = 600
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
READ = """\
import sys, pyarrow.parquet as pq
from pathlib import Path
for table in ("trials", "scores", "steps"):
    for path in sorted(Path(sys.argv[1], table).glob("*.parquet")):
        pq.read_table(path).to_pylist()
"""


def make_run(folder: Path, agents: int, tasks: int) -> Path:
    dice = random.Random(agents)
    suites = (SuiteEntry(name="made", digest="s"),)
    with RunWriter.create(folder, RunManifest(run_id="made", created_at=NOON, suites=suites)) as writer:
        writer.finish()
    hard = [dice.random() for _ in range(tasks)]
    able = [dice.random() for _ in range(agents)]
    trials = [
        Trial(
            run_id="made",
            trial_id=f"t{task:04}.a{agent:03}",
            suite="made",
            suite_digest="s",
            task_id=f"t{task:04}",
            task_digest="d",
            epoch=1,
            agent=f"react/provider/model-{agent:03}",
            model=f"provider/model-{agent:03}",
            skills=(f"skill-{task % 6}",),
            status="passed" if dice.random() < (able[agent] + 1 - hard[task]) / 2 else "failed",
            output_tokens=dice.randrange(200, 3_000),
            tool_calls=2,
            agent_s=dice.random() * 60,
        )
        for task in range(tasks)
        for agent in range(agents)
    ]
    steps = (steps_table(trial.trial_id, made_steps(dice)) for trial in trials)
    write_parquet(folder / "steps" / compact_name(1), STEPS, steps, supersedes="generation <= 1")
    write_parquet(
        folder / "trials" / compact_name(1), TRIALS, [trials_table(trials)], supersedes="generation <= 1"
    )
    score_run(folder, find_scorers(find_project(), ["success", "tool_use", "recovery"]))
    return folder


def made_steps(dice: random.Random) -> list[Step]:
    number = dice.randrange(1_000_000)
    said = f"{number} lines were found in the file that was asked for.\n" * dice.randrange(1, 20)
    return [
        Prompt(step=0, role="user", text="Repair the report."),
        Think(step=1, reasoning=f"What is in {number}?", text="Looking.", output_tokens=60, reasoning_tokens=20),
        Act(step=2, think_step=1, call_index=0, tool="bash", arguments=f'{{"command": "cat {number}"}}',
            observation=said, stdout=said, exit_code=int(dice.random() < 0.2)),
        Think(step=3, text="Done.", output_tokens=30),
        Act(step=4, think_step=3, call_index=0, tool="bash", arguments='{"command": "make"}', exit_code=0),
    ]  # fmt: skip


def process(command: Sequence[str]) -> float:
    """Seconds that a whole process took."""
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command} ended with {done.returncode}: {done.stderr}")
    return time.perf_counter() - began


def usable(path: Path) -> list[float]:
    """Seconds from opening the page to an answer to a click on a heading."""
    from playwright.sync_api import sync_playwright

    times: list[float] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu", "--no-first-run"]
        )
        for _ in range(ROUNDS + 1):
            page = browser.new_page()
            began = time.perf_counter()
            page.goto(path.as_uri(), wait_until="commit")
            page.wait_for_selector("html.js .view.on")
            page.click("th[data-key=trials] button")
            page.wait_for_selector("th[data-key=trials][aria-sort=descending]")
            times.append(time.perf_counter() - began)
            page.close()
        browser.close()
    return times[1:]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--agents", type=int, default=50)
    parser.add_argument("--tasks", type=int, default=200)
    asked = parser.parse_args()
    found: list[Figure] = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        run = make_run(folder / "run", asked.agents, asked.tasks)
        evalkit = (sys.executable, "-m", "evalkit", "report", str(run), "--out")
        name = f"{asked.agents} x {asked.tasks}"
        peer = figure(
            f"reading alone, {name}", [process([sys.executable, "-c", READ, str(run)]) for _ in range(ROUNDS)]
        )
        single = folder / "board.html"
        times = [process([*evalkit, str(single)]) for _ in range(ROUNDS)]
        found.append(figure(f"one file, {name}, {single.stat().st_size / 1e6:.1f} MB", times, AIM_BUILD_MS))
        times = [process([*evalkit, str(folder / "board")]) for _ in range(ROUNDS)]
        size = sum(path.stat().st_size for path in (folder / "board").rglob("*") if path.is_file())
        found += [figure(f"a folder, {name}, {size / 1e6:.1f} MB", times), peer]
        if importlib.util.find_spec("playwright") and shutil.which("chromium"):
            found.append(figure(f"usable, {name}", usable(single), AIM_USABLE_MS))
    show(
        "evalkit report",
        found,
        {"one file / reading": found[0].median_ms / peer.median_ms},
        as_json=asked.json,
    )


if __name__ == "__main__":
    main()
