"""How are a user's own loop, tools and MCP servers found and pinned, before anything runs?"""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from evalkit.engine.inspect_objects import find
from evalkit.engine.loops import find_loop
from evalkit.engine.own_code import McpServer, OwnCode, Source
from evalkit.errors import UsageError
from evalkit.project import McpDefaults, Project


def own_code(
    project: Project, loop: str | None, tools: Sequence[str], servers: Mapping[str, McpDefaults]
) -> OwnCode:
    """Find everything. Raises UsageError, naming what is meant, for whatever is missing or does not load."""
    return OwnCode(
        loop=None if loop in {None, "react"} else find_loop(in_project(project, str(loop))),
        tools=tuple(find_tool(in_project(project, tool)) for tool in tools),
        servers=tuple(_server(project, name, one) for name, one in servers.items()),
    )


def again(own: OwnCode) -> OwnCode:
    """The same code, as it is now. Raises UsageError for what is gone."""
    return OwnCode(
        loop=None if own.loop is None else find_loop(own.loop.text),
        tools=tuple(find_tool(tool.text) for tool in own.tools),
        servers=tuple(replace(one, digest=_files_digest(one)) for one in own.servers),
    )


def find_tool(text: str) -> Source:
    """The tool that `FILE.py@tool` or `package/tool` names; it is made once, to see that it can be."""
    found = find(text, ("tool",))
    found.make({})
    return Source(found.source, found.name, found.digest)


def in_project(project: Project, text: str) -> str:
    """`FILE.py@name` as it is found: a file's name starts at the working directory, or else at the project."""
    path, at, name = text.rpartition("@") if "@" in text else (text, "", "")
    if path.endswith(".py") and not Path(path).is_file() and project.file(path).is_file():
        return f"{project.file(path)}{at}{name}"
    return text


def _server(project: Project, name: str, asked: McpDefaults) -> McpServer:
    where = f"{project.path}, [mcp.{name}]"
    if importlib.util.find_spec("mcp") is None:
        missing = "MCP servers need the package mcp, which is not installed"
        raise UsageError(missing, where=where, hint="pip install mcp")
    if asked.command is not None and shutil.which(asked.command) is None:
        raise UsageError(
            f"there is no program {asked.command!r}", where=where, hint="Give its path, or install it."
        )
    args = tuple(str(project.file(arg)) if project.file(arg).is_file() else arg for arg in asked.args)
    server = McpServer(name, asked.command, args, asked.url, asked.tools)
    return replace(server, digest=_files_digest(server))


def _files_digest(server: McpServer) -> str | None:
    """sha256 over the content of those arguments that are files, such as the server's own program."""
    contents = [Path(arg).read_bytes() for arg in server.args if Path(arg).is_file()]
    if not contents:
        return None
    digests = "\n".join(hashlib.sha256(content).hexdigest() for content in contents)
    return hashlib.sha256(digests.encode()).hexdigest()
