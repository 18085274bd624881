"""Does an agent know how sure it may be?

Of trials whose task asks for a confidence from 0 to 1 with the answer. Pairs of (confidence, passed).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from statistics import fmean

Answer = tuple[float, bool]
ECE_BINS = 10
ECE_LEAST = 200
"""Trials below which the expected calibration error says more about the bins than about the agent."""


def brier(answers: Sequence[Answer]) -> float | None:
    """Mean squared distance of confidence and outcome, in [0, 1], 0 is best (Brier 1950). None without answers."""
    _check(answers)
    return fmean((confidence - passed) ** 2 for confidence, passed in answers) if answers else None


def expected_calibration_error(answers: Sequence[Answer]) -> float | None:
    """Mean gap of confidence and accuracy over ten equal bins, weighted by their size, in [0, 1] (arXiv 1706.04599).

    None with fewer than 200 answers. A bin holds its upper edge; the first one 0 too.
    """
    _check(answers)
    if len(answers) < ECE_LEAST:
        return None
    bins: dict[int, list[Answer]] = {}
    for confidence, passed in answers:
        number = max(0, -int(-confidence * ECE_BINS // 1) - 1)
        bins.setdefault(number, []).append((confidence, passed))
    gaps = (
        len(own) * abs(fmean(confidence for confidence, _ in own) - fmean(passed for _, passed in own))
        for own in bins.values()
    )
    return sum(gaps) / len(answers)


def auroc(answers: Sequence[Answer]) -> float | None:
    """The probability that a passed trial was surer than a failed one, ties half, in [0, 1] (Mann and Whitney).

    None where all passed or all failed.
    """
    _check(answers)
    passed = sorted(confidence for confidence, right in answers if right)
    failed = sorted(confidence for confidence, right in answers if not right)
    if not passed or not failed:
        return None
    wins = 0.0
    below = upto = 0
    for confidence in passed:
        while below < len(failed) and failed[below] < confidence:
            below += 1
        while upto < len(failed) and failed[upto] <= confidence:
            upto += 1
        wins += (below + upto) / 2
    return wins / (len(passed) * len(failed))


def risk_coverage_area(answers: Sequence[Answer]) -> float | None:
    """Mean error rate over all coverages, when the least sure answers are withheld first, in [0, 1], 0 is best.

    Answers of equal confidence come in at once, each with the error rate of all of them. None without answers.
    """
    _check(answers)
    if not answers:
        return None
    ordered = sorted(answers, key=lambda answer: -answer[0])
    errors = list(accumulate(not passed for _, passed in ordered))
    risks: list[float] = []
    start = 0
    while start < len(ordered):
        end = start
        while end < len(ordered) and ordered[end][0] == ordered[start][0]:
            end += 1
        risks += [errors[end - 1] / end] * (end - start)
        start = end
    return fmean(risks)


def _check(answers: Sequence[Answer]) -> None:
    if any(not 0 <= confidence <= 1 for confidence, _ in answers):
        raise ValueError("a confidence is a number from 0 to 1")
