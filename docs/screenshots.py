"""What do the pictures of the leaderboard show?

    python docs/screenshots.py

Runs the suite `recovery` with four scripted agents, writes its report, and takes docs/leaderboard.png,
docs/recovery.png and docs/trial.png of it with Chromium. Nothing is fetched.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import evalkit

DOCS = Path(__file__).resolve().parent
AGENTS = "scripted/recoverer,scripted/hint-needer,scripted/repeater,scripted/naive"
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--hide-scrollbars",
    "--virtual-time-budget=3000",
)


def main() -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("chromium is not installed: apt-get install chromium")
    with tempfile.TemporaryDirectory() as scratch:
        run, page = Path("runs", "recovery"), Path(scratch, "board.html")
        call(
            sys.executable,
            "-m",
            "evalkit",
            "run",
            "recovery",
            "--model",
            AGENTS,
            "--out",
            str(run),
            within=scratch,
            codes=(0, 6),
        )
        call(sys.executable, "-m", "evalkit", "report", str(run), "--out", str(page), within=scratch)
        trial = next(
            row.trial_id
            for row in evalkit.load(Path(scratch, run)).rows()
            if row.agent.endswith("/repeater") and row.variant != "clean" and row.status == "failed"
        )
        for name, view, height in (
            ("leaderboard", "view=table&sort=-success.faulted", 660),
            ("recovery", "view=recovery", 700),
            ("trial", f"view=trial&trial={trial}", 920),
        ):
            home = Path(scratch, f"home-{name}")
            shot = (
                f"--user-data-dir={home}",
                f"--window-size=1200,{height}",
                f"--screenshot={DOCS / name}.png",
            )
            call(chromium, *OPTIONS, *shot, f"{page.as_uri()}#{view}", within=scratch)


def call(*command: str, within: str, codes: tuple[int, ...] = (0,)) -> None:
    done = subprocess.run(command, cwd=within, capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        raise SystemExit(f"{command[0]} ended with {done.returncode}: {done.stderr}")


if __name__ == "__main__":
    main()
