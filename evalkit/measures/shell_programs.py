"""Which kind of operation is a program?

One small table, and a part of every metric that rests on it: change it, and raise the versions of those scorers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, get_args

Operation = Literal["read", "test", "fetch", "install", "mutate", "run", "other"]
OPERATIONS: tuple[Operation, ...] = get_args(Operation)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


PASSED_OVER = _names("cd pushd popd set export unset shopt true : sleep for")
"""Commands that only prepare or wait for what follows them."""
PREDICATES = _names("grep egrep fgrep rg diff cmp test [ [[")
"""Programs whose exit code 1 is an answer."""
ALL_ARE_FILES = _names(
    "cat head tail less more ls wc stat file rm rmdir mkdir touch cp mv ln tee truncate source . bash sh diff cmp find"
    " tree du nl od xxd"
)
"""Programs whose words are all paths."""
NAMES_FIRST_THEN_FILES = _names("grep egrep fgrep rg chmod chown chgrp sed awk jq")
"""Programs whose first word is a pattern, a mode or a script."""

_TESTS = _names("pytest py.test tox nox ctest jest vitest rspec phpunit runtests.py")
_TEST_MODULES = _names("unittest pytest doctest nose")
_PYTHON_OPTION = re.compile(r"-[bBdEiIOPqsSuvVx]+|-[WX].*")
_BUILDERS = _names("make npm yarn pnpm cargo go mvn gradle uv poetry")
"""Programs that test where they are told `test`."""
_INSTALLS: dict[str, tuple[str, ...]] = {
    "pip": ("install",),
    "pip3": ("install",),
    "uv": ("add", "sync"),
    "apt": ("install",),
    "apt-get": ("install",),
    "apk": ("add",),
    "yum": ("install",),
    "dnf": ("install",),
    "conda": ("install",),
    "npm": ("install", "ci", "i"),
    "yarn": ("add", "install"),
    "pnpm": ("add", "install"),
    "gem": ("install",),
    "cargo": ("install", "add"),
    "go": ("get", "install"),
}


def _table(**programs: str) -> dict[str, Operation]:
    return {name: kind for kind in OPERATIONS for name in programs.get(kind, "").split()}


_GIT = _table(
    read="status log diff show blame grep ls-files branch remote reflog",
    fetch="clone fetch pull",
    mutate="add commit checkout switch restore reset apply am merge rebase stash push rm mv tag cherry-pick revert"
    " clean init config",
    run="bisect",
)
PROGRAMS = _table(
    read="cat head tail less more ls find grep egrep fgrep rg awk wc stat file diff cmp tree pwd which du df ps env"
    " printenv jq nl od xxd",
    fetch="curl wget http scp rsync ftp",
    mutate="rm mv cp mkdir rmdir touch chmod chown chgrp ln tee dd truncate patch kill pkill killall unzip tar gzip"
    " gunzip",
    run="node bash sh ruby perl java make gcc cc cargo go . source sqlite3 psql npx npm uv poetry docker",
)


CHANGERS = frozenset(
    {name for name, kind in PROGRAMS.items() if kind in {"mutate", "install"}} | _INSTALLS.keys()
)
"""Programs that may change files; beside them `git`, `sed` and `python -m pip` may."""


def operation_of(program: str, words: Sequence[str]) -> Operation:
    """The operation of a simple command: its program without the folder, and all its words, the program's first."""
    arguments = _after_options(words[1:]) if program.startswith("python") else words[1:]
    sub = next((word for word in arguments if not word.startswith("-")), "")
    if _is_test(program, arguments, sub):
        return "test"
    if sub in _INSTALLS.get(program, ()) or arguments[:3] == ["-m", "pip", "install"]:
        return "install"
    if program == "git":
        return _GIT.get(sub, "other")
    if program == "sed":
        return "mutate" if any(re.match(r"-[a-zA-Z]*i|--in-place", word) for word in arguments) else "read"
    own: Operation = "run" if "/" in words[0] or program.startswith("python") else "other"
    return PROGRAMS.get(program, own)


def _after_options(words: Sequence[str]) -> Sequence[str]:
    """What an interpreter of Python is given, without the options before it: `-B -m unittest` is `-m unittest`."""
    at = 0
    while at < len(words) and _PYTHON_OPTION.fullmatch(words[at]):
        at += 2 if words[at] in {"-W", "-X"} else 1
    return words[at:]


def _is_test(program: str, words: Sequence[str], sub: str) -> bool:
    if program in _TESTS:
        return True
    if program == "manage.py":
        return sub == "test"
    if program.startswith("python"):
        if words[:1] == ["-m"]:
            return words[1:2] != [] and (words[1] in _TEST_MODULES or words[1:3] == ["django", "test"])
        return sub != "" and _is_test_script(sub.rpartition("/")[2], words[words.index(sub) + 1 :])
    if program in _BUILDERS:
        named = [word for word in words if not word.startswith("-")]
        return sub in {"test", "check"} or named[:2] in (["run", "test"], ["run", "pytest"])
    return False


def _is_test_script(script: str, words: Sequence[str]) -> bool:
    """Whether a script that an interpreter is given is one that runs tests, such as `manage.py test`."""
    return script == "runtests.py" or (script == "manage.py" and "test" in words[:1])
