"""Tools of MCP servers join the agent's."""

from __future__ import annotations

import importlib.util
import json
import os
import sys

import pytest

import evalkit
from evalkit.engine.prepare import RunFlags, prepare
from evalkit.engine.start import start
from evalkit.errors import ConfigError, UsageError
from evalkit.trajectory.step import Act, Event

SERVER = f"""\
import sys

sys.path[:] = {sys.path!r}  # a server gets no PYTHONPATH
try:
    from mcp.server.mcpserver import MCPServer as Server
except ImportError:  # mcp 1
    from mcp.server.fastmcp import FastMCP as Server

server = Server("handbook")

@server.tool()
def look_up(word: str) -> str:
    "Look a word up."
    if word == "none":
        raise ValueError("no such word")
    return word + " is blue"

@server.tool()
def forget() -> str:
    "Forget everything."
    return "gone"

server.run()
"""
SCRIPT = """\
SCRIPT = [[("look_up", {"word": "sky"})], [("look_up", {"word": "none"})], [("submit", {"answer": "x"})]]

@solver
def plain():
    async def solve(state, generate):
        return await generate(state, tool_calls="loop")

    return solve
"""


@pytest.fixture
def mcp_package() -> None:
    """Skip where the package is not installed; fail where it is required."""
    if importlib.util.find_spec("mcp") is None:
        if "mcp" in os.environ.get("EVALKIT_REQUIRE", "").split(","):
            pytest.fail("the package mcp is required")
        pytest.skip("the package mcp is not installed")


@pytest.fixture
def with_server(inspect_file, make_suite, tmp_path, monkeypatch, player):
    """Prepare a run of one task in a project with this server."""
    from evalkit.engine.inspect_objects import find

    suite = make_suite()
    find(f"{inspect_file(SCRIPT)}@plain", ("solver",))
    (tmp_path / "handbook.py").write_text(SERVER)
    monkeypatch.chdir(tmp_path)

    def ready(toml: str, **flags):
        (tmp_path / "evalkit.toml").write_text(f"[mcp.handbook]\n{toml}\n")
        return prepare(RunFlags(suites=(str(suite),), models=(player,), out=tmp_path / "run", **flags))

    return ready


COMMAND = f'command = "{sys.executable}"\nargs = ["handbook.py"]\n'


@pytest.mark.local
@pytest.mark.parametrize("loop", [None, "theirs.py@plain"])
def test_a_servers_tools_are_called_and_recorded(with_server, mcp_package, local_support, quiet, loop):
    prepared = with_server(COMMAND + 'tools = ["look_*"]', loop=loop)
    assert "the MCP server handbook" in prepared.warnings[0]
    run = evalkit.load(start(prepared, quiet).path)
    (row,) = run.rows()
    assert row.error_message is None
    found, missed, _ = [step for step in run.trial(row.trial_id)[1] if isinstance(step, Act)]
    assert (found.tool, json.loads(found.arguments)) == ("look_up", {"word": "sky"})
    assert (found.observation, found.error_kind, found.exit_code) == ("sky is blue", None, None)
    assert (missed.error_kind, missed.exit_code) == ("unknown", None)
    assert missed.observation.startswith("Error executing tool look_up")


def test_the_servers_program_is_part_of_the_agent(with_server, mcp_package, tmp_path):
    (before,) = with_server(COMMAND).agents
    (tmp_path / "handbook.py").write_text(SERVER + "# changed\n")
    (after,) = with_server(COMMAND).agents
    assert before.id != after.id


@pytest.mark.local
@pytest.mark.parametrize(
    ("toml", "says", "hint"),
    [
        (COMMAND + 'tools = ["lookup"]', "none of the MCP server's tools is chosen", "Did you mean look_up?"),
        (f'command = "{sys.executable}"\nargs = ["-c", "raise SystemExit(3)"]', "cannot be used", "Try: "),
    ],
)
def test_a_server_that_is_of_no_use_is_refused_before_the_run(
    with_server, mcp_package, local_support, quiet, tmp_path, toml, says, hint
):
    with pytest.raises(UsageError, match=says) as raised:
        start(with_server(toml), quiet)
    assert hint in raised.value.hint
    assert not (tmp_path / "run").exists()


def test_a_program_that_is_not_there_is_named(with_server, mcp_package):
    with pytest.raises(UsageError, match="there is no program 'no-such-program'"):
        with_server('command = "no-such-program"')


@pytest.mark.parametrize("toml", ["args = []", 'command = "x"\nurl = "http://x"'])
def test_a_server_is_a_command_or_an_address(with_server, toml):
    with pytest.raises(ConfigError, match="either a command or a url"):
        with_server(toml)


def test_an_unknown_key_of_a_server_is_answered_with_the_nearest(with_server):
    with pytest.raises(ConfigError, match=r"unknown key mcp.handbook.comand") as raised:
        with_server('comand = "x"')
    assert raised.value.hint == "Did you mean command?"


@pytest.mark.skipif(importlib.util.find_spec("mcp") is not None, reason="the package mcp is installed")
def test_without_the_package_a_run_says_what_to_install(with_server):
    with pytest.raises(UsageError, match="need the package mcp") as raised:
        with_server(COMMAND)
    assert "pip install" in raised.value.hint


@pytest.mark.local
@pytest.mark.parametrize("loop", [None, "theirs.py@plain"])
def test_a_fault_strikes_a_servers_tool(with_server, mcp_package, local_support, quiet, tmp_path, loop):
    (tmp_path / "plan.toml").write_text(
        '[[faults]]\nid = "lie"\nkind = "wrong_value"\nwhen = { tool = "look_up", matches = "sky" }\n'
    )
    run = evalkit.load(start(with_server(COMMAND, loop=loop, faults="plan.toml"), quiet).path)
    (row,) = (row for row in run.rows() if row.variant == "lie")
    _, steps = run.trial(row.trial_id)
    struck, failed, _ = (step for step in steps if isinstance(step, Act))
    (told,) = (json.loads(step.detail) for step in steps if isinstance(step, Event) and step.event == "fault")
    assert (struck.fault_id, struck.observation) == ("lie", f"sky is {told['canary']}")
    assert (failed.fault_id, told["true_stdout"], row.faults_fired) == (None, "sky is blue", 1)
