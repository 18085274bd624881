r"""Results of verifiers (`vf-eval`): `results.jsonl`, one rollout a line, with `metadata.json` beside it.

    results.jsonl   {"example_id": 0, "prompt": [{"role": "user", "content": "..."}],
                     "completion": [{"role": "assistant", "content": "...", "tool_calls": ["{\"id\": \"a\", ...}"]},
                                    {"role": "tool", "content": "..."}],
                     "task": "default", "answer": "0", "info": {}, "reward": 1.0, "correct_answer_reward_func": 1.0,
                     "total_tool_calls": 1.0, "generation_ms": 16235.1, "scoring_ms": 0.3, "total_ms": 16235.4,
                     "stop_condition": "max_turns_reached", "error": null, "token_usage": {"input_tokens": 1}}
    metadata.json   {"env_id": "wordle", "model": "gpt-5-nano", "num_examples": 5, "rollouts_per_example": 3,
                     "sampling_args": {"max_tokens": null}, "avg_reward": 1.0, "avg_metrics": {}}

`example_id` was called `id`, and `env_id` was called `env`. Rows of one example are its epochs, in order, also where
they are equal. `prompt` and `completion` may be texts, calls may be objects or JSON in texts. A rollout whose messages
were not kept (`completion` is empty) has no steps, and its calls are as many as the row tells. The columns of reward
functions are `rewards`; `reward` may be any number and is kept as it is. Averages in metadata.json are often stale:
another one than the rows give is a warning. A duration of 0 was not measured. Without metadata.json the folder's name
tells the environment, and the model where it is `<environment>--<model>`.

| what                        | known?                                                                            |
|-----------------------------|-----------------------------------------------------------------------------------|
| task, epoch                 | by the example's id, else by the row; epochs by order                             |
| environment (suite), model  | by metadata.json, else by the folder's name                                       |
| success                     | by the reward, from `--pass-reward` on; a row with an `error` is unscored         |
| thinking, text, calls       | as far as the messages hold them; many runs cut the thinking out                  |
| errors of calls, exit codes | no                                                                                |
| tokens                      | for the whole rollout, where newer versions tell them; how they are split is not  |
| time                        | of the whole rollout and of its scoring, where it was measured                    |
| cost                        | no                                                                                |
| why it stopped              | only where the row tells it                                                       |
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from evalkit.convert.asked import agent_name
from evalkit.convert.chat_steps import add_messages
from evalkit.convert.converted import Converted
from evalkit.convert.first_line import first_object
from evalkit.convert.importer import Importer, Options
from evalkit.convert.json_lines import json_lines
from evalkit.convert.naming import name_of
from evalkit.convert.notes import Notes
from evalkit.convert.occurrences import Occurrences
from evalkit.convert.outcome import by_reward
from evalkit.convert.reported import finite, seconds, tokens
from evalkit.convert.source import Source
from evalkit.convert.steps import Steps
from evalkit.convert.verifiers_metadata import Means, Metadata, metadata_of
from evalkit.errors import Origin
from evalkit.models.reconcile import count
from evalkit.models.wire.json_values import as_list, as_object, canonical, error_text, is_list, text_in
from evalkit.trajectory.step import Act, Step
from evalkit.trajectory.trial import StopReason

_KEYS = ("prompt", "completion", "reward")
_NO_REWARDS = frozenset(
    {"id", "example_id", "reward", "generation_ms", "scoring_ms", "total_ms", "seed", "epoch"}
)
"""Numbers of a row that no reward function gave."""
_CALL_TOTALS = ("total_tool_calls", "num_tool_calls")
_STOPS: Mapping[str, StopReason] = {
    "max_turns_reached": "step_limit",
    "prompt_too_long": "context_limit",
    "max_total_completion_tokens_reached": "token_limit",
    "timeout_reached": "time_limit",
    "no_tools_called": "submitted",
    "has_final_env_response": "submitted",
    "has_error": "error",
}


class _Verifiers:
    name = "verifiers"

    def expects(self, name: str) -> bool:
        del name
        return False

    def recognises(self, source: Source) -> bool:
        if not source.name.endswith((".jsonl", ".ndjson")):
            return False
        first = first_object(source)
        if not first:  # longer than the head
            return source.name == "results.jsonl" and b'"prompt"' in source.head and b"\n" not in source.head
        return all(key in first for key in _KEYS) and "messages" not in first

    def convert(self, source: Source, notes: Notes, options: Options) -> Iterator[Converted]:
        metadata = metadata_of(source, notes)
        seen, means, calls = Occurrences(), Means(), Counter[str]()
        for number, row in json_lines(source, notes):
            if not is_list(row.get("completion")) and not isinstance(row.get("completion"), str):
                notes.lose(f"line {number}: has no completion")
                continue
            rewards = _rewards(row, notes)
            steps = _steps(row, notes)
            outcome = _outcome(row, notes, options)
            means.add(rewards if outcome.get("reward") is None else {**rewards, "reward": outcome["reward"]})
            stated, held = _stated_calls(rewards), _held_calls(steps)
            calls.update(stated=stated or 0, held=0 if stated is None else held)
            yield Converted(
                suite=options.suite or metadata.env,
                task_id=_task_id(row, number, metadata),
                agent=options.agent or agent_name("verifiers", metadata.model, metadata.thinking),
                identity=seen.identity(row),
                steps=steps,
                columns={
                    **outcome,
                    **_spending(row, notes),
                    "rewards": rewards or None,
                    "agent_loop": "verifiers",
                    "model": metadata.model,
                    "thinking": metadata.thinking,
                    "temperature": metadata.temperature,
                    "tool_calls": None if steps else stated,
                },
                settings=metadata.settings,
                where=f"line {number}",
                task={"answer": answer} if (answer := text_in(row.get("answer"))) else {},
            )
        means.compare(metadata.averages, notes)
        if calls["stated"] != calls["held"]:
            notes.warn(f"the rows tell of {calls['stated']} calls, but their messages hold {calls['held']}")


def _task_id(row: Mapping[str, object], number: int, metadata: Metadata) -> str:
    example = name_of(row.get("example_id")) or name_of(row.get("id"))
    kind = text_in(row.get("task"))
    if example is None:
        return f"line-{number}"
    return example if kind in {None, "default", metadata.env} else f"{kind}/{example}"


def _steps(row: Mapping[str, object], notes: Notes) -> tuple[Step, ...]:
    prompt, completion = row.get("prompt"), row["completion"]
    if not completion and not isinstance(completion, str):
        notes.warn("rollouts whose messages were not kept have no steps")
        return ()
    steps = Steps(notes)
    add_messages(steps, [{"role": "user", "content": prompt}] if isinstance(prompt, str) else as_list(prompt))
    said = completion if is_list(completion) else [{"role": "assistant", "content": completion}]
    add_messages(steps, said)
    return steps.done()


def _rewards(row: Mapping[str, object], notes: Notes) -> dict[str, float]:
    """What every reward function gave, from columns of their own and from `metrics`."""
    named = {**as_object(row.get("metrics")), **row}
    found: dict[str, float] = {}
    for name, value in named.items():
        if name in _NO_REWARDS or not isinstance(value, (int, float)) or isinstance(value, bool):
            continue
        number = finite(value, notes, "a reward")
        if number is not None:
            found[name] = number
    return found


def _stated_calls(rewards: Mapping[str, float]) -> int | None:
    """How many calls there were, as a row tells it."""
    stated = next((rewards[name] for name in _CALL_TOTALS if name in rewards), None)
    return count(int(stated)) if stated is not None and stated.is_integer() else None


def _held_calls(steps: tuple[Step, ...]) -> int:
    return sum(isinstance(step, Act) and step.think_step is not None for step in steps)


def _outcome(row: Mapping[str, object], notes: Notes, options: Options) -> dict[str, Any]:
    condition = text_in(row.get("stop_condition")) or ""
    stop = _STOPS.get(condition)
    error = row.get("error")
    if message := error_text(error):
        told = as_object(error)
        kind = text_in(told.get("error")) or text_in(told.get("type")) or message.partition("(")[0]
        chain = text_in(told.get("error_chain_str")) or message
        return {
            "status": "unscored",
            "stop_reason": "error",
            "error_origin": _origin(f"{kind} {chain}"),
            "error_type": " ".join(kind.split())[:200],
            "error_message": " ".join(chain.split())[:1000],
        }
    return {**by_reward(row.get("reward"), notes, options), "stop_reason": stop}


def _origin(kind: str) -> Origin:
    if "Model" in kind:
        return "model"
    return "sandbox" if "Sandbox" in kind or "Tunnel" in kind else "harness"


def _spending(row: Mapping[str, object], notes: Notes) -> dict[str, Any]:
    timing, usage = as_object(row.get("timing")), as_object(row.get("token_usage"))
    took = {
        name: _seconds(timing.get(key, row.get(key)), notes)
        for name, key in (("agent_s", "generation_ms"), ("grade_s", "scoring_ms"))
    }
    if took["agent_s"] is None:
        took["grade_s"] = None
    spent = {name: _tokens(usage.get(name), notes) for name in ("input_tokens", "output_tokens")}
    return {**took, **spent, "raw_usage": canonical(usage) or None if usage else None}


def _tokens(value: object, notes: Notes) -> int | None:
    """Newer versions write counts as floats."""
    return tokens(int(value) if isinstance(value, float) and value.is_integer() else value, notes)


def _seconds(milliseconds: object, notes: Notes) -> float | None:
    value = seconds(milliseconds, notes)
    return value / 1000 if value else None


IMPORTER: Importer = _Verifiers()
