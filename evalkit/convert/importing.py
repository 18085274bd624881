"""How do files of other harnesses become a run?

A file that cannot be read never stops the others.
"""

from __future__ import annotations

import contextlib
import sys
import uuid
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from evalkit import __version__
from evalkit.convert.adding import Adding
from evalkit.convert.converted import Converted
from evalkit.convert.destination import Destination
from evalkit.convert.formats import AUTO, importer_of, importers
from evalkit.convert.gathering import gathered
from evalkit.convert.importer import Importer, Options
from evalkit.convert.notes import Notes, Refused, Unreadable
from evalkit.convert.source import Source, why_unreadable
from evalkit.errors import UsageError
from evalkit.trajectory.atomic import write_text, writing
from evalkit.trajectory.bulk import BulkTrials
from evalkit.trajectory.layout import manifest_file
from evalkit.trajectory.manifest import RunManifest
from evalkit.trajectory.writer import RunWriter

Hears = Callable[[str, int], None]
"""Is told of every file that is begun, and how many trials there are so far."""


@dataclass
class FileReport:
    """What came of one file."""

    name: str
    format: str | None
    trials: int = 0
    refused: str | None = None
    """Why nothing of it was imported."""
    notes: Notes = field(default_factory=Notes)

    @property
    def complete(self) -> bool:
        return self.refused is None and not self.notes.losses


@dataclass
class Imported:
    """What came of an import."""

    path: Path
    adding: Adding
    files: list[FileReport]
    left_alone: int
    """Files in the folders that are of none of the formats."""

    @property
    def incomplete(self) -> list[FileReport]:
        return [report for report in self.files if not report.complete]


def import_run(
    format_name: str,
    paths: Sequence[Path],
    out: str | Path | None,
    options: Options,
    *,
    heard: Hears | None = None,
) -> Imported:
    """Make a run at `out` of all files among `paths` and in their folders; None is a new name in `runs`.

    Raises UsageError where `out` holds anything, a path is not there, or nothing of what there is can be imported: then
    there is no run.
    """
    among = importers(format_name)
    place = Destination(out, format_name)
    unread: list[FileReport] = []
    files = gathered(paths, lambda folder, why: unread.append(FileReport(folder, None, refused=why)))
    adding = Adding(run_id=f"{place.path.name}-{uuid.uuid4().hex[:8]}")
    with place.making() as part:
        result = _Import(part, among, adding, options, heard=heard, unread=unread).write(files)
        if not adding.trials:
            raise _nothing(format_name, paths, result)
        result.path = place.take()
    return result


class _Import:
    """One import, under way."""

    def __init__(
        self,
        part: Path,
        among: tuple[Importer, ...],
        adding: Adding,
        options: Options,
        *,
        heard: Hears | None,
        unread: list[FileReport],
    ) -> None:
        self._part, self._among, self._adding, self._options = part, among, adding, options
        self._heard = heard
        self._reports = unread
        self._left_alone = 0

    def write(self, files: Iterable[Source]) -> Imported:
        """Write the whole run into a folder of its own."""
        started = datetime.now(UTC)
        begun = RunManifest(run_id=self._adding.run_id, created_at=started)
        with RunWriter.create(self._part, begun) as writer, writing(self._part, verb="import"):
            bulk = BulkTrials(self._part)
            for source in files:
                self._read(source, bulk)
            if self._adding.trials:
                bulk.write(self._adding.attempts())
                writer.finish()
                write_text(manifest_file(self._part), self._manifest(started).to_json())
        return Imported(self._part, self._adding, self._reports, self._left_alone)

    def _read(self, source: Source, bulk: BulkTrials) -> None:
        report = FileReport(str(source.path), None)
        if self._heard is not None:
            self._heard(report.name, self._adding.trials)
        try:
            importer = self._importer(source)
            if importer is None:
                self._left_alone += 1
                return
            report.format = importer.name
            self._take(source, importer, bulk, report)
        except Refused as refused:
            if report.trials:
                report.notes.lose(str(refused))
            else:
                report.refused = str(refused)
        self._reports.append(report)

    def _importer(self, source: Source) -> Importer | None:
        """Who reads a file. One that was named together with its format is read as that, whatever it looks like."""
        if source.named and len(self._among) == 1:
            return self._among[0]
        with _reading():
            importer = importer_of(source, self._among)
        if importer is None and source.named:
            raise Refused("of no format that is recognised; name the format instead of auto")
        return importer

    def _take(self, source: Source, importer: Importer, bulk: BulkTrials, report: FileReport) -> None:
        with _reading():
            _ = source.head
        converted = importer.convert(source, report.notes, self._options)
        while (told := _next(converted)) is not None:
            try:
                trial = self._adding.trial(
                    told, format=importer.name, source=str(source.path), notes=report.notes
                )
                if trial is not None:
                    bulk.add(trial, told.steps)
                    report.trials += 1
            except (Refused, ValueError) as problem:
                report.notes.lose(f"{told.where or 'a trial'}: {problem}")

    def _manifest(self, started: datetime) -> RunManifest:
        adding, reports = self._adding, self._reports
        return RunManifest(
            run_id=adding.run_id,
            created_at=started,
            suites=tuple(adding.suites.values()),
            agents=tuple(adding.agents.values()),
            tasks=adding.tasks,
            settings={
                "imported": {
                    "formats": sorted({report.format for report in reports if report.format}),
                    "files": len(reports),
                    "incomplete": [report.name for report in reports if not report.complete],
                    "copies": adding.copies,
                    "pass_reward": self._options.pass_reward,
                }
            },
            versions={"evalkit": __version__, "python": sys.version.split()[0]},
        )


def _next(converted: Iterator[Converted]) -> Converted | None:
    with _reading():
        return next(converted, None)


@contextlib.contextmanager
def _reading() -> Generator[None]:
    """Whatever fails inside the block is the file's own fault, and ends no more than the file."""
    try:
        yield
    except RecursionError as error:
        raise Refused("nested too deeply") from error
    except MemoryError as error:
        raise Refused("larger than the memory there is") from error
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise Unreadable(why_unreadable(error)) from error


def _nothing(format_name: str, paths: Sequence[Path], result: Imported) -> UsageError:
    where = ", ".join(map(str, paths))
    if result.files:
        first = result.files[0]
        why = first.refused or next(iter(first.notes.losses), "it holds no trial")
        more = f" (and {len(result.files) - 1} further files)" if len(result.files) > 1 else ""
        return UsageError(
            f"nothing could be imported: {why}{more}",
            where=first.name,
            hint="No run was made. `evalkit import --help` lists the formats.",
        )
    what = "of any format that can be imported" if format_name == AUTO else f"of the format {format_name}"
    return UsageError(
        f"there is no file {what}", where=where, hint="`evalkit import --help` lists the formats."
    )
