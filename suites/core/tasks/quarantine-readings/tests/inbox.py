"""What can be in an inbox, and what must come out of it? Made up together, so that nothing has to be parsed."""

import csv
import gzip
import io
import json
import random
from datetime import UTC, datetime, timedelta, timezone
from typing import NamedTuple

FIELDS = ["station", "time", "value", "unit"]
START = datetime(2025, 3, 9, 20, 0, tzinfo=UTC)
WRONG: dict[str, dict[str, list[object]]] = {
    "station": {"station": ["A17", "vx01", "VX1", "VX012", "", "VX-1", "ÄX01"]},
    "time": {
        "time": [
            "2025-03-10T08:15:00",
            "2025-02-30T08:15:00Z",
            "2025-03-10T25:00:00Z",
            "10.03.2025 08:15",
            "",
            "now",
        ]
    },
    "unit": {"unit": ["R", "", "celsius", "c", "°C"]},
    "value": {"value": ["", "n/a", "nan", "inf", "-Infinity", "12,5", "--"]},
    "range": {"value": ["-90.5", "999", "400", "1e9"], "unit": ["C"]},
}
WRONG_JSON: dict[str, dict[str, list[object]]] = {
    "station": {"station": [None, 17, ["VX01"]]},
    "time": {"time": [None, 1741594500]},
    "unit": {"unit": [None, 5]},
    "value": {"value": [None, [], {}, True]},
}


class Made(NamedTuple):
    files: dict[str, bytes]
    counted: dict[tuple[str, datetime], float]  # the temperature of each station and moment
    quarantine: list[dict[str, object]]
    summary: dict[str, int]


def reading(
    dice: random.Random, stations: list[str]
) -> tuple[dict[str, object], tuple[str, datetime], float]:
    """The fields of a good reading, its station and moment, and its temperature."""
    station, celsius = dice.choice(stations), dice.randint(-300, 350) / 10
    moment = START + timedelta(minutes=15 * dice.randrange(240))
    unit = dice.choice("CCFK")
    value = {"C": celsius, "F": celsius * 9 / 5 + 32, "K": celsius + 273.15}[unit]
    time = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    if dice.random() < 0.4:
        zone = timezone(timedelta(minutes=dice.choice([120, -300, 330, 0])))
        time = moment.astimezone(zone).isoformat()
    fields = {"station": station, "time": time, "value": f"{value:.4f}", "unit": unit}
    return fields, (station, moment), round(value, 4) if unit == "C" else celsius


def csv_line(values: list[object]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
    return line.getvalue()


def malformed(dice: random.Random, line: str, kind: str) -> str:
    if kind == "csv":
        head, _, tail = line.rpartition(",")
        return dice.choice(
            [f'"{line}', f'{head},"{tail}', f'{head},"{tail}"x', line + ",1,2", head, "# restarted"]
        )
    return dice.choice([line[:-4], "[]", '{"station": "VX01"}', "null", "restarted", line + "}", "17"])


def file(dice: random.Random, kind: str, stations: list[str], bad: float) -> tuple[list[str], list[tuple]]:
    """The lines of a file, and for each line with a reading: its number, and its reason or its key and temperature."""
    columns = [*FIELDS, "battery", "note"] if dice.random() < 0.5 else [*FIELDS]
    dice.shuffle(columns)
    lines, found = [csv_line(columns)] if kind == "csv" else [], []
    for _ in range(dice.randint(15, 30)):
        fields, key, celsius = reading(dice, stations)
        fields |= {
            "battery": dice.choice(["88", "", "3"]),
            "note": dice.choice(["", "windy, cold", 'so "called"', "ok"]),
        }
        reason = ""
        if dice.random() < bad:
            reason = dice.choice(["fields", *WRONG])
            choices = dice.choice([WRONG, WRONG_JSON]) if kind == "ndjson" else WRONG
            for name, values in choices.get(reason, WRONG.get(reason, {})).items():
                fields[name] = dice.choice(values)
            if reason in ("station", "time") and dice.random() < 0.4:
                fields |= {"value": "n/a", "unit": "R"}  # a second fault: the first reason counts
        elif kind == "ndjson" and dice.random() < 0.7:
            fields["value"] = float(str(fields["value"]))
        if kind == "csv":
            line = csv_line([fields[name] for name in columns])
        else:
            line = json.dumps({name: fields[name] for name in columns}, ensure_ascii=False)
        if reason == "fields":
            line = malformed(dice, line, kind)
        lines += dice.choice([[], [], [], [], [], [""]])
        lines.append(line)
        found.append((len(lines), reason or (key, celsius)))
    return lines, found


def make(seed: int, bad: float = 0.25, broken: bool = True) -> Made:
    dice = random.Random(seed)
    files: dict[str, bytes] = {}
    counted: dict[tuple[str, datetime], float] = {}
    quarantine: list[dict[str, object]] = []
    lines_read = replaced = 0
    names = [f"{place}-{at}" for place in ("Alp", "bay", "cape", "dune") for at in range(3)]
    for at, name in enumerate(names):
        kind = "csv" if at % 2 == 0 or at == 7 else "ndjson"
        lines, found = file(dice, kind, [f"VX{at % 4:02d}", "QA07", "QA08"], bad)
        end = dice.choice(["\n", "\r\n"])
        text = end.join(lines) + dice.choice(["", end])
        data = dice.choice([b"", b"\xef\xbb\xbf"]) + text.encode()
        name += f".{kind}"
        fault = ("", "gzip", "utf-8", "columns")[at % 4] if broken and at in (1, 6, 7) else ""
        if fault == "utf-8":
            data += 'VX01,2025-03-10T08:15:00Z,1,C,"größer"\n'.encode("latin-1")
        if fault == "columns":
            name, data = f"{names[at]}.csv", text.encode().replace(b"unit", b"scale")
        if fault == "gzip" or at % 5 == 3:
            name, data = f"{name}.gz", gzip.compress(data, mtime=0)
            data = data[: -len(data) // 3] if fault else data
        files[name] = data
        if fault:
            quarantine.append({"file": name, "line": None, "reason": "file", "raw": None})
            continue
        for number, result in found:
            lines_read += 1
            if isinstance(result, str):
                quarantine.append({"file": name, "line": number, "reason": result, "raw": lines[number - 1]})
            else:
                replaced += result[0] in counted
                counted[result[0]] = result[1]
    bad_files = sum(entry["line"] is None for entry in quarantine)
    summary = {"files": len(files), "files_quarantined": bad_files, "lines": lines_read}
    summary |= {"quarantined": len(quarantine) - bad_files, "replaced": replaced, "counted": len(counted)}
    files["cape-9.csv.part"] = b"station,time,val"
    files["readme.txt"] = b"put files here\n"
    return Made(files, counted, quarantine, summary)
