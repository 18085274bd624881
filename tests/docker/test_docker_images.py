"""Images are found, built once per content, or refused with the reason."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from evalkit.errors import SandboxError, TaskError
from evalkit.sandbox import Environment, Imitation, Placement
from evalkit.sandbox.docker.engine import Engine
from evalkit.sandbox.docker.image import context_digest
from evalkit.trajectory.artifacts import ArtifactStore

pytestmark = [pytest.mark.anyio, pytest.mark.docker]

COLLECT = """
FROM debian:bookworm-slim AS collect
RUN mkdir -p /out/bin && cp /bin/dash /out/bin/sh && \\
    ldd /bin/dash | grep -o '/[^ ]*' | while read f; do mkdir -p "/out$(dirname $f)"; cp -L $f "/out$f"; done
FROM scratch
COPY --from=collect /out /
"""
BUSYBOX = """
FROM debian:bookworm-slim AS collect
RUN apt-get update && apt-get install -y --no-install-recommends busybox-static
FROM scratch
COPY --from=collect /bin/busybox /bin/sh
"""
BASH = "FROM debian:bookworm-slim\nRUN ln -sf bash /bin/sh\n"


def dockerfile(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "Dockerfile").write_text(text)
    return folder / "Dockerfile"


@pytest.mark.parametrize("text", [COLLECT, BUSYBOX, BASH], ids=["dash and nothing else", "busybox", "bash"])
async def test_an_image_needs_a_posix_shell_only(open_docker, tmp_path: Path, text: str) -> None:
    (tmp_path / "file").write_text("placed")
    sandbox = await open_docker(
        Environment(
            dockerfile=dockerfile(tmp_path / "build", text),
            workdir="/srv/deep/app",
            private=("/logs",),
            files=(Placement(tmp_path / "file", "/srv/deep/app/sub/file"),),
        )
    )
    result = await sandbox.exec('read -r x <sub/file; printf "$x "; cd /logs && pwd; exit 3')
    assert (result.stdout.text, result.exit_code) == ("placed /logs\n", 3)
    result = await sandbox.exec("echo early; while :; do :; done", timeout_s=0.3)
    assert (result.stdout.text, result.timed_out, result.shell_lost) == ("early\n", True, False)
    assert (await sandbox.exec("read -r x; echo $x", stdin=b"given\n")).stdout.text == "given\n"
    assert (await sandbox.exec("exec >/dev/null; kill -9 $PPID")).shell_lost
    await sandbox.halt()
    assert (await sandbox.exec("echo again")).stdout.text == "again\n"
    assert "/srv/deep/app/sub/file" in await sandbox.snapshot()


@pytest.mark.parametrize("text", [COLLECT, BUSYBOX], ids=["dash and nothing else", "busybox"])
async def test_an_image_with_a_shell_only_can_all_that_a_sandbox_must(
    open_docker, store: ArtifactStore, tmp_path: Path, text: str
) -> None:
    sandbox = await open_docker(Environment(dockerfile=dockerfile(tmp_path / "build", text), workdir="/app"))
    assert (await sandbox.exec("echo x >made; echo out; echo err >&2; exit 7")).exit_code == 7
    await sandbox.write_file("sub/written", b"bytes\0")
    assert await sandbox.read_file("sub/written") == b"bytes\0"
    result = await sandbox.exec("echo early; (while :; do :; done) & while :; do :; done", timeout_s=0.5)
    assert (result.stdout.text, result.timed_out, result.shell_lost) == ("early\n", True, False)
    await sandbox.exec("(while :; do :; done) & :")
    await sandbox.halt()
    entries = await sandbox.snapshot()
    assert {"/app/made", "/app/sub/written", "/bin/sh"} <= entries.keys()
    taken = await sandbox.export(["/app"], store)
    assert {one.path for one in taken} == {"/app", "/app/made", "/app/sub", "/app/sub/written"}
    await sandbox.clear_folder("/app")
    await sandbox.place(taken, store)
    assert (await sandbox.exec("read -r x <made; echo $x")).stdout.text == "x\n"
    assert (await sandbox.workspace_digest() is None) == (text is COLLECT)  # busybox has find and stat


async def test_a_missing_image_is_named_with_what_to_do(open_docker) -> None:
    with pytest.raises(
        SandboxError, match=r"localhost:1/no-such-image:1 is not here and cannot be pulled"
    ) as refused:
        await open_docker(Environment(image="localhost:1/no-such-image:1"))
    assert "docker load" in (refused.value.hint or "")


async def test_a_failing_build_shows_the_end_of_its_log(open_docker, tmp_path: Path) -> None:
    broken = dockerfile(tmp_path, "FROM debian:bookworm-slim\nRUN echo what-went-wrong && exit 7\n")
    with pytest.raises(SandboxError, match="cannot be built") as refused:
        await open_docker(Environment(dockerfile=broken))
    assert "what-went-wrong" in refused.value.message
    assert "7" in refused.value.message
    assert refused.value.where == str(broken)


async def test_a_missing_image_to_start_from_is_one_clear_error(open_docker, tmp_path: Path) -> None:
    broken = dockerfile(tmp_path, "FROM localhost:1/no-such-image:1\nRUN true\n")
    with pytest.raises(SandboxError, match="localhost:1/no-such-image") as refused:
        await open_docker(Environment(dockerfile=broken))
    assert refused.value.where == str(broken)
    assert "the image localhost:1/no-such-image:1 that it starts FROM is not here" in refused.value.message
    assert "docker load" in (refused.value.hint or "")


async def test_those_who_waited_for_a_build_that_failed_do_not_try_it_again(
    open_docker, tmp_path: Path
) -> None:
    broken = dockerfile(tmp_path, f"FROM debian:bookworm-slim\n# {tmp_path}\nRUN sleep 2; exit 7\n")
    with anyio.fail_after(7):
        results = await asyncio.gather(
            *(open_docker(Environment(dockerfile=broken)) for _ in range(4)), return_exceptions=True
        )
    assert all(isinstance(one, SandboxError) and "cannot be built" in one.message for one in results)


def building(engine: Engine, command: str) -> bool:
    return any(command in one["Command"] for one in engine._client.containers())


async def until(true: Callable[[], bool]) -> None:
    with anyio.fail_after(15):
        while not await asyncio.to_thread(true):
            await anyio.sleep(0.05)


async def test_a_silent_build_ends_with_its_time(open_docker, engine: Engine, tmp_path: Path) -> None:
    slow = dockerfile(tmp_path, f"FROM debian:bookworm-slim\n# {tmp_path}\nRUN sleep 612\n")
    with anyio.fail_after(10), pytest.raises(SandboxError, match="longer than 2 s") as refused:
        await open_docker(Environment(dockerfile=slow, build_timeout_s=2))
    assert "build_timeout_sec" in (refused.value.hint or "")
    await until(lambda: not building(engine, "sleep 612"))


async def test_a_silent_build_ends_with_its_caller_and_holds_nobody_up(
    open_docker, engine: Engine, tmp_path: Path
) -> None:
    slow = dockerfile(tmp_path, f"FROM debian:bookworm-slim\n# {tmp_path}\nRUN sleep 613\n")
    first = asyncio.create_task(open_docker(Environment(dockerfile=slow)))
    await until(lambda: building(engine, "sleep 613"))
    waiting = asyncio.create_task(open_docker(Environment(dockerfile=slow, build_timeout_s=1)))
    await anyio.sleep(0.3)
    first.cancel()
    with anyio.fail_after(10):
        assert isinstance((await asyncio.gather(first, return_exceptions=True))[0], asyncio.CancelledError)
        with pytest.raises(SandboxError, match="longer than 1 s"):  # so it was its turn
            await waiting
    await until(lambda: not building(engine, "sleep 613"))
    assert not [one for one in threading.enumerate() if "find_image" in one.name]


async def test_an_image_that_is_removed_before_it_is_used_is_built_again(
    open_docker, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = dockerfile(tmp_path, f"FROM debian:bookworm-slim\nRUN echo {tmp_path} > /made\n")
    create, tag = engine.create, f"evalkit-build:{context_digest(build)}"

    def remove_first(*args):
        monkeypatch.undo()
        engine.remove_image(tag, parents=True)
        return create(*args)

    monkeypatch.setattr(engine, "create", remove_first)
    sandbox = await open_docker(Environment(dockerfile=build))
    assert (await sandbox.exec("cat /made")).stdout.text == f"{tmp_path}\n"


async def test_a_missing_dockerfile_is_an_error(open_docker, tmp_path: Path) -> None:
    with pytest.raises((SandboxError, TaskError)):
        await open_docker(Environment(dockerfile=tmp_path / "Dockerfile"))


async def test_an_image_without_a_shell_says_so(open_docker, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    build = dockerfile(tmp_path, "FROM scratch\nCOPY file /file\n")
    with pytest.raises(TaskError, match="has no sh") as refused:
        await open_docker(Environment(dockerfile=build))
    assert refused.value.where == str(build)
    assert "Dockerfile" in (refused.value.hint or "")


async def test_trials_that_start_at_once_build_their_image_once(open_docker, tmp_path: Path) -> None:
    random = dockerfile(
        tmp_path, f"FROM debian:bookworm-slim\n# {tmp_path}\nRUN head -c 8 /dev/urandom > /random; sleep 1\n"
    )
    boxes = await asyncio.gather(*(open_docker(Environment(dockerfile=random)) for _ in range(3)))
    assert len({box.image_digest for box in boxes}) == 1
    assert str(boxes[0].image_digest).startswith("sha256:")


async def test_a_build_brings_its_own_files_and_they_are_not_placed_again(
    open_docker, tmp_path: Path
) -> None:
    build = dockerfile(
        tmp_path / "environment",
        "FROM debian:bookworm-slim\nRUN useradd agent\n"
        "COPY --chown=agent data /app/data\nENV GIVEN=image\nUSER agent\n",
    )
    (build.parent / "data").write_text("from the context")
    files = (Placement(build.parent / "data", "/app/data"),)
    sandbox = await open_docker(Environment(dockerfile=build, imitation=Imitation(files=files)))
    result = await sandbox.exec("stat -c %U data; cat data; echo; id -un; echo $GIVEN $HOME")
    assert result.stdout.text == "agent\nfrom the context\nagent\nimage /home/agent\n"


async def test_what_is_placed_may_lie_beside_the_dockerfile(open_docker, tmp_path: Path) -> None:
    build = dockerfile(tmp_path / "tests", "FROM debian:bookworm-slim\n")
    (build.parent / "test.sh").write_text("#!/bin/sh\necho tested\n")
    files = (Placement(build.parent / "test.sh", "/tests/test.sh", executable=True),)
    sandbox = await open_docker(Environment(dockerfile=build, files=files))
    assert (await sandbox.exec("/tests/test.sh")).stdout.text == "tested\n"


def test_the_digest_sees_content_names_and_modes_but_neither_times_nor_caches(tmp_path: Path) -> None:
    file = dockerfile(tmp_path, "FROM debian:bookworm-slim\nCOPY . /app\n")
    (tmp_path / "run.sh").write_text("echo 1")
    (tmp_path / "notes").write_text("x")
    (tmp_path / ".dockerignore").write_text("notes\n")
    before = context_digest(file)
    (tmp_path / "run.sh").touch()
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__/x.pyc").write_bytes(b"x")
    (tmp_path / "notes").write_text("y")
    assert context_digest(file) == before
    (tmp_path / "run.sh").chmod(0o755)
    executable = context_digest(file)
    (tmp_path / "run.sh").write_text("echo 2")
    assert len({before, executable, context_digest(file)}) == 3


async def test_a_cancelled_build_ends_its_caller_at_once(open_docker, tmp_path: Path) -> None:
    slow = dockerfile(
        tmp_path,
        f"FROM debian:bookworm-slim\n# {tmp_path}\nRUN for i in 1 2 3 4 5 6; do echo $i; sleep 0.5; done\n",
    )
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(open_docker(Environment(dockerfile=slow)), 0.5)
