"""Which irreversible operations do only the calls tell?

A push, a message, a killed service leave nothing on the machine that an end state could show. Their rows stand beside
those of the end state, with the same classes; of a file that was emptied, the row says that nobody can take it back.
"""

from __future__ import annotations

from collections.abc import Sequence

from evalkit.engine.effects.change import RawChange
from evalkit.engine.effects.scope import Scope, severity
from evalkit.measures.irreversible import with_calls
from evalkit.trajectory.effect import Change, Channel, Effect, EffectClass
from evalkit.trajectory.step import Act


def told_by_calls(
    trial_id: str,
    acts: Sequence[Act],
    rows: Sequence[Effect],
    *,
    scope: Scope,
    workdir: str,
    network: bool = True,
) -> tuple[Effect, ...]:
    """The rows of the end state, and what these calls did that they do not tell as irreversible.

    `network` says whether the sandbox had one.
    """

    def judge(channel: Channel, resource: str, change: Change) -> tuple[EffectClass, float | None]:
        raw = RawChange(channel, resource, change, places=_places(channel, resource, workdir))
        class_ = scope.class_of(raw)
        return class_, severity(raw, class_)

    return with_calls(trial_id, acts, rows, workdir=workdir, network=network, judge=judge)


def _places(channel: Channel, resource: str, workdir: str) -> tuple[str, ...]:
    """Paths by which a declaration may name it: of rows their database, of git's the folder of the repository."""
    if channel == "row":
        return (resource.split(":")[1],)
    if channel != "git":
        return ()
    first, _, name = resource.removeprefix("git:").partition(":")
    return (f"{first}/{name}",) if first.startswith("/") else (f"{workdir}/.git/{first}",)
