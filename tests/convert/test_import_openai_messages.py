"""Lines of conversations in OpenAI's format become trials, whatever is missing in them."""

from __future__ import annotations

import json

import pytest

import evalkit
from evalkit.convert.importer import Options
from evalkit.convert.importing import import_run
from evalkit.convert.openai_messages import IMPORTER
from evalkit.convert.source import Source
from evalkit.errors import UsageError
from evalkit.trajectory.step import Act, Prompt, Think

TALK = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]


@pytest.fixture
def lines(tmp_path):
    """Import these lines: the trials with their steps, and the remarks."""

    def run(*told, text=None, **options):
        file = tmp_path / "mine.jsonl"
        raw = text if isinstance(text, bytes) else None
        file.write_bytes(raw or (text or "\n".join(map(json.dumps, told))).encode("utf-8", "surrogatepass"))
        done = import_run("openai-messages", [file], tmp_path / "run", Options(**options))
        found = list(evalkit.load(done.path).iter_trials())
        return sorted(found, key=lambda pair: pair[0].source_uri or ""), done.files[0].notes

    return run


def line(*messages, **keys):
    return {"messages": list(messages or TALK), **keys}


def steps_of(found):
    ((_, steps),) = found
    return steps


def test_all_keys_are_read(lines):
    ((trial, steps),), notes = lines(
        line(task_id="17", epoch=2, model="openai/gpt-5", reward=1.0, suite="mine")
    )
    assert (trial.task_id, trial.epoch, trial.model, trial.agent) == ("17", 2, "openai/gpt-5", "openai/gpt-5")
    assert (trial.status, trial.reward, trial.suite) == ("passed", 1.0, "mine")
    assert [type(step) for step in steps] == [Prompt, Think]
    assert (trial.model_calls, trial.tool_calls) == (1, 0)
    assert (trial.input_tokens, trial.cost_usd, trial.stop_reason) == (None, None, None)
    assert (notes.warnings, notes.losses) == ({}, {})


def test_nearly_all_may_be_missing(lines):
    found, _ = lines(line(), line(task_id=None, model=5, epoch="x"), line(task_id=7), line(task_id=[1]))
    assert [(t.suite, t.task_id, t.agent, t.status) for t, _ in found] == [
        ("mine", "line-1", "unknown", "unscored"),
        ("mine", "line-2", "unknown", "unscored"),
        ("mine", "7", "unknown", "unscored"),
        ("mine", "[1]", "unknown", "unscored"),
    ]


def test_null_zero_and_missing_rewards_are_three_things(lines):
    rewards = [{"reward": 0}, {"reward": None}, {}, {"reward": True}, {"reward": "1"}, {"reward": 0.5}]
    found, notes = lines(*(line(**told) for told in rewards))
    assert [(t.status, t.reward) for t, _ in found] == [
        ("failed", 0.0),
        ("unscored", None),
        ("unscored", None),
        ("passed", 1.0),
        ("unscored", None),
        ("failed", 0.5),
    ]
    assert list(notes.warnings) == ["a reward that makes no sense counts as unknown"]


def test_calls_are_paired_by_order_where_ids_come_again(lines):
    calls = [
        {"id": "0", "function": {"name": "f", "arguments": json.dumps({"n": number})}} for number in range(3)
    ]
    steps = steps_of(
        lines(
            line(
                {"role": "assistant", "content": None, "tool_calls": calls},
                *({"role": "tool", "tool_call_id": "0", "content": str(number)} for number in range(4)),
                {"role": "assistant", "function_call": {"name": "old", "arguments": "{}"}},
                {"role": "function", "name": "old", "content": "x"},
            )
        )[0]
    )
    acts = [step for step in steps if isinstance(step, Act)]
    assert [(a.tool, a.arguments, a.think_step, a.call_index, a.observation) for a in acts] == [
        ("f", '{"n":0}', 0, 0, "0"),
        ("f", '{"n":1}', 0, 1, "1"),
        ("f", '{"n":2}', 0, 2, "2"),
        (None, None, None, None, "3"),
        ("old", "{}", 5, 0, "x"),
    ]


def test_swapped_results_go_to_their_calls(lines):
    calls = [{"id": name, "function": {"name": name, "arguments": "{}"}} for name in "ab"]
    steps = steps_of(
        lines(
            line(
                {"role": "assistant", "tool_calls": calls},
                {"role": "tool", "tool_call_id": "b", "content": "of b"},
                {"role": "tool", "tool_call_id": "a", "content": "of a"},
            )
        )[0]
    )
    assert [(s.tool, s.observation) for s in steps if isinstance(s, Act)] == [("a", "of a"), ("b", "of b")]


