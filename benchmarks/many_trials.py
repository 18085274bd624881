"""Do a thousand trials take the memory of a hundred, and ten times their time?

    python benchmarks/many_trials.py [--json] [--trials N]

Tiny trials of the scripted agents nop and oracle in the local sandbox, four at once, in one run in a fresh process.
Memory is what the harness itself holds when the nth trial has finished; time is per trial since the mark before.
About three minutes for the default of 1,000.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys

from tiny_trials import in_fresh_process, memory_mib, run_trials

AT_ONCE = 4
AIM_GROWTH = 1.15
"""Memory after all trials by memory after a tenth of them, at most."""


def child(trials: int) -> dict[str, object]:
    """Run them in this process."""
    models = ("scripted/nop", "scripted/oracle")
    watch = run_trials(trials, sandbox="local", at_once=AT_ONCE, wait_s=0.0, models=models)
    return {"memory_mib": watch.memory_mib, "finished_s": watch.finished_s, "peak_mib": memory_mib("VmHWM")}


def rows(memory: list[float], finished: list[float]) -> list[dict[str, float]]:
    """Memory and time per trial at a tenth, three tenths and all of the trials."""
    found: list[dict[str, float]] = []
    before = 0
    for share in (0.1, 0.3, 1.0):
        mark = round(len(memory) * share)
        began = finished[before - 1] if before else 0.0
        each = (finished[mark - 1] - began) / (mark - before) * 1000
        held = statistics.median(memory[max(0, mark - 20) : mark])
        found.append({"trials": mark, "memory_mib": held, "ms_each": each})
        before = mark
    return found


def main() -> None:
    """Run, and print a table."""
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(child(int(sys.argv[2]))))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--trials", type=int, default=1000, help="how many in all (default: 1000)")
    options = parser.parse_args()
    from evalkit.sandbox import check_local

    support = check_local()
    if not support.ok:
        print(f"not measured: {support.problem}\n{support.hint}")
        return
    measured = in_fresh_process(__file__, options.trials)
    marks = rows(measured["memory_mib"], measured["finished_s"])
    growth = marks[-1]["memory_mib"] / marks[0]["memory_mib"]
    linear = marks[-1]["ms_each"] / marks[0]["ms_each"]
    if options.json:
        found = {"marks": marks, "peak_mib": measured["peak_mib"], "growth": growth, "time_ratio": linear}
        print(json.dumps(found, indent=2))
        return
    print(f"{'trials finished':>16}{'memory MiB':>12}{'ms a trial':>12}")
    for mark in marks:
        print(f"{mark['trials']:>16.0f}{mark['memory_mib']:>12.0f}{mark['ms_each']:>12.0f}")
    print(f"peak, with the files joined at the end {measured['peak_mib']:.0f} MiB")
    print(f"memory, last by first {growth:.2f}   (aim: at most {AIM_GROWTH})")
    print(f"time a trial, last by first {linear:.2f}   (1: linear)")


if __name__ == "__main__":
    main()
