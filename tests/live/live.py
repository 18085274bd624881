"""Does a run against a real model over HTTP end well, with true counts of tokens?

A 135M model solves next to nothing. What counts is that every trial comes to its end, that what fails is the agent's
failure, and that the record says what the server said.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from checks import Check, check_recount, check_run
from model_server import model_file, serving
from recording_proxy import Heard, recording
from scenarios import OFFERED, SCENARIOS, Scenario

import evalkit


def main() -> None:
    """`live.py ENVIRONMENT`: where the server is installed. Ends with exit code 1 where a check does not hold."""
    parser = argparse.ArgumentParser(
        description="Run evalkit against a small real model, and check the record."
    )
    parser.add_argument(
        "environment", type=Path, help="a virtual environment with requirements.txt installed"
    )
    python = parser.parse_args().environment.absolute() / "bin" / "python"
    signal.signal(signal.SIGTERM, _end)
    folder = Path(tempfile.mkdtemp(prefix="evalkit-live-"))
    print(f"The runs are in {folder}, which is deleted if every check holds.")
    began = time.monotonic()
    checks = _run_all(python, folder)
    failed = sum(not check.holds for check in checks)
    print(f"\n{len(checks) - failed} of {len(checks)} checks hold, {time.monotonic() - began:.0f} s")
    if failed:
        sys.exit(1)
    shutil.rmtree(folder)


def _run_all(python: Path, folder: Path) -> list[Check]:
    model = model_file(python)
    told = {one.name for one in OFFERED if one.calls_tools}
    everything: list[Heard] = []
    checks: list[Check] = []
    with serving(python, model, OFFERED, folder) as server, recording(server, told) as proxy:
        for scenario in SCENARIOS:
            print(f"\n== {scenario.name}", flush=True)
            began = time.monotonic()
            out = folder / scenario.name.replace(" ", "-")
            scenario.run(proxy.address, out)
            heard, proxy.heard = proxy.heard, []
            everything += heard
            found = check_run(scenario, evalkit.load(out), heard)
            _show(scenario, out, found, time.monotonic() - began)
            checks += found
    recount = check_recount(python, model, everything)
    print("\n== all")
    _print(recount)
    return [*checks, recount]


def _show(scenario: Scenario, out: Path, checks: Sequence[Check], seconds: float) -> None:
    print(
        f"\n{scenario.name}: {seconds:.0f} s, context {scenario.served.context}, "
        f"--max-tokens {scenario.max_tokens}, --thinking {scenario.thinking or 'default'}"
    )
    for trial, _ in evalkit.load(out).iter_trials():
        tokens = f"{trial.input_tokens} in + {trial.output_tokens} out"
        calls = f"{trial.model_calls} generations, {trial.tool_calls} calls"
        print(f"      {trial.task_id:22}{trial.status:9}{trial.stop_reason or '':15}{calls}, {tokens}")
    for check in checks:
        _print(check)


def _print(check: Check) -> None:
    print(f"{'ok  ' if check.holds else 'FAIL'}  {check.claim}: {check.found}", flush=True)


def _end(number: int, frame: object) -> None:  # the signature is the signal module's
    sys.exit(128 + number)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
