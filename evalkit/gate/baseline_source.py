"""Where does a baseline come from: a run, a file, or a file of another git revision?"""

from __future__ import annotations

import subprocess
from pathlib import Path

from evalkit.errors import ConfigError, NotComparable, UsageError
from evalkit.gate.baseline import Baseline
from evalkit.gate.baseline_file import read_baseline
from evalkit.gate.side import Side
from evalkit.textfile import readable

_LARGEST = 256 * 2**20
_GIT_S = 60


def baseline_side(spec: str) -> Side | None:
    """The baseline that `FILE` or `git:REF:PATH` names; None where it names no file, and so may be a run.

    Raises as `accepted_baseline` does.
    """
    path = Path(spec)
    if not spec.startswith("git:") and not path.is_file() and (path.suffix != ".json" or path.exists()):
        return None
    return accepted_baseline(spec).side


def accepted_baseline(spec: str) -> Baseline:
    """What was accepted. Raises UsageError where there is no such file, NotComparable where git has none, ConfigError
    where it is damaged or of a newer version."""
    if spec.startswith("git:"):
        return read_baseline(_from_git(spec), where=spec)
    path = Path(spec)
    if not path.is_file():
        raise UsageError(
            "there is no such baseline", where=spec, hint="Accept a run first: evalkit baseline accept RUN"
        )
    if path.stat().st_size > _LARGEST:
        raise ConfigError("too large for a baseline", where=spec)
    with readable(path):
        return read_baseline(path.read_bytes(), where=spec)


def _from_git(spec: str) -> bytes:
    """The file as it is in a revision of the repository that we are in; a path with `./` is from here, else from its
    top."""
    _, _, rest = spec.partition(":")
    ref, colon, path = rest.partition(":")
    if not (ref and colon and path) or ref.startswith("-"):
        raise UsageError(
            f"{spec!r} names no file of a git revision",
            hint="Write git:REF:PATH, as git:origin/main:baselines/core.json.",
        )
    try:
        done = subprocess.run(
            ["git", "cat-file", "blob", f"{ref}:{path}"],
            capture_output=True,
            timeout=_GIT_S,
            check=False,
        )
    except FileNotFoundError:
        raise UsageError(
            "git is not installed", hint="Install git, or give the baseline as a file."
        ) from None
    except subprocess.TimeoutExpired:
        raise NotComparable(
            f"git did not give {ref}:{path} within {_GIT_S} s", hint="Give the baseline as a file."
        ) from None
    if done.returncode:
        told = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise NotComparable(
            f"git has no {ref}:{path}: {told[-1] if told else 'unknown reason'}",
            hint="In CI fetch the base branch first (`git fetch origin main`). The first baseline is accepted "
            "and committed there: evalkit baseline accept RUN",
        )
    return done.stdout
