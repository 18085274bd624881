"""How often do the intervals of docs/comparing.md hold the truth, and how wide are they?

    python benchmarks/interval_coverage.py [--runs N]

Simulated runs with a known truth: rates of which few tasks tell, faults that belong to the same task, differences of
two rates, and the sign-flip test where nothing differs. About a minute for the default of 1,500 runs each. 95 % is
what is promised, 5 % for the test.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from evalkit.stats.bootstrap import shares_difference_interval
from evalkit.stats.interval import Interval, bounded_interval, bounded_ratio_interval
from evalkit.stats.permutation import sign_flip_p

Numbers = NDArray[np.float64]
RECOVERS = (2.0, 0.7)
"""Of each task, how likely a failure is put right: Beta distributed."""
MEAN_RECOVERY = RECOVERS[0] / sum(RECOVERS)
KINDS: dict[str, Callable[[np.random.Generator, int], Numbers]] = {
    "every task always or never": lambda random, n: random.choice([0.0, 1.0], n),
    "mixed, Beta(1, 0.6)": lambda random, n: random.beta(1, 0.6, n),
    "alike, 0.5": lambda _, n: np.full(n, 0.5),
    "9 of 10 always, 1 never": lambda random, n: random.choice([1.0] * 9 + [0.0], n),
}


def failures(
    random: np.random.Generator, n: int, some: float, rate: Numbers, epochs: int
) -> tuple[Numbers, Numbers]:
    """Failures put right and all failures of each task, where only some tasks have any."""
    tells = random.random(n) < some
    wholes = sum(
        (np.where(tells, random.integers(1, 4, n), 0) for _ in range(epochs)), np.zeros(n, dtype=np.int64)
    )
    return random.binomial(wholes, rate).astype(float), wholes.astype(float)


def rates(runs: int) -> None:
    print("recovery rates: tasks, share with failures, epochs: held, width, none")
    random = np.random.default_rng(7)
    for n in (8, 20, 50):
        for some in (1.0, 0.3, 0.1):
            for epochs in (1, 4):
                found = [
                    bounded_ratio_interval(*failures(random, n, some, random.beta(*RECOVERS, n), epochs))
                    for _ in range(runs)
                ]
                print(f"  {n:3} {some:4} {epochs}: {_told(found, MEAN_RECOVERY)}")


def clustered(runs: int) -> None:
    print("faults of the same task: kind, tasks x faults: held, width, none")
    random = np.random.default_rng(8)
    for kind, draw in KINDS.items():
        truth = float(draw(random, 200_000).mean())
        for n, faults in ((8, 4), (20, 3)):
            found = [
                bounded_interval(
                    random.binomial(1, np.repeat(draw(random, n), faults)).reshape(n, faults).mean(axis=1),
                    0,
                    1,
                )
                for _ in range(runs)
            ]
            print(f"  {kind}, {n} x {faults}: {_told(found, truth)}")


def differences(runs: int) -> None:
    print("differences of two rates: tasks, share with failures, A's and B's factor: held, width, none")
    random = np.random.default_rng(9)
    for n in (8, 20, 50):
        for some in (1.0, 0.3):
            for ours, theirs in ((1.0, 1.0), (1.0, 0.7), (1.0, 0.05)):
                found: list[Interval | None] = []
                for _ in range(runs):
                    rate = random.beta(*RECOVERS, n)
                    sides = [failures(random, n, some, rate * factor, 1) for factor in (ours, theirs)]
                    found.append(shares_difference_interval(np.column_stack([*sides[0], *sides[1]])))
                print(f"  {n:3} {some:4} {ours} {theirs}: {_told(found, (theirs - ours) * MEAN_RECOVERY)}")


def false_alarms(runs: int) -> None:
    print("sign flips by task, agents that differ at tasks and not on average: tasks x faults: p <= 5 %")
    random = np.random.default_rng(10)
    for n, faults in ((8, 4), (20, 3)):
        alarms = 0
        for _ in range(runs):
            base, apart = random.beta(1, 0.6, n), random.normal(0, 0.2, n)
            a, b = (
                random.binomial(1, np.repeat(np.clip(base + side * apart, 0, 1), faults))
                .reshape(n, faults)
                .mean(axis=1)
                for side in (1, -1)
            )
            alarms += sign_flip_p(b - a) <= 0.05
        print(f"  {n} x {faults}: {alarms / runs:.3f}")


def _told(found: list[Interval | None], truth: float) -> str:
    given = [one for one in found if one is not None]
    held = np.mean([one.low <= truth <= one.high for one in given])
    width = np.mean([one.high - one.low for one in given])
    return f"{held:.3f}, {width:.2f}, {1 - len(given) / len(found):.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=1_500)
    runs = parser.parse_args().runs
    for simulation in (rates, clustered, differences, false_alarms):
        simulation(runs)


if __name__ == "__main__":
    main()
