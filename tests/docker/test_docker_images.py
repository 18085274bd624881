"""Images are found, built once per content, or refused with the reason."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from evalkit.errors import SandboxError, TaskError
from evalkit.sandbox import Environment, Placement
from evalkit.sandbox.docker.image import context_digest

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


async def test_a_missing_dockerfile_is_an_error(open_docker, tmp_path: Path) -> None:
    with pytest.raises((SandboxError, TaskError)):
        await open_docker(Environment(dockerfile=tmp_path / "Dockerfile"))


async def test_an_image_without_a_shell_says_so(open_docker, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(SandboxError, match="sh") as refused:
        await open_docker(Environment(dockerfile=dockerfile(tmp_path, "FROM scratch\nCOPY file /file\n")))
    assert refused.value.hint


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
    sandbox = await open_docker(Environment(dockerfile=build, files=files))
    result = await sandbox.exec("stat -c %U data; cat data; echo; id -un; echo $GIVEN $HOME")
    assert result.stdout.text == "agent\nfrom the context\nagent\nimage /home/agent\n"


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
