"""What does an importer say about one trial?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evalkit.convert.retries import Retry
from evalkit.trajectory.manifest import Json
from evalkit.trajectory.step import Step


@dataclass(frozen=True, slots=True, kw_only=True)
class Converted:
    """One trial as its format tells it. What the format cannot know is left out, and stays null."""

    suite: str
    """The benchmark, dataset or task file."""
    task_id: str
    epoch: int | None = None
    """From 1; None where the format does not number repeats: then in the order in which they are read."""
    agent: str
    """Readable: loop/model, with `@` and the thinking budget where it is known."""
    identity: str | None = None
    """What two copies of this trial have in common, such as a sample's uuid; None: its content."""
    retry: Retry | None = None
    """Where further files may hold further attempts at this trial, of which the last counts."""
    steps: tuple[Step, ...] = ()
    columns: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further columns of `Trial`, `status` at least. Those that steps add up to are filled in from them."""
    settings: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Of the agent, for the manifest. Values under names that mean a secret are taken out."""
    where: str = ""
    """The place in the file, such as `line 4`."""
    task: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """What the manifest shall tell of the task, such as `answer` or `resource_args`."""
