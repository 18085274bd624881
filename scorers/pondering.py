"""Does an agent think and act in the right places, and is its thinking worth reading?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from evalkit import Metric, Score, Scorer, Trial
from evalkit.measures.budget_kept import budget_kept
from evalkit.measures.dilemma import disengagement, paralysis, rogue_generations
from evalkit.measures.legibility import legibility
from evalkit.measures.redundancy import (
    highest_overlap,
    repeated_grams,
    switches,
    visible_thinking,
    words_of,
    zlib_ratio,
)
from evalkit.measures.spending import cost_of
from evalkit.measures.state_changes import changing, effective, tells_changes
from evalkit.trajectory.step import Prompt

HIDDEN = "no thinking can be read in full, or too little"
NO_BUDGET = "no budget in tokens was asked for, or thinking was not counted and cannot be read"
DIALOGUE = "a plain dialogue, without tools"
_share = partial(Metric, unit="share", better="lower", low=0, high=1)
_text = partial(Metric, better="neither", low=0, null_when=HIDDEN)


@dataclass(frozen=True)
class Pondering(Scorer):
    """The reasoning-action dilemma, what thinking leads to and reads like, and whether it keeps to its budget."""

    version = "2"
    metrics = (
        _share(
            name="analysis_paralysis",
            meaning="share of tokens in generations that call no tool, but for the final answer",
            null_when=f"{DIALOGUE}, or tokens are unknown",
        ),
        Metric(
            name="longest_paralysis",
            meaning="longest streak of such generations",
            unit="generations",
            better="lower",
            low=0,
            null_when=DIALOGUE,
        ),
        _share(
            name="rogue_actions",
            meaning="generations right after a failed call that make two changes or more / all right after one",
            null_when="no generation follows a failed call, or the record does not tell what changes",
        ),
        _share(
            name="premature_disengagement",
            meaning="submitted without a verifying call after the last change, or while the last one had failed",
            null_when="it was not submitted, or changed nothing",
        ),
        Metric(
            name="thinking_per_effective_action",
            meaning="thinking tokens / calls that changed or showed anything (median of tasks; _q1, _q3: quartiles)",
            unit="tokens",
            low=0,
            null_when=f"thinking was not counted, or {DIALOGUE}",
            aggregation="curve",
            curve="quartiles",
        ),
        _text(
            name="repeated_4grams",
            meaning="share of 4-grams of thinking that were there before",
            unit="share",
            high=1,
        ),
        _text(name="thinking_zlib_ratio", meaning="compressed / plain bytes of thinking"),
        _text(
            name="thinking_overlap",
            meaning="highest Jaccard overlap of a generation's thinking with an earlier one's (5-grams)",
            high=1,
        ),
        _text(name="switches_per_1k", meaning="words of a change of mind in thinking, per 1,000 words"),
        _text(
            name="foreign_letters",
            meaning="letters outside of the task's scripts / letters",
            unit="share",
            high=1,
        ),
        _text(name="script_switches_per_1k", meaning="changes of script in thinking, per 1,000 characters"),
        _text(name="symbol_runs_per_1k", meaning="runs of six symbols or more, per 1,000 characters"),
        Metric(
            name="budget_adherence",
            meaning="generations within the thinking budget / generations whose thinking was counted or can be read",
            unit="share",
            better="higher",
            low=0,
            high=1,
            null_when=NO_BUDGET,
        ),
        Metric(
            name="budget_overshoot",
            meaning="thinking tokens beyond the budget, per generation",
            unit="tokens",
            better="lower",
            low=0,
            null_when="no budget in tokens was asked for, or thinking was not counted",
        ),
    )

    def score(self, trial: Trial) -> Iterator[Score]:
        yield from _dilemma(trial)
        yield from _reading(trial)
        kept = budget_kept(trial.thinks, trial.row.thinking, taken=trial.row.thinking_taken)
        if kept is not None:
            told = f"{len(kept.beyond)} of {kept.known} generations thought more than {kept.budget} tokens"
            yield Score("budget_adherence", kept.adherence, told, kept.beyond)
            if kept.mean_overshoot is not None:
                yield Score("budget_overshoot", kept.mean_overshoot, told, kept.beyond)


def _dilemma(trial: Trial) -> Iterator[Score]:
    idle = paralysis(trial.steps, trial.row.stop_reason)
    if idle is not None:
        told = f"{len(idle.steps)} of {len(trial.thinks)} generations called no tool"
        yield Score("analysis_paralysis", idle.share, told, idle.steps)
        yield Score("longest_paralysis", idle.longest, told, idle.steps)
    changed = changing(trial.actions)
    if tells_changes(trial.actions):
        rogue, after = rogue_generations(trial.steps, trial.actions, changed)
        if after:
            told = f"{len(rogue)} of {len(after)} generations after a failed call made two changes or more"
            yield Score("rogue_actions", len(rogue) / len(after), told, rogue)
    looked = disengagement(trial.acts, trial.actions, changed, trial.effects)
    if looked is not None and trial.row.stop_reason == "submitted":
        word, steps = looked
        yield Score("premature_disengagement", float(word != "verified"), f"its work is {word}", steps, word)
    thinking = cost_of(trial.row, trial.steps, "reasoning_tokens")
    if thinking is not None and (trial.acts or idle is not None):
        worth = effective(trial.actions, trial.acts, changed)
        told = f"{thinking:g} tokens for {len(worth)} of {len(trial.acts)} calls that changed or showed something"
        yield Score("thinking_per_effective_action", thinking / max(1, len(worth)), told)


def _reading(trial: Trial) -> Iterator[Score]:
    shown = visible_thinking(trial.thinks, trial.row.reasoning_visibility)
    if not shown:
        return
    texts = [text for _, text in shown]
    told = f"{len(shown)} of {len(trial.thinks)} generations show their thinking"
    words = [words_of(text) for text in texts]
    yield Score("repeated_4grams", repeated_grams(words), told)
    yield Score("thinking_zlib_ratio", zlib_ratio(texts), told)
    overlap = highest_overlap((step, own) for (step, _), own in zip(shown, words, strict=True))
    if overlap is not None:
        yield Score("thinking_overlap", overlap[0], told, overlap[1])
    found, count = switches(texts), sum(map(len, words))
    if count:
        yield Score("switches_per_1k", 1000 * found / count, f"{found} in {count} words")
    reads = legibility(texts, (step.text for step in trial.steps if isinstance(step, Prompt)))
    if reads.letters:
        yield Score(
            "foreign_letters", reads.foreign / reads.letters, f"{reads.foreign} of {reads.letters} letters"
        )
    yield Score("script_switches_per_1k", 1000 * reads.switches / reads.chars, f"{reads.switches} switches")
    yield Score("symbol_runs_per_1k", 1000 * reads.symbol_runs / reads.chars, f"{reads.symbol_runs} runs")
