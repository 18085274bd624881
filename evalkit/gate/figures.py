"""How is a number of a verdict written?"""

from __future__ import annotations

from evalkit.gate.verdict import MetricVerdict


def amount_text(own: MetricVerdict, value: float | None) -> str:
    """`62.5 %` for shares, else a number in the metric's unit; `-` for none."""
    if value is None:
        return "-"
    if own.is_share:
        return f"{100 * value:.1f} %"
    return f"{value:,.4g}"


def change_text(own: MetricVerdict, value: float | None) -> str:
    """`-3.1 points`, `+15.0 %` of what it was, or a number; `-` for none."""
    if value is None:
        return "-"
    if own.rule.kind == "ratio":
        return f"{100 * value:+.1f} %"
    return f"{100 * value:+.1f} points" if own.is_share else f"{value:+.4g}"


def interval_text(own: MetricVerdict) -> str:
    """`-3.1 [-9.0, +2.9] points`: the change, and where that of further tasks lies with 90 %; without an interval the
    change alone."""
    told = change_text(own, own.difference)
    if own.low is None or own.high is None or own.difference is None:
        return told
    change, low, high = (
        change_text(own, value).partition(" ") for value in (own.difference, own.low, own.high)
    )
    return f"{change[0]} [{low[0]}, {high[0]}]{''.join(change[1:])}"


def detectable_text(own: MetricVerdict) -> str:
    """The smallest loss that is found four times of five; `-` for none."""
    if own.detectable is None:
        return "-"
    if own.rule.kind == "ratio":
        return f"{100 * own.detectable:.2g} %"
    return f"{100 * own.detectable:.2g} points" if own.is_share else f"{own.detectable:.2g}"


def limit_text(own: MetricVerdict) -> str:
    """What the policy allows."""
    margin = own.rule.margin
    match own.rule.kind:
        case "ratio":
            return f"may grow by {100 * (margin - 1):.3g} %"
        case "drop" | "rise" as kind:
            told = f"{100 * margin:.3g} points" if own.is_share else f"{margin:.3g}"
            return f"may {'fall' if kind == 'drop' else 'rise'} by {told}"


def p_text(p: float) -> str:
    """With two digits; never 0."""
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"
