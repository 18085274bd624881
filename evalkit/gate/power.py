"""What can a suite of so many tasks decide?

The gate itself, run on simulated pairs of runs: nothing here approximates what the gate would say. Tasks differ in how
hard they are, p ~ Beta(a, b); an outcome is passed or failed. A true drop of d points makes every task's p smaller by
the same factor, so that their mean falls by d.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from evalkit.errors import UsageError
from evalkit.stats.interval import Numbers
from evalkit.stats.lower_bound import SHARE, lower_bound
from evalkit.stats.permutation import sign_flip_p

RUNS = 1_000
DIFFICULTY = (1.0, 0.6)
"""Of Beta; its mean is 0.625. Many tasks are always solved, some hardly ever."""
MOST_TASKS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """A suite and how it is run."""

    tasks: int
    epochs: int
    """Of the candidate."""
    baseline_epochs: int
    """Of all accepted runs together."""
    margin: float
    difficulty: tuple[float, float] = DIFFICULTY
    min_tasks: int = 10
    """Fewer decide nothing, as the gate policy says."""

    def __post_init__(self) -> None:
        if not 2 <= self.tasks <= MOST_TASKS:
            raise UsageError(f"a suite of {self.tasks} tasks", hint=f"From 2 to {MOST_TASKS:,} tasks.")
        if min(self.epochs, self.baseline_epochs) < 1 or max(self.epochs, self.baseline_epochs) > 1_000:
            raise UsageError("a number of epochs that cannot be", hint="From 1 to 1,000 epochs.")
        if not 0 < self.margin < 1:
            raise UsageError(f"a margin of {self.margin:g}", hint='Write it as 0.05 or "5pp".')


@dataclass(frozen=True, slots=True, kw_only=True)
class Chances:
    """How often the gate says what, where the true mean has dropped by so much."""

    drop: float
    passed: float
    regressed: float
    inconclusive: float
    runs: int


def chances(design: Design, drop: float, *, runs: int = RUNS, seed: int = 0) -> Chances:
    """Simulate; the same numbers for the same seed. Raises UsageError for a drop to below nothing."""
    if not 0 <= drop <= mean_success(design.difficulty):
        raise UsageError(
            f"a mean of {mean_success(design.difficulty):.2f} cannot drop by {drop:.2f}",
            hint="Ask for a smaller drop.",
        )
    drawn = simulated(design, drop, runs=runs, seed=seed)
    few = design.tasks < design.min_tasks
    said = ["inconclusive" if few else verdict_on(own, design.margin) for own in drawn]
    share = {word: said.count(word) / runs for word in ("pass", "regressed", "inconclusive")}
    return Chances(
        drop=drop,
        passed=share["pass"],
        regressed=share["regressed"],
        inconclusive=share["inconclusive"],
        runs=runs,
    )


def mean_success(difficulty: tuple[float, float]) -> float:
    """Of all tasks of a kind."""
    return difficulty[0] / sum(difficulty)


def simulated(design: Design, drop: float, *, runs: int, seed: int) -> Iterator[Numbers]:
    """For each pair of runs the tasks' differences, candidate - baseline."""
    random = np.random.default_rng(seed)
    kept = 1 - drop / mean_success(design.difficulty)
    for _ in range(runs):
        rates = random.beta(*design.difficulty, design.tasks)
        before = random.binomial(design.baseline_epochs, rates) / design.baseline_epochs
        yield random.binomial(design.epochs, rates * kept) / design.epochs - before


def verdict_on(differences: Numbers, margin: float) -> str:
    """What the gate says of one metric alone: `pass`, `regressed` or `inconclusive`."""
    bound = lower_bound(differences, -1.0)
    if bound is not None and bound > -margin:
        return "pass"
    if float(differences.mean()) < 0 and sign_flip_p(differences, side="less") <= SHARE:
        return "regressed"
    return "inconclusive"


def tasks_for(design: Design, *, power: float = 0.8, runs: int = 400, seed: int = 0) -> int | None:
    """About how many tasks let an unchanged agent pass with this probability; None for more than there can be.

    Found by doubling and halving, so it is right within a twentieth, and within the simulation's error.
    """

    def enough(tasks: int) -> bool:
        own = Design(
            tasks=tasks,
            epochs=design.epochs,
            baseline_epochs=design.baseline_epochs,
            margin=design.margin,
            difficulty=design.difficulty,
            min_tasks=design.min_tasks,
        )
        return chances(own, 0.0, runs=runs, seed=seed).passed >= power

    least, most = 1, 16
    while not enough(most):
        least, most = most, most * 2
        if most > MOST_TASKS // 4:
            return None
    while most - least > max(1, least // 20):
        middle = (least + most) // 2
        least, most = (least, middle) if enough(middle) else (middle, most)
    return most
