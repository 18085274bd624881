"""Can this machine isolate trials without a container engine, and if not, which setting forbids it?"""

from __future__ import annotations

import os
import platform
import subprocess
from dataclasses import dataclass
from pathlib import Path

from evalkit.errors import SandboxError
from evalkit.sandbox.local import bubblewrap, scratch, seccomp

_ELSEWHERE = "or use a container engine: --sandbox docker"
_CONTAINER_HINT = (
    "Start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined, "
    "run evalkit on the host, or give it an engine's socket and use --sandbox docker."
)


@dataclass(frozen=True, slots=True)
class Support:
    """Whether local sandboxes run here. Where they do not, `problem` says why and `hint` what to do."""

    ok: bool
    runtime: str | None
    problem: str | None = None
    hint: str | None = None


def check_local() -> Support:
    """Try it: start the smallest sandbox there is. Takes some milliseconds."""
    if platform.system() != "Linux":
        return Support(
            ok=False, runtime=None, problem="local sandboxes need Linux", hint="Run evalkit on Linux."
        )
    who, base = bubblewrap.account(), scratch.base_folder()
    try:
        seccomp.program()
        scratch.make_base(base, who)
        found = bubblewrap.find(base, who)
    except SandboxError as error:
        return Support(ok=False, runtime=None, problem=error.message, hint=error.hint)
    except OSError as error:
        return Support(
            ok=False, runtime=None, problem=f"{base}: {error.strerror}", hint="Set EVALKIT_SCRATCH."
        )
    runtime = f"bubblewrap {found.version}"
    said = _try(found, who)
    if said is None:
        return Support(ok=True, runtime=runtime)
    problem, hint = explain(said)
    return Support(ok=False, runtime=runtime, problem=problem, hint=hint)


def explain(said: str, *, settings: Path = Path("/proc/sys")) -> tuple[str, str]:
    """What stands behind bubblewrap's complaint, and what to do about it."""
    for setting, wrong, problem, change in _SETTINGS:
        value = _value(settings / setting)
        if value == wrong:
            return f"{problem} ({said})", f"Run `{change}` as root, {_ELSEWHERE}."
    if _in_container():
        return (
            f"this container may not make namespaces ({said})",
            _CONTAINER_HINT,
        )
    return (
        f"bubblewrap could not make a sandbox: {said}",
        f"See what `bwrap` needs on this system, {_ELSEWHERE}.",
    )


_SETTINGS = (
    (
        "kernel/unprivileged_userns_clone", "0",
        "kernel.unprivileged_userns_clone forbids user namespaces",
        "sysctl -w kernel.unprivileged_userns_clone=1",
    ),
    (
        "user/max_user_namespaces", "0",
        "user.max_user_namespaces forbids user namespaces", "sysctl -w user.max_user_namespaces=15000",
    ),
    (
        "kernel/apparmor_restrict_unprivileged_userns", "1",
        "AppArmor forbids user namespaces (kernel.apparmor_restrict_unprivileged_userns)",
        "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
)  # fmt: skip


def _try(found: bubblewrap.Bubblewrap, who: bubblewrap.Account) -> str | None:
    args = [
        *(str(found.path), "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent"),
        *("--new-session", "--cap-drop", "ALL", *bubblewrap.system_folders()),
        *("--proc", "/proc", "--dev", "/dev", "--", "/bin/sh", "-c", ":"),
    ]
    try:
        if who.switch:
            done = subprocess.run(
                args, capture_output=True, text=True, check=False, timeout=20, env={}, cwd="/",
                user=who.uid, group=who.gid, extra_groups=[],
            )  # fmt: skip
        else:
            done = subprocess.run(
                args, capture_output=True, text=True, check=False, timeout=20, env={}, cwd="/"
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None if done.returncode == 0 else done.stderr.strip() or f"exit code {done.returncode}"


def _value(setting: Path) -> str | None:
    try:
        return setting.read_text().strip()
    except OSError:
        return None


def _in_container() -> bool:
    return Path("/.dockerenv").exists() or Path("/run/.containerenv").exists() or "container" in os.environ
