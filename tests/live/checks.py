"""Is the record of a run true, held against what went over the wire?"""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from recording_proxy import Heard
from scenarios import OFFERED, Scenario

from evalkit import Run
from evalkit.models.thinking import tokens_in
from evalkit.scoring.scored_trials import read_scored
from evalkit.scoring.sweep import sweeps
from evalkit.scoring.swept_trial import swept_trials
from evalkit.trajectory.step import Act, Prompt, Step, Think
from evalkit.trajectory.trial import Trial

_FINISH = {"stop": "stop", "length": "max_tokens", "tool_calls": "tool_calls"}
"""The server's words for why an answer ended, and the record's."""
_MOST_EXCUSED_S = 1.0


@dataclass(frozen=True, slots=True)
class Check:
    """One claim, whether it holds, and what was found."""

    claim: str
    holds: bool
    found: str


@dataclass(frozen=True, slots=True)
class _Seen:
    """A trial with the exchanges that were its."""

    trial: Trial
    steps: Sequence[Step]
    heard: Sequence[Heard]

    @property
    def thinks(self) -> list[Think]:
        return [step for step in self.steps if isinstance(step, Think)]

    @property
    def answered(self) -> list[Heard]:
        return [one for one in self.heard if one.status == 200]

    @property
    def acts(self) -> list[Act]:
        return [step for step in self.steps if isinstance(step, Act)]


def check_run(scenario: Scenario, run: Run, heard: Sequence[Heard]) -> list[Check]:
    """Every claim about one run."""
    seen = [
        _Seen(trial, steps, [one for one in heard if _is_of(scenario, trial, steps, one)])
        for trial, steps in run.iter_trials()
    ]
    planned = len(run.manifest.planned)
    return [
        Check("every planned trial is there", 0 < planned == len(seen), f"{len(seen)} of {planned}"),
        *_ends(scenario, seen),
        *_tokens(seen, heard),
        *_answers(scenario, seen),
        *_calls(scenario, seen),
        *_refusals(seen),
        *_levels(scenario, run, seen),
    ]


def check_recount(python: Path, model: Path, heard: Iterable[Heard]) -> Check:
    """The server's own count of prompts against the model's tokenizer, for those of which the text is known."""
    plain = {one.name for one in OFFERED if not one.calls_tools}
    counted = [one for one in heard if one.usage and one.sent["model"] in plain]
    asked = json.dumps([one.sent["messages"] for one in counted])
    script = Path(__file__).with_name("recount.py")
    done = subprocess.run([python, script, model], input=asked, capture_output=True, text=True, check=True)
    counts = json.loads(done.stdout)
    wrong = [(one.usage, count) for one, count in zip(counted, counts, strict=True) if one.usage[0] != count]
    found = f"{len(counted) - len(wrong)} of {len(counted)} prompts, {sum(counts)} tokens {wrong or ''}"
    return Check("the model's tokenizer counts the same", bool(counted) and not wrong, found.strip())


def _instruction(steps: Sequence[Step]) -> str:
    return next(step.text for step in steps if isinstance(step, Prompt) and step.role == "user")


def _is_of(scenario: Scenario, trial: Trial, steps: Sequence[Step], one: Heard) -> bool:
    """Whether an exchange is a trial's: by the instruction, and by the level of thinking where there are several."""
    asked = tokens_in(trial.thinking or "")
    return one.told == _instruction(steps) and (not scenario.thinking or one.sent.get("max_tokens") == asked)


def _levels(scenario: Scenario, run: Run, seen: Sequence[_Seen]) -> Iterator[Check]:
    """What a sweep says of itself."""
    if not scenario.thinking:
        return
    sent = Counter(str(one.trial.thinking_sent) for one in seen)
    yield Check("each level went out as asked", set(sent) == _asked_levels(scenario), _listed(sent))
    found = sweeps(swept_trials(run, read_scored(run)))
    told = [(level.asked, round(level.result.tokens, 1)) for own in found for level in own.levels]
    names = [name for name, _ in told]
    yield Check(
        "the levels are one sweep", names == sorted(_asked_levels(scenario), key=tokens_in), str(told)
    )


def _asked_levels(scenario: Scenario) -> set[str]:
    return {f"tokens:{level}" for level in scenario.thinking}


def _ends(scenario: Scenario, seen: Sequence[_Seen]) -> Iterator[Check]:
    statuses = Counter(str(one.trial.status) for one in seen)
    yield Check("all passed or failed", set(statuses) <= {"passed", "failed"}, _listed(statuses))
    errors = [f"{one.trial.task_id}: {one.trial.error_message}" for one in seen if one.trial.error_origin]
    yield Check("no error", not errors, "; ".join(errors) or "none")
    stops = Counter(str(one.trial.stop_reason) for one in seen)
    yield Check("stopped by the agent or its limits", set(stops) <= scenario.stops, _listed(stops))
    excused = [one.trial.retry_s for one in seen]
    worst = max((seconds for seconds in excused if seconds is not None), default=0.0)
    yield Check(
        "no waiting for another attempt",
        None not in excused and worst < _MOST_EXCUSED_S,
        f"at most {worst:.3f} s",
    )


