"""How does a file become a scorer?"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from importlib.machinery import SourceFileLoader
from itertools import permutations
from pathlib import Path
from types import CodeType, ModuleType
from typing import cast

from evalkit.errors import ConfigError, UsageError
from evalkit.scoring.foreign import loading
from evalkit.scoring.metric import Metric
from evalkit.scoring.quantity import Quantity
from evalkit.scoring.scorer import Scorer

HINT = "A scorer is one subclass of evalkit.Scorer; see docs/writing-a-scorer.md."


def load_scorer(path: Path) -> Scorer:
    """The scorer of a file, which is run to get it.

    Raises UsageError for what is no file, ConfigError with file and line for one that cannot be run, has no scorer, or
    more than one, or one whose declarations do not fit together.
    """
    if not path.is_file() or path.suffix != ".py":
        raise UsageError(
            "this is no file of a scorer", where=str(path), hint="A scorer is one file, NAME.py."
        )
    module = _module(path)
    own = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Scorer) and value.__module__ == module.__name__
    ]
    if len(own) != 1:
        names = f": {', '.join(scorer.__name__ for scorer in own)}" if own else ""
        raise ConfigError(f"{len(own)} scorers are in this file{names}", where=str(path), hint=HINT)
    return checked(own[0], str(path))


def checked(scorer: type[Scorer], source: str) -> Scorer:
    """An instance with its default parameters. Raises ConfigError where its declarations do not fit together."""
    with loading(
        source, f"{scorer.__name__} cannot be made without arguments", hint="Give every parameter a default."
    ):
        made = scorer()
    with loading(source, f"the declarations of {scorer.__name__} cannot be read", hint=HINT):
        problem = _problem(made)
    if problem is not None:
        raise ConfigError(f"{scorer.__name__} {problem}", where=source, hint=HINT)
    return made


def _problem(scorer: Scorer) -> str | None:
    metrics, version = cast("object", scorer.metrics), cast("object", scorer.version)
    if not isinstance(metrics, tuple) or not metrics:
        return "declares no metrics: `metrics` is a tuple of evalkit.Metric"
    if not all(isinstance(metric, Metric) for metric in cast("tuple[object, ...]", metrics)):
        return "declares something that is no evalkit.Metric"
    names = [metric.name for metric in scorer.metrics]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        return f"declares the metric {double} twice"
    if type(scorer).score is Scorer.score:
        return "has no method score(self, trial)"
    if not isinstance(version, str) or not version:
        return "has no version: a text, such as '1'"
    return _wrong_parts(scorer.metrics)


def _wrong_parts(metrics: tuple[Metric, ...]) -> str | None:
    declared = {metric.name: metric for metric in metrics}
    for metric in metrics:
        for name in metric.of:
            if name not in declared:
                return f"computes {metric.name} of {name}, which it does not declare"
            if declared[name].of:
                return f"computes {metric.name} of {name}, which is itself computed of others"
    for one, other in permutations(metrics, 2):
        if Quantity(None, one.name, one).shares_a_name_with(other):
            return f"declares {one.name} and {other.name}, which give numbers of the same names"
    return None


class _Source(SourceFileLoader):
    """Reads the file itself each time: bytecode that was kept of it may be of an earlier text of the same second."""

    def get_code(self, fullname: str) -> CodeType:
        del fullname
        return self.source_to_code(self.get_data(self.path), self.path)


def _module(path: Path) -> ModuleType:
    name = f"evalkit_scorer_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path, loader=_Source(name, str(path)))
    if spec is None or spec.loader is None:
        raise UsageError(
            "this is no file of a scorer", where=str(path), hint="A scorer is one file, NAME.py."
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look there for the module that they are made in
    hint = "Repair the file, or name only other scorers."
    try:
        with loading(str(path), "this scorer cannot be loaded", file=str(path), hint=hint):
            spec.loader.exec_module(module)
    except ConfigError:
        del sys.modules[name]
        raise
    return module
