"""What is kept of a trial beside its verdict: what was delivered, and what a naive grader would have said?"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from evalkit.engine.ledger import Ledger
from evalkit.engine.recorder import Recorder
from evalkit.errors import EvalkitError
from evalkit.grading.delivered import Delivered, keep_delivered
from evalkit.grading.delivering import Taken
from evalkit.grading.naive import naive_passed
from evalkit.sandbox.protocol import Sandbox
from evalkit.tasks.stage import Stage
from evalkit.tasks.task import Task
from evalkit.trajectory.artifacts import ArtifactStore
from evalkit.trajectory.canonical import canonical_json


def keep_taken(stage: Stage, taken: Taken, answer: str | None, ledger: Ledger, store: ArtifactStore) -> None:
    """Note what a stage delivered, before its grader may fail: graded again it may still get a verdict.

    What is neither declared nor submitted is not kept, so nothing is noted for a task that delivers nothing.
    """
    mode = stage.verifier.mode
    ledger.delivered.append(Delivered(stage.name, mode, taken.deliverables, taken.refused, answer))
    if mode == "sealed" or any(one.deliverables or one.refused for one in ledger.delivered):
        ledger.deliverables = keep_delivered(ledger.delivered, store)


async def ask_naive(
    task: Task, stage: Stage, sandbox: Sandbox, recorder: Recorder, rest: Callable[[], Awaitable[None]]
) -> bool | None:
    """What the task's naive grader says of the final state; None where there is none, or it failed.

    Its failure is an event and costs nobody a verdict. `rest` puts right what a planned fault has broken there.
    """
    if task.settings.grading is None or task.settings.grading.naive is None:
        return None
    try:
        await rest()
        return await naive_passed(task, stage, sandbox)
    except (EvalkitError, OSError) as error:
        recorder.event("error", canonical_json({"naive_grader": str(error)}))
        return None
