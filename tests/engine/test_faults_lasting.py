"""A full disk and a dead process are real, and show in whatever call runs into them."""

from __future__ import annotations

import json
import re

import anyio
import pytest

from evalkit.engine.faults.full_disk import DISK_BYTES, FullDisk
from evalkit.engine.faults.site import Site
from evalkit.engine.tool_settings import ToolSettings
from evalkit.sandbox.local.provider import LocalSandbox
from evalkit.sandbox.protocol import Disk, Environment
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
SCRIPT = "printf 'while :; do sleep 0.1; done\\n' > a-worker-of-a-long-name.sh; "
TELL = "grep -qsa '^sh.*a-worker-of-a-long-name' /proc/[0-9]*/cmdline"
BEGIN = f"{SCRIPT} (sh +o noglob a-worker-of-a-long-name.sh >/dev/null 2>&1 &); until {TELL}; do sleep 0.05; done;"


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


@pytest.mark.parametrize(
    "line",
    [
        "(echo export > spool/quiet) 2>/dev/null",
        "(mkdir spool/new && echo export > spool/new/file) 2>/dev/null || exit 3",
        "(echo export > spool/part && mv spool/part spool/whole) 2>/dev/null || { rm spool/part; exit 1; }",
        "(echo export > spool/part) 2>/dev/null || { echo 'database or disk is full' >&2; exit 1; }",
        "(echo export > spool/part) 2>/dev/null || { rm spool/part; echo 'disk quota exceeded' >&2; }",
        "(echo export > spool/part) 2>&1 | sed 's/.*/No space left in spool/'",
    ],
    ids=["silent", "in a new folder", "tidied up", "other words", "exit code 0", "on stdout"],
)
def test_a_call_that_runs_out_of_space_shows_it_however_it_is_worded(play_faulted, line):
    trial, steps = play_faulted(DISK, WRITE, f"true export; {line}", "echo done > out")["full"]
    assert [act.fault_id for act in acts_of(steps)] == [None, "full", None]
    assert trial.faults_fired == 1


def test_what_fails_for_another_reason_while_the_disk_is_full_does_not_show_it(play_faulted):
    lines = [
        "echo 'No space left on device' > log",
        "true export; true export",
        "true export",
        "ls nowhere",
        "cat spool/nowhere; mkdir spool",
        "cat log",
        "false",
        "(echo more > spool/other) 2>/dev/null; true",
        "echo done > out",
    ]
    trial, steps = play_faulted(DISK, *lines)["full"]
    assert [act.fault_id for act in acts_of(steps)] == [None] * len(lines)
    assert trial.faults_fired == 0


def test_a_failure_that_the_tool_settings_hide_does_not_show_it(play_faulted):
    lines = [WRITE, "true export; (echo more > spool/other) 2>/dev/null", "echo done > out"]
    trial, steps = play_faulted(DISK, *lines, settings='exit_codes = "never"\n')["full"]
    assert [(act.exit_code, act.fault_id) for act in acts_of(steps)] == [(0, None), (1, None), (0, None)]
    assert trial.faults_fired == 0


def test_nothing_shows_the_fault_once_the_space_is_back(play_faulted):
    complains = "echo more > spool/other; echo 'No space left on device' >&2; exit 1"
    _, steps = play_faulted(DISK, WRITE, WRITE, "rm spool/cache.tmp", complains, complains)["full"]
    assert [act.fault_id for act in acts_of(steps)] == [None, "full", None, None, None]


def test_who_frees_a_little_runs_out_of_space_again(play_faulted):
    big = "head -c 3000000 /dev/zero > spool/big && echo export"
    lines = [
        big.replace("3000000", "1000000"),
        f"true export; {WRITE}",
        "rm spool/big",
        "echo a > spool/a",
        big,
    ]
    _, steps = play_faulted(DISK, *lines)["full"]
    assert [act.exit_code for act in acts_of(steps)] == [0, 1, 0, 0, 1]
    assert [act.fault_id for act in acts_of(steps)] == [None, "full", None, None, "full"]


