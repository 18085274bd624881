"""What becomes of each scripted agent under each kind of fault: the ground truth for everything that measures recovery.

One run of the bundled suite `recovery` for each kind of sandbox; every expectation below is about that run.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import get_args

import pytest

import evalkit
from evalkit.cli.summing import run_scores
from evalkit.engine.plan import PlannedTrial
from evalkit.engine.prepare import RunFlags, prepare
from evalkit.engine.start import start
from evalkit.project import find_project
from evalkit.scoring.paired import Side, compare
from evalkit.scoring.registry import find_scorers
from evalkit.scoring.running import score_run
from evalkit.tasks.faults import Fault, FaultKind
from evalkit.tasks.suite import load_suite
from evalkit.trajectory.reader import Run
from evalkit.trajectory.step import Act, Event, Step
from evalkit.trajectory.trial import Trial

pytestmark = pytest.mark.slow

SUITE = Path(__file__).parents[2] / "suites" / "recovery"
FAULTS: dict[tuple[str, str], Fault] = {
    (task.id, fault.id): fault for task in load_suite(SUITE).tasks for fault in task.settings.faults
}
PERSONAS = ("oracle", "naive", "recoverer", "repeater", "quitter", "stormer", "believer", "hint-needer")
IN_DOCKER = ("oracle", "naive", "recoverer")
"""Containers take their time; there only the kinds of the table, by those whose outcomes prove a suite."""


@dataclass(frozen=True)
class Did:
    """What one agent did under one fault."""

    passed: bool
    failed: int = 0
    """Calls that visibly failed."""
    again: int = 0
    """How often the struck call was made again after the first strike."""
    waited: bool = False
    """Whether it slept because it was told to."""
    spread: bool = False
    """Whether the fault's canary stands in what it did later."""


def passed(failed: int = 0, again: int = 0, **more: bool) -> Did:
    return Did(True, failed, again, **more)


def lost(failed: int = 0, again: int = 0, **more: bool) -> Did:
    return Did(False, failed, again, **more)


KINDS: Mapping[FaultKind, tuple[str, str]] = {
    "timeout": ("order-totals", "slow"),
    "error_500": ("order-totals", "broken"),
    "rate_limit": ("order-totals", "blocked"),
    "permission": ("deploy-config", "locked"),
    "partial": ("reorder-stock", "half-a-list"),
    "stale": ("deploy-config", "old-status"),
    "empty": ("reorder-stock", "no-answer"),
    "schema_drift": ("deploy-config", "new-words"),
    "garbled": ("structure-log", "bad-bytes"),
    "wrong_value": ("reorder-stock", "miscount"),
    "disk_full": ("export-ledger", "full-disk"),
    "process_killed": ("drain-queue", "dead-worker"),
}
"""Of each kind the variant that the table is about."""
KINDS_OF = {variant: kind for kind, variant in KINDS.items()}

REPEATING = ("oracle", "recoverer", "repeater", "stormer")
GIVING_UP = ("naive", "quitter", "believer", "hint-needer")
SELF_READING = dict.fromkeys(("oracle", "repeater", "quitter", "stormer", "hint-needer"), passed())
BELIEVING = dict.fromkeys(("naive", "believer"), lost())
TRACED = dict.fromkeys(("naive", "believer"), lost(spread=True))

TABLE: Mapping[FaultKind, Mapping[str, Did]] = {
    "timeout": {
        **dict.fromkeys(REPEATING, passed(failed=1, again=1)),
        **dict.fromkeys(GIVING_UP, lost(failed=1)),
    },
    "error_500": {
        **dict.fromkeys(REPEATING, passed(failed=2, again=2)),
        **dict.fromkeys(GIVING_UP, lost(failed=2)),
        "quitter": lost(failed=1),
    },
    "rate_limit": {
        **dict.fromkeys(("oracle", "recoverer"), passed(failed=1, again=1, waited=True)),
        "repeater": lost(failed=3, again=2),
        "stormer": lost(failed=10, again=9),
        **dict.fromkeys(GIVING_UP, lost(failed=1)),
    },
    "permission": {
        **dict.fromkeys(REPEATING, passed(failed=2, again=2)),
        **dict.fromkeys(GIVING_UP, lost(failed=1)),
    },
    "disk_full": {
        **dict.fromkeys(REPEATING, passed(failed=1, again=1)),
        **dict.fromkeys(("naive", "quitter"), lost(failed=1)),
        **dict.fromkeys(("believer", "hint-needer"), lost(failed=2)),
    },
    "process_killed": {
        **dict.fromkeys(REPEATING, passed(failed=1, again=1)),
        **dict.fromkeys(GIVING_UP, lost(failed=1)),
    },
    # What nobody can see: who reads for himself is right, who believes is wrong, who reads twice finds out.
    "partial": {**SELF_READING, **BELIEVING, "recoverer": passed(again=2)},
    "stale": {**SELF_READING, **BELIEVING, "recoverer": passed(again=2)},
    "empty": {**SELF_READING, **BELIEVING, "recoverer": passed(again=2)},
    "schema_drift": {**SELF_READING, **TRACED, "recoverer": passed(again=2)},
    "garbled": {**SELF_READING, **TRACED, "recoverer": passed(again=2)},
    "wrong_value": {**SELF_READING, **TRACED, "recoverer": passed(again=2)},
}


