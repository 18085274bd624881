"""Whatever is done to a file of conversations: it is imported, in part or whole, or refused."""

from __future__ import annotations

import copy
import json
import random
import shutil

import pytest

import evalkit
from evalkit.convert.adding import Adding
from evalkit.convert.formats import importers
from evalkit.convert.importer import Options
from evalkit.convert.importing import import_run
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.source import Source
from evalkit.errors import UsageError

CASES = 300
WRITTEN_EVERY = 15
"""Of so many cases one is written to disk, which is what takes long."""
ODD = (None, True, False, 0, -1, 2**64, 1e308, 0.5, "", "x", "\ud800", "12", [], {}, [[]], [None], {"": None})
DEEP = json.loads("[" * 200 + "]" * 200)

CUSTOM = {"id": "b", "type": "custom", "custom": {"name": "sh", "input": "ls"}}
CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
TALK = [
    {"role": "system", "content": "# Airline Agent Policy"},
    {"role": "user", "content": [{"type": "text", "text": "hi"}]},
    {"role": "assistant", "content": "<think>hm</think>", "tool_calls": [CALL, json.dumps(CALL), CUSTOM]},
    {"role": "tool", "tool_call_id": "a", "name": "f", "content": "Error: no"},
    {"role": "assistant", "content": "Action:\n{}", "reasoning_content": "so", "audio": {"transcript": "x"}},
]
TAU = [
    {
        "task_id": 0,
        "trial": trial,
        "reward": 1.0,
        "info": {
            "task": {"instruction": "go"},
            "user_cost": 0.1,
            "error": None,
            "reward_info": {"reward": 1.0, "info": {"r_outputs": 1.0, "outputs": {"4": True}}},
        },
        "traj": TALK,
    }
    for trial in range(2)
]
TAU2_CALL = {"id": "a", "name": "f", "arguments": {"x": [1]}, "requestor": "assistant"}
TAU2 = {
    "info": {
        "agent_info": {
            "implementation": "llm_agent",
            "llm": "m",
            "llm_args": {"temperature": 0, "thinking": {"budget_tokens": 9}},
        },
        "user_info": {"llm": "u", "llm_args": {}},
        "environment_info": {"domain_name": "airline"},
    },
    "simulations": [
        {
            "id": "s",
            "task_id": "7",
            "trial": 0,
            "seed": 5,
            "start_time": "2026-01-01T00:00:00",
            "end_time": "2026-01-01T00:00:09Z",
            "duration": 9.5,
            "termination_reason": "user_stop",
            "agent_cost": 0.5,
            "reward_info": {
                "reward": 1.0,
                "db_check": {"db_match": True},
                "action_checks": [{"action": {"name": "f"}, "action_match": True}],
                "reward_breakdown": {"DB": 1.0},
            },
            "messages": [
                {"role": "assistant", "content": "hello", "cost": 0.0, "usage": None},
                {
                    "role": "user",
                    "content": "hi",
                    "timestamp": "2026-01-01T00:00:01",
                    "tool_calls": [{**TAU2_CALL, "requestor": "user"}],
                },
                {"role": "tool", "id": "a", "requestor": "user", "content": "x", "error": False},
                {
                    "role": "assistant",
                    "content": None,
                    "timestamp": "2026-01-01T00:00:02",
                    "cost": 0.5,
                    "errors": ["no"],
                    "tool_calls": [TAU2_CALL],
                    "usage": {"prompt_tokens": 3, "completion_tokens": 2},
                    "raw_data": {
                        "model": "m-1",
                        "usage": {"input_tokens": 1, "cache_read_input_tokens": 2, "output_tokens": 2},
                        "thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "s"}],
                    },
                },
                {
                    "role": "tool",
                    "tool_messages": [{"id": "a", "requestor": "assistant", "content": "y", "error": True}],
                },
            ],
        },
        {
            "id": "t",
            "task_id": "7",
            "trial": 1,
            "termination_reason": "brand_new",
            "reward_info": {"reward": 0.0, "info": {"error": "KeyError: 1"}},
            "messages": None,
            "ticks": [
                {
                    "timestamp": "2026-01-01T00:00:00",
                    "agent_chunk": {"content": "he", "utterance_ids": ["1"], "usage": {"prompt_tokens": 1}},
                    "user_chunk": {"content": "hi"},
                },
                {
                    "agent_chunk": {"content": "llo", "cost": 0.5},
                    "agent_tool_calls": [TAU2_CALL],
                    "agent_tool_results": [{"id": "a", "content": "x", "error": False}],
                    "user_tool_calls": [{**TAU2_CALL, "requestor": "user"}],
                    "user_tool_results": [{"id": "a", "content": "x", "requestor": "user"}],
                },
            ],
        },
    ],
}
ROWS = [
    {
        "example_id": 0,
        "prompt": TALK[:2],
        "completion": TALK[2:],
        "task": "default",
        "answer": "4",
        "reward": 1.45,
        "judge": 0.5,
        "metrics": {"turns": 1},
        "error": {"error": "E"},
        "total_tool_calls": 2.0,
        "generation_ms": 5.5,
        "token_usage": {"input_tokens": 2.0},
    },
    {"id": 0, "prompt": "q", "completion": "a", "reward": 0},
]
LINES = [{"task_id": "1", "epoch": 1, "model": "m", "reward": 1, "messages": TALK}, *TALK[:2]]
INPUTS = {
    "tau-bench": ("gpt-4o-airline.json", TAU),
    "tau2": ("results.json", TAU2),
    "verifiers": ("results.jsonl", ROWS),
    "openai-messages": ("mine.jsonl", LINES),
}


