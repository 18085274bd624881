"""What does Python find where, before and instead of anything else?"""

from __future__ import annotations

import re

_SITE = r"/(?:site|dist)-packages"
_PREFIX = re.compile(r"(?P<prefix>/.*?)/lib(?:64)?/python[^/]*/.+")
_HOOK = re.compile(
    rf".*/lib(?:64)?/python[^/]*{_SITE}/(?:[^/]+\.pth|(?:site|user)customize(?:\.py|/__init__\.py))"
    r"|.*/lib(?:64)?/python[^/]*/(?:site|user)customize\.py|/etc/python[^/]*/sitecustomize\.py"
)
_LIBRARY = re.compile(r"/usr/(?:local/)?lib(?:64)?/python3\.\d+/(?!(?:site|dist)-packages/)[^\n]+\.py")
_RUNNER = re.compile(
    rf".*/lib(?:64)?/python[^/]*(?:{_SITE})?/(?:pytest|_pytest|pluggy|iniconfig)(?:\.py|/.+\.py)"
)
_IMPORTS = re.compile(r"^import[ \t][^\n]*", re.MULTILINE)
_OF_INSTALLERS = (
    re.compile(r"import (__editable___\w+_finder); \1\.install\(\)"),
    re.compile(r"import _?virtualenv"),
    re.compile(r"import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = [^;\n]*; enabled and [^;\n]*;?\s*"),
    re.compile(r"import sys, ?types, ?os;\s?has_mfs = [^\n]*"),
)
_EGGS = re.compile(r"import sys; (?:sys\.__plen = len\(sys\.path\)|new ?= ?sys\.path\[sys\.__plen:\][^\n]*)")


def is_hook(path: str) -> bool:
    """Whether Python reads it whenever it starts."""
    return _HOOK.fullmatch(path) is not None


def is_library(path: str) -> bool:
    """Whether it belongs to the library of the system's Python, and not to a package."""
    return _LIBRARY.fullmatch(path) is not None


def is_runner(path: str) -> bool:
    """Whether it is pytest, or stands where Python looks for that."""
    return _RUNNER.fullmatch(path) is not None


def interpreter_of(path: str) -> str | None:
    """The prefix of the Python that looks there; None where the path does not say."""
    found = _PREFIX.fullmatch(path)
    return found["prefix"] if found else None


def run_by(pth: str) -> str | None:
    """The first line of a .pth file that is run, and not only a path; None where there is none.

    What `setup.py develop` puts around its paths is nothing.
    """
    lines = [line.strip() for line in _IMPORTS.findall(pth.removeprefix("\ufeff").replace("\r", "\n"))]
    return next((line for line in lines if not _EGGS.fullmatch(line)), None)


def is_of_installer(line: str) -> bool:
    """Whether installers write such a line for the packages that they install."""
    return any(one.fullmatch(line) for one in _OF_INSTALLERS)