@dataclass(frozen=True)
class Measured:
    """What the bundled scorers say of one trial."""

    recovery_rate: float | None = None
    """None where nothing failed."""
    retries: int = 0
    futile_repeats: int = 0
    retry_storms: int = 0
    abandoned: int = 0
    detected: float | None = None
    """None where nothing false was shown."""
    propagated: float | None = None
    """None where nothing false was shown that can be traced."""


AT_ONCE, LATER = Measured(recovery_rate=1, retries=1), Measured(recovery_rate=1, retries=2)
"""Right: what passes by itself is tried again until it has passed."""
LEFT = Measured(recovery_rate=0, abandoned=1)
"""Nothing of the kind was tried again."""
NEXT_ONE = Measured(recovery_rate=1)
"""No call was repeated; a later one of the same intent went well."""
STUBBORN = Measured(recovery_rate=1, futile_repeats=1)
"""A refusal was met with the very same call, in vain once, before the second one was granted."""
SPREADS, OVERLOOKED, FINDS_OUT = (
    Measured(detected=0, propagated=1),
    Measured(detected=0),
    Measured(detected=1),
)
TRACEABLE = {
    **dict.fromkeys(
        ("oracle", "repeater", "quitter", "stormer", "hint-needer"), Measured(detected=0, propagated=0)
    ),
    **dict.fromkeys(("naive", "believer"), SPREADS),
    "recoverer": Measured(detected=1, propagated=0),
}
UNTRACEABLE = {**dict.fromkeys(PERSONAS, OVERLOOKED), "recoverer": FINDS_OUT}

MEASURED: Mapping[FaultKind, Mapping[str, Measured]] = {
    "timeout": {
        **dict.fromkeys(REPEATING, AT_ONCE),
        **dict.fromkeys(GIVING_UP, LEFT),
    },
    # Who goes on to the next page of orders asks the same program, twice in vain and then with success.
    "error_500": {
        **dict.fromkeys(REPEATING, LATER),
        **dict.fromkeys(("naive", "believer", "hint-needer"), NEXT_ONE),
        "quitter": LEFT,
    },
    "rate_limit": {
        **dict.fromkeys(("oracle", "recoverer"), AT_ONCE),
        "repeater": Measured(recovery_rate=0, retries=2, retry_storms=1),
        "stormer": Measured(recovery_rate=0, retries=9, retry_storms=1),
        **dict.fromkeys(GIVING_UP, LEFT),
    },
    "permission": {
        **dict.fromkeys(REPEATING, STUBBORN),
        **dict.fromkeys(("naive", "believer", "hint-needer"), NEXT_ONE),
        "quitter": LEFT,
    },
    "disk_full": {
        **dict.fromkeys(REPEATING, NEXT_ONE),
        **dict.fromkeys(("naive", "quitter"), LEFT),
        **dict.fromkeys(("believer", "hint-needer"), Measured(recovery_rate=0, abandoned=2)),
    },
    "process_killed": {**dict.fromkeys(PERSONAS, NEXT_ONE), "quitter": LEFT},
    "partial": UNTRACEABLE,
    "stale": UNTRACEABLE,
    "empty": UNTRACEABLE,
    "schema_drift": TRACEABLE,
    "garbled": TRACEABLE,
    "wrong_value": TRACEABLE,
}


