"""What did an agent deliver, stage by stage, and how is that kept for grading it again?"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, cast, get_args

from evalkit.errors import NotComparable
from evalkit.sandbox.protocol import Deliverable
from evalkit.tasks.settings import GradingMode
from evalkit.trajectory.artifacts import ArtifactStore
from evalkit.trajectory.canonical import canonical_json

_MODES = frozenset(get_args(GradingMode))
_KINDS = frozenset({"file", "dir", "link"})
_MOST_BYTES = 256 * 1024 * 1024
_CHUNK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Delivered:
    """What left the sandbox after one stage."""

    stage: str | None
    """Its name; None for the only stage of a task without steps."""
    grader_mode: GradingMode
    deliverables: tuple[Deliverable, ...]
    """In the order in which they are placed. Contents are in the artifact store under their digests."""
    refused: Mapping[str, str] = field(default_factory=dict[str, str])
    """Declared paths that were not delivered, with the reason."""
    answer: str | None = None
    """What was submitted, where it was."""


def keep_delivered(stages: Sequence[Delivered], store: ArtifactStore) -> str:
    """Keep the list in the store; returns its sha256, which a trial's `deliverables` holds."""
    listed = [asdict(stage) for stage in stages]
    digest, _ = store.put(io.BytesIO(canonical_json(listed).encode("utf-8", "surrogatepass")))
    return digest


def read_delivered(digest: str, store: ArtifactStore) -> tuple[Delivered, ...]:
    """What `keep_delivered` kept, every file of it as it was.

    Raises NotComparable where the list or a file is gone, is no longer what its digest says, or makes no sense.
    """
    text = _content(digest, store, "the list of deliverables")
    try:
        listed = cast("list[dict[str, Any]]", json.loads(text.decode("utf-8", "surrogatepass")))
        stages = tuple(_stage(one) for one in listed)
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
        raise NotComparable(f"the list of deliverables {digest[:12]} makes no sense") from error
    for stage in stages:
        for one in stage.deliverables:
            if one.kind == "file":
                _check(one.digest or "", store, one.path)
    return stages


def _stage(told: Mapping[str, Any]) -> Delivered:
    mode, stage, answer = told["grader_mode"], told["stage"], told["answer"]
    if mode not in _MODES:
        raise ValueError(mode)
    return Delivered(
        stage=None if stage is None else str(stage),
        grader_mode=mode,
        deliverables=tuple(_deliverable(one) for one in told["deliverables"]),
        refused={str(path): str(reason) for path, reason in told["refused"].items()},
        answer=None if answer is None else str(answer),
    )


def _deliverable(told: Mapping[str, Any]) -> Deliverable:
    if told["kind"] not in _KINDS:
        raise ValueError(told["kind"])
    return Deliverable(
        path=str(told["path"]),
        kind=told["kind"],
        mode=int(told["mode"]),
        size=int(told["size"]),
        digest=None if told["digest"] is None else str(told["digest"]),
        target=None if told["target"] is None else str(told["target"]),
    )


def _content(digest: str, store: ArtifactStore, what: str) -> bytes:
    _check(digest, store, what)
    with store.open(digest) as source:
        return source.read(_MOST_BYTES)


def _check(digest: str, store: ArtifactStore, what: str) -> None:
    try:
        with store.open(digest) as source:
            found = hashlib.sha256()
            while chunk := source.read(_CHUNK):
                found.update(chunk)
    except (OSError, ValueError) as error:
        raise NotComparable(f"{what} is no longer kept") from error
    if found.hexdigest() != digest:
        raise NotComparable(
            f"{what} is no longer what was kept: {found.hexdigest()[:12]} is not {digest[:12]}"
        )
