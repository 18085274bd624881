"""Modes, links and kinds that the agent leaves behind are met in the same way by root and by ordinary users."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalkit.errors import DeliverableRefused, SandboxError
from evalkit.sandbox import Environment
from evalkit.sandbox.local.provider import LocalSandbox
from evalkit.trajectory.artifacts import ArtifactStore

pytestmark = [pytest.mark.anyio, pytest.mark.local]

modes = pytest.mark.parametrize("mode", ["0", "100", "200", "300", "400", "500", "600"])


@modes
async def test_a_folder_of_any_mode_is_read_and_left_as_it_was(
    sandbox: LocalSandbox, store: ArtifactStore, mode: str
) -> None:
    await sandbox.exec(f"mkdir -p d/sub; echo 1 > d/sub/f; chmod {mode} d/sub/f d/sub d")
    digest = await sandbox.workspace_digest()
    assert digest is not None
    assert (await sandbox.snapshot())["/app/d/sub/f"].size == 2
    assert [one.path for one in await sandbox.export(["/app/d/sub/f"], store)] == ["/app/d/sub/f"]
    assert len(await sandbox.export(["/app/d"], store)) == 3
    assert await sandbox.read_file("d/sub/f") == b"1\n"
    assert await sandbox.workspace_digest() == digest
    assert (await sandbox.exec("stat -c %a d")).stdout.text == f"{mode}\n"


@modes
async def test_the_digest_sees_changes_below_a_folder_of_any_mode(sandbox: LocalSandbox, mode: str) -> None:
    await sandbox.exec(f"mkdir d; echo 1 > d/f; chmod {mode} d")
    before = await sandbox.workspace_digest()
    await sandbox.exec(f"chmod 700 d; echo 2 >> d/f; chmod {mode} d")
    assert await sandbox.workspace_digest() != before


@modes
async def test_the_watchdog_outlives_a_folder_of_any_mode(sandbox: LocalSandbox, mode: str) -> None:
    result = await sandbox.exec(f"mkdir -p d/sub; touch d/f; chmod {mode} d; sleep 1.2; stat -c %a d")
    assert (result.stdout.text, result.stderr.text) == (f"{mode}\n", "")


@modes
async def test_files_are_written_whatever_the_mode_of_their_folder(
    open_local, store: ArtifactStore, mode: str
) -> None:
    agent, grader = await open_local(trial_id="agent"), await open_local(trial_id="grader")
    await agent.exec("mkdir d; echo new > d/f; chmod 444 d/f; chmod 555 d")
    await grader.exec(f"mkdir d; echo old > d/f; chmod 444 d/f; chmod {mode} d")
    await grader.write_file("d/f", b"written")
    await grader.write_file("d/other/f", b"written")
    assert await grader.read_file("d/f") == await grader.read_file("d/other/f") == b"written"
    assert (await grader.exec("stat -c %a d")).stdout.text == f"{mode}\n"
    await grader.place(await agent.export(["/app/d/f"], store), store)
    assert await grader.read_file("d/f") == b"new\n"
    await grader.place(await agent.export(["/app/d"], store), store)
    assert (await grader.exec("stat -c %a d d/f; ls d")).stdout.text == "555\n444\nf\n"


@modes
async def test_a_folder_of_any_mode_is_cleared(open_local, mode: str) -> None:
    sandbox = await open_local(Environment(private=("/tests",)))
    await sandbox.exec(f"mkdir -p /tests/d; touch /tests/d/f; chmod {mode} /tests/d /tests d")
    for path in ("/tests/d", "/tests"):
        await sandbox.clear_folder(path)
        assert (await sandbox.exec(f"ls -A {path}; touch {path}/new")).stdout.text == ""


async def test_a_closed_working_directory_is_no_error_of_the_sandbox(
    open_local, store: ArtifactStore
) -> None:
    sandbox = await open_local(Environment(workdir="/srv/app"))
    await sandbox.exec("touch f; chmod 0 .")
    assert (await sandbox.exec("true", cwd="/")).exit_code == 0
    await sandbox.exec("pwd")
    assert await sandbox.workspace_digest() is not None
    assert "/srv/app/f" in await sandbox.snapshot()
    assert len(await sandbox.export(["/srv/app"], store)) == 2
    await sandbox.write_file("g", b"x")
    await sandbox.halt()
    assert (await sandbox.exec("stat -c %a /srv/app", cwd="/")).stdout.text == "0\n"


@pytest.mark.parametrize("target", ["app", "/usr", "missing"], ids=["loop", "host folder", "nowhere"])
async def test_a_working_directory_that_became_a_link_is_no_error_of_the_sandbox(
    open_local, store: ArtifactStore, target: str
) -> None:
    sandbox = await open_local(Environment(workdir="/srv/app"))
    await sandbox.exec(f"cd /; rm -r /srv/app; ln -s {target} /srv/app")
    result = await sandbox.exec("pwd")
    if target == "/usr":
        assert result.exit_code == 0
    else:
        assert result.exit_code == 126
        assert "/srv/app" in result.stderr.text
    digest = await sandbox.workspace_digest()
    assert digest is None or target == "missing"
    with pytest.raises(DeliverableRefused):
        await sandbox.export(["/srv/app/out"], store)


async def test_a_working_directory_that_became_a_file_has_a_message(open_local) -> None:
    sandbox = await open_local(Environment(workdir="/srv/app"))
    await sandbox.exec("cd /; rm -r /srv/app; touch /srv/app")
    result = await sandbox.exec("pwd")
    assert result.exit_code == 126
    assert result.stderr.text


async def test_links_where_a_read_only_folder_is_mounted_do_not_stop_a_new_shell(
    open_local, scratch: Path
) -> None:
    data = scratch / "data/below"
    data.mkdir(parents=True)
    (data / "file").write_text("shared")
    for folder in (data, data.parent, scratch):
        folder.chmod(0o755)
    sandbox = await open_local(Environment(readonly=(data,)))
    above, name = str(data.parents[1].parent), data.parents[1].name
    assert (await sandbox.exec(f"cd {above} && mv {name} moved && ln -s /etc {name}")).exit_code == 0
    await sandbox.halt()
    assert (await sandbox.exec(f"cat {data}/file")).stdout.text == "shared"


async def test_a_shell_that_the_agents_files_keep_from_starting_says_so(sandbox: LocalSandbox) -> None:
    source = "#include <unistd.h>\nstatic void __attribute__((constructor)) f(void) { _exit(7); }\n"
    await sandbox.write_file("x.c", source.encode())
    made = await sandbox.exec("cc -shared -fPIC -o /tmp/x.so x.c && echo /tmp/x.so > /etc/ld.so.preload")
    if made.exit_code != 0:
        pytest.skip("there is no C compiler")
    await sandbox.halt()
    with pytest.raises(SandboxError) as refused:
        await sandbox.exec("true")
    assert "/etc/ld.so.preload" in (refused.value.hint or "")
