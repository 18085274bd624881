"""Do the figures in an Inspect log's header come out of its samples?"""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping

from evalkit.convert.inspect_scores import as_number, scores_of
from evalkit.convert.notes import Notes
from evalkit.models.wire.json_values import as_list, as_object, is_object, objects_in, text_in

Raw = Mapping[str, object]
_COUNTS = (
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "reasoning_tokens",
    "input_tokens_cache_read",
    "input_tokens_cache_write",
)
_CLOSE = 1e-6
_LARGEST = 1e12
"""Scores beyond this are in no average here, whose squares would not be finite."""


class UsageCheck:
    """Whether the `model_usage` of samples is what their generations reported. One remark for all samples of a log."""

    def __init__(self) -> None:
        self._told: Counter[tuple[str, str]] = Counter()
        self._found: Counter[tuple[str, str]] = Counter()
        self._samples: Counter[tuple[str, str]] = Counter()

    def compare(self, sample: Raw, spent: Mapping[str, Mapping[str, int]]) -> None:
        """`spent`: by model, what all generations of a sample reported."""
        for model, usage in as_object(sample.get("model_usage")).items():
            found = spent.get(model, {})
            for count in _COUNTS:
                said = as_object(usage).get(count)
                if type(said) is int and count in found and said != found[count]:
                    self._told[model, count] += said
                    self._found[model, count] += found[count]
                    self._samples[model, count] += 1

    def finish(self, notes: Notes) -> None:
        """Remark on every difference."""
        for (model, count), samples in self._samples.items():
            told, found = self._told[model, count], self._found[model, count]
            where = f"{count} of {model} in the model_usage of {samples} samples"
            notes.warn(f"{where} are {told}, their generations come to {found}")


class HeaderCheck:
    """Adds up what the samples say, and compares it with what the header says."""

    def __init__(self, header: Raw) -> None:
        self._header = header
        self._values: dict[str, dict[object, list[float]]] = defaultdict(lambda: defaultdict(list[float]))
        self._spent: dict[str, Counter[str]] = defaultdict(Counter[str])
        self.samples = 0
        self._unscored = 0

    def add(self, sample: Raw) -> None:
        """One sample of the log. One that ended in an error counts in no score, as with Inspect."""
        self.samples += 1
        failed = bool(sample.get("error"))
        scores = {} if failed else scores_of(sample)
        self._unscored += not scores
        identity = sample.get("id")
        for name, score in scores.items():
            value = score.get("value")
            if is_object(value):
                for key, item in value.items():
                    self._add(f"{name}.{key}", identity, item)
            else:
                self._add(name, identity, value)
        for model, usage in as_object(sample.get("model_usage")).items():
            for count in _COUNTS:
                number = as_object(usage).get(count)
                if type(number) is int:
                    self._spent[model][count] += number

    def finish(self, notes: Notes) -> None:
        """Remark on every difference."""
        results = as_object(self._header.get("results"))
        claimed = results.get("total_samples")
        if type(claimed) is int and claimed != self.samples:
            notes.warn(f"the results are of {claimed} samples, the file has {self.samples}")
        elif type(claimed) is int:
            self._compare_scores(results, notes)
        status = text_in(self._header.get("status"))
        if status in {"started", "cancelled", "error"}:
            notes.warn(f"the log's status is {status}: {self._of_planned()}")
        if self._header.get("invalidated") is True:
            notes.warn("the log was marked as invalidated")
        self._compare_usage(notes)

    def claim(self) -> str:
        """How many samples the results are of, for a message about a log that has none."""
        claimed = as_object(self._header.get("results")).get("total_samples")
        return f"; its results are of {claimed}" if type(claimed) is int and claimed else ""

    def planned(self) -> int | None:
        """How many samples the run was to have, as far as it said so."""
        told = as_object(self._header.get("eval"))
        dataset, config = as_object(told.get("dataset")), as_object(told.get("config"))
        chosen = len(as_list(dataset.get("sample_ids"))) or dataset.get("samples")
        epochs = config.get("epochs", 1)
        limit = config.get("limit")
        if type(chosen) is not int or type(epochs) is not int:
            return None
        return (min(chosen, limit) if type(limit) is int and limit > 0 else chosen) * max(epochs, 1)

    def _of_planned(self) -> str:
        planned = self.planned()
        return f"{self.samples} samples are here" + ("" if planned is None else f", of {planned} planned")

    def _add(self, name: str, identity: object, value: object) -> None:
        number = as_number(value)
        if number is not None and abs(number) < _LARGEST:
            key = identity if isinstance(identity, str | int) else None
            self._values[name][key].append(number)

    def _compare_scores(self, results: Raw, notes: Notes) -> None:
        """Accuracy, mean and standard error, which are over the means of each sample's epochs."""
        for group in objects_in(results.get("scores")):
            name, scorer = text_in(group.get("name")), text_in(group.get("scorer"))
            values = next(
                (self._values[key] for key in (name, f"{scorer}.{name}") if key in self._values), None
            )
            if not values or group.get("reducer") not in (None, "mean"):
                continue
            means = [statistics.fmean(each) for each in values.values()]
            own = {
                "accuracy": statistics.fmean(means),
                "mean": statistics.fmean(means),
                "stderr": _stderr(means),
            }
            for key, metric in as_object(group.get("metrics")).items():
                told = as_object(metric)
                said, found = told.get("value"), own.get(str(told.get("name") or key))
                if found is None or told.get("params") or type(said) not in (int, float):
                    continue
                if not math.isclose(float(str(said)), found, rel_tol=_CLOSE, abs_tol=_CLOSE):
                    notes.warn(f"{key} of {name} in the header is {said:.6g}, the samples give {found:.6g}")
            if self._unscored:
                notes.warn(
                    f"{self._unscored} of {self.samples} samples have no score, and are in no average of the header"
                )

    def _compare_usage(self, notes: Notes) -> None:
        told = as_object(as_object(self._header.get("stats")).get("model_usage"))
        for model, usage in told.items():
            for count in _COUNTS:
                said = as_object(usage).get(count)
                found = self._spent[model][count] if model in self._spent else None
                if type(said) is int and found is not None and said != found:
                    notes.warn(f"{count} of {model} in the header are {said}, the samples come to {found}")


def _stderr(means: list[float]) -> float:
    return statistics.stdev(means) / math.sqrt(len(means)) if len(means) > 1 else 0.0
