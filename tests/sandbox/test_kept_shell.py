"""Commands that run in a shell that was started once behave like programs of their own."""

from __future__ import annotations

import asyncio
import time

import anyio
import pytest

from evalkit.errors import SandboxError
from evalkit.sandbox import Environment, ExecResult, Limits
from evalkit.sandbox.local.provider import LocalSandbox

pytestmark = [pytest.mark.anyio, pytest.mark.local]


async def out(sandbox: LocalSandbox, command: str) -> str:
    return (await sandbox.exec(command)).stdout.text


async def test_stdout_stderr_and_exit_code_are_apart_and_exact(sandbox: LocalSandbox) -> None:
    result = await sandbox.exec("printf out; printf err >&2; exit 3")
    assert (result.stdout.data, result.stderr.data, result.exit_code) == (b"out", b"err", 3)
    assert (result.timed_out, result.shell_lost, result.late) == (False, False, "")


async def test_a_final_newline_is_neither_added_nor_lost(sandbox: LocalSandbox) -> None:
    assert (await sandbox.exec("printf 'a'")).stdout.data == b"a"
    assert (await sandbox.exec("printf 'a\\n\\n'")).stdout.data == b"a\n\n"


async def test_binary_output_passes(sandbox: LocalSandbox) -> None:
    every_byte = bytes(range(256)) * 300
    await sandbox.write_file("all.bin", every_byte)
    assert (await sandbox.exec("cat all.bin; cat all.bin >&2")).stdout.data == every_byte
    assert (await sandbox.exec("cat all.bin >&2")).stderr.data == every_byte


async def test_unicode_passes_in_both_directions(sandbox: LocalSandbox) -> None:
    assert await out(sandbox, "printf %s 'héllo – 世界 🎉'") == "héllo – 世界 🎉"


async def test_a_program_with_arguments_needs_no_quoting(sandbox: LocalSandbox) -> None:
    result = await sandbox.exec(["printf", "%s|", "two words", "$HOME", "it's", "*", "", "new\nline"])
    assert result.stdout.text == "two words|$HOME|it's|*||new\nline|"


async def test_a_line_that_begins_like_an_option_is_a_line(sandbox: LocalSandbox) -> None:
    result = await sandbox.exec("-c 'echo taken as an option'")
    assert (result.exit_code, result.stdout.text) == (127, "")


async def test_a_zero_byte_in_the_working_directory_is_an_error(sandbox: LocalSandbox) -> None:
    with pytest.raises(SandboxError, match="zero byte"):
        await sandbox.exec("pwd", cwd="/app\0/tmp")
    assert await out(sandbox, "pwd") == "/app\n"


async def test_an_unknown_program_exits_127(sandbox: LocalSandbox) -> None:
    result = await sandbox.exec(["no-such-program"])
    assert result.exit_code == 127
    assert "no-such-program" in result.stderr.text


async def test_commands_of_two_megabytes_run(sandbox: LocalSandbox) -> None:
    filler = "x" * 2_000_000
    result = await sandbox.exec(f": '{filler}'; printf done")
    assert (result.stdout.text, result.exit_code) == ("done", 0)


async def test_a_gigabyte_of_output_keeps_both_ends_and_is_counted(sandbox: LocalSandbox) -> None:
    result = await sandbox.exec("printf start; head -c 1000000000 /dev/zero; printf end")
    assert result.stdout.total == 1_000_000_008
    assert result.stdout.truncated
    assert result.stdout.data.startswith(b"start\0")
    assert result.stdout.data.endswith(b"\0end")
    assert len(result.stdout.data) < 1024 * 1024 + 100


async def test_output_that_imitates_the_framing_changes_nothing(sandbox: LocalSandbox) -> None:
    fake = "\\036deadbeefdeadbeefdeadbeefdeadbeef>0;"
    result = await sandbox.exec(f"printf '{fake}'; printf '{fake}' >&2; exit 5")
    assert result.exit_code == 5
    assert result.stdout.data == b"\x1edeadbeefdeadbeefdeadbeefdeadbeef>0;"


@pytest.mark.parametrize(
    ("command", "code"),
    [("exec true", 0), ("exit 3", 3), ("set -e; false; echo no", 1), ("kill -9 $$", 137), ("kill $$", 143)],
)
async def test_a_command_that_ends_itself_ends_nothing_else(
    sandbox: LocalSandbox, command: str, code: int
) -> None:
    result = await sandbox.exec(command)
    assert (result.exit_code, result.stdout.data, result.stderr.data) == (code, b"", b"")
    assert not result.shell_lost
    assert await out(sandbox, "echo next") == "next\n"


