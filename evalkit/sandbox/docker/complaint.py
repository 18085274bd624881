# pyright: basic
"""What does the container engine's complaint mean, and what is to be done about it?"""

from __future__ import annotations

import contextlib
import re
import tarfile
import traceback
from collections.abc import Iterator
from typing import Any

from evalkit.errors import SandboxError

START_HINT = (
    "Start it (for example `systemctl start docker`), or set DOCKER_HOST to its socket; "
    "Podman's is made by `systemctl --user start podman.socket`."
)
DISK_HINT = "Free space where the engine keeps its data, for example with `docker system prune`."


_NO_SH = re.compile(r'\\*"sh\\*": executable file not found')


class Refused(SandboxError):
    """The engine answered a call with an error. `status` is its HTTP status, `said` its own words."""

    def __init__(self, doing: str, status: int, said: str, *, hint: str | None = None) -> None:
        super().__init__(f"the container engine could not {doing}: {said}", hint=hint)
        self.status = status
        self.said = said


class EngineSilent(SandboxError):
    """The engine said nothing for a while, not even to the simplest question."""

    def __init__(self) -> None:
        super().__init__("the container engine does not answer", hint=START_HINT)


class NotThere(Refused):
    """What the call was about does not exist: a path, an image, or the container."""


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
        return Refused(doing, status, "its image has no sh", hint="An image needs a POSIX sh.")
    if status == 404:
        return NotThere(doing, status, said)
    if "is not running" in said or "is dead" in said or "marked for removal" in said:
        return Refused(
            doing, status, said, hint="The container was killed from outside, or its engine restarted."
        )
    return Refused(doing, status, said, hint=hint)


def unreachable(error: Exception) -> SandboxError:
    """Why no answer came at all."""
    text = f"{type(error).__name__} {error}"
    if "PermissionError" in text:
        return SandboxError(
            "you may not use the container engine",
            hint="Join the group that owns its socket (`sudo usermod -aG docker $USER`, then log in again), "
            "or use rootless Podman by DOCKER_HOST.",
        )
    if "FileNotFoundError" in text:
        return SandboxError(
            "there is no container engine here", hint=f"Install Docker or Podman. {START_HINT}"
        )
    if "timed out" in text.lower() or "TimeoutError" in text:
        return SandboxError("the container engine does not answer", hint=START_HINT)
    return SandboxError(f"the container engine cannot be reached: {text[-300:]}", hint=START_HINT)


def raise_for(answer: Any, doing: str | None = None) -> None:
    """Raise what an answer complains about, if it does."""
    if answer.status_code < 400:
        return
    try:
        said = str(answer.json()["message"])
    except (ValueError, KeyError, TypeError):
        said = answer.text or answer.reason
    asked = doing or f"use {answer.request.path_url.rpartition('=')[2]}"
    raise refused(asked, answer.status_code, said)


def _let_go(error: BaseException | None) -> None:
    """The SDK's socket hangs on the frames of the failure; without them it is closed at once."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__context__
