"""What did SWE-bench's own harness say about a patch?

    {"django__django-13660": {"patch_is_None": false, "patch_exists": true, "patch_successfully_applied": true,
        "resolved": false, "tests_status": {
            "FAIL_TO_PASS": {"success": ["test_a (shell.tests)"], "failure": []},
            "PASS_TO_PASS": {"success": [], "failure": ["test_b (shell.tests)"]}}}}

It lies beside the trajectory as `INSTANCE.report.json`, or as `report.json` in the instance's own folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evalkit.convert.json_text import JsonReader
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.source import Source
from evalkit.models.wire.json_values import as_list, as_object, is_object

GROUPS = ("FAIL_TO_PASS", "PASS_TO_PASS")
"""What the patch had to mend, and what it was not to break."""
TRAJECTORY = ".traj.json"
_OWN, _SHARED = ".report.json", "report.json"


def is_report_name(name: str) -> bool:
    """Whether reports are named like this."""
    return name == _SHARED or name.endswith(_OWN)


def reports_in(whole: Mapping[str, object]) -> dict[str, Mapping[str, object]]:
    """The reports of a file, by instance. Empty where it is no file of reports."""
    if "messages" in whole or "info" in whole:
        return {}
    return {
        instance: value
        for instance, value in whole.items()
        if is_object(value) and ("resolved" in value or "tests_status" in value)
    }


def report_beside(path: Path, instance: str, notes: Notes) -> Mapping[str, object] | None:
    """The report that belongs to a trajectory. An instance's name is compared, and never part of a path."""
    stem = path.name.removesuffix(".gz").removesuffix(TRAJECTORY)
    for name in (f"{stem}{_OWN}", f"{stem}{_OWN}.gz", _SHARED, f"{_SHARED}.gz"):
        place = path.with_name(name)
        if not place.is_file():
            continue
        try:
            found = reports_in(JsonReader(notes).object(Source(place).text(notes)))
        except Refused as problem:
            notes.lose(f"its report {name}: {problem}")
            continue
        if (report := found.get(instance) or found.get(stem)) is not None:
            return report
        notes.warn(f"{name} is about another instance, and is not used")
    return None


def without_trajectory(
    path: Path, reports: Mapping[str, Mapping[str, object]]
) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The reports of a file beside which there is no trajectory that they belong to."""
    name = path.name.removesuffix(".gz")
    if name.endswith(_OWN) and name != _OWN:
        own = path.with_name(name.removesuffix(_OWN) + TRAJECTORY)
        if own.is_file() or own.with_name(f"{own.name}.gz").is_file():
            return
    stems = {beside.name.removesuffix(".gz").removesuffix(TRAJECTORY) for beside in trajectories(path.parent)}
    yield from ((instance, report) for instance, report in reports.items() if instance not in stems)


def trajectories(folder: Path) -> list[Path]:
    """The trajectories of a folder."""
    try:
        return sorted(
            place for place in folder.iterdir() if place.name.endswith((TRAJECTORY, f"{TRAJECTORY}.gz"))
        )
    except OSError:
        return []


def judgement(report: Mapping[str, object], notes: Notes) -> dict[str, Any]:
    """Columns of `Trial` that a report tells: status, reward, rewards, and a check for every test.

    A check `PASS_TO_PASS:...` that is False is a test that the patch broke.
    """
    checks = _checks(as_object(report.get("tests_status")), notes)
    resolved = report.get("resolved")
    rewards: dict[str, float] = {}
    if isinstance(applied := report.get("patch_successfully_applied"), bool):
        rewards["patch_applied"] = float(applied)
    for group in GROUPS:
        passed = [value for name, value in checks.items() if name.startswith(f"{group}:")]
        if passed:
            rewards[group.lower()] = sum(passed) / len(passed)
    told = {"checks": checks or None, "rewards": rewards or None}
    if not isinstance(resolved, bool):
        notes.warn("a report that does not say whether the instance is resolved")
        message = "the report does not say whether the instance is resolved"
        return {**told, "status": "unscored", "error_type": "unjudged", "error_message": message}
    return {**told, "status": "passed" if resolved else "failed", "reward": float(resolved)}


def _checks(tests: Mapping[str, object], notes: Notes) -> dict[str, bool]:
    found: dict[str, bool] = {}
    for group in GROUPS:
        outcome = as_object(tests.get(group))
        for word, passed in (("success", True), ("failure", False)):
            for test in as_list(outcome.get(word)):
                if not isinstance(test, str):
                    notes.warn("a test whose name is no text is left out")
                    continue
                name = f"{group}:{test}"
                if found.get(name, passed) != passed:
                    notes.warn("a test that is said to pass and to fail counts as failed")
                found[name] = passed
    return found
