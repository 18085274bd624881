# pyright: basic
"""What does the container engine's complaint mean, and what is to be done about it?"""

from __future__ import annotations

import contextlib
import os
import re
import tarfile
import traceback
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

from evalkit.errors import SandboxError

USUAL_ADDRESS = "unix:///var/run/docker.sock"
START_HINT = (
    "Start it (for example `systemctl start docker`), or set DOCKER_HOST to its socket; "
    "Podman's is made by `systemctl --user start podman.socket`."
)
DISK_HINT = "Free space where the engine keeps its data, for example with `docker system prune`."
NO_SH = "its image has no sh"

_NO_SH = re.compile(r"""\\*"sh\\*": executable file not found|executable file `sh` not found""")
_NO_REFERENCE = re.compile(r"invalid reference format|invalid tag format|must be lowercase", re.IGNORECASE)
_NO_USER = re.compile(
    r"unable to find (user|group)|no matching entries in (passwd|group) file", re.IGNORECASE
)
_LITTLE_MEMORY = re.compile(r"minimum memory limit allowed|memory limit too low", re.IGNORECASE)
_UNRESOLVED = ("NameResolutionError", "Failed to resolve", "gaierror")
_HUNG_UP = ("Connection aborted", "RemoteDisconnected", "ConnectionResetError", "BrokenPipeError")


class Refused(SandboxError):
    """The engine answered a call with an error. `status` is its HTTP status, `said` its own words."""

    def __init__(self, doing: str, status: int, said: str, *, hint: str | None = None) -> None:
        super().__init__(f"the container engine could not {doing}: {said}", hint=hint)
        self.status = status
        self.said = said


class EngineSilent(SandboxError):
    """The engine said nothing for a while, not even to the simplest question."""

    def __init__(self) -> None:
        super().__init__("the container engine does not answer", where=looked_for(), hint=START_HINT)


class NotThere(Refused):
    """What the call was about does not exist: a path, an image, or the container."""


def looked_for() -> str:
    """Where the engine is looked for, and who says so."""
    named = os.environ.get("DOCKER_HOST")
    return f"DOCKER_HOST={named} (from the environment)" if named else f"{USUAL_ADDRESS} (the default)"


def no_address() -> SandboxError:
    """What it means that DOCKER_HOST cannot be understood."""
    return SandboxError(
        "DOCKER_HOST is no address of an engine",
        where=looked_for(),
        hint="It looks like unix:///var/run/docker.sock or tcp://HOST:PORT; unset it to use the default.",
    )


def is_no_reference(said: str) -> bool:
    """Whether the engine says that a name cannot be an image's."""
    return _NO_REFERENCE.search(said) is not None


def is_unknown_user(said: str) -> bool:
    """Whether the engine says that there is no such user or group inside."""
    return _NO_USER.search(said) is not None


def is_too_little_memory(said: str) -> bool:
    """Whether the engine says that no container can live with so little memory."""
    return _LITTLE_MEMORY.search(said) is not None


@contextlib.contextmanager
def translated(doing: str) -> Iterator[None]:
    """Turn what the SDK raises into errors that say what to do."""
    import requests.exceptions
    import urllib3.exceptions
    from docker.errors import APIError, DockerException, StreamParseError

    try:
        yield
    except APIError as error:
        raise refused(doing, error.status_code or 0, str(error.explanation or error)) from error
    except (
        DockerException, requests.exceptions.RequestException, urllib3.exceptions.HTTPError, ConnectionError,
        TimeoutError,
    ) as error:  # fmt: skip
        _let_go(error)
        raise unreachable(error) from error
    except StreamParseError as error:
        raise SandboxError("the container engine was cut short", hint=START_HINT) from error
    except tarfile.TarError as error:
        raise SandboxError(f"the engine sent a broken archive: {error}") from error


def refused(doing: str, status: int, said: str) -> Refused:
    """What an error answer means. `status` is its HTTP status."""
    said = said.strip()
    hint = DISK_HINT if "no space left on device" in said.lower() else None
    if _NO_SH.search(said):
        return Refused(doing, status, NO_SH, hint="An image needs a POSIX sh.")
    if status == 404:
        return NotThere(doing, status, said)
    if "is not running" in said or "is dead" in said or "marked for removal" in said:
        return Refused(
            doing, status, said, hint="The container was killed from outside, or its engine restarted."
        )
    return Refused(doing, status, said, hint=hint)


def unreachable(error: Exception) -> SandboxError:
    """Why no answer came at all."""
    text, where = f"{type(error).__name__} {error}", looked_for()
    address = os.environ.get("DOCKER_HOST") or USUAL_ADDRESS
    if "PermissionError" in text:
        return SandboxError(
            "you may not use the container engine",
            where=where,
            hint="Join the group that owns its socket (`sudo usermod -aG docker $USER`, then log in again), "
            "or use rootless Podman by DOCKER_HOST.",
        )
    if "FileNotFoundError" in text:
        return SandboxError(
            "there is no container engine here",
            where=where,
            hint=f"Install Docker or Podman. {START_HINT}",
        )
    if "timed out" in text.lower() or "TimeoutError" in text:
        problem = "the container engine does not answer"
    elif "Connection refused" in text:
        problem = f"nothing listens at {address}"
    elif any(one in text for one in _UNRESOLVED):
        problem = f"no machine is known by the name in {address}"
    elif any(one in text for one in _HUNG_UP):
        problem = "the container engine hung up"
    else:
        reason = _reason(error)
        problem = "the container engine cannot be reached" + (f": {reason}" if reason else "")
    return SandboxError(problem, where=where, hint=START_HINT)


def raise_for(answer: Any, doing: str | None = None) -> None:
    """Raise what an answer complains about, if it does."""
    if answer.status_code < 400:
        return
    try:
        said = str(answer.json()["message"])
    except (ValueError, KeyError, TypeError):
        said = answer.text or answer.reason
    raise refused(doing or f"use {_asked_about(answer.request.path_url)}", answer.status_code, said)


def _asked_about(url: str) -> str:
    """The path inside the container, where a call is about one."""
    parts = urlsplit(url)
    [path, *_] = parse_qs(parts.query).get("path", [parts.path])
    return path if path.isprintable() else repr(path)


def _reason(error: BaseException | None) -> str | None:
    """What the system says below all that wraps it."""
    found = None
    while error is not None:
        if isinstance(error, OSError) and isinstance(error.strerror, str):
            found = error.strerror
        error = error.__cause__ or error.__context__
    return found


def _let_go(error: BaseException | None) -> None:
    """The SDK's socket hangs on the frames of the failure; without them it is closed at once."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__context__