@pytest.mark.parametrize(
    ("arguments", "canonical", "raw"),
    [
        ('{"b": 1, "a": 2}', '{"a":2,"b":1}', None),
        ({"a": 1}, '{"a":1}', None),
        ('"{\\"a\\": 1}"', '{"a":1}', None),
        ('{"a": ', None, '{"a": '),
        ("[1]", None, "[1]"),
        ([1], None, "[1]"),
        ("", "{}", None),
        (None, None, None),
        ("[" * 3000, None, "[" * 3000),
    ],
)
def test_arguments_in_every_form(lines, arguments, canonical, raw):
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}}
    (_, act) = steps_of(lines(line({"role": "assistant", "tool_calls": [call]}))[0])
    assert (act.arguments, act.arguments_raw) == (canonical, raw)


def test_calls_written_as_json_texts_are_calls(lines):
    call = json.dumps({"id": "a", "function": {"name": "f", "arguments": '{"x": 1}'}})
    (think, act) = steps_of(lines(line({"role": "assistant", "tool_calls": [call]}))[0])
    assert (act.tool, act.arguments, act.think_step) == ("f", '{"x":1}', think.step)


def test_calls_of_custom_tools_have_a_text_for_arguments(lines):
    custom = {"id": "a", "type": "custom", "custom": {"name": "sh", "input": "ls -la"}}
    found, notes = lines(
        line(
            {"role": "assistant", "content": None, "tool_calls": [custom]},
            {"role": "tool", "tool_call_id": "a", "content": "a.txt"},
        )
    )
    (act,) = (step for step in steps_of(found) if isinstance(step, Act))
    assert (act.tool, act.arguments, act.arguments_raw, act.observation) == ("sh", None, "ls -la", "a.txt")
    assert "a call that names no tool is kept without one" not in notes.warnings


@pytest.mark.parametrize(
    ("call", "raw"),
    [
        ({"id": "a", "type": "new", "new": {"name": "x"}}, None),
        ({"id": "a", "function": {"arguments": "ls"}}, "ls"),
        ({"id": "a", "custom": {"name": 5, "input": "ls"}}, "ls"),
        (7, None),
    ],
)
def test_a_call_of_no_known_form_is_remarked_on(lines, call, raw):
    found, notes = lines(line({"role": "assistant", "content": "x", "tool_calls": [call]}))
    (act,) = (step for step in steps_of(found) if isinstance(step, Act))
    assert (act.tool, act.arguments_raw) == (None, raw)
    assert notes.warnings["a call that names no tool is kept without one"] == 1


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (5, "5"),
        (0, "0"),
        (False, "false"),
        (None, ""),
        ([], ""),
        ({}, ""),
        ({"answer": [1, "x"]}, '{"answer": [1, "x"]}'),
        ([3, {"a": 1}], '3|{"a": 1}'),
        ({"type": "text", "text": "t"}, "t"),
        ([{"type": "text", "text": {"value": "v", "annotations": []}}], "v"),
        ([{"type": "text", "text": 5}], "5"),
        ([{"type": "output_audio", "transcript": "said"}], "said"),
        ([{"type": "input_audio", "input_audio": {"data": "AAAA", "transcript": "heard"}}], "heard"),
    ],
)
@pytest.mark.parametrize("role", ["user", "tool", "assistant"])
def test_content_that_is_no_text_does_not_vanish(lines, role, content, text):
    found, _ = lines(line({"role": role, "content": content}))
    (step,) = steps_of(found)
    said = step.observation if isinstance(step, Act) else step.text
    assert said == text.replace("|", "" if role == "assistant" else "\n")


def test_what_was_said_in_sound_counts_by_its_transcript(lines):
    sound = {"id": "audio_1", "data": "AAAA", "transcript": "Hello."}
    found, _ = lines(
        line(
            {"role": "assistant", "content": None, "audio": sound},
            {"role": "assistant", "content": "Hello.", "audio": sound},
            {"role": "user", "content": "So?", "audio": {"transcript": "Well?"}},
        )
    )
    assert [step.text for step in steps_of(found)] == ["Hello.", "Hello.", "So?\nWell?"]


def test_parts_of_an_answer_that_are_no_text_are_remarked_on(lines):
    found, notes = lines(
        line({"role": "assistant", "content": ["a", {"type": "image_url", "image_url": {}}]})
    )
    assert steps_of(found)[0].text == "a"
    assert notes.warnings == {"parts of an answer that are no text are left out: image_url": 1}


