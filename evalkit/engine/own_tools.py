"""How does an agent come by the user's own tools, and by those of MCP servers?

They run on this machine, as the user who runs evalkit, and not in the trial's sandbox.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import AsyncGenerator, Sequence
from typing import cast

import anyio
from inspect_ai.tool import MCPServer, Tool, ToolDef, mcp_server_http, mcp_server_stdio, mcp_tools

from evalkit.engine.boundary import innermost
from evalkit.engine.inspect_objects import Found, find
from evalkit.engine.own_code import McpServer, OwnCode, Source
from evalkit.errors import EvalkitError, UsageError
from evalkit.tomlfile import nearest

OUR_TOOLS = ("bash", "python", "submit", "report_impossible")
CONNECT_S = 30.0


@contextlib.asynccontextmanager
async def own_tools(own: OwnCode) -> AsyncGenerator[tuple[Tool, ...]]:
    """The tools of one trial; MCP servers are connected to, or started, for as long as it lasts."""
    tools = [make_tool(source) for source in own.tools]
    async with contextlib.AsyncExitStack() as stack:
        for server in own.servers:
            tools += await _connected(server, stack)
        yield tuple(tools)


def make_tool(source: Source) -> Tool:
    """The user's own tool."""
    return cast("Tool", _found(source.text, source.digest).make({}))


@functools.lru_cache(maxsize=64)
def _found(text: str, digest: str) -> Found:
    """A file is run once for each content, however many trials there are."""
    del digest
    return find(text, ("tool",))


async def _connected(server: McpServer, stack: contextlib.AsyncExitStack) -> list[Tool]:
    opened = _open(server)
    await stack.enter_async_context(opened)
    return await _chosen(server, opened)


async def _chosen(server: McpServer, opened: MCPServer) -> list[Tool]:
    return await mcp_tools(opened, tools="all" if server.tools is None else list(server.tools)).tools()


def _open(server: McpServer) -> MCPServer:
    if server.url is not None:
        return mcp_server_http(name=server.name, url=server.url)
    return mcp_server_stdio(name=server.name, command=server.command or "", args=list(server.args))


def check_tools(own: OwnCode) -> None:
    """Connect to every server once, and see that no two tools have one name.

    Raises UsageError where a server cannot be had, or its list of tools names none that it has.
    """
    if own.tools or own.servers:
        anyio.run(_check, own)


async def _check(own: OwnCode) -> None:
    taken: dict[str, str] = dict.fromkeys(OUR_TOOLS, "evalkit's own tools")
    for source in own.tools:
        _take(taken, ToolDef(make_tool(source)).name, source.text)
    for server in own.servers:
        where = f"[mcp.{server.name}]"
        for name in await _names(server, where):
            _take(taken, name, where)


def _take(taken: dict[str, str], name: str, where: str) -> None:
    if name in taken:
        raise UsageError(
            f"two tools have the name {name!r}: one of {taken[name]}, one of {where}",
            hint="Rename yours: @tool(name=...). Of an MCP server, leave it out of `tools`.",
        )
    taken[name] = where


async def _names(server: McpServer, where: str) -> Sequence[str]:
    try:
        opened = _open(server)
        with anyio.fail_after(CONNECT_S):
            async with opened:
                every = [ToolDef(tool).name for tool in await opened.tools()]
                names = [ToolDef(tool).name for tool in await _chosen(server, opened)]
    except EvalkitError:
        raise
    except Exception as error:
        error = innermost(error)
        said = f"{type(error).__name__}: {error}".splitlines()[0]
        asked = server.url or " ".join((server.command or "", *server.args))
        raise UsageError(
            f"the MCP server cannot be used: {said}", where=where, hint=f"Try: {asked}"
        ) from error
    if not names:
        hint = nearest((server.tools or ("",))[0], every) if every else "The server has none at all."
        raise UsageError("none of the MCP server's tools is chosen", where=where, hint=hint)
    return names