def test_the_folder_of_a_full_disk_can_be_emptied_but_neither_removed_nor_moved(play_faulted):
    lines = [
        WRITE,
        WRITE,
        "mv spool old",
        "rm -rf spool",
        "mkdir -p spool; echo export > spool/again; ls spool",
    ]
    _, steps = play_faulted(DISK, *lines)["full"]
    acts = acts_of(steps)
    assert all("busy" in act.observation for act in acts[2:4])
    assert [(act.exit_code, act.fault_id) for act in acts] == [
        (0, None),
        (1, "full"),
        (1, None),
        (1, None),
        (0, None),
    ]
    assert acts[4].stdout == "again\n"


@pytest.mark.parametrize(
    "mine",
    [
        "echo mine > spool/cache.tmp",
        "echo mine > kept; ln -s /app/kept spool/cache.tmp",
        "echo mine > kept; ln kept spool/cache.tmp 2>/dev/null; ln -s /app/kept spool/.probe; mkfifo spool/cache.tmp",
        "ln -s /app/kept spool/cache.tmp; echo mine > spool/.probe; ln -s nowhere spool/other",
        "mkdir spool/cache.tmp; echo mine > spool/cache.tmp/mine; ln -s / spool/root",
    ],
    ids=["a file", "a link", "a pipe", "a link to nothing", "a folder"],
)
def test_filling_a_disk_touches_nothing_of_the_agents(play_faulted, mine):
    tell = "ls -ld spool/cache.tmp spool/.probe kept 2>/dev/null | cut -c1-10; grep -rs mine spool kept; true"
    lines = [f"{mine}; {tell}", WRITE, f"true export; {WRITE}", tell, "rm spool/cache-*.tmp", WRITE]
    acts = acts_of(play_faulted(DISK, *lines)["full"][1])
    assert acts[0].stdout == acts[3].stdout != ""
    assert [act.fault_id for act in acts] == [None, None, "full", None, None, None]
    assert acts[5].exit_code == 0


@pytest.mark.parametrize(
    "line", ["kill -9 -1", "(sleep 0.2; kill -9 -1) & sleep 0.1"], ids=["at once", "later"]
)
def test_a_disk_is_full_after_the_shell_was_lost_too_until_space_is_freed(play_faulted, line):
    lines = [WRITE, WRITE, line, "sleep 0.5; true", WRITE, "rm spool/cache.tmp", "kill -9 -1", WRITE]
    _, steps = play_faulted(DISK, *lines)["full"]
    assert [act.fault_id for act in acts_of(steps)] == [None, "full", None, None, "full", None, None, None]
    assert acts_of(steps)[-1].exit_code == 0


def test_giving_the_space_back_leaves_a_filler_that_the_agent_has_made_its_own(play_faulted):
    lines = [
        WRITE,
        WRITE,
        "echo mine > spool/cache.tmp; cat spool/cache.tmp",
        WRITE,
        "ls spool; cat spool/cache.tmp",
    ]
    _, steps = play_faulted(DISK + 'until = "grep -q mine spool/cache.tmp"\n', *lines)["full"]
    assert acts_of(steps)[4].stdout.endswith("cache.tmp\nmine\n")


@pytest.fixture
def at_a_disk(local_support):
    """Do something with a full disk's fault in a sandbox that has a disk of so many bytes."""

    def do(size_bytes, act):
        async def play():
            environment = Environment(disks=(Disk("/app/spool", size_bytes),))
            sandbox = LocalSandbox(environment, run_id="run", trial_id="trial")
            await sandbox.start()
            try:
                return await act(sandbox, FullDisk("/app/spool"), Site(sandbox, ToolSettings()))
            finally:
                await sandbox.stop()

        return anyio.run(play)

    return do


@pytest.mark.local
def test_a_disk_that_cannot_be_filled_says_why_and_holds_nothing_of_the_harness(at_a_disk):
    async def act(sandbox, disk, site):
        await disk.before(site, due=True)
        assert not await disk.after(site, due=True)
        assert (await sandbox.exec("ls -A spool")).stdout.text == ""
        too_large = disk.failed
        await sandbox.exec("chmod 555 spool")
        await disk.before(site, due=True)
        return too_large, disk.failed

    too_large, locked = at_a_disk(64 * 1024 * 1024, act)
    assert re.fullmatch(
        "the disk was not filled: writing ended with exit code 0, [0-9]+ KiB stayed free", too_large
    )
    assert locked.startswith("the disk was not filled: no file could be made in /app/spool (")