def test_thinking_is_told_apart(lines):
    steps = steps_of(
        lines(
            line(
                {"role": "assistant", "content": "a", "reasoning_content": "hm"},
                {"role": "assistant", "content": "<think>so</think>b"},
                {"role": "assistant", "content": "<think>never closed"},
                {"role": "assistant", "content": [{"type": "text", "text": "c"}]},
            )
        )[0]
    )
    assert [(s.reasoning, (s.text or "").strip()) for s in steps] == [
        ("hm", "a"),
        ("so", "b"),
        ("never closed", ""),
        (None, "c"),
    ]
    assert {step.reasoning_tokens for step in steps} == {None}


def test_equal_lines_without_an_epoch_are_attempts_that_went_alike(lines):
    found, notes = lines(*([line(task_id="a", reward=0)] * 3))
    assert sorted(trial.epoch for trial, _ in found) == [1, 2, 3]
    assert not notes.warnings


def test_equal_lines_with_an_epoch_are_copies(lines):
    found, notes = lines(*([line(task_id="a", reward=0, epoch=1)] * 3))
    assert len(found) == 1
    assert notes.warnings["copies of trials that the run has already are left out"] == 2


def test_what_is_no_message_is_left_out_and_who_is_unknown_is_the_user(lines):
    steps = steps_of(
        lines(line("x", None, {"role": ["odd"], "content": "who?"}, {"content": "me"}, *TALK))[0]
    )
    assert [getattr(step, "text", None) for step in steps] == ["who?", "me", "q", "a"]


def test_remarks_on_odd_messages(tmp_path):
    file = tmp_path / "odd.jsonl"
    file.write_text(json.dumps(line("x", None, {"role": "ipython", "content": "who?"}, *TALK)))
    done = import_run("openai-messages", [file], tmp_path / "run", Options())
    assert done.files[0].notes.warnings == {
        "messages that are no objects are left out": 2,
        "messages of an unknown role count as said by the user": 1,
    }


def test_bad_lines_are_named_and_good_ones_kept(lines):
    good = json.dumps(line(reward=1))
    found, notes = lines(
        text="\r\n".join([good, "", "42", "null", "text", "{}", '{"messages": 4}', good[:-9]])
    )
    assert len(found) == 1
    assert [loss.partition(":")[0] for loss in notes.losses] == [f"line {n}" for n in (3, 4, 5, 6, 7, 8)]


def test_every_encoding_is_read(lines):
    text = json.dumps(line({"role": "user", "content": "Zürich"}), ensure_ascii=False)
    found, notes = lines(text=text.encode("utf-16"))
    assert steps_of(found)[0].text == "Zürich"
    assert not notes.warnings


def test_what_is_no_text_becomes_a_mark(lines):
    raw = json.dumps(line({"role": "user", "content": "é \\ud800 \\u0000"}), ensure_ascii=False)
    found, notes = lines(text=b"\xef\xbb\xbf" + raw.replace("\\\\", "\\").encode("latin-1"))
    assert steps_of(found)[0].text == "� � \0"
    assert notes.warnings == {"characters that are no valid text became U+FFFD": 1}


def test_lines_that_are_messages_are_one_conversation(shared_data, tmp_path):
    file = shared_data / "weird" / "nul_raw.jsonl"
    assert IMPORTER.recognises(Source(file))
    done = import_run("openai-messages", [file], tmp_path / "run", Options())
    ((trial, steps),) = evalkit.load(done.path).iter_trials()
    assert (trial.suite, trial.task_id, trial.status) == ("nul_raw", "nul_raw", "unscored")
    assert [step.text for step in steps] == ["ok", "ok too"]
    assert [loss.startswith("line 2: not JSON") for loss in done.files[0].notes.losses] == [True]


@pytest.mark.parametrize("name", ["empty", "mixed_lines", "truncated_last_line"])
def test_lines_without_messages_give_no_run(shared_data, tmp_path, name):
    file = shared_data / "weird" / f"{name}.jsonl"
    assert not IMPORTER.recognises(Source(file))
    with pytest.raises(UsageError, match=r"has no list of messages|holds no trial"):
        import_run("openai-messages", [file], tmp_path / "run", Options())


def test_only_its_own_files_are_recognised(shared_data, tmp_path):
    for file in [
        *(shared_data / "inspect_scout").rglob("*.jsonl"),
        *(shared_data / "verifiers").rglob("*.jsonl"),
    ]:
        assert not IMPORTER.recognises(Source(file))
    for name, text, mine in (
        ("a.jsonl", "\n" + json.dumps(line()), True),
        ("long.jsonl", json.dumps(line({"role": "user", "content": "x" * 100_000})), True),
        ("none.jsonl", json.dumps({"messages": []}), False),
        ("roles.jsonl", json.dumps({"role": ["user"], "content": ""}), False),
        ("a.json", json.dumps(line()), False),
    ):
        (tmp_path / name).write_text(text)
        assert IMPORTER.recognises(Source(tmp_path / name)) == mine, name
