"""What a manifest says of a task, as scorers see it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from evalkit.scoring.facts import Facts
from evalkit.trajectory.manifest import RunManifest

NOON = datetime(2025, 1, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("told", "compares"),
    [
        ({"answer": "text"}, True),
        ({"answer": None}, False),
        ({"answer": ""}, False),
        ({"answer": True}, False),
        ({}, False),
        ("text", False),
    ],
)
def test_answers_are_compared_where_the_task_declares_one(told, compares) -> None:
    manifest = RunManifest(run_id="r", created_at=NOON, tasks={"s/x": told})
    assert Facts(manifest).of("s", "x").compares_answers is compares


def test_a_task_of_which_nothing_is_said_compares_nothing() -> None:
    assert not Facts(RunManifest(run_id="r", created_at=NOON)).of("s", "x").compares_answers


def test_what_a_task_says_of_its_effects() -> None:
    told = {"effects": {"declared": True, "required": ["/app/out/**"], "passes_at_start": ["unit"]}}
    facts = Facts(RunManifest(run_id="r", created_at=NOON, tasks={"s/x": told})).of("s", "x")
    assert facts.effects_declared
    assert facts.required_effects == ("/app/out/**",)
    assert facts.passes_at_start == ("unit",)
    assert facts.network


@pytest.mark.parametrize(("told", "network"), [(True, True), (False, False), (None, True), ("no", True)])
def test_a_task_has_a_network_unless_it_is_known_to_have_none(told, network) -> None:
    manifest = RunManifest(run_id="r", created_at=NOON, tasks={"s/x": {"effects": {"network": told}}})
    assert Facts(manifest).of("s", "x").network is network


@pytest.mark.parametrize(
    "told", [{}, {"effects": None}, {"effects": []}, {"effects": {"declared": "yes", "required": 7}}]
)
def test_a_task_that_says_nothing_of_its_effects_has_declared_none(told) -> None:
    facts = Facts(RunManifest(run_id="r", created_at=NOON, tasks={"s/x": told})).of("s", "x")
    assert (facts.effects_declared, facts.required_effects, facts.passes_at_start) == (False, (), ())
