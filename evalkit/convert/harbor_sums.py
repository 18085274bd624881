"""Does the result of a job of Harbor say what its trials add up to?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from evalkit.convert.harbor_job import RESULT, agent_results, is_trial_result
from evalkit.convert.json_text import JsonReader
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.source import Source
from evalkit.models.reconcile import cost
from evalkit.models.wire.json_values import as_object

_SUMS = (
    ("n_input_tokens", "input tokens"),
    ("n_cache_tokens", "cached tokens"),
    ("n_output_tokens", "output tokens"),
    ("cost_usd", "dollars"),
)


def check_job(source: Source, notes: Notes) -> None:
    """Remark on trials that are not beside a job's result, and on sums that are not theirs."""
    stats = as_object(JsonReader(notes).object(source.text(notes)).get("stats"))
    sums = dict.fromkeys((name for name, _ in _SUMS), 0.0)
    trials = 0
    for trial in _trials(source):
        trials += 1
        for report in agent_results(trial):
            for name in sums:
                sums[name] += cost(report.get(name)) or 0.0
    told = stats.get("n_completed_trials", stats.get("n_trials"))
    if isinstance(told, int) and told != trials:
        notes.warn(f"the job says that {told:,} trials are done, and the results of {trials:,} are here")
        return
    for name, what in _SUMS:
        total = cost(stats.get(name))
        if total is not None and not math.isclose(total, sums[name], rel_tol=1e-6, abs_tol=1e-9):
            notes.warn(f"the job says {total:,.12g} {what}, and its trials add up to {sums[name]:,.12g}")


def _trials(source: Source) -> Iterator[Mapping[str, object]]:
    try:
        folders = sorted(folder for folder in source.path.parent.iterdir() if folder.is_dir())
    except OSError:
        return
    for folder in folders:
        file = Source(folder / RESULT)
        try:
            if is_trial_result(file):
                yield JsonReader(Notes()).object(file.text(Notes()))
        except Refused:
            continue
