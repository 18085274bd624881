"""What do the verdicts on a task's stages come to together?

The reward is Harbor's: the mean over the stages that were graded, or the last one's. Stages that were not reached
because a reward was below `min_reward` are left out of the mean, as in Harbor. Stages that the agent did not get to
for any other reason (it gave up, its limits were spent, it left what the next stage's set-up cannot work with) count
as 0. A trial passes only if every stage was graded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from evalkit.grading.verdict import Verdict
from evalkit.tasks.stage import Stage
from evalkit.tasks.task import Task


def expected_checks(task: Task, stage: Stage) -> tuple[str, ...]:
    """The checks that the task declares of this stage, as its grader calls them."""
    declared = task.settings.grading.checks if task.settings.grading else ()
    if stage.name is None:
        return declared
    prefix = f"{stage.name}/"
    return tuple(check.removeprefix(prefix) for check in declared if check.startswith(prefix))


def falls_short(stage: Stage, verdict: Verdict) -> bool:
    """Whether the stage's `min_reward` is missed, so that no further stage follows. A missing reward misses it."""
    rewards = {**verdict.rewards, "reward": verdict.reward}
    return any(rewards.get(name, -math.inf) < least for name, least in stage.min_reward.items())


def total(task: Task, verdicts: Sequence[Verdict], *, fell_short: bool) -> Verdict:
    """The trial's verdict from those on its first stages. `fell_short`: the last of them missed its `min_reward`.

    Without steps that is the only stage's own.
    """
    if not task.is_staged:
        return verdicts[0]
    graded = tuple(zip(task.stages, verdicts, strict=False))
    missed = len(task.stages) - len(verdicts)
    reward = _reward(task, [verdict.reward for verdict in verdicts], missed=0 if fell_short else missed)
    declared = task.settings.grading.checks if task.settings.grading else ()
    reported = _checks(graded)
    checks = {**dict.fromkeys(declared, False), **reported}
    passed = missed == 0 and reward >= task.settings.pass_reward and all(checks[check] for check in declared)
    return Verdict(reward=reward, rewards=_rewards(graded), checks=checks or None, passed=passed)


def _reward(task: Task, rewards: Sequence[float], *, missed: int) -> float:
    if task.harbor.multi_step_reward_strategy == "final":
        return 0.0 if missed else rewards[-1]
    # Exact, so that steps of equal rewards have that very mean, which is compared with pass_reward.
    return float(sum(map(Fraction, rewards)) / (len(rewards) + missed))


def _rewards(graded: Iterable[tuple[Stage, Verdict]]) -> Mapping[str, float]:
    """Each stage's reward under its name; further numbers of its grader as `<stage>/<name>`."""
    found: dict[str, float] = {}
    for stage, verdict in graded:
        found[str(stage.name)] = verdict.reward
        if len(verdict.rewards) > 1:
            found |= {
                f"{stage.name}/{name}": value for name, value in verdict.rewards.items() if name != "reward"
            }
    return found


def _checks(graded: Iterable[tuple[Stage, Verdict]]) -> dict[str, bool]:
    return {
        f"{stage.name}/{check}": passed
        for stage, verdict in graded
        for check, passed in (verdict.checks or {}).items()
    }
