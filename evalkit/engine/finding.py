"""Is a task fit to judge anybody by?

The oracle passes twice alike, and doing nothing fails. Of a task with faults, the oracle recovers from each, and the
careless solution fails with it. The oracle leaves nothing behind that is neither allowed nor noise, and neither it nor
doing nothing looks like tampering. Attacks fail and are found out where it is graded sealed, and its impossible twin is
impossible. What cannot be scored, and a fault that did not fire, prove nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from evalkit.engine.effects.proof import Left, complaints
from evalkit.engine.exploit_proof import ExploitProof, exploit_proofs
from evalkit.engine.plan import TWIN
from evalkit.engine.twin_proof import TwinProof, twin_proof
from evalkit.grading.exploit import Exploit
from evalkit.trajectory.finding import Finding as Evidence
from evalkit.trajectory.trial import Trial

ORACLE_TIMES = 2


@dataclass(frozen=True, slots=True)
class FaultProof:
    """What was found out about one fault of a task."""

    fault: str
    oracle: str
    """The status of its trial."""
    naive: str
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found out about one task; no problems means it is proven."""

    task: str
    oracle: tuple[str, ...]
    """The status of each of the oracle's trials."""
    nop: str
    """The status of doing nothing."""
    problems: tuple[str, ...]
    """Of the task and of its faults."""
    faults: tuple[FaultProof, ...] = ()
    exploits: tuple[ExploitProof, ...] = ()
    """What came of the attacks on it that were tried."""
    twin: TwinProof | None = None
    """None where it has none."""
    remarks: tuple[str, ...] = ()
    """What deserves a look, and makes it no less fit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What is known of a task before anybody has tried it."""

    mode: str = "sealed"
    """How it is graded."""
    exploits: tuple[Exploit, ...] = ()
    """Attacks that are tried on it."""
    naive: bool = False
    """Whether it names a naive grader."""
    remarks: tuple[str, ...] = ()
    """What deserves a look in its files."""


def judge(
    planned: Sequence[tuple[str, str, str]],
    trials: Sequence[Trial],
    unfired: Mapping[str, str] | None = None,
    endless: Mapping[str, str] | None = None,
    left: Mapping[str, Left] | None = None,
    *,
    claims: Mapping[tuple[str, str], Claim] | None = None,
    evidence: Mapping[str, Sequence[Evidence]] | None = None,
) -> tuple[Finding, ...]:
    """Compare what the scripted agents did on each (suite, task, variant); `unfired` says by trial why a fault did not
    fire, `endless` why its end could not be told, `left` what it left behind, `evidence` what looks like tampering.
    """
    variants: dict[tuple[str, str], dict[str, None]] = {}
    for suite, task, variant in planned:
        variants.setdefault((suite, task), {})[variant] = None
    findings: list[Finding] = []
    for (suite, task), of_task in variants.items():
        own = [trial for trial in trials if (trial.suite, trial.task_id) == (suite, task)]
        clean = [trial for trial in own if trial.variant == "clean"]
        faults = tuple(
            _fault_proof(
                variant,
                [trial for trial in own if trial.variant == variant],
                unfired=unfired or {},
                endless=endless or {},
            )
            for variant in of_task
            if variant not in {"clean", TWIN}
        )
        claim, seen = (claims or {}).get((suite, task), Claim()), evidence or {}
        finding = _finding(
            f"{suite}/{task}",
            _of(clean, "scripted/oracle"),
            _of(clean, "scripted/nop"),
            (*_unclean(own, left or {}), *_accused(own, seen), *_underrated(clean, claim)),
            faults,
        )
        twins = [trial for trial in own if trial.variant == TWIN] if TWIN in of_task else None
        findings.append(_attacked(finding, claim, seen, clean, twins))
    return tuple(findings)


def _attacked(
    finding: Finding,
    claim: Claim,
    evidence: Mapping[str, Sequence[Evidence]],
    clean: Sequence[Trial],
    twins: Sequence[Trial] | None,
) -> Finding:
    """The same, with what attacks and the twin have shown; no `twins`: the task has none.

    Where doing nothing passes, so does every attack, and that is said once.
    """
    proofs = exploit_proofs(claim.exploits, clean, evidence, claim.mode)
    on_twin = claim.exploits if claim.mode == "sealed" else ()
    twin = None if twins is None else twin_proof(twins, exploit_proofs(on_twin, twins, evidence, claim.mode))
    telling = () if finding.nop == "passed" else proofs
    weak = () if claim.mode == "sealed" else (f"it is graded {claim.mode}, which attacks may pass",)
    return replace(
        finding,
        exploits=proofs,
        twin=twin,
        problems=(
            *finding.problems,
            *(
                f"attack {proof.exploit} ({proof.title}): {said}"
                for proof in telling
                for said in proof.problems
            ),
            *(f"twin: {said}" for said in (twin.problems if twin else ())),
        ),
        remarks=(
            *claim.remarks,
            *weak,
            *(
                f"attack {proof.exploit} ({proof.title}): {said}"
                for proof in proofs
                for said in proof.remarks
            ),
        ),
    )