async def test_stdin_is_closed(sandbox: LocalSandbox) -> None:
    assert await out(sandbox, "cat; read line || echo nothing") == "nothing\n"


async def test_given_stdin_arrives_whole(sandbox: LocalSandbox) -> None:
    data = bytes(range(256)) * 5000
    result = await sandbox.exec("cat", stdin=data)
    assert result.stdout.total == len(data)
    assert (await sandbox.exec("wc -c", stdin=data)).stdout.text.strip() == str(len(data))


async def test_calls_start_in_the_working_directory_with_fresh_variables(sandbox: LocalSandbox) -> None:
    await sandbox.exec("cd /tmp; export LEAK=1; umask 077")
    assert await out(sandbox, 'pwd; echo "${LEAK-unset}"; umask') == "/app\nunset\n0022\n"


async def test_env_and_cwd_hold_for_one_call(sandbox: LocalSandbox) -> None:
    result = await sandbox.exec('pwd; echo "$GREETING"', cwd="/tmp", env={"GREETING": 'it\'s "me"\n$HOME'})
    assert result.stdout.text == '/tmp\nit\'s "me"\n$HOME\n'
    assert await out(sandbox, 'echo "[$GREETING]"') == "[]\n"


async def test_a_missing_cwd_exits_126_with_a_message(sandbox: LocalSandbox) -> None:
    result = await sandbox.exec("echo no", cwd="/app/nowhere")
    assert (result.exit_code, result.stdout.data) == (126, b"")
    assert "/app/nowhere" in result.stderr.text


async def test_a_name_that_is_no_variable_is_refused(sandbox: LocalSandbox) -> None:
    with pytest.raises(SandboxError, match="is not a name"):
        await sandbox.exec("true", env={"A;touch /tmp/x": "1"})


async def test_a_command_with_a_zero_byte_is_refused(sandbox: LocalSandbox) -> None:
    with pytest.raises(SandboxError, match="zero byte"):
        await sandbox.exec("printf a\0b")


async def test_background_services_live_on_and_do_not_hold_the_call(sandbox: LocalSandbox) -> None:
    began = time.monotonic()
    result = await sandbox.exec("sleep 60 & echo $!")
    assert time.monotonic() - began < 5
    assert await out(sandbox, f"kill -0 {result.stdout.text.strip()} && echo alive") == "alive\n"


async def test_what_a_service_prints_between_calls_is_late_output(sandbox: LocalSandbox) -> None:
    await sandbox.exec("(sleep 0.1; echo tick; sleep 60) &")
    await anyio.sleep(0.4)
    result = await sandbox.exec("printf mine")
    assert (result.stdout.text, result.late) == ("mine", "tick\n")


async def test_a_talkative_service_never_blocks_on_its_output(sandbox: LocalSandbox) -> None:
    await sandbox.exec("(head -c 3000000 /dev/zero; touch /app/written) &")
    await anyio.sleep(0.5)
    assert await out(sandbox, "ls") == "written\n"


async def test_calls_made_at_once_take_turns(sandbox: LocalSandbox) -> None:
    results = await asyncio.gather(*(sandbox.exec(f"sleep 0.02; echo {n}; exit {n}") for n in range(5)))
    assert [(one.stdout.text, one.exit_code) for one in results] == [(f"{n}\n", n) for n in range(5)]


# Timeouts


async def test_a_timeout_keeps_what_was_printed(sandbox: LocalSandbox) -> None:
    result = await sandbox.exec("echo early; echo warn >&2; sleep 60", timeout_s=0.3)
    assert (result.timed_out, result.exit_code, result.shell_lost) == (True, 137, False)
    assert (result.stdout.text, result.stderr.text) == ("early\n", "warn\n")
    assert 0.3 <= result.duration_s < 10


async def test_a_timeout_kills_everything_the_command_started_and_spares_what_is_older(
    sandbox: LocalSandbox,
) -> None:
    await sandbox.exec("sleep 1111 &")
    await sandbox.exec(
        "sleep 2222 & (setsid sleep 3333 &) ; setsid sh -c '(sleep 4444 &)'; sleep 5555", timeout_s=0.4
    )
    alive = await out(sandbox, "ps -eo args")
    assert "sleep 1111" in alive
    for killed in ("2222", "3333", "4444", "5555"):
        assert f"sleep {killed}" not in alive


async def test_a_timeout_is_not_stopped_by_ignored_signals(sandbox: LocalSandbox) -> None:
    result = await sandbox.exec("trap '' TERM INT HUP; while :; do sleep 1; done", timeout_s=0.3)
    assert result.timed_out
    assert await out(sandbox, "echo next") == "next\n"


