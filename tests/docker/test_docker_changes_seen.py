"""What a trial changes in a container is seen from outside, also what only an image can have."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from evalkit.sandbox import Environment
from evalkit.sandbox.docker import looking
from evalkit.sandbox.docker.engine import Engine
from evalkit.sandbox.docker.provider import DockerSandbox

pytestmark = [pytest.mark.anyio, pytest.mark.docker]


def shared() -> Any:
    path = Path(__file__).parents[1] / "sandbox/test_changes_seen.py"
    spec = importlib.util.spec_from_file_location("shared_test_changes_seen", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SHARED = shared()
differences, printed, serve = SHARED.changes.differences, SHARED.printed, SHARED.serve
globals().update({name: test for name, test in vars(SHARED).items() if name.startswith("test_")})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A Dockerfile's: an image with a volume and a large folder."""
    (tmp_path / "Dockerfile").write_text(
        "FROM debian:bookworm-slim\n"
        "RUN mkdir -p /data/sub /large && cd /large && i=0 && while [ $i -lt 4000 ]; do echo $i > $i; i=$((i+1)); done "
        "&& printf x > \"$(printf 'gone\\377')\" && echo x > /data/old && echo x > /data/same\n"
        "RUN useradd -u 1000 agent\n"
        "VOLUME /data\n"
    )
    return tmp_path


async def test_what_only_an_image_has_is_seen(open_docker: Any, folder: Path) -> None:
    """Volumes, which the engine's comparison leaves out, and names that it cannot tell in a large folder."""
    sandbox = await open_docker(Environment(dockerfile=folder / "Dockerfile"))
    await printed(sandbox, "echo x > owned; echo x > group")
    before = await sandbox.snapshot()
    assert before["/data/old"].sha256 is not None
    await printed(
        sandbox,
        r"""echo y > /data/old; echo x > /data/sub/made; touch /data/same; cd /large; rm "$(printf 'gone\377')"
        echo 1 > "$(printf 'made\377')"; echo x > 17; echo x > "$(printf '/\376')"; chown agent /app/owned; rm 18
        touch 19; echo x > /dev/made; chmod 600 /dev/zero""",
    )
    await sandbox.halt()
    in_memory = {"/dev/made": "created", "/dev/zero": "mode"} if SHARED.sees_all(sandbox) else {}
    assert differences(before, await sandbox.snapshot()) == {
        **in_memory,
        "/data/old": "modified",
        "/data/sub/made": "created",
        "/app/owned": "mode",
        "/\udcfe": "created",
        "/large/gone\udcff": "deleted",
        "/large/made\udcff": "created",
        "/large/17": "modified",
        "/large/18": "deleted",
    }


async def test_an_engine_elsewhere_tells_processes_and_process_1_tells_sockets(
    sandbox: DockerSandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(looking, "PROC", tmp_path)
    await serve(sandbox)
    await printed(sandbox, "sleep 600 & :")
    found = await sandbox.processes()
    assert sorted((one.program, one.command) for one in found) == [
        ("python3", "python3 /app/server.py"),
        ("sleep", "sleep 600"),
    ]
    assert await sandbox.processes() == found
    listening = await sandbox.listeners()
    assert [(one.protocol, one.port) for one in listening] == [
        *(("tcp", 8123), ("udp", 8124), ("unix", None), ("unix", None)),
    ]
    assert all(one.inside for one in listening)


async def test_other_containers_are_not_looked_at(open_docker: Any, engine: Engine) -> None:
    one, other = await open_docker(trial_id="one"), await open_docker(trial_id="other")
    await serve(one)
    assert await other.processes() == ()
    assert await other.listeners() == ()
    assert len(await one.processes()) == 1
    assert looking.is_here(engine.anatomy(one._name))


async def test_a_listing_without_gnu_find_says_the_same_paths(sandbox: DockerSandbox) -> None:
    await printed(sandbox, "mkdir d; echo x > d/x; echo x > 'a\nb|c'")
    before = await sandbox.listing()
    assert before is not None
    await printed(
        sandbox,
        'mv /usr/bin/find /usr/bin/found; printf \'#!/bin/sh\\ncase "$*" in *-printf*) exit 1;; esac\\n'
        'exec found "$@"\\n\' > /usr/bin/find; chmod 755 /usr/bin/find',
    )
    after = await sandbox.listing()
    assert after is not None
    assert after.keys() == before.keys()
    assert after == await sandbox.listing()
