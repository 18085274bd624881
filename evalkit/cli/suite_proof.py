"""What does the proof of a suite look like as a table, and as JSON?"""

from __future__ import annotations

import os
from collections.abc import Sequence

from rich.table import Table

from evalkit.cli.console import cell, printable, stdout
from evalkit.engine.exploit_proof import CHEATER, ExploitProof
from evalkit.engine.finding import FaultProof, Finding
from evalkit.engine.plan import Planned
from evalkit.engine.twin_proof import TwinProof

_SECONDS = {"local": 0.7, "docker": 5.0}
"""Of one processor, for one scripted trial of a small task."""


def announced(trials: Sequence[Planned], sandbox: str) -> str:
    """How many trials are to come, and about how long they take."""
    attacks = sum(str(trial.agent.model).startswith(CHEATER) for trial in trials)
    seconds = len(trials) * _SECONDS.get(sandbox, 5.0) / (os.cpu_count() or 1)
    said = f"{len(trials)} trials in {sandbox} sandboxes" + (
        f", {attacks} of them attacks" if attacks else ""
    )
    return f"{said}: about {_about(seconds)}"


def _about(seconds: float) -> str:
    if seconds < 90:
        return f"{max(5, round(seconds / 5) * 5)} s"
    return f"{round(seconds / 60)} min"


def print_findings(findings: Sequence[Finding]) -> None:
    """One line a task, then the problems and remarks."""
    console = stdout()
    table = Table(box=None, pad_edge=False, header_style="bold")
    shown = {
        "faults": any(finding.faults for finding in findings),
        "attacks": any(finding.exploits for finding in findings),
        "twin": any(finding.twin for finding in findings),
    }
    further = [name for name, there in shown.items() if there]
    for name in ("task", "oracle", "nothing", *further, "verdict"):
        table.add_column(name, overflow="fold")
    for finding in findings:
        verdict = "[red]not proven[/]" if finding.problems else "[green]proven[/]"
        cells = {
            "faults": _proven(finding.faults),
            "attacks": _withstood(finding),
            "twin": _twin(finding.twin),
        }
        table.add_row(
            cell(finding.task),
            _oracle(finding.oracle),
            finding.nop,
            *(cells[name] for name in further),
            verdict,
        )
    console.print(table)
    for finding in findings:
        for problem in finding.problems:
            console.print(printable(f"{finding.task}: {problem}"), markup=False, soft_wrap=True)
        for remark in finding.remarks:
            console.print(printable(f"{finding.task}: remark: {remark}"), markup=False, soft_wrap=True)


def _oracle(statuses: Sequence[str]) -> str:
    """How often it passed."""
    return f"{statuses.count('passed')} of {len(statuses)}"


def _proven(proofs: Sequence[FaultProof]) -> str:
    """How many are as they should be."""
    return f"{sum(not proof.problems for proof in proofs)} of {len(proofs)}" if proofs else "-"


def _withstood(finding: Finding) -> str:
    """How many attacks did not pass."""
    proofs = finding.exploits
    return f"{sum(proof.status != 'passed' for proof in proofs)} of {len(proofs)}" if proofs else "-"


def _twin(proof: TwinProof | None) -> str:
    if proof is None:
        return "-"
    return "holds" if proof.holds else "no"


def findings_as_json(findings: Sequence[Finding]) -> dict[str, object]:
    """The proof for programs."""
    return {
        "proven": not any(finding.problems for finding in findings),
        "tasks": [
            {
                "task": finding.task,
                "oracle": list(finding.oracle),
                "nop": finding.nop,
                "faults": [
                    {
                        "fault": proof.fault,
                        "oracle": proof.oracle,
                        "naive": proof.naive,
                        "problems": list(proof.problems),
                    }
                    for proof in finding.faults
                ],
                "exploits": [_exploit(proof) for proof in finding.exploits],
                "twin": None
                if finding.twin is None
                else {**finding.twin.honest, "problems": list(finding.twin.problems)},
                "problems": list(finding.problems),
                "remarks": list(finding.remarks),
            }
            for finding in findings
        ],
    }


def _exploit(proof: ExploitProof) -> dict[str, object]:
    return {
        "exploit": proof.exploit,
        "own": proof.own,
        "title": proof.title,
        "status": proof.status,
        "codes": list(proof.flagged),
        "problems": list(proof.problems),
        "remarks": list(proof.remarks),
    }