async def test_a_fork_bomb_ends_with_its_timeout(sandbox: LocalSandbox) -> None:
    await sandbox.write_file("keep", b"kept")
    result = await sandbox.exec("bomb() { bomb | bomb & }; bomb; sleep 60", timeout_s=1)
    assert result.timed_out
    assert await out(sandbox, "cat keep; ps -eo args | grep -c 'bom[b]'") == "kept0\n"


async def test_a_stopped_shell_is_replaced_after_the_timeout(sandbox: LocalSandbox) -> None:
    result = await sandbox.exec("echo before; kill -STOP $PPID", timeout_s=0.3)
    assert (result.timed_out, result.shell_lost, result.stdout.text) == (True, True, "before\n")
    assert await out(sandbox, "echo next") == "next\n"


async def test_a_cancelled_call_leaves_nothing_running(sandbox: LocalSandbox) -> None:
    with anyio.move_on_after(0.3):
        await sandbox.exec("sleep 7777")
    assert "sleep 7777" not in await out(sandbox, "ps -eo args")


async def test_a_call_cancelled_by_asyncio_leaves_nothing_running(sandbox: LocalSandbox) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(sandbox.exec("sleep 8888"), 0.3)
    assert "sleep 8888" not in await out(sandbox, "ps -eo args")


# Losing the shell


@pytest.mark.parametrize("attack", ["kill -9 -1", "kill -9 $PPID"])
async def test_a_killed_shell_is_replaced_on_the_same_files(sandbox: LocalSandbox, attack: str) -> None:
    await sandbox.write_file("keep", b"kept")
    result = await sandbox.exec(f"echo before; {attack}; sleep 5")
    assert (result.exit_code, result.shell_lost, result.stdout.text) == (None, True, "before\n")
    again = await sandbox.exec("cat keep")
    assert (again.stdout.text, again.exit_code, again.shell_lost) == ("kept", 0, False)


async def test_a_polite_kill_does_not_end_the_shell(sandbox: LocalSandbox) -> None:
    result = await sandbox.exec("kill $PPID; kill -INT $PPID; kill -HUP $PPID; exit 4")
    assert (result.exit_code, result.shell_lost) == (4, False)


async def test_a_shell_killed_between_calls_is_replaced_and_reported_with_the_next(
    sandbox: LocalSandbox,
) -> None:
    await sandbox.exec("(sleep 0.1; kill -9 -1) &")
    await anyio.sleep(0.5)
    result = await sandbox.exec("echo next")
    assert (result.stdout.text, result.exit_code, result.shell_lost) == ("next\n", 0, True)


async def test_after_halt_nothing_lives_and_a_new_shell_finds_the_files(sandbox: LocalSandbox) -> None:
    await sandbox.exec("echo data > file; sleep 9999 &")
    await sandbox.halt()
    assert await sandbox.read_file("file") == b"data\n"
    assert "sleep 9999" not in await out(sandbox, "ps -eo args; cat file")


async def test_halt_ends_a_running_call(sandbox: LocalSandbox) -> None:
    call = asyncio.create_task(sandbox.exec("echo begun; sleep 60"))
    await anyio.sleep(0.2)
    await sandbox.halt()
    result = await call
    assert (result.exit_code, result.shell_lost, result.stdout.text) == (None, True, "begun\n")


async def test_a_call_whose_caller_is_cancelled_hands_over_what_it_had_printed(open_local) -> None:
    sandbox = await open_local()
    cut: list[ExecResult] = []
    call = asyncio.create_task(sandbox.exec("echo begun; sleep 60", on_cut=cut.append))
    await asyncio.sleep(0.5)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert [(result.stdout.text, result.exit_code) for result in cut] == [("begun\n", 137)]
    assert await out(sandbox, "echo next; pgrep sleep") == "next\n"


# Limits


async def test_the_output_cap_is_the_environments(open_local) -> None:
    sandbox = await open_local(Environment(limits=Limits(output_bytes=10)))
    result = await sandbox.exec("printf 0123456789abcdef")
    assert result.stdout.data == b"01234\n[... 6 bytes cut ...]\nbcdef"


async def test_the_number_of_processes_is_bounded(open_local) -> None:
    sandbox = await open_local(Environment(limits=Limits(pids=40)))
    result = await sandbox.exec("for i in $(seq 60); do sleep 5 & done; echo all")
    assert "fork" in result.stderr.text


async def test_the_memory_of_one_process_is_bounded(open_local) -> None:
    sandbox = await open_local(Environment(limits=Limits(memory_mb=200)))
    result = await sandbox.exec(["python3", "-c", "x = bytearray(400_000_000)"])
    assert "MemoryError" in result.stderr.text


