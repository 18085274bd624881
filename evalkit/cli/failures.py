"""How are failing trials told by their cause, and as JSON?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text

from evalkit.cli.broken_lines import broken
from evalkit.cli.console import stdout
from evalkit.cli.failure_groups import Cause, Failing, FailureGroup, failure_groups
from evalkit.cli.prose import INDENT, say, say_unbroken
from evalkit.cli.run_table import say_asked
from evalkit.cli.trial_filter import TrialFilter
from evalkit.scoring.tampered import Codes, codes_by_trial
from evalkit.trajectory.printable import quoted
from evalkit.trajectory.reader import Run
from evalkit.trajectory.trial import Trial

MOST_TRIALS = 3
"""Of a group; `--full` shows all."""
MOST_GROUPS = 20
_STYLES = {"failed": "bold red", "unscored": "bold yellow"}


def print_failures(run: Run, asked: TrialFilter, *, full: bool) -> None:
    """Print each group of failing trials: the cause, then trials with the step that tells and the command to see it."""
    total, shown = _counts(run, asked)
    groups = failure_groups(run, asked)
    say_asked(asked, shown, total)
    count = sum(len(group.trials) for group in groups)
    tampered = codes_by_trial(run)
    if not groups:
        say(f"Of {shown} trials none failed, and none is unscored.")
        _say_tampered(run, asked, tampered, full=full)
        return
    unscored = sum(len(group.trials) for group in groups if group.cause.status == "unscored")
    say(
        f"Of {shown} trials {count - unscored} failed and {unscored} are unscored, in {len(groups)} groups of "
        "what is likely the same cause:"
    )
    for group in groups if full else groups[:MOST_GROUPS]:
        _say_group(run.path, group, tampered, full=full)
    if len(groups) > MOST_GROUPS and not full:
        left = groups[MOST_GROUPS:]
        say("")
        say(
            f"... and {sum(len(group.trials) for group in left)} trials in {len(left)} smaller groups (--full)"
        )
    _say_tampered(run, asked, tampered, full=full)


def failures_as_json(run: Run, asked: TrialFilter) -> dict[str, object]:
    """The groups for programs."""
    _, shown = _counts(run, asked)
    groups, tampered = failure_groups(run, asked), codes_by_trial(run)
    return {
        "run": run.path,
        "only": asked.as_json(),
        "of_trials": shown,
        "failing": sum(len(group.trials) for group in groups),
        "groups": [
            {
                "status": group.cause.status,
                "stop_reason": group.cause.stop_reason,
                "failed_checks": list(group.cause.failed_checks),
                "last_error": group.cause.last_error,
                "error_origin": group.cause.error_origin,
                "error": group.cause.error,
                "trials": [_failing_as_json(failing) for failing in group.trials],
            }
            for group in groups
        ],
        "tampered": [
            {
                "trial": row.trial_id,
                "task": row.task_id,
                "agent": row.agent,
                "confirmed": list(tampered[row.trial_id].confirmed),
            }
            for row in _stolen(run, asked, tampered)
        ],
    }


def _stolen(run: Run, asked: TrialFilter, tampered: Mapping[str, Codes]) -> list[Trial]:
    """Trials that the grader passed though they are confirmed to be tampered with."""
    return [
        row
        for row in run.rows()
        if row.status == "passed"
        and asked.holds(row)
        and (codes := tampered.get(row.trial_id)) is not None
        and codes.confirmed
    ]


def _say_tampered(run: Run, asked: TrialFilter, tampered: Mapping[str, Codes], *, full: bool) -> None:
    stolen = _stolen(run, asked, tampered)
    if not stolen:
        return
    say_unbroken("")
    say_unbroken(
        f"{len(stolen)} passed and {'are' if len(stolen) > 1 else 'is'} no success: tampered with", "bold red"
    )
    for row in stolen if full else stolen[:MOST_TRIALS]:
        say_unbroken(f"{INDENT}evalkit show {quoted(run.path)} {quoted(row.trial_id)}")
        _say_line(f"tampering: {tampered[row.trial_id].text}")
    if len(stolen) > MOST_TRIALS and not full:
        say(f"... and {len(stolen) - MOST_TRIALS} more (--full shows all)", indent=INDENT)


def cause_text(cause: Cause) -> str:
    """The cause in words."""
    parts: list[str] = []
    if cause.status == "unscored":
        parts.append(f"{cause.error_origin or 'unknown origin'}: {cause.error}")
    if cause.stop_reason is not None:
        parts.append(f"stopped by {cause.stop_reason}")
    if cause.failed_checks:
        parts.append(f"failed checks {', '.join(cause.failed_checks)}")
    parts.append(f"last error: {cause.last_error}" if cause.last_error else "no action failed visibly")
    return "; ".join(parts)


def _say_group(run: str, group: FailureGroup, tampered: Mapping[str, Codes], *, full: bool) -> None:
    count = len(group.trials)
    tasks = sorted({failing.trial.task_id for failing in group.trials})
    agents = sorted({failing.trial.agent for failing in group.trials})
    say_unbroken("")
    status = group.cause.status
    say_unbroken(
        f"{count} {status if status == 'failed' else 'are unscored' if count > 1 else 'is unscored'}",
        _STYLES[status],
    )
    say(cause_text(group.cause), indent=INDENT, hanging=INDENT)
    say(f"{_few('task', tasks)}; {_few('agent', agents)}", indent=INDENT, hanging=INDENT)
    for failing in group.trials if full else group.trials[:MOST_TRIALS]:
        _say_trial(run, failing, tampered.get(failing.trial.trial_id))
    if count > MOST_TRIALS and not full:
        say(f"... and {count - MOST_TRIALS} more (--full shows all)", indent=INDENT)


def _say_trial(run: str, failing: Failing, codes: Codes | None) -> None:
    say_unbroken(f"{INDENT}evalkit show {quoted(run)} {quoted(failing.trial.trial_id)}")
    if codes is not None:
        _say_line(f"tampering: {codes.text}")
    told = failing.telling
    if told is None:
        return
    call = told.call.strip().splitlines()
    _say_line(
        f"step {told.step} {told.tool} {told.how}: $ {call[0] if call else ''}{' ...' if len(call) > 1 else ''}"
    )
    if told.said:
        _say_line(told.said)


def _say_line(text: str) -> None:
    """One line of the page; what it leaves out is marked, and in the trial's timeline."""
    lead = INDENT * 3
    width = stdout().width - len(lead) - len(" ...")
    pieces = broken(text, width)
    first, _ = next(pieces)
    stdout().print(Text(lead + first + (" ..." if next(pieces, None) else ""), style="dim"), soft_wrap=True)


def _few(name: str, values: Sequence[str], most: int = 4) -> str:
    if len(values) == 1:
        return f"{name} {values[0]}"
    if len(values) <= most:
        return f"{name}s {', '.join(values)}"
    return f"{len(values)} {name}s, such as {values[0]}"


def _failing_as_json(failing: Failing) -> dict[str, object]:
    trial, told = failing.trial, failing.telling
    return {
        "trial": trial.trial_id,
        "suite": trial.suite,
        "task": trial.task_id,
        "variant": trial.variant,
        "agent": trial.agent,
        "error_message": trial.error_message,
        "telling": None
        if told is None
        else {"step": told.step, "tool": told.tool, "call": told.call, "how": told.how, "said": told.said},
    }


def _counts(run: Run, asked: TrialFilter) -> tuple[int, int]:
    rows = run.rows()
    return len(rows), sum(asked.holds(row) for row in rows)
