"""Which call has moved a ref, where refs are packed."""

from __future__ import annotations

import pytest

from evalkit.engine.effects.scope import Scope

from .conftest import Bench

pytestmark = pytest.mark.anyio
GIT = "/app/.git"
PACKED = f"{GIT}/packed-refs"
A, B, C = "a" * 40, "b" * 40, "c" * 40


def packed(**refs: str) -> str:
    kinds = {"v1": "tags", "v2": "tags", "stash": ""}
    names = {name: f"refs/{kinds.get(name, 'heads')}/{name}".replace("//", "/") for name in refs}
    return "# pack-refs\n" + "".join(f"{commit} {names[name]}\n" for name, commit in refs.items())


def loose(ref: str) -> str:
    return f"{GIT}/refs/{ref}"


@pytest.fixture
def own() -> Bench:
    bench = Bench(Scope())
    for name, content in {
        "HEAD": "ref: refs/heads/main\n",
        "objects": None,
        "refs/heads/main": A + "\n",
        "refs/heads/feature": B + "\n",
        "refs/tags/v1": A + "\n",
        "refs/tags/v2": A + "\n",
    }.items():
        bench.sandbox.write(f"{GIT}/{name}", content)
    return bench


async def test_packing_and_removing_others_are_no_changes_of_a_ref(own: Bench) -> None:
    await own.meter.begin()
    moved = await own.act((loose("heads/main"), C + "\n"), gone=[loose("heads/feature")])
    everything = [loose(f"tags/{tag}") for tag in ("v1", "v2")]
    await own.act((PACKED, packed(main=C, v1=A, v2=A)), gone=[loose("heads/main"), *everything])
    first = await own.act((PACKED, packed(main=C, v2=A)))
    second = await own.act((PACKED, packed(main=C)))
    await own.act((PACKED, packed(main=C)), (f"{GIT}/logs/HEAD", "x"), (f"{GIT}/logs/refs/heads/main", "x"))
    found = await own.finish()
    assert {name: (one.step, one.evidence) for name, one in found.items()} == {
        "git:refs/heads/main": (moved, (moved,)),
        "git:refs/heads/feature": (moved, (moved,)),
        "git:refs/tags/v1": (first, (first,)),
        "git:refs/tags/v2": (second, (second,)),
    }


async def test_a_ref_that_is_moved_and_packed_by_one_call_is_that_calls(own: Bench) -> None:
    await own.meter.begin()
    await own.act((f"{GIT}/index", "i"))
    both = await own.act((PACKED, packed(main=C)), gone=[loose("heads/main")])
    await own.act((f"{GIT}/index", "j"))
    assert (await own.finish())["git:refs/heads/main"].step == both


async def test_refs_that_were_packed_at_the_beginning_are_known(own: Bench) -> None:
    own.sandbox.write(PACKED, packed(old=A, older=A))
    await own.meter.begin()
    await own.act((f"{GIT}/index", "i"))
    gone = await own.act((PACKED, packed(older=A)))
    await own.act((PACKED, packed(older=A, main=A)), gone=[loose("heads/main")])
    found = await own.finish()
    assert {name: one.step for name, one in found.items()} == {"git:refs/heads/old": gone}


async def test_packed_refs_that_cannot_be_read_leave_the_step_open(
    own: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    own.sandbox.write(PACKED, packed(old=A))
    await own.meter.begin()
    read = own.sandbox.read_file

    async def refuse(path: str, *, max_bytes: int = 0) -> bytes:
        raise PermissionError(path)

    monkeypatch.setattr(own.sandbox, "read_file", refuse)
    await own.act((PACKED, packed()))
    monkeypatch.setattr(own.sandbox, "read_file", read)
    await own.act((PACKED, packed() + "#\n"))
    assert (await own.finish())["git:refs/heads/old"].step is None