async def test_the_size_of_one_file_is_bounded(open_local) -> None:
    sandbox = await open_local(Environment(limits=Limits(storage_mb=20)))
    result = await sandbox.exec("head -c 30000000 /dev/zero > big; wc -c < big")
    assert result.stdout.text.strip() == str(20 * 1024 * 1024)


async def test_limits_cannot_be_raised_inside(open_local) -> None:
    sandbox = await open_local(Environment(limits=Limits(pids=40)))
    result = await sandbox.exec("ulimit -p 4000 2>&1 || ulimit -u 4000 2>&1")
    assert result.exit_code != 0


async def test_many_processes_that_share_the_memory_limit_are_stopped_with_a_reason(open_local) -> None:
    sandbox = await open_local(Environment(limits=Limits(memory_mb=150)))
    hold = "import time; x = bytearray(b'1') * 60_000_000; time.sleep(60)"
    result = await sandbox.exec(f'for i in 1 2 3 4; do python3 -c "{hold}" & done; wait', timeout_s=30)
    assert not result.timed_out
    assert "evalkit: stopped: memory over the limit of 150 MB" in result.stderr.text
    assert await out(sandbox, "echo next") == "next\n"


async def test_many_files_over_the_storage_limit_are_stopped_and_can_be_removed(open_local) -> None:
    sandbox = await open_local(Environment(limits=Limits(storage_mb=20)))
    fill = "i=0; while :; do head -c 5000000 /dev/zero > f$i; i=$((i+1)); sleep 0.05; done"
    result = await sandbox.exec(fill, timeout_s=30)
    assert not result.timed_out
    assert result.over_limit
    assert "evalkit: stopped: files over the limit of 20 MB" in result.stderr.text
    tidy = await sandbox.exec("sleep 1.2; rm -f f*; ls")
    assert (tidy.exit_code, tidy.stdout.text) == (0, "")


@pytest.mark.parametrize("pause", [0.0, 0.7], ids=["at once", "slowly"])
async def test_calls_one_after_the_other_cannot_write_past_the_storage_limit(
    open_local, pause: float
) -> None:
    sandbox = await open_local(Environment(limits=Limits(storage_mb=20)))
    for name in range(10):
        await sandbox.exec(f"head -c 15000000 /dev/zero > f{name}; sleep {pause}")
    assert int(await out(sandbox, "cat f* | wc -c")) <= 45_000_000


FILL = "for i in 1 2 3; do head -c 9000000 /dev/zero > f$i; done; sleep 8"
TOLD = "evalkit: files are over the limit of 20 MB; nothing can be written until some are removed\n"


async def test_who_is_over_the_storage_limit_may_tidy_up_but_not_write_until_then(open_local) -> None:
    sandbox = await open_local(Environment(limits=Limits(storage_mb=20)))
    await sandbox.exec(FILL)
    refused = await sandbox.exec("echo more > g; ulimit -f 100 && echo more > g; cat g | wc -c; test -s g")
    assert (refused.exit_code, refused.stdout.text, refused.over_limit) == (1, "0\n", False)
    assert refused.stderr.text.endswith(TOLD)
    tidy = await sandbox.exec("rm f* g; ls; echo quiet > /dev/null")
    assert (tidy.exit_code, tidy.stdout.text, tidy.stderr.text) == (0, "", "")
    assert await out(sandbox, "echo more > g; cat g") == "more\n"


async def test_who_is_over_the_storage_limit_still_gets_long_commands_and_stdin(open_local) -> None:
    sandbox = await open_local(Environment(limits=Limits(storage_mb=20)))
    await sandbox.exec(FILL)
    result = await sandbox.exec(f"cat; : {'x' * 200_000}; echo more > g", stdin=b"given")
    assert result.stdout.text == "given"
    assert result.stderr.text.endswith(TOLD)


async def test_what_was_started_before_cannot_write_on_under_a_call_that_may_not(open_local) -> None:
    sandbox = await open_local(Environment(limits=Limits(storage_mb=20)))
    writer = "i=0; while :; do sleep 0.2; head -c 1000000 /dev/zero > g$i; i=$((i+1)); done"
    await sandbox.exec(f"({writer}) >/dev/null 2>&1 &")
    await sandbox.exec(FILL)
    ended = await sandbox.exec("sleep 6")
    assert (ended.over_limit, ended.shell_lost) == (True, True)
    before, after = (await out(sandbox, "ls | wc -l; sleep 1; ls | wc -l")).split()
    assert before == after
