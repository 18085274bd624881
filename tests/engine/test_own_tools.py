"""A user's own Inspect tools join the agent's, and are recorded like any call."""

from __future__ import annotations

import json

import pytest

import evalkit
from evalkit.engine.prepare import RunFlags, prepare
from evalkit.engine.start import start
from evalkit.errors import NotComparable, UsageError
from evalkit.trajectory.step import Act

pytestmark = pytest.mark.local

TOOLS = """\
SCRIPT = [[("search", {"query": "colour"})], [("search", {"query": ""})], [("submit", {"answer": "x"})]]

@tool
def search():
    async def execute(query: str) -> str:
        '''Search the handbook.

        Args:
            query: What to look for.
        '''
        if not query:
            raise FileNotFoundError(2, "nothing", "handbook")
        return f"{query}: blue"

    return execute

@tool
def submit():
    return search()

@tool
def needy(key: str):
    return search()

@solver
def plain():
    async def solve(state, generate):
        return await generate(state, tool_calls="loop")

    return solve
"""


@pytest.fixture
def project(inspect_file, make_suite, tmp_path, monkeypatch, quiet, player):
    """Run one task in a project whose evalkit.toml says this."""
    suite = make_suite()
    monkeypatch.chdir(tmp_path)

    def run(toml: str, *, text: str = TOOLS, out: str = "run", **flags):
        inspect_file(text)
        (tmp_path / "evalkit.toml").write_text(toml)
        prepared = prepare(RunFlags(suites=(str(suite),), models=(player,), out=tmp_path / out, **flags))
        run = evalkit.load(start(prepared, quiet).path)
        return prepared, run

    return run


def acts_of(run):
    return [step for step in run.trial(run.rows()[0].trial_id)[1] if isinstance(step, Act)]


@pytest.mark.parametrize("loop", [None, "theirs.py@plain"])
def test_a_tool_of_the_users_is_called_and_recorded(project, local_support, loop):
    prepared, run = project('tools = ["theirs.py@search"]\n', loop=loop)
    found, missed, _ = acts_of(run)
    assert (found.tool, json.loads(found.arguments)) == ("search", {"query": "colour"})
    assert (found.observation, found.error_kind, found.exit_code) == ("colour: blue", None, None)
    assert (missed.error_kind, missed.stdout) == ("not_found", None)
    assert "outside every sandbox" in prepared.warnings[0]
    assert "search" in prepared.warnings[0]


def test_a_tool_that_fails_leaves_the_trial_unscored_and_its_call_recorded(project, local_support):
    text = TOOLS.replace(
        'raise FileNotFoundError(2, "nothing", "handbook")', 'raise RuntimeError("out of order")'
    )
    _, run = project('tools = ["theirs.py@search"]\n', text=text)
    (trial,) = run.rows()
    assert (trial.status, trial.error_origin) == ("unscored", "task")
    assert "out of order" in trial.error_message
    assert [(act.tool, act.error_kind) for act in acts_of(run)] == [("search", None), ("search", "unknown")]


def test_tools_are_part_of_the_agent(project, local_support):
    _, first = project('tools = ["theirs.py@search"]\n')
    _, second = project('tools = ["theirs.py@search"]\n', text=TOOLS + "\n# changed\n", out="second")
    (one,), (two,) = first.rows(), second.rows()
    assert one.agent.partition("+tools#")[1]
    assert one.agent != two.agent
    assert one.agent_digest != two.agent_digest


def test_a_run_is_not_resumed_with_other_tools(project, inspect_file, local_support):
    from evalkit.engine.resume import remaining

    _, run = project('tools = ["theirs.py@search"]\n')
    assert remaining(run) == ()
    inspect_file(TOOLS + "\n# changed\n")
    with pytest.raises(NotComparable, match="is no longer what it was"):
        remaining(run)


@pytest.mark.parametrize(
    ("tool", "says", "hint"),
    [
        ("theirs.py@serach", "holds no tool 'serach'", "Did you mean search?"),
        ("their.py@search", "there is no file", "Did you mean theirs.py?"),
        ("theirs.py@needy", "needs a value for key", "Wrap it in a tool"),
        ("theirs.py@submit", "two tools have the name 'submit'", "Rename yours"),
    ],
)
def test_a_tool_that_cannot_be_had_is_refused_before_the_run(
    project, tmp_path, tool, says, hint, local_support
):
    with pytest.raises(UsageError, match=says) as raised:
        project(f'tools = ["{tool}"]\n')
    assert hint in raised.value.hint
    assert not (tmp_path / "run").exists()
