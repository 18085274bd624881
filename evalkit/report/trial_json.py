"""What of a trial goes into a page?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evalkit.report.effects_json import effects_json
from evalkit.report.findings_json import findings_json
from evalkit.report.lane import lanes
from evalkit.report.progress_json import progress_json
from evalkit.report.shown_text import name, shown
from evalkit.report.step_columns import step_columns
from evalkit.scoring.trial import Trial
from evalkit.trajectory.score import ScoreRow
from evalkit.trajectory.trial import Trial as TrialRow


def trial_json(
    trial: Trial, scores: Sequence[ScoreRow], *, key: str, entrant: str, run: str
) -> dict[str, object]:
    """Everything of it for JSON: texts safe to show and not too long, unknown as None, steps and scores by column."""
    row = trial.row
    return {
        "id": key,
        "run": name(run),
        "entrant": name(entrant),
        "suite": name(row.suite),
        "task": name(row.task_id),
        "variant": name(row.variant),
        "epoch": row.epoch,
        "attempt": row.attempt,
        "status": row.status,
        "stop": row.stop_reason,
        "reward": row.reward,
        "rewards": _by_name(row.rewards),
        "checks": _by_name(row.checks),
        "grader": name(row.grader_mode),
        "error": _error(row),
        "answer": shown(row.answer),
        "confidence": row.confidence,
        "model": name(row.model),
        "served": name(row.model_served),
        "asked": name(row.thinking),
        "sent": name(row.thinking_sent),
        "kept": row.thinking_honoured,
        "visibility": row.reasoning_visibility,
        "tokens": {
            "input": row.input_tokens,
            "cached": row.cache_read_tokens,
            "output": row.output_tokens,
            "thinking": row.reasoning_tokens,
        },
        "usd": row.cost_usd,
        "seconds": {"agent": row.agent_s, "model": row.model_s, "tools": row.tool_s, "grading": row.grade_s},
        "started": None if row.started_at is None else row.started_at.isoformat(timespec="seconds"),
        "faults": {"planned": row.faults_planned, "fired": row.faults_fired},
        "replaced": row.replaced_chars or None,
        "count": len(trial.steps),
        "lost": has_lost_steps(row, len(trial.steps)),
        "steps": step_columns(trial.steps),
        "effects": effects_json(trial),
        "findings": findings_json(trial),
        "progress": progress_json(trial),
        "naive": row.naive_passed,
        "lanes": [lane.as_json() for lane in lanes(trial)],
        "scores": _scores(scores),
    }


def has_lost_steps(row: TrialRow, steps: int) -> bool:
    """Whether the trial's row says that it acted, and its record has no step of it."""
    return not steps and bool(row.model_calls or row.tool_calls or row.output_tokens)


def _by_name(values: Mapping[str, object] | None) -> list[list[object]] | None:
    """As pairs: a name that others gave is never a key."""
    return [[name(key), value] for key, value in values.items()] if values else None


def _error(row: TrialRow) -> dict[str, object] | None:
    if row.error_origin is None and row.error_type is None and row.error_message is None:
        return None
    return {"origin": row.error_origin, "type": name(row.error_type), "message": shown(row.error_message)}


def _scores(rows: Sequence[ScoreRow]) -> dict[str, list[object]]:
    ordered = sorted(rows, key=lambda row: (row.scorer, row.metric))
    return {
        "scorer": [name(row.scorer) for row in ordered],
        "metric": [name(row.metric) for row in ordered],
        "value": [row.value for row in ordered],
        "label": [name(row.label) for row in ordered],
        "reason": [shown(row.reason) for row in ordered],
        "evidence": [list(row.evidence) for row in ordered],
    }
