"""Which states does an agent's work pass through, and how are they copied while it works?

After a call that has changed the workspace, what the task wants delivered is copied out as data, from outside and
while the agent's clock stands still. The agent goes on in the same sandbox; nothing in it is halted or started.
"""

from __future__ import annotations

import time
from contextlib import nullcontext
from contextvars import ContextVar
from dataclasses import dataclass

from evalkit.engine.agent_clock import AgentClock
from evalkit.engine.checkpoint_grading import graded
from evalkit.engine.checkpoint_plan import CheckpointPlan, spread
from evalkit.engine.checkpoint_state import CheckpointState
from evalkit.engine.recorder import Recorder
from evalkit.errors import DeliverableTooBig, EvalkitError
from evalkit.grading.delivered import Delivered, keep_delivered
from evalkit.grading.delivering import Taken, take_deliverables
from evalkit.grading.grader import Grading
from evalkit.grading.verdict import Verdict
from evalkit.sandbox.protocol import Sandbox
from evalkit.tasks.task import Task

_TRIES = 3
"""Two copies that have to be the same, and one more where they are not."""
_MOVES = "its files changed while they were copied, twice"


@dataclass(slots=True)
class Copied:
    """What was copied after one call; the caller adds the number of its step."""

    step: int | None = None
    listed: str | None = None
    """sha256 of the artifact that lists it; None where nothing was copied."""
    error: str | None = None


class Checkpoints:
    """Follows one trial of a task that is graded sealed."""

    def __init__(
        self, task: Task, sandbox: Sandbox, grading: Grading, plan: CheckpointPlan, *, digest_tells: bool
    ) -> None:
        """`digest_tells` says that the workspace's digest is taken from outside, and can be asked for at any time."""
        self._task, self._sandbox, self._grading, self._plan = task, sandbox, grading, plan
        inside = all(f"{path}/".startswith(f"{task.workdir}/") for path in task.stages[0].artifact_paths)
        self._digest_tells = digest_tells and inside
        self._digest: str | None = None
        self._changes = 0
        self._copied: list[Copied] = []
        self._seconds = 0.0
        self._verdicts: dict[str, Verdict | str] = {}
        self.clock: AgentClock | None = None
        """The agent's; None while it does not run."""

    async def begin(self) -> None:
        """The workspace is as the agent finds it."""
        self._digest = await self._sandbox.workspace_digest()

    async def after_call(self, digest: str | None) -> Copied | None:
        """Copy the state, where it is another one and its turn; None where the call has changed nothing.

        `digest` is the workspace's; where nobody knows it, it counts as changed.
        """
        if digest is not None and digest == self._digest:
            return None
        self._digest = digest
        self._changes += 1
        copied = Copied()
        self._copied.append(copied)
        if self._changes % self._plan.stride == 0:
            began = time.perf_counter()
            with self.clock.measuring() if self.clock is not None else nullcontext():
                await self._copy(copied)
            self._seconds += time.perf_counter() - began
        return copied

    def taken_s(self) -> float:
        """How long copying took since this was asked last, in seconds that are not the agent's."""
        seconds, self._seconds = self._seconds, 0.0
        return seconds

    def end(self, delivered: Delivered, verdict: Verdict) -> None:
        """What was delivered in the end is the state after the last change, where that was not copied.

        It need not be graded again, unless its grader has also seen an answer.
        """
        listed = self._keep(Taken(delivered.deliverables, delivered.refused))
        if self._copied and self._copied[-1].listed is None:
            self._copied[-1].listed, self._copied[-1].error = listed, None
        if self._plan.budget and self._task.settings.answer is None:
            self._verdicts[listed] = verdict

    async def grade(self) -> None:
        """Grade as many states as the budget allows, equal ones once, evenly over the trial and always the last."""
        latest_first = dict.fromkeys(one.listed for one in reversed(self._copied) if one.listed is not None)
        for listed in spread(tuple(reversed(latest_first)), self._plan.budget):
            if listed not in self._verdicts:
                self._verdicts[listed] = await graded(self._task, listed, self._grading)

    def record(self, recorder: Recorder) -> None:
        """Write down every state, graded or not."""
        for one in self._copied:
            if one.step is None or (one.listed is None and one.error is None):
                continue
            word = one.error if one.listed is None else self._verdicts.get(one.listed)
            state = CheckpointState(one.step, one.listed).judged(word)
            recorder.event("checkpoint", state.detail(), parent=one.step)

    async def _copy(self, copied: Copied) -> None:
        """Until nothing has moved meanwhile: the workspace is as it was before, or two copies in a row are the same."""
        before, copied.error = None, _MOVES
        for _ in range(_TRIES):
            try:
                now = await self._take()
            except (EvalkitError, OSError) as error:
                before, copied.error = None, f"it could not be copied: {error}"
                if isinstance(error, DeliverableTooBig):
                    return
                continue
            if now == before or await self._is_as_before():
                copied.listed, copied.error = self._keep(now), None
                return
            before = now

    async def _is_as_before(self) -> bool:
        if not self._digest_tells or self._digest is None:
            return False
        return await self._sandbox.workspace_digest() == self._digest

    async def _take(self) -> Taken:
        stage = self._task.stages[0]
        return await take_deliverables(
            self._task, stage, self._sandbox, self._grading.store, halt_if_moving=False
        )

    def _keep(self, taken: Taken) -> str:
        stage = self._task.stages[0]
        delivered = Delivered(stage.name, stage.verifier.mode, taken.deliverables, taken.refused)
        return keep_delivered([delivered], self._grading.store)


async def look_after(digest: str | None) -> Copied | None:
    """Copy the state after the call that is just over, in the trial that is running; None where nothing is copied."""
    checkpoints = current_checkpoints.get()
    return None if checkpoints is None else await checkpoints.after_call(digest)


current_checkpoints: ContextVar[Checkpoints | None] = ContextVar("evalkit_checkpoints", default=None)
"""Those of the trial that is running; None where there are none."""
