"""Built images are kept for as long as they are used, and what is removed was surely made by evalkit."""

from __future__ import annotations

import contextlib
import os
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evalkit.errors import SandboxError
from evalkit.sandbox import Environment
from evalkit.sandbox.docker import leftovers, records
from evalkit.sandbox.docker.complaint import NotThere
from evalkit.sandbox.docker.engine import Engine
from evalkit.sandbox.docker.image import LABEL, context_digest

pytestmark = [pytest.mark.anyio, pytest.mark.docker]

Build = Callable[[str], tuple[Path, str]]


@pytest.fixture(autouse=True)
def own_scratch(monkeypatch: pytest.MonkeyPatch, open_folder: Path) -> Path:
    """Records of these tests' images only: those of others are without one, and so are kept."""
    monkeypatch.setenv("EVALKIT_SCRATCH", str(open_folder))
    return open_folder


@pytest.fixture
def prepared(engine: Engine, tmp_path: Path) -> Iterator[Build]:
    """A Dockerfile that nobody has built before, and the name that its image will have."""
    tags: list[str] = []

    def prepare(text: str) -> tuple[Path, str]:
        folder = tmp_path / f"build-{len(tags)}"
        folder.mkdir()
        (folder / "Dockerfile").write_text(text.replace("UNIQUE", str(folder)))
        tags.append(f"evalkit-build:{context_digest(folder / 'Dockerfile')}")
        return folder / "Dockerfile", tags[-1]

    yield prepare
    for tag in tags:
        with contextlib.suppress(SandboxError):
            engine.remove_image(tag, parents=True)


def is_there(engine: Engine, image: str) -> bool:
    try:
        engine.image(image)
    except NotThere:
        return False
    return True


def grow_old(tag: str) -> None:
    path = records._path(tag.partition(":")[2])
    long_ago = path.stat().st_mtime - leftovers.KEEP_S - 60
    os.utime(path, (long_ago, long_ago))


TEXT = "FROM debian:bookworm-slim\nRUN echo UNIQUE > /made\n"


async def test_an_image_that_nobody_used_for_long_is_removed(open_docker, engine: Engine, prepared) -> None:
    file, tag = prepared(TEXT)
    await (await open_docker(Environment(dockerfile=file))).stop()
    assert leftovers.clean_images(engine) == []
    assert is_there(engine, tag)
    grow_old(tag)
    assert leftovers.clean_images(engine) == [f"image {tag}"]
    assert not is_there(engine, tag)
    assert not records.is_known(tag.partition(":")[2])
    assert leftovers.clean_images(engine) == []


async def test_using_an_image_renews_it(open_docker, engine: Engine, prepared) -> None:
    file, tag = prepared(TEXT)
    await (await open_docker(Environment(dockerfile=file))).stop()
    grow_old(tag)
    await (await open_docker(Environment(dockerfile=file))).stop()
    assert leftovers.clean_images(engine) == []
    assert is_there(engine, tag)


async def test_an_image_that_a_container_uses_is_kept(open_docker, engine: Engine, prepared) -> None:
    file, tag = prepared(TEXT)
    sandbox = await open_docker(Environment(dockerfile=file))
    grow_old(tag)
    assert leftovers.clean_images(engine) == []
    assert is_there(engine, tag)
    assert (await sandbox.exec("echo lives")).stdout.text == "lives\n"


async def test_an_image_that_somebody_is_looking_for_is_kept(open_docker, engine: Engine, prepared) -> None:
    file, tag = prepared(TEXT)
    await (await open_docker(Environment(dockerfile=file))).stop()
    grow_old(tag)
    with records.shared(tag.partition(":")[2]):
        assert leftovers.clean_images(engine) == []
    assert is_there(engine, tag)


async def test_an_image_without_a_record_is_kept_from_then_on(open_docker, engine: Engine, prepared) -> None:
    file, tag = prepared(TEXT)
    await (await open_docker(Environment(dockerfile=file))).stop()
    digest = tag.partition(":")[2]
    records._path(digest).unlink()
    assert leftovers.clean_images(engine) == []
    assert records.is_known(digest)
    grow_old(tag)
    assert leftovers.clean_images(engine) == [f"image {tag}"]


async def test_what_somebody_else_built_or_named_is_kept(open_docker, engine: Engine, prepared) -> None:
    file, tag = prepared(TEXT)
    await (await open_docker(Environment(dockerfile=file))).stop()
    engine._client.tag(tag, "evalkit-test-own-name", "kept")
    try:
        grow_old(tag)
        assert leftovers.clean_images(engine) == [f"image {tag}"]
        assert is_there(engine, "evalkit-test-own-name:kept")
    finally:
        engine.remove_image("evalkit-test-own-name:kept", parents=True)
    making = engine.making()
    file, tag = prepared(TEXT)
    with records.alone(tag.partition(":")[2], lambda: False), open(file.parent / "context.tar", "w+b") as tar:
        with tarfile.open(fileobj=tar, mode="w") as packed:
            packed.add(file, "Dockerfile")
        tar.seek(0)
        list(making.build(tar, "Dockerfile", tag, {LABEL: "elsewhere:1000"}))
    making.give_up()
    grow_old(tag)
    assert leftovers.clean_images(engine) == []
    assert is_there(engine, tag)


async def test_layers_of_a_failed_build_go_with_its_record(open_docker, engine: Engine, prepared) -> None:
    file, tag = prepared("FROM debian:bookworm-slim\nRUN echo UNIQUE > /made\nRUN echo no; exit 3\n")
    with pytest.raises(SandboxError):
        await open_docker(Environment(dockerfile=file))
    with records.shared(tag.partition(":")[2]) as record:
        assert record is not None
        layers = [layer for layer, _ in records.newest_first(record.layers())]
    base = engine.image("debian:bookworm-slim").id.removeprefix("sha256:")
    made = [one for one in layers if not base.startswith(one)]
    assert made
    assert all(is_there(engine, one) for one in made)
    grow_old(tag)
    removed = leftovers.clean_images(engine)
    assert len(removed) == len(made)
    assert not any(is_there(engine, one) for one in made)
    assert is_there(engine, "debian:bookworm-slim")


async def test_a_build_cannot_have_what_others_made_removed(open_docker, engine: Engine, prepared) -> None:
    file, tag = prepared(TEXT)
    await (await open_docker(Environment(dockerfile=file))).stop()
    made = engine.image(tag).id
    engine._client.tag(tag, "evalkit-test-somebodys", "1")
    engine._client.remove_image(tag, noprune=True)
    short = made.removeprefix("sha256:")[:12]
    try:
        forging, forged = prepared(
            f"FROM debian:bookworm-slim\nRUN echo ' ---> {short}'; echo UNIQUE; exit 3\n"
        )
        with pytest.raises(SandboxError):
            await open_docker(Environment(dockerfile=forging))
        grow_old(forged)
        leftovers.clean_images(engine)
        assert is_there(engine, made)
    finally:
        engine.remove_image("evalkit-test-somebodys:1", parents=True)


async def test_volumes_go_with_their_containers(open_docker, engine: Engine) -> None:
    sandbox = await open_docker(run_id="run-volume")
    assert len(engine.owned_volumes("evalkit.run=run-volume")) == 1
    await sandbox.stop()
    assert engine.owned_volumes("evalkit.run=run-volume") == []
