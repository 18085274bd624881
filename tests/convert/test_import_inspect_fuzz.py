"""Does a damaged log of Inspect ever end in anything but a refusal, a loss or a remark?

`EVALKIT_FUZZ_CASES` sets how many cases are tried of each kind.
"""

from __future__ import annotations

import copy
import io
import json
import os
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from evalkit.convert.adding import Adding
from evalkit.convert.importer import Options
from evalkit.convert.inspect_logs import IMPORTER
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.source import Source
from evalkit.trajectory.clean import cleaned
from evalkit.trajectory.rows import steps_table, trials_table  # pyright: ignore[reportUnknownVariableType]

Json = dict[str, Any]
CASES = int(os.environ.get("EVALKIT_FUZZ_CASES", "150"))
ODD: list[Any] = [
    None, True, 0, -1, 2**70, 1e308, "", "x", "attachment://h", "\ud800", "9" * 5000, [], {}, [[]], [None, 1, "a"],
    {"type": 3}, {"role": ["user"]}, "2026-99-99", [[0, 10**12]], {"value": {"a": {}}},
]  # fmt: skip


def a_log() -> Json:
    """One of everything."""
    usage: Json = {"input_tokens": 9, "output_tokens": 5, "reasoning_tokens": 2, "total_tokens": 14}
    asked: Json = {"id": "c1", "function": "bash", "arguments": {"cmd": "ls"}}
    content: list[Json] = [
        {"type": "reasoning", "reasoning": "hm", "signature": "s"},
        {"type": "text", "text": "attachment://h"},
    ]
    message: Json = {"id": "m2", "role": "assistant", "content": content, "tool_calls": [asked]}
    prompt: Json = {"id": "m1", "role": "user", "content": "2 + 2?"}
    result: Json = {
        "role": "tool",
        "tool_call_id": "c1",
        "function": "bash",
        "content": "4",
        "error": {"type": "timeout"},
    }
    output: Json = {
        "model": "m",
        "choices": [{"message": message, "stop_reason": "stop"}],
        "usage": usage,
        "time": 0.5,
    }
    at = {"timestamp": "2026-01-02T12:00:00+00:00", "completed": "2026-01-02T12:00:01+00:00", "span_id": "a"}
    events: list[Json] = [
        {"event": "span_begin", "id": "s", "type": "solvers", "name": "solvers", **at},
        {"event": "span_begin", "id": "a", "parent_id": "s", "type": "agent", "name": "react", **at},
        {"event": "model", "model": "openai/m", "input": [], "input_refs": [[0, 1]], "output": output, **at},
        {"event": "span_begin", "id": "t", "parent_id": "a", "type": "tool", "name": "bash", **at},
        {"event": "approval", "call": asked, "decision": "approve", "approver": "human"},
        {
            "event": "tool",
            "id": "c1",
            "function": "bash",
            "arguments": {"cmd": "ls"},
            "result": "4",
            "events": [],
            **at,
        },
        {**at, "event": "sandbox", "action": "exec", "result": 0, "span_id": "t"},
        {"event": "model", "model": "openai/m", "input": [prompt, message, result], "output": output, **at},
        {"event": "model", "model": "g", "role": "grader", "input": [], "output": output, **at},
        {"event": "sample_limit", "type": "token", "message": "enough", "limit": 3.0, **at},
        {"event": "error", "error": {"message": "RuntimeError('x')", "traceback": "..."}, **at},
        {"event": "span_end", "id": "s", **at},
    ]
    full: Json = {
        "id": 1, "epoch": 1, "input": "2 + 2?", "messages": [prompt, message, result], "output": output,
        "scores": {"match": {"value": "C", "answer": "4"}, "other": {"value": {"a": 1}}},
        "metadata": {"difficulty": "easy", "skills": ["sums"]}, "events": events, "sandbox": ["docker", "x"],
        "events_data": {"messages": [prompt, message], "calls": []}, "attachments": {"h": "long"},
        "model_usage": {"openai/m": usage}, "total_time": 1.0, "working_time": 0.5, "uuid": "u",
        "started_at": "2026-01-02T12:00:00+00:00", "completed_at": "2026-01-02T12:00:09+00:00",
        "limit": {"type": "token", "limit": 3}, "error_retries": [{"message": "lost"}],
    }  # fmt: skip
    old: Json = {"id": "b", "epoch": 2, "input": [prompt], "messages": [prompt, message, result], "output": output,
           "score": {"value": "I"}, "error": {"message": "CancelledError('x')"}}  # fmt: skip
    metric = {"accuracy": {"name": "accuracy", "value": 0.5}}
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "task": "t",
            "model": "openai/m",
            "dataset": {"samples": 2, "sample_ids": [1, "b"]},
            "config": {},
        },
        "plan": {
            "steps": [{"solver": "react", "params": {}}],
            "config": {"reasoning_tokens": 9, "temperature": 1.0},
        },
        "results": {"total_samples": 2, "scores": [{"name": "match", "scorer": "match", "metrics": metric}]},
        "stats": {"model_usage": {"openai/m": usage}},
        "samples": [full, old],
    }