@pytest.mark.local
def test_what_the_background_prints_reaches_the_agent_past_the_faults_own_commands(at_a_disk):
    async def act(sandbox, disk, site):
        await disk.before(site, due=True)
        await sandbox.exec("(sleep 0.2; echo from behind) & true")
        await anyio.sleep(0.6)
        await disk.before(site, due=False)
        plain = await sandbox.exec("true")
        return plain.late, disk.aside.told(plain).late, disk.aside.told(plain).late

    assert at_a_disk(DISK_BYTES, act) == ("", "from behind\n", "")


@pytest.mark.local
def test_a_shell_that_was_lost_before_the_faults_own_command_is_lost_for_the_agents_next(at_a_disk):
    async def act(sandbox, disk, site):
        await disk.before(site, due=True)
        await sandbox.exec("(sleep 0.2; kill -9 -1) & true")
        await anyio.sleep(0.6)
        await disk.before(site, due=False)
        plain = await sandbox.exec("true")
        return plain.shell_lost, disk.aside.told(plain).shell_lost

    assert at_a_disk(DISK_BYTES, act) == (False, True)


@pytest.mark.parametrize(("mode", "path"), [("shared", "/app/spool"), ("snapshot", "/var/spool/jobs")])
def test_a_grader_that_works_where_the_agent_did_finds_space_on_the_disk(make_suite, run_any, mode, path):
    toml = f'schema_version = "1.4"\n[metadata.evalkit.grading]\nmode = "{mode}"\n{DISK.replace("/app/spool", path)}'
    files = {
        "task.toml": toml + '[environment]\nnetwork_mode = "no-network"\n',
        "solution/solve.sh": f"# step: Begin.\nmkdir -p {path}; echo export >/dev/null\n"
        f"# step: Keep.\necho kept > {path}/kept 2>/dev/null; true export\n# step: Write.\necho done > out\n",
        "tests/test.sh": f"echo kept > {path}/graded && rm {path}/graded || exit 1\n"
        f"[ -e {path}/cache.tmp ] || echo 1 > /logs/verifier/reward.txt\n",
    }
    trials = {trial.variant: trial for trial in run_any(make_suite(one=files)).rows()}
    assert [trials[name].status for name in ("clean", "full")] == ["passed", "passed"]
    assert trials["full"].grader_mode == mode


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
    assert faults_of(steps)[-1]["reason"] == "no process called sh was running, nor any other"
    assert not [step for step in steps if isinstance(step, Event) and step.event == "shell_lost"]


def test_a_script_is_found_by_its_whole_name_whatever_options_stand_before_it(play_faulted):
    dead = DEAD.replace("keeper", "a-worker-of-a-long-name.sh")
    lines = [f"{BEGIN} echo export", f"{TELL} && echo alive", "echo done > out"]
    trial, steps = play_faulted(dead, *lines)["dead"]
    assert acts_of(steps)[0].stdout == "export\n"
    assert [act.fault_id for act in acts_of(steps)] == [None, "dead", None]
    assert trial.faults_fired == 1


def test_who_only_names_the_script_lives_on_and_the_reason_says_what_ran(play_faulted):
    dead = DEAD.replace("keeper", "a-worker-of-a-long-name.sh")
    lines = [
        f"{SCRIPT} (tail -f a-worker-of-a-long-name.sh >/dev/null 2>&1 &); sleep 0.2; true export",
        "cat /proc/[0-9]*/comm 2>/dev/null | grep tail",
        "echo done > out",
    ]
    _, steps = play_faulted(dead, *lines)["dead"]
    assert acts_of(steps)[1].stdout == "tail\n"
    reason = faults_of(steps)[-1]["reason"]
    assert reason == "no process called a-worker-of-a-long-name.sh was running, but tail"


def test_a_process_that_nobody_has_buried_yet_is_dead(play_faulted):
    unburied = KEEPER.replace("./keeper", "sh -c './keeper & exec sleep 60'")
    lines = [f"{unburied} sleep 0.3; {ALIVE}; true export", "exit 3", "echo done > out"]
    _, steps = play_faulted(DEAD, *lines)["dead"]
    assert [act.fault_id for act in acts_of(steps)] == [None, "dead", None]
