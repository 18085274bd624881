"""Spoiled trajectories and reports are read or refused, and make no trial that cannot be stored."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest

from evalkit.convert.adding import Adding
from evalkit.convert.importer import Options
from evalkit.convert.mini_swe_agent import IMPORTER
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.source import Source

ODD = (None, True, -1, 2**70, 1.5, "", "x", "\x00", [], [[]], {}, {"role": 1}, [None], "\ud800")


def spoiled(value: Any, chance: random.Random) -> Any:
    """The value with one part of it, at any depth, replaced by something odd, doubled or taken away."""
    value = copy.deepcopy(value)
    place: Any = value
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return value
        key = chance.choice(keys)
        inner = place[key]
        if isinstance(inner, dict | list) and inner and chance.random() < 0.8:
            place = inner
            continue
        if chance.random() < 0.15:
            del place[key]
        elif isinstance(place, list) and chance.random() < 0.3:
            place.append(inner)
        else:
            place[key] = chance.choice(ODD)
        return value


@pytest.mark.parametrize("seed", range(300))
def test_whatever_a_file_holds_it_is_read_or_refused(tmp_path, seeds, seed):
    chance = random.Random(seed)
    value: Any = seeds[seed % len(seeds)]
    for _ in range(chance.randint(1, 4)):
        value = spoiled(value, chance)
    data = json.dumps(value).encode("utf-8")
    if chance.random() < 0.4:
        data = bytearray(data[: chance.randint(0, len(data))] if chance.random() < 0.5 else data)
        for _ in range(chance.randint(0, 3) if data else 0):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path = tmp_path / chance.choice(("one__one-1.traj.json", "one__one-1.report.json"))
    path.write_bytes(bytes(data))
    (tmp_path / "report.json").write_text(json.dumps(spoiled(seeds[-1], chance)), "utf-8")
    try:
        found = list(IMPORTER.convert(Source(path), Notes(), Options()))
    except Refused:
        return
    adding = Adding(run_id="spoiled")
    for told in found:
        assert adding.trial(told, format=IMPORTER.name, source=str(path), notes=Notes()) is not None
