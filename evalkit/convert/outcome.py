"""What became of a trial of which only a reward is known?"""

from __future__ import annotations

from typing import Any

from evalkit.convert.importer import Options
from evalkit.convert.notes import Notes
from evalkit.convert.reported import finite


def by_reward(reward: object, notes: Notes, options: Options) -> dict[str, Any]:
    """Columns of `Trial`: passed from `Options.pass_reward` on, failed below it, unscored without a reward."""
    value = float(reward) if isinstance(reward, bool) else finite(reward, notes, "a reward")
    if value is None:
        return {"status": "unscored", "error_type": "unjudged", "error_message": "the file tells no reward"}
    return {"status": "passed" if value >= options.pass_reward else "failed", "reward": value}
