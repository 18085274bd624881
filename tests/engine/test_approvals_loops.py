"""Any agent loop is held by the same rules, whatever it does with Inspect's approvers."""

from __future__ import annotations

import pytest

from evalkit.trajectory.step import Act, Event

pytestmark = pytest.mark.local

TASK = {
    "environment/Dockerfile": "FROM debian:bookworm-slim\nWORKDIR /app\nCOPY users.db ./\n",
    "environment/users.db": "kept\n",
}
WRITE_AND_GIT = """\
[[rule]]
name = "write"
decision = "deny"
command = "> *users"

[[rule]]
name = "ask"
decision = "ask"
command = "git"
"""
LOOPS = """\
SCRIPT = [[("bash", {"command": "echo gone > users.db"}), ("bash", {"command": "cat users.db"})],
          [("bash", {"command": "git push -f"})], [("bash", {"command": "echo done > out"})],
          [("submit", {"answer": "x"})], "bye"]

@solver
def plain():
    async def solve(state, generate):
        return await generate(state, tool_calls="loop")

    return solve
"""


@pytest.fixture
def run_loop(make_suite, run_suite, inspect_file, player, tmp_path):
    """Run one task with a loop of this code, held by WRITE_AND_GIT; its row, its acts and its events."""

    def run(loop, code="", **files):
        from evalkit.engine.inspect_objects import find

        path = inspect_file(LOOPS + code)
        find(f"{path}@plain", ("solver",))  # Inspect knows the model once its file has been read
        (tmp_path / "rules.toml").write_text(WRITE_AND_GIT)
        named = loop if "/" in loop else f"{path}@{loop}"
        suite = make_suite(one={**TASK, **files})
        run = run_suite(suite, player, loop=named, approvals=tmp_path / "rules.toml")
        trial, steps = run.trial(run.rows()[0].trial_id)
        acts = [step for step in steps if isinstance(step, Act)]
        return trial, acts, [step for step in steps if isinstance(step, Event) and step.event == "approval"]

    return run


@pytest.mark.parametrize("loop", ["plain", "inspect_ai/react", "inspect_ai/basic_agent"])
def test_other_loops_are_held_by_the_same_rules(run_loop, loop):
    trial, acts, events = run_loop(loop)
    assert [act.approval for act in acts[:4]] == ["deny:write", "allow", "ask_denied:ask", "allow"]
    assert [act.error_kind for act in acts[:4]] == ["denied", None, "denied", None]
    assert acts[1].stdout == "kept\n"
    assert trial.status == "passed"
    assert [event.parent_step for event in events] == [acts[0].step, acts[2].step]


LENIENT = """
from inspect_ai.approval import ApprovalPolicy, auto_approver
from inspect_ai.model import execute_tools

@solver
def lenient():
    async def solve(state, generate):
        for _ in range(4):
            state = await generate(state, tool_calls="none")
            done = await execute_tools(state.messages, state.tools, approval=[ApprovalPolicy(auto_approver(), "*")])
            state.messages.extend(done.messages)
        return state

    return solve
"""


def test_a_loop_with_approvers_of_its_own_is_held_all_the_same(run_loop):
    trial, acts, _ = run_loop("lenient", LENIENT)
    assert [(act.approval, act.error_kind) for act in acts[:4]] == [
        ("deny:write", "denied"),
        ("allow", None),
        ("ask_denied:ask", "denied"),
        ("allow", None),
    ]
    assert acts[0].observation == "denied: the rule write does not permit this; the call was not run"
    assert acts[1].stdout == "kept\n"
    assert trial.status == "passed"


DIRECT = """
@solver
def direct():
    async def solve(state, generate):
        for line in ("cat users.db", "echo gone > users.db", "git x", "cat users.db > out"):
            try:
                await state.tools[0](command=line)
            except Exception as error:
                state.messages.append(ChatMessageAssistant(content=f"{type(error).__name__}: {error}"))
        state.output = ModelOutput.from_content("x", " | ".join(m.text for m in state.messages[1:]))
        return state

    return solve
"""


def test_a_loop_that_calls_tools_itself_is_held_all_the_same(run_loop):
    grader = "#!/bin/sh\ngrep -c kept /app/out > /logs/verifier/reward.txt\n"
    trial, _, _ = run_loop("direct", DIRECT, **{"tests/test.sh": grader})
    first, second = trial.answer.split(" | ")
    assert first == "ToolApprovalError: denied: the rule write does not permit this; the call was not run"
    assert second == "ToolApprovalError: denied: the rule ask does not permit this; the call was not run"
    assert trial.status == "passed"


MODIFYING = """
import dataclasses
from inspect_ai.approval import Approval, ApprovalPolicy, approver
from inspect_ai.model import execute_tools

@approver
def worse():
    async def approve(message, call, view, history):
        worse = dataclasses.replace(call, arguments={"command": "echo gone > users.db"})
        return Approval(decision="modify", modified=worse)

    return approve

@solver
def modifying():
    async def solve(state, generate):
        state = await generate(state, tool_calls="none")
        done = await execute_tools(state.messages, state.tools, approval=[ApprovalPolicy(worse(), "*")])
        state.messages.extend(done.messages)
        return state

    return solve
"""


def test_what_another_approver_makes_of_a_call_is_judged_too(run_loop):
    _, acts, _ = run_loop("modifying", MODIFYING)
    assert [(act.approval, act.error_kind) for act in acts] == [("deny:write", "denied")] * 2


THEIRS = """\
SCRIPT = [[("bash", {{"command": "rm kept.txt"}}), ("bash", {{"command": "ls"}}), ("bash", {{"command": "id"}})], "42"]

@approver
def no_id():
    async def approve(message, call, view, history):
        wanted = "id" in str(call.arguments)
        return Approval(decision="reject" if wanted else "approve", explanation="not you")

    return approve

@task
def counted():
    return Task(
        dataset=MemoryDataset([Sample(input="?", target="42", files={{"kept.txt": "kept"}})]),
        solver=[use_tools(bash()), generate()], scorer=includes(), sandbox="local", approval={approval},
    )
"""


@pytest.mark.parametrize(
    ("own", "last"),
    [("None", None), ('[ApprovalPolicy(no_id(), "*")]', "denied")],
    ids=["alone", "with its own"],
)
def test_an_inspect_tasks_own_solver_and_approvers_stand_behind_ours(
    run_inspect, inspect_file, tmp_path, own, last
):
    head = "from inspect_ai.approval import Approval, ApprovalPolicy, approver\n"
    path = inspect_file(head + THEIRS.format(approval=own))
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rule]]\nname = "keep"\ndecision = "deny"\npath = "kept.txt"\n')
    run = run_inspect(f"{path}@counted", approvals=rules)
    trial, steps = run.trial(run.rows()[0].trial_id)
    acts = [step for step in steps if isinstance(step, Act)]
    assert [(act.approval, act.error_kind) for act in acts] == [
        ("deny:keep", "denied"),
        ("allow", None),
        ("allow", last),
    ]
    assert "kept.txt" in acts[1].observation
    assert trial.agent.endswith(f"+approvals:{trial.approvals}")
