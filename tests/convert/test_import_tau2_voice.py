"""Voice runs of tau2-bench: simulations in files of their own, and conversations in ticks."""

from __future__ import annotations

import json

import pytest

import evalkit
from evalkit.convert.importer import Options
from evalkit.convert.importing import import_run
from evalkit.convert.tau2_ticks import messages_in
from evalkit.errors import UsageError
from evalkit.trajectory.step import Act, Event, Prompt, Think

INFO = {
    "agent_info": {"implementation": "discrete_time_audio_native_agent", "llm": None},
    "user_info": {"implementation": "voice_streaming_user_simulator", "llm": "gpt-4.1"},
    "environment_info": {"domain_name": "retail"},
    "audio_native_config": {"provider": "openai", "model": "gpt-realtime", "reasoning_effort": "low"},
}


def simulation(name="s", **keys):
    told = {"id": name, "task_id": "7", "trial": 0, "termination_reason": "user_stop", "agent_cost": 0.5}
    return {**told, "reward_info": {"reward": 1.0}, "messages": None, "ticks": [tick(agent="yes")], **keys}


def tick(at=0, agent=None, user=None, **keys):
    chunks = {
        f"{who}_chunk": text if text is None or isinstance(text, dict) else {"content": text}
        for who, text in (("agent", agent), ("user", user))
    }
    return {"timestamp": f"2026-05-01T10:00:{at:02d}", **chunks, **keys}


def in_folder(folder, *simulations, index=None, **files):
    """A run in the form of a folder."""
    (folder / "simulations").mkdir(parents=True)
    (folder / "results.json").write_text(
        json.dumps({"info": INFO, "tasks": [], "simulation_index": index, "format_version": "dir"})
    )
    for told in simulations:
        (folder / "simulations" / f"{told['id']}.json").write_text(json.dumps(told))
    for name, text in files.items():
        (folder / "simulations" / f"{name}.json").write_text(text)
    return folder


def imported(path, out, name="auto"):
    done = import_run(name, [path], out, Options())
    return list(evalkit.load(done.path).iter_trials()), done


def spoken(*ticks):
    return [(told["role"], told.get("content")) for told in messages_in(list(ticks))]


@pytest.mark.parametrize("named", ["", "results.json"])
def test_simulations_in_a_folder_belong_to_the_file_beside_it(tmp_path, named):
    folder = in_folder(
        tmp_path / "run", simulation("a"), simulation("b", trial=1), index=[{"id": "a"}, {"id": "b"}]
    )
    trials, done = imported(folder / named, tmp_path / "out")
    assert [(trial.suite, trial.task_id, trial.epoch) for trial, _ in trials] == [
        ("tau2-retail", "7", 1),
        ("tau2-retail", "7", 2),
    ]
    assert {trial.agent for trial, _ in trials} == {
        "tau2-discrete_time_audio_native_agent/gpt-realtime@effort:low"
    }
    assert (len(done.files), done.incomplete) == (1, [])


def test_what_is_bad_or_missing_in_the_folder_is_named_and_the_rest_is_kept(tmp_path):
    folder = in_folder(
        tmp_path / "run",
        simulation("a"),
        index=[{"id": "a"}, {"id": "gone"}, {"id": "cut"}, 3],
        cut='{"id": "cu',
        odd="[]",
    )
    trials, done = imported(folder, tmp_path / "out")
    assert len(trials) == 1
    (cut, odd, gone) = done.files[0].notes.losses
    assert (cut.startswith("simulations/cut.json: "), odd.startswith("simulations/odd.json: ")) == (
        True,
        True,
    )
    assert gone == "simulation gone: the index names it, and it is not in the folder simulations"


def test_one_simulation_alone_says_where_its_run_is(tmp_path):
    folder = in_folder(tmp_path / "run", simulation("a"))
    with pytest.raises(UsageError, match="in the folder above"):
        imported(folder / "simulations" / "a.json", tmp_path / "out", "tau2")


def test_an_empty_folder_holds_no_simulations(tmp_path):
    with pytest.raises(UsageError, match="holds no simulations"):
        imported(in_folder(tmp_path / "run"), tmp_path / "out")


