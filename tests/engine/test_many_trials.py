"""Memory of the harness does not grow with the number of trials, but for what a row of the record takes."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

AT_ONCE = 4
FEW, MANY = 160, 320
KIB_EACH = 70
"""20 to 45 are seen. Shorter runs than these are still warming up. A sandbox that is kept, a plan that is logged with
each trial or small files that are joined all at once take 50 to 100 more, each."""


@pytest.mark.local
@pytest.mark.slow
def test_more_trials_take_hardly_more_memory(make_suite, local_support):
    few, many = (_in_a_process_of_its_own(make_suite(f"of-{trials}"), trials) for trials in (FEW, MANY))
    assert (many["peak_kib"] - few["peak_kib"]) / (MANY - FEW) < KIB_EACH


@pytest.mark.local
@pytest.mark.slow
def test_sandboxes_of_finished_trials_are_forgotten(make_suite, local_support):
    kept = _in_a_process_of_its_own(make_suite(), 6 * AT_ONCE)["sandboxes"]
    assert kept <= 3 * AT_ONCE


def _in_a_process_of_its_own(suite: Path, trials: int) -> dict[str, int]:
    # With an arena for each thread, the C library's own slack would be most of what is measured; that of Arrow's
    # allocator was 50 KiB a trial when the run's files were joined, where 4 were held.
    done = subprocess.run(
        [sys.executable, __file__, str(suite), str(trials)],
        cwd=suite.parent,
        env={**os.environ, "MALLOC_ARENA_MAX": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


class _Counting:
    """Hears of every trial; after the last one it counts the sandboxes that are still in memory."""

    def planned(self, total: int) -> None:
        self.left, self.sandboxes = total, -1

    def started(self, planned: object) -> None: ...

    def stepped(self, planned: object, step: object) -> None: ...

    def finished(self, planned: object, trial: object) -> None:
        self.left -= 1
        if not self.left:
            gc.collect()
            self.sandboxes = sum(type(thing).__name__ == "LocalSandbox" for thing in gc.get_objects())


def _measure(suite: str, trials: int) -> dict[str, int]:
    from evalkit.engine.prepare import RunFlags, prepare
    from evalkit.engine.start import start

    flags = RunFlags(
        suites=(suite,),
        models=("scripted/nop", "scripted/oracle"),
        epochs=trials // 2,
        max_trials=AT_ONCE,
        out=Path(suite).with_name(f"run-of-{trials}"),
    )
    counting = _Counting()
    result = start(prepare(flags), counting)
    assert len(result.trials) == trials
    assert {trial.status for trial in result.trials} == {"passed", "failed"}
    status = Path("/proc/self/status").read_text().splitlines()
    peak = next(line.split()[1] for line in status if line.startswith("VmHWM:"))
    return {"peak_kib": int(peak), "sandboxes": counting.sandboxes}


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1], int(sys.argv[2]))))
