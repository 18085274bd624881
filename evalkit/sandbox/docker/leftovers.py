"""What is on the engine that evalkit made and nobody needs any more?"""

from __future__ import annotations

from datetime import datetime

from evalkit.sandbox.docker import records
from evalkit.sandbox.docker.complaint import NotThere, Refused
from evalkit.sandbox.docker.container import OWNER, RUN, TRIAL, owner_of
from evalkit.sandbox.docker.engine import Engine
from evalkit.sandbox.docker.image import BUILT, LABEL, builder
from evalkit.sandbox.docker.records import Record

KEEP_S = 7 * 24 * 3600.0
"""How long an image is kept after its last use."""


def clean_containers(engine: Engine) -> list[str]:
    """Remove containers and volumes whose label names an evalkit process that is gone; says which."""
    removed: list[str] = []
    for found in engine.owned(OWNER):
        if RUN in found.labels and _is_orphan(found.labels.get(OWNER, "")):
            engine.remove(found.id)
            trial = found.labels.get(TRIAL, "?")
            removed.append(f"container {found.id[:12]} (run {found.labels[RUN]}, trial {trial})")
    for volume in engine.owned_volumes(OWNER):
        if RUN in volume.labels and _is_orphan(volume.labels.get(OWNER, "")):
            try:
                engine.remove_volume(volume.id)
            except Refused:  # a container still uses it
                continue
            removed.append(f"volume {volume.id[:12]} (run {volume.labels[RUN]})")
    return removed


def clean_images(engine: Engine) -> list[str]:
    """Remove images that this user's builds on this machine made and nobody used for `KEEP_S`; says which.

    Every look for an image renews its record, under a lock that is held alone here: an image that a process is about to
    start from is never old. One without a record, as after a change of EVALKIT_SCRATCH, gets one now and is kept for
    another `KEEP_S`. With an image go the layers that its builds left, those that failed or were given up too: only
    what a build named as its own, was made since that build began, has no name, and is nothing else's layer. What a
    container uses is refused by the engine, and kept.
    """
    removed: list[str] = []
    mine = [image for image in engine.built(LABEL) if image.label == builder()]
    for image in mine:
        for tag in image.tags:
            name, _, digest = tag.rpartition(":")
            if name.rpartition("/")[2] == BUILT and not records.is_known(digest):
                with records.shared(digest):
                    pass
    now = _time(engine.clock())
    for image in mine:
        if not image.tags and (now - _time(image.created)).total_seconds() > KEEP_S:
            removed += _remove(
                engine, image.id, f"image {image.id.removeprefix('sha256:')[:12]} without a name"
            )
    for record in records.idle():
        if record.age_s() > KEEP_S:
            removed += _clear(engine, record)
    return removed


def _clear(engine: Engine, record: Record) -> list[str]:
    """Remove one image with what its builds left, and its record."""
    tag, removed = f"{BUILT}:{record.name}", list[str]()
    try:
        if engine.look_at_image(tag, LABEL).label == builder():
            engine.remove_image(tag, parents=True)
            removed.append(f"image {tag}")
    except NotThere:
        pass
    except Refused:  # a container uses it
        return removed
    for layer, since in records.newest_first(record.layers()):
        try:
            found = engine.look_at_image(layer, LABEL)
        except NotThere:
            continue
        if not found.tags and _time(found.created) >= _time(since):
            removed += _remove(engine, found.id, f"layer {layer[:12]} of a build of {tag}")
    record.drop()
    return removed


def _remove(engine: Engine, image: str, what: str) -> list[str]:
    try:
        engine.remove_image(image, parents=False)
    except Refused:  # something was made of it, or it is gone
        return []
    return [what]


def _is_orphan(label: str) -> bool:
    owner = owner_of(label)
    return owner is not None and not owner.is_alive()


def _time(said: str) -> datetime:
    return datetime.fromisoformat(said)