def written(name, value):
    return "\n".join(map(json.dumps, value)) if name.endswith("jsonl") else json.dumps(value)


def read(form, path):
    """Import a file as a user would; how many trials there were, none where there is no run."""
    out = path.parent / "run"
    try:
        done = import_run(form, [path], out, Options())
    except UsageError:
        assert not out.exists()
        return 0
    trials = sum(1 for _ in evalkit.load(out).iter_trials())
    assert trials == done.adding.trials > 0
    shutil.rmtree(out)
    return trials


def convert(form, path):
    """The same without the writing."""
    (importer,) = importers(form)
    source, notes, adding = Source(path, named=True), Notes(), Adding(run_id="r")
    importer.recognises(source)
    converted = importer.convert(source, notes, Options())
    while True:
        try:
            told = next(converted, None)
        except (Refused, RecursionError):  # which an import makes a refusal of
            return
        if told is None:
            break
        try:
            adding.trial(told, format=form, source=str(path), notes=notes)
        except Refused as problem:
            notes.lose(str(problem))
    assert adding.trials or notes.losses or not path.read_bytes().strip()


def places(value, path=()):
    """Where in a value there is something to change."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, (*path, index))


def changed(value, path, new):
    """A copy in which something stands at this place."""
    if not path:
        return new
    whole = copy.deepcopy(value)
    parent = whole
    for key in path[:-1]:
        parent = parent[key]
    if new is ...:
        del parent[path[-1]]
    else:
        parent[path[-1]] = new
    return whole


@pytest.mark.parametrize("form", INPUTS)
def test_untouched_all_of_it_is_there(form, tmp_path):
    name, value = INPUTS[form]
    (tmp_path / name).write_text(written(name, value))
    (importer,) = importers(form)
    assert importer.recognises(Source(tmp_path / name))
    assert read(form, tmp_path / name) == 2


@pytest.mark.parametrize("form", INPUTS)
def test_other_types_anywhere(form, tmp_path):
    name, value = INPUTS[form]
    chance = random.Random(form)
    found = [path for path in places(value) if path or not name.endswith("jsonl")]
    for case in range(CASES):
        mutated = value
        for _ in range(chance.randint(1, 3)):
            path = chance.choice(found)
            try:
                mutated = changed(
                    mutated, path, chance.choice([*ODD, DEEP, ...]) if path else chance.choice(ODD)
                )
            except (KeyError, IndexError, TypeError):  # an earlier change has taken the place away
                continue
        (tmp_path / name).write_text(written(name, mutated), "utf-8", "surrogatepass")
        (convert if case % WRITTEN_EVERY else read)(form, tmp_path / name)


@pytest.mark.parametrize("form", INPUTS)
def test_cut_off_and_flipped_anywhere(form, tmp_path):
    name, value = INPUTS[form]
    chance = random.Random(form)
    whole = written(name, value).encode()
    for case in range(CASES):
        raw = bytearray(whole)
        for _ in range(chance.randint(0, 4)):
            raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
        if chance.random() < 0.5:
            del raw[chance.randrange(len(raw)) :]
        if chance.random() < 0.2:
            at = chance.randrange(len(raw) + 1)
            raw[at:at] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 30)))
        (tmp_path / name).write_bytes(raw)
        (convert if case % WRITTEN_EVERY else read)(form, tmp_path / name)


@pytest.mark.parametrize("size", [2_000, 20_000])
def test_many_calls_that_never_meet_their_results_are_all_kept(tmp_path, size):
    """Pairing is by look-up: the larger of the two would otherwise take minutes."""
    calls = [{"id": f"c{number}", "function": {"name": "f", "arguments": "{}"}} for number in range(size)]
    results = [{"role": "tool", "tool_call_id": f"r{number}", "content": ""} for number in range(size)]
    file = tmp_path / "mine.jsonl"
    file.write_text(json.dumps({"messages": [{"role": "assistant", "tool_calls": calls}, *results]}))
    (importer,) = importers("openai-messages")
    (told,) = importer.convert(Source(file), Notes(), Options())
    assert len(told.steps) == 1 + 2 * size
