"""What does a run look like whose writer dies, or whose disk fails, just before its n-th touch of the disk?

    dying.py FOLDER SCENARIO die|full

makes FOLDER/0, FOLDER/1, ... until the writer gets to its end. In each, `run` is what a process left that wrote a run
and was ended (or got ENOSPC for everything from there on) just before touch number 0, 1, ...; `said` is what had
returned by then. Python tells an audit hook of every file that is opened, renamed or removed, so nothing of evalkit
has to be replaced for that.
"""

from __future__ import annotations

import errno
import io
import os
import shutil
import sys
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from evalkit.errors import EvalkitError
from evalkit.trajectory.atomic import TEMPORARY
from evalkit.trajectory.effect import Effect
from evalkit.trajectory.manifest import RunManifest
from evalkit.trajectory.recovery import recover
from evalkit.trajectory.score import ScoreRow
from evalkit.trajectory.step import Act, Prompt, Step, Think
from evalkit.trajectory.trial import Trial
from evalkit.trajectory.writer import RunWriter

Say = Callable[[str], None]

TOUCHES = frozenset({"os.rename", "os.remove", "os.mkdir", "os.rmdir"})
STEPS: tuple[Step, ...] = (
    Prompt(step=0, role="user", text="Write it."),
    Think(step=1, reasoning="I write.", output_tokens=2),
    Act(step=2, think_step=1, call_index=0, tool="bash", arguments='{"command":"true"}', exit_code=0),
)
TRIALS = ("t1", "t2")
DELIVERED = b"delivered"


def header(trial_id: str, attempt: int = 1) -> dict[str, object]:
    return {"suite": "s", "task_id": f"task-{trial_id}", "epoch": 1, "agent": "a", "attempt": attempt}


def play(writer: RunWriter, trial_id: str, attempt: int, say: Say) -> None:
    """A whole trial."""
    name = trial_id if attempt == 1 else f"{trial_id}-{attempt}"
    journal = writer.begin(name, header(trial_id, attempt))
    for step in STEPS:
        journal.append(step)
        say(f"step {name}")
    digest, _ = writer.artifacts.put(io.BytesIO(DELIVERED))
    say(f"kept {digest}")
    trial = Trial(run_id="run-1", trial_id=name, status="passed", **header(trial_id, attempt))
    effect = Effect(trial_id=name, channel="file", resource="/out", change="created")
    writer.commit(trial, STEPS, [effect])
    say(f"committed {name}")


def fresh(run: Path, say: Say) -> None:
    """A new run, to its end, with one trial in flight then."""
    writer = RunWriter.create(run, RunManifest(run_id="run-1", created_at=datetime(2025, 1, 2, tzinfo=UTC)))
    say("created")
    for trial_id in TRIALS:
        play(writer, trial_id, 1, say)
    journal = writer.begin("t3", header("t3"))
    for step in STEPS[:2]:
        journal.append(step)
        say("step t3")
    writer.write_scores([ScoreRow(trial_id="t1", scorer="x", scorer_version="1", metric="m", value=1.0)])
    say("scored")
    writer.finish()
    say("finished")


def cut_short(run: Path, say: Say) -> None:
    """Leave a run behind as a killed process does: compacted before, then with parts and journals."""
    fresh(run, say)
    writer = RunWriter.open(run)
    play(writer, "t4", 1, say)
    for name in ("t5", "t6"):
        writer.begin(name, header(name)).append(STEPS[0])
        say(f"step {name}")


def recovered(run: Path, say: Say) -> None:
    recover(run)
    say("recovered")


def resumed(run: Path, say: Say) -> None:
    writer = RunWriter.open(run)
    play(writer, "t3", 2, say)
    writer.finish()
    say("finished")


SCENARIOS: dict[str, tuple[Callable[[Path, Say], None] | None, Callable[[Path, Say], None]]] = {
    "fresh": (None, fresh),
    "recover": (cut_short, recovered),
    "resume": (cut_short, resumed),
}


def fail_at(moment: int, mode: str) -> Callable[[], int]:
    """Count touches of the disk; end the process, or refuse what would need space, from that moment on."""
    count = 0

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal count
        opened = event == "open" and _writes(arguments)
        if event not in TOUCHES and not opened:
            return
        count += 1
        if count <= moment:
            return
        if mode == "die":
            os._exit(9)
        if opened or event == "os.mkdir":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(arguments[0]))

    sys.addaudithook(hook)
    return lambda: count


def _writes(arguments: tuple[object, ...]) -> bool:
    """Whether opening a file writes to it, or brings to the disk what C++ has written, which tells no hook."""
    path, _, flags = arguments
    if isinstance(path, int) or not isinstance(flags, int):
        return False
    return bool(flags & os.O_CREAT) or str(path).endswith(TEMPORARY)


def in_child(work: Callable[[], None]) -> int:
    """The exit code of a forked process that does the work and nothing else."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except EvalkitError as error:
            print(f"{error.exit_code} {error}".replace("\n", " "), flush=True)
            code = 3
        except Exception:
            traceback.print_exc()
            raise
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def speaking(folder: Path) -> Say:
    """Writes what has returned to the file `said`, in one call each, so that it is there whatever happens next."""
    handle = os.open(folder / "said", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    return lambda text: _void(os.write(handle, text.encode() + b"\n"))


def _void(_: object) -> None:
    pass


def main() -> None:
    folder, scenario, mode = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    before, work = SCENARIOS[scenario]
    fresh(
        folder / "imports" / "run", speaking(folder)
    )  # what is imported on first use need not be so each time
    template = folder / "before"
    (template / "run").mkdir(parents=True)
    if before is not None:
        assert in_child(lambda: before(template / "run", speaking(template))) == 0
    moment, code = 0, -1
    while code != 0:
        here = folder / str(moment)
        shutil.copytree(template, here)

        def dying(here: Path = here, moment: int = moment) -> None:
            say = speaking(here)
            os.dup2(os.open(here / "error", os.O_WRONLY | os.O_CREAT), 1)
            fail_at(moment, mode)
            work(here / "run", say)

        code = in_child(dying)
        assert code in (0, 3, 9), f"{scenario}, moment {moment}: exit code {code}"
        moment += 1
    shutil.rmtree(template)
    shutil.rmtree(folder / "imports")
    (folder / "said").unlink()
    print(moment)


if __name__ == "__main__":
    main()
