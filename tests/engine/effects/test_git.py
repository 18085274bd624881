"""Git repositories, read as data."""

from __future__ import annotations

import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.engine.effects.change import RawChange
from evalkit.engine.effects.git import git_changes, label, main_repository, told_by_git, with_history
from evalkit.engine.effects.git_history import linked
from evalkit.engine.effects.git_state import GitState, find_repositories, read_state, state_files
from evalkit.engine.effects.scope import Scope
from evalkit.sandbox.protocol import Entry

from .conftest import Bench

pytestmark = pytest.mark.anyio
FOLDER = "/app/.git"


class Repository:
    """A real repository on this machine, and its state as a snapshot of /app would tell it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.git("init", "-q", "-b", "main")
        self.commit("first")

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "gc.auto=0")
        done = subprocess.run(
            ["git", *who, *words], cwd=self.root, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(self, text: str) -> str:
        (self.root / "file").write_text(text)
        self.git("add", "file")
        self.git("commit", "-q", "-m", text)
        return self.git("rev-parse", "HEAD")

    @property
    def entries(self) -> dict[str, Entry]:
        return {
            f"/app/{path.relative_to(self.root)}": Entry("dir" if path.is_dir() else "file", 0o644, 0, 1, "d")
            for path in self.root.rglob("*")
        }

    @property
    def state(self) -> GitState:
        entries = self.entries
        files = {path: self.bytes(path) for path in state_files(FOLDER, entries)}
        read = {path: content for path, content in files.items() if content is not None}
        return read_state(FOLDER, read, entries)

    def bytes(self, path: str) -> bytes | None:
        file = self.root / path.removeprefix("/app/")
        return file.read_bytes() if file.is_file() else None

    async def read(self, name: str) -> bytes | None:
        return self.bytes(f"{FOLDER}/{name}")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


async def after(repository: Repository, act: Callable[[], object]) -> dict[str, RawChange]:
    before = repository.state
    act()
    found = git_changes(FOLDER, "git:", before, repository.state)
    return {one.resource: one for one in [await with_history(change, repository.read) for change in found]}


async def test_nothing_happened(repository: Repository) -> None:
    assert await after(repository, lambda: repository.git("status")) == {}


async def test_a_commit_moves_its_branch_and_loses_nothing(repository: Repository) -> None:
    found = await after(repository, lambda: repository.commit("second"))
    assert list(found) == ["git:refs/heads/main"]
    change = found["git:refs/heads/main"]
    assert (change.change, change.irreversible) == ("modified", False)
    assert change.places == ("/app/.git/refs/heads/main",)


async def test_an_amended_commit_loses_the_one_before(repository: Repository) -> None:
    repository.commit("second")
    found = await after(repository, lambda: repository.git("commit", "-q", "--amend", "-m", "other"))
    assert found["git:refs/heads/main"].irreversible is True


async def test_a_ref_moved_among_packed_commits_may_have_lost_something(repository: Repository) -> None:
    repository.commit("second")
    repository.git("repack", "-adq")
    found = await after(repository, lambda: repository.git("reset", "-q", "--hard", "HEAD~1"))
    assert found["git:refs/heads/main"].irreversible is None


async def test_a_branch_that_was_deleted(repository: Repository) -> None:
    repository.git("branch", "release")
    found = await after(repository, lambda: repository.git("branch", "-D", "release"))
    change = found["git:refs/heads/release"]
    assert (change.change, change.after, change.irreversible) == ("deleted", None, True)


async def test_a_branch_that_was_renamed_is_not_lost(repository: Repository) -> None:
    repository.git("branch", "release")
    found = await after(repository, lambda: repository.git("branch", "-m", "release", "stable"))
    assert found["git:refs/heads/release"].irreversible is False
    assert found["git:refs/heads/stable"].change == "created"


async def test_packing_refs_changes_nothing(repository: Repository) -> None:
    repository.git("branch", "release")
    assert await after(repository, lambda: repository.git("pack-refs", "--all")) == {}


async def test_a_packed_branch_that_was_deleted(repository: Repository) -> None:
    repository.git("branch", "release")
    repository.git("pack-refs", "--all")
    found = await after(repository, lambda: repository.git("branch", "-D", "release"))
    assert found["git:refs/heads/release"].change == "deleted"


async def test_head_and_configuration(repository: Repository) -> None:
    found = await after(repository, lambda: repository.git("checkout", "-q", "-b", "work"))
    assert found["git:HEAD"].after == "ref: refs/heads/work"
    assert found["git:refs/heads/work"].change == "created"


async def test_a_stash_and_its_loss(repository: Repository) -> None:
    (repository.root / "file").write_text("unfinished")
    found = await after(repository, lambda: repository.git("stash", "-q"))
    assert found["git:stash"].change == "created"
    assert "git:refs/stash" not in found
    found = await after(repository, lambda: repository.git("stash", "drop", "-q"))
    assert (found["git:stash"].change, found["git:stash"].irreversible) == ("deleted", True)


async def test_a_second_stash_loses_none(repository: Repository) -> None:
    for text in ("one", "two"):
        (repository.root / "file").write_text(text)
        found = await after(repository, lambda: repository.git("stash", "-q"))
    assert (found["git:stash"].change, found["git:stash"].irreversible) == ("modified", False)


def test_repositories_are_found_bare_ones_too(repository: Repository) -> None:
    entries = repository.entries
    bare = {path.replace("/app/.git", "/srv/x.git"): entry for path, entry in entries.items()}
    assert find_repositories({**entries, **bare}) == {"/app/.git", "/srv/x.git"}


def test_which_repository_is_meant_without_a_name() -> None:
    assert main_repository(["/srv/x.git", "/app/.git"], "/app/src") == "/app/.git"
    assert main_repository(["/srv/x.git"], "/app") == "/srv/x.git"
    assert main_repository(["/srv/x.git", "/srv/y/.git"], "/app") is None
    assert label("/srv/y/.git", "/app/.git") == "git:/srv/y:"


def test_hooks_are_files_like_all_others() -> None:
    assert told_by_git("/app/.git/index", ["/app/.git"])
    assert told_by_git("/app/.git", ["/app/.git"])
    assert not told_by_git("/app/.git/hooks/pre-commit", ["/app/.git"])
    assert not told_by_git("/app/.gitignore", ["/app/.git"])


@given(
    st.dictionaries(
        st.sampled_from(["HEAD", "config", "packed-refs", "refs/heads/a", "refs/stash", "logs/refs/stash"]),
        st.binary(max_size=200) | st.just(b"a" * 40 + b" refs/heads/b\n" + b"^x\n"),
    )
)
def test_whatever_a_repository_holds_it_has_a_state(files: dict[str, bytes]) -> None:
    contents = {f"{FOLDER}/{name}": content for name, content in files.items()}
    state = read_state(FOLDER, contents, {})
    assert list(git_changes(FOLDER, "git:", state, state)) == []
    for change in git_changes(FOLDER, "git:", GitState(), state):
        assert change.change == "created"


@given(st.binary(max_size=300))
def test_whatever_an_object_holds_it_is_read(content: bytes) -> None:
    linked(content)
    linked(zlib.compress(b"commit 5\0" + content))


def test_a_bomb_of_an_object_is_cut_off() -> None:
    assert linked(zlib.compress(b"commit 1\0tree x\n\n" + b"\0" * 50_000_000)) == []


async def test_a_repository_hides_nothing_that_is_forbidden() -> None:
    bench = Bench(
        Scope(allowed=("/app",), forbidden=("/app/.git/info/**", "/app/.git/loot", "/app/.git/refs/**"))
    )
    for name in ("objects", "refs/heads"):
        bench.sandbox.write(f"{FOLDER}/{name}", None)
    for name, content in {
        "HEAD": "ref: refs/heads/main\n",
        "refs/heads/main": "a" * 40,
        "info/exclude": "x",
    }.items():
        bench.sandbox.write(f"{FOLDER}/{name}", content)
    await bench.meter.begin()
    await bench.act(
        (f"{FOLDER}/info/exclude", "y"),
        (f"{FOLDER}/loot", "l"),
        (f"{FOLDER}/index", "i"),
        (f"{FOLDER}/refs/heads/main", "b" * 40),
    )
    found = await bench.finish()
    assert {name: one.class_ for name, one in found.items()} == dict.fromkeys(
        (f"{FOLDER}/info/exclude", f"{FOLDER}/loot", "git:refs/heads/main"), "forbidden"
    )


async def test_samples_of_hooks_are_told_by_their_repository_where_that_is_new() -> None:
    bench = Bench(Scope())
    for name in ("old/objects", "old/refs"):
        bench.sandbox.write(f"/srv/{name}", None)
    bench.sandbox.write("/srv/old/HEAD", "ref: refs/heads/main\n")
    await bench.meter.begin()
    await bench.act(
        ("/srv/new/objects", None),
        ("/srv/new/refs", None),
        ("/srv/new/HEAD", "ref: refs/heads/main\n"),
        ("/srv/new/hooks/update.sample", "#!"),
        ("/srv/new/hooks/update", "#!"),
        ("/srv/old/hooks/update.sample", "#!"),
    )
    assert set(await bench.finish()) == {
        "git:/srv/new:HEAD",
        "/srv/new/hooks/update",
        "/srv/old/hooks/update.sample",
    }
