"""Damage real files of every format in ten thousand ways, and import them: `python tests/convert/fuzz.py DATA [CASES]`.

DATA is the folder of public trajectories. Every case must end as trials, as losses that are named, or as a refusal:
never in a traceback, in a hang, or in half a run. The tests beside this file do a few hundred for each format.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import shutil
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evalkit.convert.adding import Adding
from evalkit.convert.formats import FORMATS, importers
from evalkit.convert.importer import Options
from evalkit.convert.importing import import_run
from evalkit.convert.notes import Notes, Refused
from evalkit.convert.source import Source
from evalkit.errors import UsageError
from evalkit.trajectory.reader import load

SEEDS = {
    "inspect": ["inspect_ai/*.eval", "inspect_ai/*.json", "weird/inspect_*.eval", "weird/no_header.eval"],
    "atif": ["inspect_scout/atif/*.json", "weird/atif_*.json"],
    "mini-swe-agent": ["weird/*.traj.json"],
    "tau-bench": [],
    "tau2": ["tau2_bench/gpt*.json"],
    "verifiers": ["verifiers/*/results.jsonl", "weird/*.jsonl"],
    "openai-messages": [],
    "claude-code": ["inspect_scout/claude_code/*.jsonl"],
}
OWN = {
    "tau-bench": '[{"task_id":0,"trial":0,"reward":1.0,"info":{"task":{"a":"go"},"reward_info":{"reward":1.0}},'
    '"traj":[{"role":"system","content":"# Airline Agent Policy"},{"role":"user","content":"hi"},{"role":"assistant",'
    '"content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\\"x\\": 1}"}}]},'
    '{"role":"tool","tool_call_id":"a","name":"f","content":"Error: no"}]}]',
    "openai-messages": '{"task_id":"17","epoch":1,"model":"m/n","reward":1.0,"messages":[{"role":"user","content":"q"},'
    '{"role":"assistant","content":"<think>a</think>b","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},'
    '{"role":"tool","tool_call_id":"a","content":"r"}]}\n{"messages":[{"role":"assistant","content":"x"}]}\n',
}
LARGEST_SEED = 300_000
WRITTEN_EVERY = 100
SLOW_S = 10.0
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 2**64, 1e308, 0.5, "", "x", "\ud800", "12", "y" * 5000, [], {}, [[]], [None], {"": None},
    json.loads("[" * 300 + "]" * 300),
)  # fmt: skip


def seeds(data: Path, name: str) -> list[tuple[str, bytes]]:
    """Small files of a format, by name, unpacked."""
    found = (
        [("own.jsonl" if name == "openai-messages" else "own.json", OWN[name].encode())]
        if name in OWN
        else []
    )
    for pattern in SEEDS[name]:
        for path in sorted(data.glob(pattern)):
            content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
            if len(content) <= LARGEST_SEED:
                found.append((path.name.removesuffix(".gz"), content))
    return found


def damaged(content: bytes, name: str, dice: random.Random) -> bytes:
    """The content, after something happened to it."""
    if name.endswith(".eval") and content[:2] == b"PK" and dice.random() < 0.7:
        try:
            return _repacked(content, dice)
        except (zipfile.BadZipFile, NotImplementedError):
            pass
    if dice.random() < 0.6 and (changed := _retyped(content, dice)) is not None:
        return changed
    return _broken(content, dice)


def _broken(content: bytes, dice: random.Random) -> bytes:
    """Cut off, with flipped bits, or with a piece missing, doubled or replaced."""
    data = bytearray(content)
    kind = dice.randrange(5)
    start, end = sorted(dice.randrange(len(data) + 1) for _ in range(2)) if data else (0, 0)
    if kind == 0:
        del data[start:]
    elif kind == 1:
        for _ in range(dice.randrange(1, 9)):
            if data:
                data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    elif kind == 2:
        del data[start : min(end, start + dice.choice((1, 10, 1000)))]
    elif kind == 3:
        data[start:start] = data[start : min(end, start + 2000)]
    else:
        data[start : min(end, start + 50)] = dice.randbytes(dice.randrange(50))
    return bytes(data)


def _retyped(content: bytes, dice: random.Random) -> bytes | None:
    """JSON, or one line of it, with a value of another kind somewhere; None where it is no JSON."""
    lines = content.split(b"\n")
    try:
        value: Any = json.loads(content)
        place = None
    except (ValueError, RecursionError):
        place = dice.randrange(len(lines))
        try:
            value = json.loads(lines[place])
        except (ValueError, RecursionError):
            return None
    try:
        for _ in range(dice.randrange(1, 4)):
            value = _changed(value, dice)
        text = json.dumps(value).encode()
    except (ValueError, RecursionError):
        return None
    if place is None:
        return text
    lines[place] = text
    return b"\n".join(lines)


def _changed(value: Any, dice: random.Random) -> Any:
    if isinstance(value, dict) and value and dice.random() < 0.85:
        key = dice.choice(list(value))
        if dice.random() < 0.1:
            return {name: item for name, item in value.items() if name != key}
        return {**value, key: _changed(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < 0.85:
        place = dice.randrange(len(value))
        kind = dice.random()
        if kind < 0.1:
            return value[:place] + value[place + 1 :]
        if kind < 0.2:
            return [*value, value[place]]
        return [*value[:place], _changed(value[place], dice), *value[place + 1 :]]
    return dice.choice(ODD)


def _repacked(content: bytes, dice: random.Random) -> bytes:
    """An archive in which one member was damaged."""
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        members = old.infolist()
        chosen = dice.randrange(len(members)) if members else -1
        for place, member in enumerate(members):
            data = old.read(member)
            if place == chosen:
                if dice.random() < 0.1:
                    continue
                data = _retyped(data, dice) or _broken(data, dice)
            new.writestr(member.filename, data)
    return packed.getvalue()


def told(name: str, file: Path, *, whole: bool) -> Iterator[str]:
    """What came of one case."""
    if whole:
        out = file.parent / "run"
        try:
            import_run(name, [file], out, Options())
        except UsageError:
            assert not out.exists()
            yield "nothing"
        else:
            assert load(out).rows()
            shutil.rmtree(out)
            yield "a run"
        assert [path.name for path in file.parent.iterdir()] == [file.name], list(file.parent.iterdir())
        return
    (importer,) = importers(name)
    source, notes, adding = Source(file, True), Notes(), Adding(run_id="fuzz")
    try:
        importer.recognises(source)
        for converted in importer.convert(source, notes, Options()):
            try:
                adding.trial(converted, format=name, source="x", notes=notes)
            except (Refused, ValueError):
                yield "a trial refused"
    except (Refused, RecursionError):  # as importing itself takes them
        yield "refused"
    yield "lost something" if notes.losses else "whole" if adding.trials else "no trials"


def main() -> None:
    """Every format, CASES times."""
    data, cases = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    for name in FORMATS:
        known, dice, outcomes, slowest = seeds(data, name), random.Random(name), Counter[str](), 0.0
        with tempfile.TemporaryDirectory() as place:
            for case in range(cases):
                file_name, content = known[case % len(known)]
                file = Path(place, file_name)
                file.write_bytes(damaged(content, file_name, dice))
                began = time.perf_counter()
                try:
                    outcomes.update(told(name, file, whole=case % WRITTEN_EVERY == 0))
                except BaseException:
                    kept = Path(tempfile.gettempdir(), f"fuzz-{name}-{case}-{file_name}")
                    shutil.copy(file, kept)
                    print(f"{name}: case {case} failed; its file is {kept}", file=sys.stderr)
                    raise
                took = time.perf_counter() - began
                slowest = max(slowest, took)
                file.unlink()
        slow = "  SLOW" if slowest > SLOW_S else ""
        print(f"{name:16} {cases} cases, slowest {slowest:.2f} s{slow}: {dict(outcomes)}", flush=True)


if __name__ == "__main__":
    main()
