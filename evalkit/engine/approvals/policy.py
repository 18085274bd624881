"""What may an agent do, as somebody has written it down?

Approvals are rules for tool calls, in their order. They are part of what is evaluated, so they are data with a digest.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from evalkit.tasks.pattern import checked
from evalkit.tasks.section import Section
from evalkit.trajectory.canonical import canonical_json

Verdict = Literal["allow", "deny", "ask"]
Answer = Literal["allow", "deny"]

DEFAULT = "default"
"""Stands for a rule's name where no rule matches."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def _named(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError("should be at most 64 letters, digits, dots, dashes and underscores")
    return name


def _rule_name(name: str) -> str:
    if name == DEFAULT:
        raise ValueError(f"{DEFAULT!r} means that no rule matches; choose another name")
    return _named(name)


def _only_true(value: bool) -> bool:
    if not value:
        raise ValueError("should be true, or be left out")
    return value


Glob = Annotated[str, Field(min_length=1, max_length=1_000)]


class Rule(Section):
    """One rule. It matches what all of its conditions hold for."""

    name: Annotated[str, AfterValidator(_rule_name)]
    decision: Verdict
    tool: Glob | None = None
    """A glob of the tool's name."""
    command: Annotated[str, Field(min_length=1), AfterValidator(checked)] | None = None
    """A regular expression, looked for in each simple command, in the whole line, and in the text of programs."""
    path: Glob | None = None
    """A glob of the paths that a call names; `*` stays within a folder, `**` does not."""
    network: Annotated[bool, Field(strict=True), AfterValidator(_only_true)] | None = None
    """True: what uses the network."""
    reason: Annotated[str, Field(min_length=1, max_length=2_000)] | None = None
    """What the model is told of a denial."""

    @model_validator(mode="after")
    def _has_conditions(self) -> Self:
        if self.is_unconditional:
            raise ValueError("needs a tool, command, path or network; for every call, set `default` instead")
        return self

    @property
    def is_unconditional(self) -> bool:
        """Whether it would match every call."""
        return self.tool is None and self.looks_at_tools_only

    @property
    def looks_at_tools_only(self) -> bool:
        """Whether nothing but the tool's name counts."""
        return self.command is None and self.path is None and self.network is None


class Approvals(Section):
    """All rules; the first that matches decides."""

    name: Annotated[str, AfterValidator(_named)] = "approvals"
    default: Verdict = "allow"
    """Where no rule matches."""
    unattended: Answer = "deny"
    """What `ask` means where nobody is at a terminal."""
    rule: tuple[Rule, ...] = ()

    @property
    def asks(self) -> bool:
        """Whether somebody may have to be asked."""
        return "ask" in {self.default, *(rule.decision for rule in self.rule)}

    @property
    def id(self) -> str:
        """The name with the first digits of the digest."""
        return f"{self.name}#{self.digest[:6]}"

    @property
    def digest(self) -> str:
        """sha256 of everything that it says."""
        return hashlib.sha256(canonical_json(self.parts).encode()).hexdigest()

    @property
    def parts(self) -> Mapping[str, Any]:
        """All of it as JSON values; what a rule does not say is left out."""
        return self.model_dump(mode="json", exclude_none=True)