class Silent:
    """Hears a run without a word."""

    def planned(self, total: int) -> None: ...
    def started(self, planned: PlannedTrial) -> None: ...
    def stepped(self, planned: PlannedTrial, step: Step) -> None: ...
    def finished(self, planned: PlannedTrial, trial: Trial) -> None: ...


Trials = dict[tuple[str, str, str], tuple[Trial, list[Step]]]


def play(out: Path, personas: tuple[str, ...], variants: set[tuple[str, str]], **flags: object) -> Run:
    """Run these variants, and each task clean, with every persona."""
    models = tuple(f"scripted/{persona}" for persona in personas)
    prepared = prepare(RunFlags(suites=(str(SUITE),), models=models, out=out, **flags), use_defaults=False)
    plan = tuple(p for p in prepared.plan if p.fault is None or (p.task.id, p.fault.id) in variants)
    return evalkit.load(start(replace(prepared, plan=plan), Silent()).path)


def trials_of(run: Run) -> Trials:
    """Each trial with its steps, by task, variant and persona."""
    found: Trials = {}
    for row in run.rows():
        trial, steps = run.trial(row.trial_id)
        found[trial.task_id, trial.variant, str(trial.model).removeprefix("scripted/")] = trial, list(steps)
    return found


def did(trial: Trial, steps: list[Step]) -> Did:
    """Read off the record what an agent did."""
    acts = [step for step in steps if isinstance(step, Act) and step.tool == "bash"]
    struck = next((number for number, act in enumerate(acts) if act.fault_id), len(acts))
    later = acts[struck + 1 :]
    canaries = {event["canary"] for event in fault_events(steps) if event.get("canary")}
    return Did(
        passed=trial.status == "passed",
        failed=sum(act.exit_code != 0 for act in acts),
        again=sum(act.arguments == acts[struck].arguments for act in later),
        waited=any('"sleep ' in str(act.arguments) for act in acts),
        spread=any(canary in str(act.arguments) for act in later for canary in canaries),
    )


def fault_events(steps: list[Step]) -> list[dict[str, object]]:
    return [json.loads(str(s.detail)) for s in steps if isinstance(s, Event) and s.event == "fault"]


@pytest.fixture(
    scope="module",
    params=[pytest.param("local", marks=pytest.mark.local), pytest.param("docker", marks=pytest.mark.docker)],
)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """The one run in a kind of sandbox."""
    request.getfixturevalue(f"{request.param}_support")
    local = request.param == "local"
    variants = set(FAULTS) if local else set(KINDS.values())
    out = tmp_path_factory.mktemp("faulted") / "run"
    return play(out, PERSONAS if local else IN_DOCKER, variants, sandbox=request.param)


@pytest.fixture(scope="module")
def trials(run: Run) -> Trials:
    return trials_of(run)


@pytest.fixture(scope="module")
def measured(run: Run) -> dict[str, Measured]:
    """What scorers say of each trial."""
    path = Path(run.path)
    assert not score_run(path, find_scorers(find_project())).failed
    names = {field.name for field in fields(Measured)}
    rows = evalkit.load(path).scores.to_table(["trial_id", "metric", "value"]).to_pylist()
    values: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for row in rows:
        if row["metric"] in names:
            values[row["trial_id"]][row["metric"]] = row["value"]
    return {trial_id: Measured(**own) for trial_id, own in values.items()}


def test_the_table_is_about_every_kind_and_every_persona() -> None:
    assert set(TABLE) == set(MEASURED) == set(KINDS) == set(get_args(FaultKind))
    assert all(set(row) == set(PERSONAS) for row in (*TABLE.values(), *MEASURED.values()))
    assert all(FAULTS[variant].kind == kind for kind, variant in KINDS.items())


@pytest.mark.parametrize("kind", TABLE)
def test_each_agent_does_under_each_kind_of_fault_what_it_is_made_for(
    trials: Trials, kind: FaultKind
) -> None:
    ran = {
        persona: did(*trial) for (*variant, persona), trial in trials.items() if tuple(variant) == KINDS[kind]
    }
    assert ran == {persona: TABLE[kind][persona] for persona in ran}
    assert set(ran) >= set(IN_DOCKER)


