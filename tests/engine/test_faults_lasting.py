"""A full disk and a dead process are real, and show in whatever call runs into them."""

from __future__ import annotations

import json

from evalkit.trajectory.step import Act, Event

DISK = """\
[[metadata.evalkit.faults]]
id = "full"
kind = "disk_full"
path = "/app/spool"
when = { matches = "export", nth = 2 }
"""
DEAD = """\
[[metadata.evalkit.faults]]
id = "dead"
kind = "process_killed"
process = "keeper"
when = { matches = "export" }
"""
KEEPER = "printf '#!/bin/sh\\nwhile :; do sleep 0.1; done\\n' > keeper; chmod +x keeper; ./keeper >/dev/null 2>&1 & "
ALIVE = "echo done > out; cat /proc/[0-9]*/comm 2>/dev/null | grep -q keeper"


def acts_of(steps):
    return [step for step in steps if isinstance(step, Act) and step.tool == "bash"]


def faults_of(steps):
    return [json.loads(step.detail) for step in steps if isinstance(step, Event) and step.event == "fault"]


WRITE = "echo export > spool/$$"


def test_a_full_disk_takes_no_byte_until_space_is_freed(play_faulted):
    lines = [
        WRITE,
        WRITE,
        "cat spool/[0-9]*",
        "rm spool/cache.tmp",
        WRITE,
        "cat spool/[0-9]*; echo done > out",
    ]
    trial, steps = play_faulted(DISK, *lines)["full"]
    acts = acts_of(steps)
    assert "No space left on device" in acts[1].observation
    assert [act.fault_id for act in acts] == [None, "full", None, None, None, None]
    assert (acts[2].stdout, acts[5].stdout) == ("export\n", "export\nexport\n")
    assert [(told["strike"], told["visible"]) for told in faults_of(steps)] == [(1, True)]
    assert (trial.faults_fired, trial.status) == (1, "passed")


def test_every_call_that_runs_out_of_space_shows_the_fault(play_faulted):
    lines = [WRITE, "true export", "echo more > spool/other", "mkdir -p spool; echo done > out"]
    trial, steps = play_faulted(DISK, *lines)["full"]
    assert [act.fault_id for act in acts_of(steps)] == [None, None, "full", None]
    told = [(one["strike"], one["visible"]) for one in faults_of(steps)]
    assert (told, trial.faults_fired) == ([(1, False), (2, True)], 1)


def test_a_disk_is_full_for_so_many_calls_where_it_says_times(play_faulted):
    _, steps = play_faulted(DISK + "times = 2\n", WRITE, WRITE, WRITE, WRITE)["full"]
    assert [act.exit_code for act in acts_of(steps)] == [0, 1, 1, 0]


def test_a_full_disk_that_nobody_meets_has_not_fired(play_faulted):
    trial, steps = play_faulted(DISK, "true export", "true export", "echo done > out")["full"]
    assert trial.faults_fired == 0
    assert faults_of(steps)[-1]["reason"] == "the disk was full, and no call ran out of space"


def test_the_clean_arm_has_no_disk_of_its_own(play_faulted):
    _, steps = play_faulted(DISK, "grep -c spool /proc/mounts")["clean"]
    assert acts_of(steps)[0].stdout == "0\n"


def test_a_process_is_killed_after_the_call_and_what_fails_for_it_shows_the_fault(play_faulted):
    lines = [KEEPER + "sleep 0.3", f"{ALIVE} && echo export", ALIVE, "true", KEEPER + "sleep 0.3", ALIVE]
    trial, steps = play_faulted(DEAD, *lines)["dead"]
    acts = acts_of(steps)
    assert (acts[1].stdout, acts[1].exit_code, acts[1].fault_id) == ("export\n", 0, None)
    assert [(act.exit_code, act.fault_id) for act in acts[2:]] == [
        (1, "dead"),
        (0, None),
        (0, None),
        (0, None),
    ]
    assert [(told["strike"], told["visible"]) for told in faults_of(steps)] == [(1, False), (2, True)]
    assert (trial.faults_fired, trial.status) == (1, "passed")


def test_the_harness_own_shell_is_never_killed(play_faulted):
    shell = DEAD.replace('"keeper"', '"sh"')
    _, steps = play_faulted(shell, "true export", "echo done > out")["dead"]
    acts = acts_of(steps)
    assert [act.exit_code for act in acts] == [0, 0]
    assert faults_of(steps)[-1]["reason"] == "no process called sh was running"
    assert not [step for step in steps if isinstance(step, Event) and step.event == "shell_lost"]
