"""The system call filter says what it should on every processor that it is written for."""

from __future__ import annotations

import errno
import struct

import pytest

from evalkit.errors import SandboxError
from evalkit.sandbox.local.seccomp import ALLOWED_FAMILIES, ARCHITECTURES, RESERVING, program

ALLOW = 0x7FFF0000


def errno_of(verdict: int) -> int | None:
    """The error that a verdict stands for; None where the call is allowed."""
    return None if verdict == ALLOW else verdict & 0xFFFF


def judge(machine: str, number: int, *arguments: int, audit: int | None = None) -> int | None:
    """Run the program as the kernel would."""
    arch = ARCHITECTURES[machine].audit if audit is None else audit
    data = struct.pack("=IIQ6Q", number, arch, 0, *arguments, *([0] * (6 - len(arguments))))
    code = list(struct.iter_unpack("=HBBI", program(machine)))
    at = accumulator = 0
    while True:
        operation, on_true, on_false, value = code[at]
        at += 1
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("=I", data, value)
        elif operation == 0x06:
            return errno_of(value)
        else:
            holds = accumulator == value if operation == 0x15 else accumulator >= value
            at += on_true if holds else on_false


machines = pytest.mark.parametrize("machine", sorted(ARCHITECTURES))


@machines
def test_named_calls_are_denied_and_others_are_not(machine: str) -> None:
    denied = set(ARCHITECTURES[machine].denied.values())
    for number in range(500):
        known = ARCHITECTURES[machine]
        special = {known.socket, known.prlimit, known.ioctl, *known.traces, *known.unsupported.values()}
        if number not in special:
            assert judge(machine, number) == (errno.EPERM if number in denied else None)


@machines
def test_only_usual_sockets_can_be_made(machine: str) -> None:
    number = ARCHITECTURES[machine].socket
    for family in range(60):
        allowed = family in ALLOWED_FAMILIES.values()
        assert judge(machine, number, family) == (None if allowed else errno.EAFNOSUPPORT)


@machines
def test_the_upper_half_of_the_family_hides_nothing(machine: str) -> None:
    assert judge(machine, ARCHITECTURES[machine].socket, (1 << 32) | 40) == errno.EAFNOSUPPORT


@machines
def test_process_1_cannot_be_reached_into(machine: str) -> None:
    for number, argument in ARCHITECTURES[machine].traces.items():
        assert judge(machine, number, *([7] * argument), 1) == errno.EPERM
        assert judge(machine, number, *([1] * argument), 7) is None


@machines
def test_limits_of_other_processes_cannot_be_set(machine: str) -> None:
    number = ARCHITECTURES[machine].prlimit
    assert judge(machine, number, 0) is None
    assert judge(machine, number, 1 << 32) is None
    assert [judge(machine, number, pid) for pid in (1, 2, (1 << 32) | 1)] == [errno.EPERM] * 3


@machines
def test_space_cannot_be_reserved_without_writing(machine: str) -> None:
    known = ARCHITECTURES[machine]
    assert judge(machine, known.unsupported["fallocate"]) == errno.EOPNOTSUPP
    for request in RESERVING.values():
        assert judge(machine, known.ioctl, 3, request) == errno.EOPNOTSUPP
    assert judge(machine, known.ioctl, 3, 0x5401) is None


@machines
def test_calls_of_another_processor_are_denied(machine: str) -> None:
    assert judge(machine, 1, audit=0x40000003) == errno.EPERM


def test_x32_numbers_are_denied() -> None:
    assert judge("x86_64", 0x40000000 + 1) == errno.EPERM


def test_an_unknown_processor_is_an_error_that_names_docker() -> None:
    with pytest.raises(SandboxError) as refused:
        program("riscv64")
    assert "docker" in (refused.value.hint or "")
