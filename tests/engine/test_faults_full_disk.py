"""Which calls ran out of space, by what the disk was before and after, what was touched, and what was said."""

from __future__ import annotations

import pytest

from evalkit.engine.faults.full_disk import DiskState, ran_out
from evalkit.engine.tool_settings import ToolSettings
from evalkit.sandbox.protocol import Captured, ExecResult

FULL, ROOM = 0, 4096
SAYS = "tool: No space left on device"


def captured(text: str) -> Captured:
    return Captured(text.encode(), len(text), truncated=False)


def met(
    code: int | None = 1, *, before=FULL, after=FULL, touched=True, held=False, out="", err="", **settings
) -> bool:
    states = DiskState(before, None, b"a"), DiskState(after, None, b"b" if touched else b"a")
    result = ExecResult(code, captured(out), captured(err), 0.1)
    return ran_out(*states, result, ToolSettings(**settings), held=held)


@pytest.mark.parametrize(
    "said",
    [
        "OSError: [Errno 28] No space left on device: 'spool/a'",
        "sqlite3.OperationalError: database or disk is full",
        "Error: ENOSPC: write",
        "cp: error writing 'a': Disk quota exceeded",
        "There is not enough space on the disk.",
        "fatal: out of disk space",
        "Errcode: 28 - something",
        "filesystem full",
    ],
)
def test_a_complaint_is_known_in_many_words(said):
    assert met(0, touched=False, err=said)
    assert met(0, after=ROOM, touched=False, err=said)


@pytest.mark.parametrize(
    "said", ["", "no space between words", "the device is fully charged", "errno 281", "disk: full marks"]
)
def test_other_words_are_no_complaint(said):
    assert not met(touched=False, err=said)


def test_a_quiet_failure_counts_where_it_wrote_and_left_the_disk_full():
    assert met()
    assert met(137)
    assert not met(0)
    assert not met(touched=False)
    assert not met(after=ROOM)
    assert met(before=ROOM)


def test_a_complaint_counts_only_while_the_disk_is_full_or_held():
    assert not met(before=ROOM, after=ROOM, err=SAYS)
    assert met(before=ROOM, after=ROOM, err=SAYS, held=True)


def test_a_complaint_on_stdout_may_be_an_old_one():
    assert not met(0, touched=False, out=SAYS)
    assert met(0, out=SAYS)
    assert met(1, touched=False, out=SAYS)


def test_a_vague_complaint_counts_where_the_call_failed_or_touched_the_disk():
    assert met(0, err="sh: 1: echo: echo: I/O error")
    assert not met(0, touched=False, err="sh: 1: echo: echo: I/O error")
    assert not met(0, before=ROOM, after=ROOM, err="sh: 1: echo: echo: I/O error")


def test_what_the_model_cannot_see_does_not_count():
    hidden = {"errors": "terse", "exit_codes": "never"}
    assert met(err=SAYS, **hidden)  # it sees that something failed
    assert not met(0, out=f"{'x' * 50}{SAYS}{'x' * 50}", output_bytes=20)  # it is cut out
    assert not met(exit_codes="never")


def test_of_a_disk_that_nothing_inside_can_tell_of_only_complaints_count():
    unknown = DiskState()
    result = ExecResult(1, captured(""), captured(""), 0.1)
    assert not ran_out(unknown, unknown, result, ToolSettings(), held=True)
    result = ExecResult(1, captured(""), captured(SAYS), 0.1)
    assert ran_out(unknown, unknown, result, ToolSettings(), held=True)
