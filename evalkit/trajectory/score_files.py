# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportMissingTypeStubs=false
# pyarrow ships no types.
"""How do new scores replace the old ones of the same scorers?"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import ExitStack
from pathlib import Path

import pyarrow.parquet as pq

from evalkit.trajectory.atomic import replacing, writing
from evalkit.trajectory.clean import cleaned
from evalkit.trajectory.folder import check_folder
from evalkit.trajectory.layout import file_key
from evalkit.trajectory.rows import scores_table
from evalkit.trajectory.schema import SCORES
from evalkit.trajectory.score import ScoreRow

_ROWS_AT_ONCE = 16 * 1024


class _ScorerFile:
    """The unfinished file of one scorer."""

    def __init__(self, writer: pq.ParquetWriter) -> None:
        self._writer = writer
        self._pending: list[ScoreRow] = []

    def add(self, score: ScoreRow) -> None:
        self._pending.append(cleaned(score))
        if len(self._pending) >= _ROWS_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        if self._pending:
            self._writer.write_table(scores_table(self._pending))
            self._pending = []


def write_scores(run: Path, scores: Iterable[ScoreRow], *, scorers: Collection[str] = ()) -> None:
    """Replace all scores of every scorer that occurs in `scores` or is named in `scorers`.

    Each scorer has a file of its own, replaced in one step once everything is written; those of other
    scorers stay. A named scorer without any score loses its old ones. Scores are written as they come, in
    bounded memory. Raises UsageError where the disk does not take them; then nothing has changed.
    """
    with writing(run, verb="score"), ExitStack() as renames:
        check_folder(run / "scores")
        (run / "scores").mkdir(exist_ok=True)
        with ExitStack() as writers:
            files: dict[str, _ScorerFile] = {}
            for name in scorers:
                files[name] = _scorer_file(run, name, renames, writers)
            for score in scores:
                if score.scorer not in files:
                    files[score.scorer] = _scorer_file(run, score.scorer, renames, writers)
                files[score.scorer].add(score)
            for file in files.values():
                file.flush()


def _scorer_file(run: Path, scorer: str, renames: ExitStack, writers: ExitStack) -> _ScorerFile:
    target = run / "scores" / f"scores-{file_key(scorer)}.parquet"
    temporary = renames.enter_context(replacing(target))
    return _ScorerFile(writers.enter_context(pq.ParquetWriter(temporary, SCORES, compression="zstd")))