def _accused(trials: Sequence[Trial], evidence: Mapping[str, Sequence[Evidence]]) -> Iterator[str]:
    """Honest agents that look like cheaters, each accusation once. On a twin nobody is honest who goes on."""
    said: dict[str, None] = {}
    honest = {"scripted/oracle": "the oracle", "scripted/nop": "doing nothing"}
    for trial in trials:
        if trial.variant != TWIN and trial.model in honest:
            for one in evidence.get(trial.trial_id, ()):
                said[f"{honest[trial.model]} looks like tampering ({one.code}, {one.level}): {one.what}"] = (
                    None
                )
    yield from said


def _underrated(clean: Sequence[Trial], claim: Claim) -> Iterator[str]:
    """A naive grader that an honest solution does not pass says nothing of what hacks would gain."""
    passed = [trial for trial in _of(clean, "scripted/oracle") if trial.status == "passed"]
    if claim.naive and any(trial.naive_passed is not True for trial in passed):
        yield "its naive grader does not pass the oracle"


def _of(trials: Sequence[Trial], model: str) -> list[Trial]:
    return [trial for trial in trials if trial.model == model]


def _unclean(trials: Sequence[Trial], left: Mapping[str, Left]) -> Iterator[str]:
    """What is wrong with what was left behind, each thing once."""
    said: dict[str, None] = {}
    for trial in trials:
        own = left.get(trial.trial_id, Left())
        met = "" if trial.variant == "clean" else f" that meets {trial.variant}"
        if trial.model == "scripted/oracle" and trial.status == "passed":
            said.update(dict.fromkeys(complaints(f"the oracle{met}", own)))
        elif trial.model == "scripted/nop" and own.forbidden:
            said.update(dict.fromkeys(complaints("doing nothing", Left(forbidden=own.forbidden))))
    yield from said


def _fault_proof(
    fault: str, trials: Sequence[Trial], *, unfired: Mapping[str, str], endless: Mapping[str, str]
) -> FaultProof:
    problems: list[str] = []
    status: dict[str, str] = {}
    for name in ("oracle", "naive"):
        found = _of(trials, f"scripted/{name}")
        status[name] = found[0].status if found else "missing"
        if not found:
            problems.append(f"the check was interrupted before {name} had met it")
        for trial in found:
            if trial.status == "unscored":
                problems.append(f"{name} is unscored ({trial.error_origin}): {trial.error_message}")
            if trial.trial_id in endless:
                problems.append(f"its until could not be asked with {name}: {endless[trial.trial_id]}")
            if not trial.faults_fired:
                problems.append(
                    f"it did not fire for {name}: {unfired.get(trial.trial_id, 'for no known reason')}"
                )
    if status["oracle"] == "failed":
        failed = _failed_checks(_of(trials, "scripted/oracle")[0])
        problems.append(f"the oracle does not recover from it{failed}")
    if status["naive"] == "passed":
        problems.append("the careless solution passes all the same: the fault costs nobody anything")
    return FaultProof(fault, status["oracle"], status["naive"], tuple(problems))


def _finding(
    task: str,
    oracle: Sequence[Trial],
    nop: Sequence[Trial],
    unclean: tuple[str, ...],
    faults: tuple[FaultProof, ...],
) -> Finding:
    problems: list[str] = []
    if len(oracle) < ORACLE_TIMES or not nop:
        problems.append("the check was interrupted before this task was proven")
    problems += [
        f"{trial.model} is unscored ({trial.error_origin}): {trial.error_message}"
        for trial in (*oracle, *nop)
        if trial.status == "unscored"
    ]
    failed = [trial for trial in oracle if trial.status == "failed"]
    if failed:
        problems.append(f"the oracle failed {len(failed)} of {len(oracle)} times{_failed_checks(failed[0])}")
    if len({(trial.status, trial.reward, _checks(trial)) for trial in oracle}) > 1:
        problems.append(
            "the oracle's trials were judged differently: the task or its grader is not deterministic"
        )
    if any(trial.status == "passed" for trial in nop):
        problems.append("doing nothing passes: the grader does not look at the work")
    problems += unclean
    problems += [f"fault {proof.fault}: {problem}" for proof in faults for problem in proof.problems]
    return Finding(
        task=task,
        oracle=tuple(trial.status for trial in oracle),
        nop=nop[0].status if nop else "missing",
        problems=tuple(problems),
        faults=faults,
    )


def _checks(trial: Trial) -> tuple[tuple[str, bool], ...]:
    return tuple(sorted((trial.checks or {}).items()))


def _failed_checks(trial: Trial) -> str:
    names = [name for name, passed in (trial.checks or {}).items() if not passed]
    return f"; failed checks: {', '.join(names)}" if names else ""
