"""What did a grader say, and can it be believed?

The verdict channel is the folder /logs/verifier, empty before the grader starts. A grader writes either
Harbor's files (`reward.json` before `reward.txt`, and `ctrf.json` for named checks), or `verdict.json`:

    {"nonce": "...", "reward": 1.0, "checks": {"unit": true}}

The nonce is the first line of the grader's standard input: a pipe, so whoever reads it first is the only one
who does. A `verdict.json` with the nonce beats every other file; one without it is nobody's word and is passed
over. A task whose grader signs (`[metadata.evalkit.grading] nonce = true`) believes nothing else, so code that
the grader runs can silence it, but never speak for it. (A grader keeps the nonce to itself by reading it before
it runs anything, and, on a system where the same user may read a process's memory, by PR_SET_DUMPABLE 0.)
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import cast, get_args

from evalkit.errors import GraderError
from evalkit.trajectory.finding import CODES, Code, Finding, Level

FILES = ("verdict.json", "reward.json", "reward.txt", "ctrf.json")
MAX_BYTES = 4 * 1024 * 1024
MAX_EVIDENCE = 100
MAX_WHAT = 500


@dataclass(frozen=True, slots=True)
class Verdict:
    """A reward with the checks behind it. `passed` also needs every expected check to have passed."""

    reward: float
    rewards: Mapping[str, float]
    checks: Mapping[str, bool] | None
    passed: bool
    evidence: tuple[Finding, ...] = ()
    """What a grader that signed found of tampering."""


def read_verdict(
    files: Mapping[str, bytes], *, nonce: str, signs: bool, expected: Iterable[str], pass_reward: float
) -> Verdict:
    """Judge what a grader wrote. Raises GraderError where it gave no verdict, or one that cannot be believed.

    `signs` says that only a verdict with the nonce counts. A missing expected check is a failed one; an
    unexpected check is an error.
    """
    word = _signed(files.get("verdict.json"), nonce)
    evidence: tuple[Finding, ...] = ()
    if word is not None:
        reward, rewards, checks = _read_word(word)
        evidence = _evidence(word.get("evidence"))
    elif signs:
        raise GraderError(
            "the grader did not sign a verdict: there is no verdict.json with the nonce of this grading",
            hint="A grader copies the first line of its standard input into `nonce`.",
        )
    else:
        reward, rewards = _harbor_reward(files)
        checks = _ctrf(files["ctrf.json"]) if "ctrf.json" in files else None
    wanted = tuple(expected)
    if wanted:
        checks = _against_expected(checks, wanted)
    passed = reward >= pass_reward and (not wanted or all((checks or {}).values()))
    return Verdict(reward=reward, rewards=rewards, checks=checks, passed=passed, evidence=evidence)


def _signed(data: bytes | None, nonce: str) -> dict[str, object] | None:
    """The object in verdict.json; None unless it carries the nonce."""
    if data is None:
        return None
    try:
        word = _object(data, "verdict.json")
    except GraderError:
        return None
    return word if word.get("nonce") == nonce else None


def _read_word(
    word: Mapping[str, object],
) -> tuple[float, Mapping[str, float], Mapping[str, bool] | None]:
    reward = _number(word.get("reward"), "verdict.json: reward")
    raw = word.get("checks")
    if raw is None:
        return reward, {"reward": reward}, None
    if not isinstance(raw, dict):
        raise GraderError("verdict.json: checks is no table of check id to true or false")
    checks: dict[str, bool] = {}
    for name, value in cast("dict[str, object]", raw).items():
        if not isinstance(value, bool):
            raise GraderError(f"verdict.json: check '{name}' is neither true nor false")
        checks[name] = value
    return reward, {"reward": reward}, checks


def _evidence(raw: object) -> tuple[Finding, ...]:
    if raw is None:
        return ()
    if not isinstance(raw, list):
        raise GraderError("verdict.json: evidence is no list")
    entries = cast("list[object]", raw)
    if len(entries) > MAX_EVIDENCE:
        raise GraderError(f"verdict.json: evidence has {len(entries)} entries, more than {MAX_EVIDENCE}")
    return tuple(_finding(entry, f"verdict.json: evidence {at}") for at, entry in enumerate(entries))


def _finding(entry: object, name: str) -> Finding:
    told = cast("dict[str, object]", entry) if isinstance(entry, dict) else {}
    code, level, what = (told.get(key) for key in ("code", "level", "what"))
    if not (isinstance(code, str) and isinstance(level, str) and isinstance(what, str) and what.strip()):
        raise GraderError(f"{name} has no code, level and sentence")
    if code not in CODES or code == "twin" or level not in get_args(Level):
        raise GraderError(f"{name} has an unknown code or level: {code[:40]!r}, {level[:40]!r}")
    return Finding(code=cast("Code", code), level=cast("Level", level), what=what[:MAX_WHAT], source="grader")


def _harbor_reward(files: Mapping[str, bytes]) -> tuple[float, Mapping[str, float]]:
    if "reward.json" in files:
        value = _json(files["reward.json"], "reward.json")
        if not isinstance(value, dict):
            reward = _number(value, "reward.json")
            return reward, {"reward": reward}
        table = cast("dict[str, object]", value)
        rewards = {name: _number(number, f"reward.json: {name}") for name, number in table.items()}
        if "reward" in rewards:
            return rewards["reward"], rewards
        if len(rewards) == 1:
            return next(iter(rewards.values())), rewards
        raise GraderError("reward.json has several numbers and none is called 'reward'")
    if "reward.txt" in files:
        text = files["reward.txt"].decode("utf-8", "replace").strip()
        try:
            number = float(text)
        except ValueError as error:
            raise GraderError(f"reward.txt holds no number but {text[:80]!r}") from error
        reward = _number(number, "reward.txt")
        return reward, {"reward": reward}
    raise GraderError("the grader wrote no reward")


def _ctrf(data: bytes) -> Mapping[str, bool]:
    results = _object(data, "ctrf.json").get("results")
    tests = cast("dict[str, object]", results).get("tests") if isinstance(results, dict) else None
    if not isinstance(tests, list):
        raise GraderError("ctrf.json has no list results.tests")
    checks: dict[str, bool] = {}
    for test in cast("list[object]", tests):
        entry = cast("dict[str, object]", test) if isinstance(test, dict) else {}
        name, status = entry.get("name"), entry.get("status")
        if not isinstance(name, str) or not isinstance(status, str):
            raise GraderError("ctrf.json has a test without name or status")
        if name in checks:
            raise GraderError(f"ctrf.json reports the check '{name}' twice")
        checks[name] = status == "passed"
    return checks


def _against_expected(checks: Mapping[str, bool] | None, wanted: tuple[str, ...]) -> Mapping[str, bool]:
    if checks is None:
        raise GraderError(
            f"the task declares {len(wanted)} checks, and the grader reported none of them",
            hint="Write them to /logs/verifier/ctrf.json, in every case.",
        )
    unexpected = sorted(set(checks) - set(wanted))
    if unexpected:
        raise GraderError(
            f"the grader reported checks that the task does not declare: {', '.join(unexpected)}"
        )
    return {name: checks.get(name, False) for name in wanted}


def _object(data: bytes, name: str) -> dict[str, object]:
    value = _json(data, name)
    if not isinstance(value, dict):
        raise GraderError(f"{name} is no JSON object")
    return cast("dict[str, object]", value)


def _json(data: bytes, name: str) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise GraderError(f"{name} is no valid JSON: {error}") from error


def _number(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise GraderError(f"{name} is no number")
    try:
        number = float(value)
    except OverflowError as error:
        raise GraderError(f"{name} is too large") from error
    if not math.isfinite(number):
        raise GraderError(f"{name} is {number}; a reward must be finite")
    return number
