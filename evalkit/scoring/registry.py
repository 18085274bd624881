"""Which scorers are there, and which does a name mean?

A scorer is a file in a project's own `scorers/`, a bundled one, or what an installed package offers under the entry
point `evalkit.scorers`. No two have the same name, and no two declare the same metric.
"""

from __future__ import annotations

import contextlib
import dataclasses
import filecmp
import importlib.metadata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from evalkit.errors import ConfigError, EvalkitError, UsageError
from evalkit.project import Project
from evalkit.scoring.foreign import loading
from evalkit.scoring.quantity import Quantity
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
    passed_over: str | None = None
    """A project's own file of the same name, which is not meant; None where there is none."""


def scorer_names(project: Project) -> tuple[str, ...]:
    """All names, sorted."""
    files = (name for name in project.names("scorers") if _files(project, name))
    return tuple(sorted({*files, *(point.name for point in _entry_points())}))


def find_scorers(project: Project, names: Sequence[str] = ()) -> tuple[Named, ...]:
    """The scorers of these names, or files; all there are, for none.

    Raises UsageError for a name that is not known, ConfigError for one that two different scorers have, for a scorer
    that cannot be loaded, and where one of them declares a metric that another one declares, be that one of these or
    not.
    """
    found = _once(_find(project, name) for name in dict.fromkeys(names or scorer_names(project)))
    others = _others(project, found) if names else ()
    for named in found:
        _check_name(project, named)
        for other in (*found, *others):
            if other is not named:
                _check_apart(named, other)
    return tuple({named.name: named for named in found}.values())


def find_scorer(project: Project, name: str) -> Named:
    """The scorer of this name, whatever others declare, to read what it has said.

    Of a project's and a different bundled one of the same name it is the bundled one: wherever scores are computed, the
    project's is refused. Raises UsageError for a name that is not known, ConfigError for a scorer that cannot be
    loaded.
    """
    files = _different(_files(project, name))
    if len(files) < 2:
        return _find(project, name)
    own, bundled = files
    return dataclasses.replace(_of_file(bundled), passed_over=str(own))


def _once(scorers: Iterator[Named]) -> tuple[Named, ...]:
    """Without those that were named in another way before."""
    return tuple({(named.name, named.source): named for named in scorers}.values())


def _others(project: Project, found: Sequence[Named]) -> tuple[Named, ...]:
    """Every other scorer that can be loaded: what cannot be declares nothing."""
    there = {named.source for named in found}
    others: list[Named] = []
    for name in scorer_names(project):
        for source, other in _offers(project, name):
            if source not in there:
                with contextlib.suppress(EvalkitError):
                    others.append(other())
    return tuple(others)


def _offers(project: Project, name: str) -> list[tuple[str, Callable[[], Named]]]:
    """Where there are scorers of this name, those of the same text once, and how each is loaded."""
    files = _different(_files(project, name))
    points = [
        (f"{point.value} of {_package(point)}", point) for point in _entry_points() if point.name == name
    ]
    return [
        *((str(path), partial(_of_file, path)) for path in files),
        *((source, partial(_from_package, point, source)) for source, point in points),
    ]


def _check_name(project: Project, named: Named) -> None:
    """Raise ConfigError where another scorer has its name, be it one that cannot be loaded."""
    sources = [source for source, _ in _offers(project, named.name)]
    others = [source for source in sources if source != named.source and not _same_file(source, named.source)]
    if others:
        raise _two_of_a_name(named.name, [named.source, *others])


def _check_apart(named: Named, other: Named) -> None:
    if named.name == other.name:
        if _same_file(named.source, other.source):
            return
        raise _two_of_a_name(named.name, [named.source, other.source])
    declared = {metric.name for metric in other.scorer.metrics}
    for metric in named.scorer.metrics:
        if metric.name in declared:
            first, second = sorted((other, named), key=lambda one: one.name)
            raise ConfigError(
                f"the scorers {first.name} and {second.name} both declare the metric {metric.name}",
                where=second.source,
                hint=f"Every metric is declared once: rename yours. The other one is in {first.source}.",
            )
        for one in other.scorer.metrics:
            if Quantity(named.name, metric.name, metric).shares_a_name_with(one):
                raise ConfigError(
                    f"{metric.name} of the scorer {named.name} and {one.name} of {other.name} give numbers of the same "
                    "name",
                    where=named.source,
                    hint=f"Rename yours, or the metric. The other one is in {other.source}.",
                )


def _find(project: Project, name: str) -> Named:
    if name.endswith(".py") or "/" in name:
        return _of_file(project.resolve("scorers", name))
    offers = _offers(project, name)
    if not offers:
        near, known = nearest(name, scorer_names(project)), ", ".join(scorer_names(project))
        hint = f"{near} Scorers: {known}." if near.startswith("Did you mean") else f"Scorers: {known}."
        raise UsageError(f"there is no scorer {name!r}", hint=hint)
    if len(offers) > 1:
        raise _two_of_a_name(name, [source for source, _ in offers])
    _, load = offers[0]
    return load()


def _files(project: Project, name: str) -> tuple[Path, ...]:
    """The project's own file of this name and the bundled one, as far as they are there."""
    if name.startswith((".", "_")):
        return ()
    folders = {(root / "scorers").resolve(): root / "scorers" for root in (project.bundled, project.root)}
    own_first = sorted(folders.values(), key=lambda folder: folder != project.root / "scorers")
    return tuple(path for folder in own_first if (path := folder / f"{name}.py").is_file())


def _different(files: tuple[Path, ...]) -> tuple[Path, ...]:
    """One of them where they hold the same."""
    return files[:1] if len(files) > 1 and filecmp.cmp(*files, shallow=False) else files


def _of_file(path: Path) -> Named:
    return Named(path.stem, load_scorer(path), str(path))


def _same_file(one: str, other: str) -> bool:
    paths = Path(one), Path(other)
    return all(path.is_file() for path in paths) and filecmp.cmp(*paths, shallow=False)


def _two_of_a_name(name: str, sources: Sequence[str]) -> ConfigError:
    return ConfigError(
        f"different scorers have the name {name!r}: {' and '.join(sources)}",
        hint="A scorer's name stands beside every score that it gives: rename yours.",
    )


def _entry_points() -> Iterator[importlib.metadata.EntryPoint]:
    yield from importlib.metadata.entry_points(group=ENTRY_POINTS)


def _package(point: importlib.metadata.EntryPoint) -> str:
    return "an unnamed package" if point.dist is None else point.dist.name


def _from_package(point: importlib.metadata.EntryPoint, source: str) -> Named:
    with loading(source, "this scorer cannot be loaded", hint="Repair or remove that package."):
        offered: object = point.load()
    if not (isinstance(offered, type) and issubclass(offered, Scorer)):
        raise ConfigError("this is no subclass of evalkit.Scorer", where=source)
    return Named(point.name, checked(offered, source), source)