def archived(log: Json) -> bytes:
    """The log as a zip archive."""
    packed = io.BytesIO()
    samples: Any = log.get("samples")
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, one in enumerate(cast("list[Any]", samples) if isinstance(samples, list) else []):
            archive.writestr(f"samples/{place}_epoch_1.json", json.dumps(one))
        archive.writestr("header.json", json.dumps({key: log[key] for key in log if key != "samples"}))
    return packed.getvalue()


def plain(log: Json) -> bytes:
    return json.dumps(log).encode()


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a JSON value where another value could stand."""
    found: list[tuple[Any, Any]] = []
    waiting: list[Any] = [value]
    while waiting:
        holder = waiting.pop()
        keys: list[Any] = list(holder) if hasattr(holder, "keys") else list(range(len(holder)))
        found.extend((holder, key) for key in keys)
        waiting.extend(holder[key] for key in keys if isinstance(holder[key], dict | list))
    return found


def other_types(dice: random.Random, make: Callable[[Json], bytes]) -> bytes:
    log = a_log()
    for _ in range(dice.randrange(1, 5)):
        holder, key = dice.choice(places(log))
        if dice.random() < 0.2 and isinstance(holder, dict):
            del holder[key]
        elif dice.random() < 0.2:
            holder[key] = copy.deepcopy(dice.choice(places(log))[0])
        else:
            holder[key] = copy.deepcopy(dice.choice(ODD))
    return make(log)


def cut(dice: random.Random, make: Callable[[Json], bytes]) -> bytes:
    data = make(a_log())
    return data[: dice.randrange(len(data))]


def flipped(dice: random.Random, make: Callable[[Json], bytes]) -> bytes:
    data = bytearray(make(a_log()))
    for _ in range(dice.randrange(1, 12)):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    return bytes(data)


def imported(path: Path) -> int:
    """Everything up to the rows that would be written. Only Refused may come out of it."""
    notes, adding, count = Notes(), Adding(run_id="r"), 0
    source = Source(path, named=True)
    try:
        IMPORTER.recognises(source)
        for told in IMPORTER.convert(source, notes, Options()):
            trial = adding.trial(told, format="inspect", source="f", notes=notes)
            if trial is not None:
                trials_table([cleaned(trial)])
                steps_table(trial.trial_id, [cleaned(step) for step in told.steps])
                count += 1
    except Refused:
        pass
    return count


def test_the_log_is_whole_before_it_is_damaged(tmp_path: Path) -> None:
    for name, make in (("log.eval", archived), ("log.json", plain)):
        path = tmp_path / name
        path.write_bytes(make(a_log()))
        assert imported(path) == 2


@pytest.mark.parametrize(("name", "make"), [("log.eval", archived), ("log.json", plain)])
@pytest.mark.parametrize("damage", [other_types, cut, flipped])
def test_a_damaged_log_is_refused_or_told_as_far_as_it_goes(
    damage: Callable[[random.Random, Callable[[Json], bytes]], bytes],
    name: str,
    make: Callable[[Json], bytes],
    tmp_path: Path,
) -> None:
    kept = 0
    for seed in range(CASES):
        path = tmp_path / name
        path.write_bytes(damage(random.Random(seed), make))
        try:
            kept += imported(path)
        except Exception as error:
            raise AssertionError(f"seed {seed} of {damage.__name__}") from error
    assert kept or damage is cut
