"""Which system calls does a local sandbox deny, and how is the kernel told so?

Namespaces leave a few doors open: vsock and keyrings are not namespaced, and bpf, io_uring, userfaultfd and
perf are large kernel surfaces that no task needs. Nor does anybody need to take descriptors out of other processes.
Space that is reserved without being written (`fallocate`) fills a disk faster than anybody can look; libraries write
instead where it is not supported. The filter is a classic BPF program for `seccomp(2)`,
which bubblewrap installs right before the shell starts.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalkit.errors import SandboxError

ALLOWED_FAMILIES: Mapping[str, int] = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16}

_LOAD_WORD, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_OFFSET_NUMBER, _OFFSET_ARCH, _OFFSET_ARGUMENTS = 0, 4, 16
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_X32 = 0x40000000
_BUBBLEWRAP = 1
"""Its process number inside. It is outside the limits that the shell puts on itself."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """What the filter must know about one kind of processor."""

    audit: int
    socket: int
    denied: Mapping[str, int]
    traces: Mapping[int, int]
    """Calls that reach into another process: number -> which argument names that process."""
    prlimit: int
    """Its first argument names a process; 0 is the caller."""
    ioctl: int
    unsupported: Mapping[str, int]
    x32: bool = False


RESERVING: Mapping[str, int] = {
    "FS_IOC_RESVSP": 0x40305828,
    "FS_IOC_RESVSP64": 0x4030582A,
    "FS_IOC_ZERO_RANGE": 0x40305839,
}
"""Requests of `ioctl` that do what `fallocate` does."""

_COMMON = {"pidfd_getfd": 438, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427}
ARCHITECTURES: Mapping[str, Architecture] = {
    "x86_64": Architecture(
        audit=0xC000003E,
        socket=41,
        x32=True,
        denied={
            **_COMMON,
            "syslog": 103,
            "add_key": 248,
            "request_key": 249,
            "keyctl": 250,
            "perf_event_open": 298,
            "open_by_handle_at": 304,
            "kcmp": 312,
            "bpf": 321,
            "userfaultfd": 323,
        },
        traces={101: 1, 310: 0, 311: 0},
        prlimit=302,
        ioctl=16,
        unsupported={"fallocate": 285},
    ),
    "aarch64": Architecture(
        audit=0xC00000B7,
        socket=198,
        denied={
            **_COMMON,
            "syslog": 116,
            "add_key": 217,
            "request_key": 218,
            "keyctl": 219,
            "perf_event_open": 241,
            "open_by_handle_at": 265,
            "kcmp": 272,
            "bpf": 280,
            "userfaultfd": 282,
        },
        traces={117: 1, 270: 0, 271: 0},
        prlimit=261,
        ioctl=29,
        unsupported={"fallocate": 47},
    ),
}


def program(machine: str | None = None) -> bytes:
    """The filter for this machine (or the named one), as bubblewrap's `--seccomp` reads it.

    Raises SandboxError for a processor that it is not written for.
    """
    machine = machine or platform.machine()
    architecture = ARCHITECTURES.get(machine)
    if architecture is None:
        raise SandboxError(
            f"there is no system call filter for {machine} processors",
            hint=f"The local sandbox runs on {' and '.join(ARCHITECTURES)}; elsewhere use docker: --sandbox docker.",
        )
    return b"".join(_instructions(architecture))


def _instructions(architecture: Architecture) -> Sequence[bytes]:
    """Each test that holds runs the next instruction; one that does not skips it."""
    deny = _return(_ERRNO | errno.EPERM)
    allow = _return(_ALLOW)
    code = [
        _load(_OFFSET_ARCH),
        _jump(_JUMP_EQUAL, architecture.audit, on_true=1, on_false=0),
        deny,
        _load(_OFFSET_NUMBER),
    ]
    if architecture.x32:
        code += [_jump(_JUMP_AT_LEAST, _X32), deny]
    for number in architecture.denied.values():
        code += [_jump(_JUMP_EQUAL, number), deny]
    unsupported = _return(_ERRNO | errno.EOPNOTSUPP)
    for number in architecture.unsupported.values():
        code += [_jump(_JUMP_EQUAL, number), unsupported]
    # The kernel reads process numbers and requests as C ints, so the upper half of the register means nothing.
    own = [_load(_OFFSET_ARGUMENTS), _jump(_JUMP_EQUAL, 0), allow, deny]
    code += [_jump(_JUMP_EQUAL, architecture.prlimit, on_false=len(own)), *own]
    reserving = [_load(_OFFSET_ARGUMENTS + 8)]
    for request in RESERVING.values():
        reserving += [_jump(_JUMP_EQUAL, request), unsupported]
    code += [_jump(_JUMP_EQUAL, architecture.ioctl, on_false=len(reserving) + 1), *reserving, allow]
    for number, argument in architecture.traces.items():
        body = [_load(_OFFSET_ARGUMENTS + 8 * argument), _jump(_JUMP_EQUAL, _BUBBLEWRAP), deny, allow]
        code += [_jump(_JUMP_EQUAL, number, on_false=len(body)), *body]
    code += [_jump(_JUMP_EQUAL, architecture.socket, on_true=1, on_false=0), allow]
    # The kernel reads the family as a C int, so the upper half of the register means nothing.
    code.append(_load(_OFFSET_ARGUMENTS))
    for family in ALLOWED_FAMILIES.values():
        code += [_jump(_JUMP_EQUAL, family), allow]
    return [*code, _return(_ERRNO | errno.EAFNOSUPPORT)]


def _load(offset: int) -> bytes:
    return struct.pack("=HBBI", _LOAD_WORD, 0, 0, offset)


def _jump(test: int, value: int, *, on_true: int = 0, on_false: int = 1) -> bytes:
    return struct.pack("=HBBI", test, on_true, on_false, value)


def _return(action: int) -> bytes:
    return struct.pack("=HBBI", _RETURN, 0, 0, action)
