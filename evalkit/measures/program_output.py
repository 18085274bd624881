"""Does what a call printed say that a program of it never ran?"""

from __future__ import annotations

import re

_NAME = re.compile(r"[\w.+-]{1,64}")


def never_started(program: str, output: str) -> bool:
    """Whether there was no such program: told by a shell, by what should have run it, or by Python."""
    if not _NAME.fullmatch(program) or program not in output:
        return False
    name = re.escape(program)
    return (
        re.search(
            rf"(?:^|[\s:'\"`/]){name}: (?:command )?not found"
            rf"|command not found: {name}\b"
            rf"|'{name}': No such file or directory"
            rf"|No such file or directory: ['\"]{name}['\"]"
            rf"|No module named ['\"]?{name}\b",
            output,
            re.MULTILINE,
        )
        is not None
    )
