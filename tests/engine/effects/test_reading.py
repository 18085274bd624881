"""How files are read out of a sandbox."""

from __future__ import annotations

import pytest

from evalkit.engine.effects.reading import read_files

from .conftest import FakeSandbox

pytestmark = pytest.mark.anyio
FILES = {f"/var/lists/{number}": f"{number}".encode() for number in range(40)}


async def read(sandbox: FakeSandbox) -> dict[str, bytes]:
    wanted = [path for path in FILES if path != "/var/lists/7"]
    return await read_files(sandbox, wanted, await sandbox.snapshot(), max_bytes=10)  # type: ignore[arg-type]


@pytest.fixture
def sandbox() -> FakeSandbox:
    made = FakeSandbox()
    for path, content in FILES.items():
        made.write(path, content)
    return made


async def test_many_files_of_one_folder_are_taken_out_by_one_call(sandbox: FakeSandbox) -> None:
    assert await read(sandbox) == {path: FILES[path] for path in FILES if path != "/var/lists/7"}
    assert sandbox.exports == 1


async def test_a_folder_that_cannot_be_taken_out_is_read_file_by_file(sandbox: FakeSandbox) -> None:
    sandbox.refuses = {"/var/lists/7"}
    assert len(await read(sandbox)) == 39
