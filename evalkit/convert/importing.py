"""How do files of other harnesses become a run?

The run is written beside its place and moved there when it is whole, so that there is never half of one. A file that
cannot be read never stops the others.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from evalkit import __version__
from evalkit.convert.adding import Adding
from evalkit.convert.converted import Converted
from evalkit.convert.formats import AUTO, importer_of, importers
from evalkit.convert.importer import Importer, Options
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.source import Source
from evalkit.errors import UsageError
from evalkit.trajectory.atomic import write_text, writing
from evalkit.trajectory.bulk import BulkTrials
from evalkit.trajectory.layout import manifest_file
from evalkit.trajectory.locate import local_path
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
    out: Path,
    options: Options,
    *,
    heard: Hears | None = None,
) -> Imported:
    """Make a run at `out` of all files among `paths` and in their folders.

    Raises UsageError where `out` exists, a path does not, or nothing of what there is can be imported: then there is
    no run.
    """
    among = importers(format_name)
    target = local_path(out)
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise UsageError(
            "this folder is not empty" if target.is_dir() else "this is a file, and no place for a run",
            where=str(target),
            hint="An import makes a new run. Choose another folder with --out.",
        )
    files = _files(paths, target)
    part = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.import")
    adding = Adding(run_id=f"{target.name}-{uuid.uuid4().hex[:8]}")
    try:
        with writing(target, verb="import"):
            target.parent.mkdir(parents=True, exist_ok=True)
        result = _Import(part, among, adding, options, heard).write(files)
        if not adding.trials:
            raise _nothing(format_name, paths, result)
        with writing(target, verb="import"):
            part.replace(target)
    finally:
        with contextlib.suppress(OSError):
            shutil.rmtree(part)
    result.path = target
    return result


class _Import:
    """One import, under way."""

    def __init__(
        self, part: Path, among: tuple[Importer, ...], adding: Adding, options: Options, heard: Hears | None
    ) -> None:
        self._part, self._among, self._adding, self._options = part, among, adding, options
        self._heard = heard
        self._reports: list[FileReport] = []
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
            report.refused = str(refused)
        self._reports.append(report)

    def _importer(self, source: Source) -> Importer | None:
        """Who reads a file. One that was named together with its format is read as that, whatever it looks like."""
        if source.named and len(self._among) == 1:
            return self._among[0]
        importer = importer_of(source, self._among)
        if importer is None and source.named:
            raise Refused("of no format that is recognised; name the format instead of auto")
        return importer

    def _take(self, source: Source, importer: Importer, bulk: BulkTrials, report: FileReport) -> None:
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
    try:
        return next(converted, None)
    except RecursionError as error:
        raise Refused("nested too deeply") from error


def _files(paths: Sequence[Path], target: Path) -> list[Source]:
    """Every file that is meant, each once, in a stable order. Folders and files whose names begin with a dot are left
    out, and so is the run that is made.
    """
    found: dict[Path, Source] = {}
    for path in paths:
        if not path.exists():
            raise UsageError("there is no such file or folder", where=str(path))
        named = not path.is_dir()
        for file in [path] if named else _walk(path, target):
            found.setdefault(file.resolve(), Source(file, named))
    return list(found.values())


def _walk(folder: Path, target: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and Path(place, name) != target
        )
        yield from (Path(place, name) for name in sorted(names) if not name.startswith("."))


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
