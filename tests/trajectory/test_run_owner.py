"""Is it known whether the process that writes a run still lives?"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys

import pytest

from evalkit.errors import UsageError
from evalkit.trajectory.owner import read_owner, this_process
from evalkit.trajectory.writer import RunWriter


def test_this_process_is_alive():
    assert this_process().is_alive()


def test_a_process_that_ended_is_not_alive():
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert not dataclasses.replace(this_process(), pid=ended.pid).is_alive()


def test_a_process_that_ended_and_was_not_waited_for_is_not_alive():
    code = "from evalkit.trajectory.owner import this_process; print(this_process().started)"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    with child:
        owner = dataclasses.replace(this_process(), pid=child.pid, started=child.stdout.read().strip())
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert not owner.is_alive()


def test_a_later_process_with_the_same_number_is_not_the_owner():
    assert not dataclasses.replace(this_process(), started="boot:1").is_alive()


def test_a_process_of_another_host_counts_as_alive():
    assert dataclasses.replace(this_process(), host="elsewhere", pid=2**22 - 1).is_alive()


def test_a_run_that_is_being_written_cannot_be_opened_for_writing(writer):
    with pytest.raises(UsageError, match="is writing this run") as refused:
        RunWriter.open(writer.path)
    assert "owner.json" in refused.value.hint


def test_a_run_whose_owner_died_can_be_opened_for_writing(writer, bury):
    bury()
    RunWriter.open(writer.path).close()


@pytest.mark.parametrize("text", ["", "{", "[]", json.dumps({"pid": "x"})])
def test_an_owner_file_that_says_nothing_is_nobody(writer, text):
    (writer.path / "owner.json").write_text(text)
    assert read_owner(writer.path) is None
