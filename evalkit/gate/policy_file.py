"""What does a gate policy file say, and where is it wrong?"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from evalkit.gate.policy import GatePolicy, MarginKind, MetricRule, RequiredTask, Suites, ZeroRule
from evalkit.scoring.arm import Arm
from evalkit.tomlfile import TomlFile, dotted, read_toml
from evalkit.tomlkeys import KeyPath

_POINTS = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*pp\s*")
_PERCENT = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*%\s*")
_SHARE = re.compile(r"\s*(\d{1,6})\s*/\s*(\d{1,6})\s*")
_KINDS: tuple[MarginKind, ...] = ("drop", "rise", "ratio")
_HINT = 'Write one limit, such as { max_drop = "5pp" }, { max_rise = 0.05 } or { max_ratio = 1.15 }.'
Amount = Annotated[int | float | str, Field(union_mode="left_to_right")]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Margin(_Section):
    max_drop: Amount | None = None
    max_rise: Amount | None = None
    max_ratio: Amount | None = None


class _Above(_Section):
    above: int | float = 0
    max: Annotated[int, Field(ge=0)] = 0


class _Validity(_Section):
    min_tasks: Annotated[int, Field(ge=2)] = 10
    max_unscored: Amount = 0.05
    suite: Suites = "same"


class _Required(_Section):
    task: Annotated[str, Field(min_length=1)]
    passing: Annotated[str, Field(alias="pass")]


class _Tasks(_Section):
    require: tuple[_Required, ...] = Field(default=(), strict=False)
    known_failing: tuple[Annotated[str, Field(min_length=1)], ...] = Field(default=(), strict=False)


class _PolicyFile(_Section):
    metrics: dict[str, _Margin] = Field(default_factory=dict[str, _Margin])
    faulted: dict[str, _Margin] = Field(default_factory=dict[str, _Margin])
    zero_tolerance: dict[str, int | _Above] = Field(default_factory=dict[str, "int | _Above"])
    validity: _Validity = _Validity()
    tasks: _Tasks = _Tasks()


def read_policy(path: Path) -> GatePolicy:
    """Read a gate policy. Only the metrics, events and tasks that it names are gated; of `[validity]`, what it leaves
    out is as without a file.

    Raises ConfigError, with file and line, for anything that is no policy: unknown keys, margins that let nothing or
    everything pass, a policy that gates nothing.
    """
    source = read_toml(
        path, hint="Name a gate policy with --policy, or leave it out: success may then drop by 5 points."
    )
    file = source.validate(_PolicyFile, source.data)
    policy = GatePolicy(
        metrics=tuple(_rules(source, "clean", "metrics", file.metrics))
        + tuple(_rules(source, "faulted", "faulted", file.faulted)),
        zero_tolerance=tuple(_zero(source, name, rule) for name, rule in file.zero_tolerance.items()),
        min_tasks=file.validity.min_tasks,
        max_unscored=_share(source, ("validity", "max_unscored"), file.validity.max_unscored),
        suite=file.validity.suite,
        require=tuple(_required(source, place, own) for place, own in enumerate(file.tasks.require)),
        known_failing=file.tasks.known_failing,
        source=str(path),
    )
    if not (policy.metrics or policy.zero_tolerance or policy.require):
        raise source.error(
            "this policy gates nothing", hint='Add a line, such as [metrics] success = { max_drop = "5pp" }.'
        )
    return policy


def margin_of(text: float | str) -> float | None:
    """`0.05`, `"5pp"` (percentage points) or `"5%"` as a number; None for anything else."""
    if isinstance(text, str):
        found = _POINTS.fullmatch(text) or _PERCENT.fullmatch(text)
        return float(Fraction(found.group(1)) / 100) if found else None
    return None if isinstance(text, bool) or not math.isfinite(text) else float(text)


def _rules(source: TomlFile, arm: Arm, table: str, rules: dict[str, _Margin]) -> Iterator[MetricRule]:
    for name, rule in rules.items():
        key = (table, name)
        given: list[tuple[MarginKind, int | float | str]] = [
            (kind, value) for kind in _KINDS if (value := getattr(rule, f"max_{kind}")) is not None
        ]
        if len(given) != 1:
            problem = "no limit" if not given else "more than one limit"
            raise source.error(f"{dotted(key)} has {problem}", key, _HINT)
        kind, value = given[0]
        key = (table, name, f"max_{kind}")
        margin = _number(source, key, value)
        if kind == "ratio" and margin <= 1:
            raise source.error(
                f"{dotted(key)} is {margin:g}, and what does not grow is 1 times what it was",
                key,
                "Write a ratio above 1: 1.15 lets it grow by 15 %. No number of tasks can show that nothing changed.",
            )
        if margin <= 0:
            raise source.error(
                f"{dotted(key)} is {margin:g}",
                key,
                "A margin is above 0: no number of tasks can show that nothing changed at all.",
            )
        yield MetricRule(name=name, arm=arm, kind=kind, margin=margin, where=source.where(key))


def _zero(source: TomlFile, name: str, rule: int | _Above) -> ZeroRule:
    key: KeyPath = ("zero_tolerance", name)
    above, most = (0.0, rule) if isinstance(rule, int) else (float(rule.above), rule.max)
    if isinstance(rule, bool) or most < 0 or not math.isfinite(above):
        raise source.error(
            f"{dotted(key)} is no number of trials",
            key,
            "Write how many trials may have it: 0, or { above = 0.75, max = 0 }.",
        )
    return ZeroRule(name=name, above=above, most=most, where=source.where(key))


def _required(source: TomlFile, place: int, own: _Required) -> RequiredTask:
    key: KeyPath = ("tasks", "require", place, "pass")
    found = _SHARE.fullmatch(own.passing)
    passed, of = (int(found.group(1)), int(found.group(2))) if found else (0, 0)
    if not 0 < passed <= of:
        raise source.error(
            f"{dotted(key)} is {own.passing!r}", key, 'Write how many of how many trials pass: "3/4".'
        )
    return RequiredTask(task=own.task, passed=passed, of=of, where=source.where(key))


def _share(source: TomlFile, key: KeyPath, value: float | str) -> float:
    share = _number(source, key, value)
    if not 0 <= share < 1:
        raise source.error(
            f"{dotted(key)} is {value!r}", key, 'Write a share from 0 to below 1: 0.05, or "5%".'
        )
    return share


def _number(source: TomlFile, key: KeyPath, value: float | str) -> float:
    number = margin_of(value)
    if number is None:
        raise source.error(
            f"{dotted(key)} is {value!r}, which is no amount",
            key,
            'Write 0.05, "5pp" (percentage points) or "5%".',
        )
    return number