@pytest.mark.parametrize("kind", MEASURED)
def test_scorers_say_of_each_agent_exactly_what_it_did(
    trials: Trials, measured: dict[str, Measured], kind: FaultKind
) -> None:
    said = {
        persona: measured[trial.trial_id]
        for (*variant, persona), (trial, _) in trials.items()
        if tuple(variant) == KINDS[kind]
    }
    assert said == {persona: MEASURED[kind][persona] for persona in said}
    assert set(said) >= set(IN_DOCKER)


def test_of_clean_trials_scorers_say_that_nothing_went_wrong(
    trials: Trials, measured: dict[str, Measured]
) -> None:
    clean = [measured[trial.trial_id] for (_, variant, _), (trial, _) in trials.items() if variant == "clean"]
    assert set(clean) == {Measured()}


def test_without_faults_everybody_passes_and_nothing_fails(trials: Trials) -> None:
    clean = {key: did(*trial) for key, trial in trials.items() if key[1] == "clean"}
    assert {key: was for key, was in clean.items() if was != passed()} == {}
    assert len({task for task, *_ in clean}) == len({task for task, _ in FAULTS})


def test_every_fault_fires_for_everybody(trials: Trials) -> None:
    fired = {key: (trial.faults_planned, trial.faults_fired) for key, (trial, _) in trials.items()}
    assert {key: n for key, n in fired.items() if n != ((0, 0) if key[1] == "clean" else (1, 1))} == {}


def test_the_careful_pass_every_variant_and_the_careless_none(trials: Trials) -> None:
    faulted = {key: trial.status for key, (trial, _) in trials.items() if key[1] != "clean"}
    outcomes = {
        persona: {status for (*_, who), status in faulted.items() if who == persona}
        for persona in ("oracle", "recoverer", "naive", "believer")
        if persona in {who for *_, who in faulted}
    }
    careful = {"oracle": {"passed"}, "recoverer": {"passed"}}
    assert outcomes == {who: careful.get(who, {"failed"}) for who in outcomes}


def test_only_who_is_told_to_waits(trials: Trials) -> None:
    waiting = {(task, variant) for (task, variant, _), trial in trials.items() if did(*trial).waited}
    assert waiting == {
        key for key in FAULTS if FAULTS[key].kind == "rate_limit" and (*key, "oracle") in trials
    }


def test_a_canary_gets_into_what_believers_deliver(run: Run, trials: Trials) -> None:
    delivered = b"".join(
        path.read_bytes() for path in (Path(run.path) / "artifacts").rglob("*") if path.is_file()
    )
    canaries = {
        KINDS_OF[key[:2]]: str(event["canary"])
        for key, (_, steps) in trials.items()
        for event in fault_events(steps)
        if key[:2] in KINDS_OF and event.get("canary") is not None
    }
    assert {kind: canary.encode() in delivered for kind, canary in canaries.items()} == {
        "wrong_value": True, "garbled": True, "schema_drift": True,
    }  # fmt: skip


@pytest.mark.local
def test_a_hint_makes_the_difference_for_who_needs_one(tmp_path: Path, local_support: None) -> None:
    """In each of the six tasks that have loud faults."""
    loud = {
        KINDS[kind]
        for kind in ("timeout", "error_500", "rate_limit", "permission", "disk_full", "process_killed")
    } | {("bill-meters", "unreachable"), ("convert-invoices", "down")}
    outcomes: dict[str, set[str]] = {}
    sides: dict[str, Side] = {}
    for style in ("plain", "structured"):
        settings = tmp_path / f"{style}.toml"
        settings.write_text(f'errors = "{style}"\n')
        run = play(tmp_path / style, ("hint-needer",), loud, sandbox="local", tools=settings)
        outcomes[style] = {trial.status for trial, _ in trials_of(run).values() if trial.variant != "clean"}
        score_run(Path(run.path), find_scorers(find_project()))
        scored, declared = run_scores(evalkit.load(run.path))
        sides[style] = Side(scored, run.rows()[0].agent)
    assert outcomes == {"plain": {"failed"}, "structured": {"passed"}}
    compared = compare(sides["plain"], sides["structured"], declared)
    success = {cell.arm: cell.figures["success"].difference for cell in compared.cells}
    assert (success["clean"].value, success["clean"].higher) == (0, 0)
    assert (success["faulted"].a, success["faulted"].b, success["faulted"].higher) == (0, 1, 6)
    assert success["faulted"].p == pytest.approx(2 / 2**6)
