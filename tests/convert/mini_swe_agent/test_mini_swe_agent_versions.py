"""What the versions of mini-swe-agent write, and no recorded run shows."""

from __future__ import annotations

from evalkit.convert.mini_generation import commands_in
from evalkit.trajectory.step import Prompt


def test_tokens_are_in_one_convention(files, answer, result, trajectory, thinks):
    first = thinks(files.convert(trajectory(answer(), result())))[0]
    assert (first.input_tokens, first.cache_read_tokens, first.output_tokens) == (40, 60, 20)
    assert (first.reasoning_tokens, first.model_served, first.cost_usd) == (None, "served-1", 0.5)


def test_times_are_those_between_messages(files, answer, result, trajectory, thinks, acts):
    told = files.convert(trajectory(answer(), result(at=3.5), answer(call="b", at=5.0)))
    assert [step.duration_s for step in thinks(told)] == [None, 1.5]
    assert acts(told)[0].duration_s == 2.5
    assert (told.columns["finished_at"] - told.columns["started_at"]).total_seconds() == 4.0
    assert told.columns["agent_s"] is None


def test_calls_that_stand_in_the_text(files, first_version, thinks, acts, events, patch):
    told = files.convert(first_version(status="Submitted", result=patch), name="a__a-1.traj.json")
    assert [(act.tool, act.arguments, act.arguments_raw) for act in acts(told)] == [
        ("bash", '{"command":"ls -la"}', None),
        ("bash", None, '["a", "b"]'),
        ("bash", '{"command":"sleep 99"}', None),
        ("bash", '{"command":"echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}', None),
    ]
    assert [(act.exit_code, act.error_kind) for act in acts(told)] == [
        (2, None),
        (None, "parsing"),
        (None, "timeout"),
        (None, None),
    ]
    assert acts(told)[3].observation is None
    assert len(thinks(told)) == 5
    assert (acts(told)[0].duration_s, thinks(told)[0].duration_s) == (1.0, 3.0)
    assert [event.event for event in events(told)] == ["submit"]
    assert len([step for step in told.steps if isinstance(step, Prompt)]) == 3
    assert (told.task_id, told.columns["answer"]) == ("a__a-1", patch)


def test_of_the_first_versions_only_the_whole_cost_is_known(files, first_version, thinks, patch):
    told = files.convert(first_version(status="Submitted", result=patch))
    assert {step.cost_usd for step in thinks(told)} == {None}
    assert told.columns["cost_usd"] == 0.25
    assert {step.output_tokens for step in thinks(told)} == {None}


def test_what_an_exception_said_is_no_patch(files, first_version):
    told = files.convert(first_version(status="RateLimitError", result="litellm.RateLimitError: slow down"))
    assert told.columns["answer"] is None
    assert told.columns["error_message"] == "litellm.RateLimitError: slow down"
    assert (told.columns["error_origin"], told.columns["status"]) == ("model", "unscored")


def test_blocks_in_the_text_are_no_calls_where_calls_have_fields_of_their_own(
    files, answer, result, trajectory, acts
):
    told = files.convert(trajectory(answer(), result(), answer("```bash\nrm -rf /\n```", call=None)))
    assert len(acts(told)) == 1


def test_actions_that_the_harness_took_out_of_a_text(files, answer, trajectory, acts):
    first = answer("<bash>ls</bash>", call=None)
    first["extra"]["actions"] = [{"command": "ls"}]
    observed = {"role": "user", "content": "seen", "extra": {"raw_output": "out", "returncode": 1}}
    told = files.convert(trajectory(first, observed))
    assert [(act.arguments, act.exit_code, act.stdout, act.observation) for act in acts(told)] == [
        ('{"command":"ls"}', 1, "out", "seen")
    ]


def test_messages_of_the_responses_api(files, trajectory, thinks, acts):
    first = {
        "object": "response",
        "model": "served-2",
        "status": "completed",
        "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
            {"type": "message", "content": [{"type": "output_text", "text": "I look."}]},
            {"type": "function_call", "call_id": "c", "name": "bash", "arguments": '{"command": "ls"}'},
        ],
        "usage": {"input_tokens": 10, "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": 5}},
        "extra": {"cost": 0.5, "timestamp": 1700000001.0},
    }
    observed = {"type": "function_call_output", "call_id": "c", "output": "out", "extra": {"returncode": 0}}
    told = files.convert(trajectory(first, observed))
    think = thinks(told)[0]
    assert (think.text, think.reasoning, think.reasoning_visibility) == ("I look.", "hm", "summary")
    assert (think.output_tokens, think.reasoning_tokens, think.model_served) == (7, 5, "served-2")
    assert (acts(told)[0].observation, acts(told)[0].exit_code) == ("out", 0)


def test_an_answer_that_was_thrown_away_but_kept_beside_the_complaint(
    files, answer, result, trajectory, thinks, acts
):
    call = {"id": "m", "type": "function", "function": {"name": "bash", "arguments": '{"command'}}
    response = {"model": "served-1", "choices": [{"message": {"tool_calls": [call]}}]}
    complaint = {
        "role": "user",
        "content": "Tool call error",
        "extra": {"interrupt_type": "FormatError", "response": response},
    }
    told = files.convert(trajectory(complaint, answer(), result()))
    assert len(thinks(told)) == 2
    assert (acts(told)[0].arguments_raw, acts(told)[0].error_kind) == ('{"command', "parsing")
    assert not files.notes.warnings.get(
        "answers that were thrown away for a malformed call are in no sum of tokens or cost"
    )


def test_an_answer_that_was_thrown_away(files, answer, result, trajectory, thinks, events):
    complaint = {"role": "user", "content": "Tool call error", "extra": {"interrupt_type": "FormatError"}}
    whole = trajectory(answer(), result(), complaint, answer(call="b", at=9))
    whole["info"]["model_stats"] = {"api_calls": 3, "instance_cost": 1.0}
    told = files.convert(whole)
    assert (told.columns["model_calls"], len(thinks(told))) == (3, 2)
    assert [event.event for event in events(told)] == ["error"]
    # What happened in between took its time too, so the next answer's is unknown.
    assert thinks(told)[1].duration_s is None
    assert files.notes.warnings == {
        "answers that were thrown away for a malformed call are in no sum of tokens or cost": 1
    }


def test_blocks_that_never_end_take_no_quadratic_time():
    assert commands_in("```bash\nx " * 200_000) == []
    assert commands_in("```bash\n\n```") == [""]
    assert commands_in("```bash\nls\n```\n```python\nx\n```\n```sh\npwd\n```") == ["ls", "pwd"]