def _tokens(seen: Sequence[_Seen], heard: Sequence[Heard]) -> Iterator[Check]:
    reported = [[one.usage for one in trial.answered] for trial in seen]
    recorded = [[(step.input_tokens, step.output_tokens) for step in trial.thinks] for trial in seen]
    right = sum(map(_equal_pairs, recorded, reported))
    answers = sum(one.status == 200 for one in heard)
    yield Check(
        "each generation has the server's counts",
        recorded == reported and right == answers > 0,
        f"{right} of {answers} generations",
    )
    ours = [(one.trial.input_tokens, one.trial.output_tokens) for one in seen]
    theirs = [tuple(map(sum, zip(*filter(None, usages), strict=True))) or (0, 0) for usages in reported]
    # A trial whose first call was refused generated nothing, so it has no sum; no other may be unknown.
    fits = all(
        mine == true or (mine == (None, None) and not trial.thinks)
        for mine, true, trial in zip(ours, theirs, seen, strict=True)
    )
    known = [pair for pair in ours if None not in pair]
    found = f"recorded {_sums(known)}, the server's {_sums(theirs)}, {len(ours) - len(known)} trials unknown"
    yield Check("each trial has the server's sums", fits, found)


def _answers(scenario: Scenario, seen: Sequence[_Seen]) -> Iterator[Check]:
    pairs = [(step, one) for trial in seen for step, one in zip(trial.thinks, trial.answered, strict=False)]
    text = sum((step.text or "") == (one.message.get("content") or "") for step, one in pairs)
    yield Check("each generation has the server's text", text == len(pairs), f"{text} of {len(pairs)}")
    served = Counter(str(step.model_served) for step, _ in pairs)
    named = all(step.model_served == one.answer["model"] for step, one in pairs)
    yield Check("the model served is named", named, _listed(served))
    wrong = [one.finish for step, one in pairs if step.finish_reason != _FINISH.get(str(one.finish))]
    finishes = Counter(str(step.finish_reason) for trial in seen for step in trial.thinks)
    expected = scenario.must_finish <= set(finishes)
    yield Check("finish reasons are the server's", not wrong and expected, _listed(finishes))
    cut = [step.output_tokens for step, one in pairs if one.finish == "length"]
    room = [_room(scenario, one) for _, one in pairs if one.finish == "length"]
    yield Check("an answer cut short has as many tokens as fit", cut == room, _listed(Counter(map(str, cut))))
    retries = sum(step.retries or 0 for trial in seen for step in trial.thinks)
    yield Check("no call was repeated", retries == 0, f"{retries} repeated")


def _calls(scenario: Scenario, seen: Sequence[_Seen]) -> Iterator[Check]:
    if not scenario.served.calls_tools:
        return
    wrong = [
        f"{one.trial.task_id}: {done} executed, {asked} asked"
        for one in seen
        if (done := [_call(act.tool, act.arguments, act.arguments_raw) for act in one.acts])
        != (asked := list(_asked(one)))[: len(done)]
        or (len(done) < len(asked) and one.trial.stop_reason not in {"submitted", "gave_up"})
    ]
    acts = [act for one in seen for act in one.acts]
    codes = Counter(f"{act.tool} -> {act.error_kind or act.exit_code}" for act in acts)
    yield Check(
        "tool calls of the server's were executed",
        bool(acts) and not wrong,
        "; ".join(wrong) or _listed(codes),
    )


def _refusals(seen: Sequence[_Seen]) -> Iterator[Check]:
    refused = [one for trial in seen for one in trial.heard if one.status != 200]
    ended = [trial.trial.stop_reason == "context_limit" for trial in seen]
    once = [sum(one.status != 200 for one in trial.heard) for trial in seen] == [int(end) for end in ended]
    codes = Counter(f"HTTP {one.status} {one.answer.get('error', {}).get('code')}" for one in refused)
    yield Check("a refusal ends its trial and is not asked again", once, _listed(codes))


def _asked(one: _Seen) -> Iterator[tuple[object, object]]:
    for answer in one.answered:
        for call in answer.message.get("tool_calls") or ():
            yield _call(call["function"]["name"], call["function"]["arguments"], None)


def _call(tool: str | None, arguments: str | None, raw: str | None) -> tuple[object, object]:
    try:
        return tool, json.loads(arguments or "{}") if raw is None else raw
    except ValueError:
        return tool, arguments


def _room(scenario: Scenario, one: Heard) -> int:
    """How many tokens an answer may have: as many as asked for, where the context still holds them."""
    prompt = one.usage[0] if one.usage else 0
    asked = scenario.max_tokens if scenario.max_tokens is not None else int(one.sent["max_tokens"])
    return min(asked, scenario.served.context - prompt)


def _equal_pairs(ours: Sequence[object], theirs: Sequence[object]) -> int:
    return sum(mine == true for mine, true in zip(ours, theirs, strict=False))


def _sums(pairs: Sequence[Sequence[int]]) -> str:
    return f"{sum(pair[0] for pair in pairs)} in + {sum(pair[1] for pair in pairs)} out"


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "none"
