"""Which numbers of a trial's own row can be gated, beside the scorers' metrics?"""

from __future__ import annotations

from collections.abc import Mapping

from evalkit.scoring.metric import Metric


def _cost(name: str, meaning: str, unit: str) -> Metric:
    return Metric(name=name, meaning=meaning, unit=unit, better="lower", low=0, null_when="it is unknown")


TRIAL_NUMBERS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        _cost("model_calls", "generations", "calls"),
        _cost("input_tokens", "tokens sent, but for those served from a cache", "tokens"),
        _cost("cache_read_tokens", "tokens served from a cache", "tokens"),
        _cost("cache_write_tokens", "tokens written to a cache", "tokens"),
        _cost("output_tokens", "tokens generated, thinking included", "tokens"),
        _cost("reasoning_tokens", "tokens of thinking", "tokens"),
        _cost("cost_usd", "price of the trial", "USD"),
        _cost("agent_s", "time of the agent", "s"),
        _cost("model_s", "time spent waiting for the model", "s"),
        _cost("tool_s", "time spent in tools", "s"),
    )
}
"""By name. Where a scorer has a metric of the same name, that one is meant."""

_LEAST = {"USD": 0.0001, "s": 0.1}


def least_amount(metric: Metric) -> float:
    """What is added to an amount before its logarithm is taken, so that 0 has one: 1 token, $0.0001, 0.1 s, else 1."""
    return _LEAST.get(metric.unit, 1.0)