def test_a_simulation_without_a_conversation_is_a_loss_unless_infrastructure_ended_it(tmp_path):
    died = simulation("b", ticks=None, trial=1, termination_reason="infrastructure_error")
    folder = in_folder(tmp_path / "run", simulation("a"), died, simulation("c", ticks=None))
    trials, done = imported(folder, tmp_path / "out")
    assert [(trial.status, len(steps)) for trial, steps in trials] == [("passed", 1), ("unscored", 0)]
    assert list(done.files[0].notes.losses) == ["simulation c: has no list of messages, and no ticks"]


def test_ticks_become_generations_calls_and_prompts(tmp_path):
    call = {"id": "x", "name": "look", "arguments": {"a": 1}, "requestor": "assistant"}
    by_user = {"id": "u", "name": "toggle", "arguments": {}, "requestor": "user"}
    ticks = [
        tick(0, agent="Good "),
        tick(1, agent="day."),
        tick(2, user="Where is "),
        tick(3, user="it?"),
        tick(4, agent="Let me see. ", agent_tool_calls=[call]),
        tick(5, agent_tool_results=[{"id": "x", "role": "tool", "content": "here", "error": False}]),
        tick(6, agent="Here."),
        tick(
            7,
            user_tool_calls=[by_user],
            user_tool_results=[{"id": "u", "content": "on", "requestor": "user"}],
        ),
    ]
    folder = in_folder(tmp_path / "run", simulation(ticks=ticks, agent_usage={"input_tokens": 5}))
    ((trial, steps),), done = imported(folder, tmp_path / "out")
    assert [step.text for step in steps if isinstance(step, Think)] == ["Good day.", "Let me see. ", "Here."]
    assert [step.text for step in steps if isinstance(step, Prompt)] == ["Where is it?"]
    (act,) = (step for step in steps if isinstance(step, Act))
    assert (act.tool, act.arguments, act.observation, act.think_step) == ("look", '{"a":1}', "here", 2)
    (event,) = (step for step in steps if isinstance(step, Event))
    assert json.loads(event.detail or "") == {
        "arguments": {},
        "error": False,
        "result": "on",
        "role": "user",
        "tool": "toggle",
    }
    assert [step.duration_s for step in steps if isinstance(step, Think)] == [None] * 3
    assert (trial.input_tokens, trial.cost_usd, trial.tool_calls) == (None, 0.5, 1)
    assert json.loads(trial.raw_usage or "")["agent_usage"] == {"input_tokens": 5}
    assert any("in full duplex" in text for text in done.files[0].notes.warnings)


def test_who_speaks_at_the_same_time_goes_on_speaking():
    at_once = [
        tick(agent="one "),
        tick(agent="two ", user="uh"),
        tick(agent="three"),
        tick(),
        tick(user="yes"),
    ]
    assert spoken(*at_once) == [("assistant", "one two three"), ("user", "uh"), ("user", "yes")]


def test_utterances_are_parted_by_a_space_and_pieces_of_one_are_not():
    def piece(text, name):
        return {"content": text, "utterance_ids": [name]}

    assert spoken(
        tick(agent=piece("He", "1")), tick(agent=piece("llo.", "1")), tick(agent=piece("So", "2"))
    ) == [("assistant", "Hello. So")]


def test_each_generation_that_tells_its_usage_stands_for_itself():
    told = messages_in(
        [
            tick(agent={"content": "a", "usage": {"prompt_tokens": 1}}),
            tick(agent={"content": "b"}),
            tick(agent={"content": "c", "usage": {"prompt_tokens": 2}}),
        ]
    )
    assert [(one.get("content"), one.get("usage")) for one in told] == [
        ("ab", {"prompt_tokens": 1}),
        ("c", {"prompt_tokens": 2}),
    ]


@pytest.mark.parametrize(
    "ticks",
    [[None, 3, "x"], [{}], [tick(agent=3, user=[])], [{"agent_chunk": {"content": 5, "usage": "much"}}], 7],
)
def test_odd_ticks_are_no_conversation_and_no_trouble(tmp_path, ticks):
    folder = in_folder(tmp_path / "run", simulation("a"), simulation("b", trial=1, ticks=ticks))
    trials, _ = imported(folder, tmp_path / "out")
    assert len(trials) in (1, 2)


def test_a_stated_cost_counts_where_not_every_message_tells_its_own(tmp_path):
    ticks = [tick(agent={"content": "a", "cost": 0.1}), tick(user="b"), tick(agent="c")]
    folder = in_folder(tmp_path / "run", simulation(ticks=ticks, agent_cost=0.9))
    ((trial, _),), _ = imported(folder, tmp_path / "out")
    assert trial.cost_usd == 0.9
