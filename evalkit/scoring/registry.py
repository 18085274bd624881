"""Which scorers are there, and which does a name mean?

A project's own `scorers/` are looked into first, then the bundled ones, then what installed packages offer under the
entry point `evalkit.scorers`.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalkit.errors import ConfigError, UsageError
from evalkit.project import Project
from evalkit.scoring.scorer import Scorer
from evalkit.scoring.scorer_file import checked, load_scorer
from evalkit.tomlfile import nearest

ENTRY_POINTS = "evalkit.scorers"


@dataclass(frozen=True, slots=True)
class Named:
    """A scorer under the name by which it is asked for."""

    name: str
    scorer: Scorer
    source: str
    """Its file, or the package that offers it."""


def scorer_names(project: Project) -> tuple[str, ...]:
    """All names, sorted."""
    return tuple(sorted({*project.names("scorers"), *(point.name for point in _entry_points())}))


def find_scorers(project: Project, names: Sequence[str] = ()) -> tuple[Named, ...]:
    """The scorers of these names, or files; all there are, for none.

    Raises UsageError for a name that is not known or that two different ones have, ConfigError for a scorer that
    cannot be loaded, and where two of them declare the same metric.
    """
    found = [_find(project, name) for name in dict.fromkeys(names or scorer_names(project))]
    declared: dict[str, Named] = {}
    for named in found:
        for metric in named.scorer.metrics:
            other = declared.setdefault(metric.name, named)
            if other is not named:
                raise ConfigError(
                    f"the scorers {other.name} and {named.name} both declare the metric {metric.name}",
                    where=named.source,
                    hint=f"Every metric is declared once: rename yours. The other one is in {other.source}.",
                )
    return tuple(found)


def _find(project: Project, name: str) -> Named:
    points = [point for point in _entry_points() if point.name == name]
    is_file = name in project.names("scorers") or name.endswith(".py") or "/" in name
    if not is_file and not points:
        known = scorer_names(project)
        raise UsageError(
            f"there is no scorer {name!r}", hint=f"{nearest(name, known)} Scorers: {', '.join(known)}."
        )
    sources = [str(project.resolve("scorers", name))] if is_file else []
    sources += [f"{point.value} of {_package(point)}" for point in points]
    if len(sources) > 1:
        raise UsageError(
            f"different scorers have the name {name!r}: {' and '.join(sources)}",
            hint="Rename yours, or give the path of its file instead of the name.",
        )
    if not points:
        path = Path(sources[0])
        return Named(path.stem, load_scorer(path), sources[0])
    return Named(name, _from_package(points[0], sources[0]), sources[0])


def _entry_points() -> Iterator[importlib.metadata.EntryPoint]:
    yield from importlib.metadata.entry_points(group=ENTRY_POINTS)


def _package(point: importlib.metadata.EntryPoint) -> str:
    return "an unnamed package" if point.dist is None else point.dist.name


def _from_package(point: importlib.metadata.EntryPoint, source: str) -> Scorer:
    try:
        offered = point.load()
    except Exception as error:
        raise ConfigError(
            f"this scorer cannot be loaded: {type(error).__name__}: {error}",
            where=source,
            hint="Repair or remove that package.",
        ) from error
    if not (isinstance(offered, type) and issubclass(offered, Scorer)):
        raise ConfigError("this is no subclass of evalkit.Scorer", where=source)
    return checked(offered, source)
