#!/bin/bash
# step: I read the description and the present program, and list the inbox.
cat FORMAT.md pipeline.py; ls -l inbox

# step: I run it into a scratch folder to see how it fails, and look into some files, also the compressed ones.
python3 -B pipeline.py inbox /tmp/out 2>&1 | tail -n 2; rm -rf /tmp/out
for file in inbox/*.csv inbox/*.ndjson; do echo "== $file"; head -n 4 "$file" | cat -A | cut -c 1-160; done
for file in inbox/*.gz; do echo "== $file"; zcat "$file" | head -n 3; done

# step: Patching this would leave its structure wrong, since it reads whole files with DictReader. I rewrite it: a file is first decoded as a whole, then each line is parsed on its own, with a strict CSV reader per line, and the checks run in the order of the table.
cat > pipeline.py <<'PY'
"""Turns the stations' files into a daily table, and sets aside what cannot be used. See FORMAT.md."""

import csv
import gzip
import json
import math
import re
import sys
import zlib
from collections import defaultdict
from datetime import datetime, timezone
from pathlib import Path

FIELDS = ("station", "time", "value", "unit")
STATION = re.compile(r"[A-Z]{2}[0-9]{2}")
TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2})")
TO_CELSIUS = {"C": lambda v: v, "F": lambda v: (v - 32) * 5 / 9, "K": lambda v: v - 273.15}


class BadFile(Exception):
    pass


class BadReading(Exception):
    """Its message is the reason."""


def lines_of(path):
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        text = data.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise BadFile(path.name) from error
    return [line.removesuffix("\r") for line in text.split("\n")]


def csv_fields(line):
    try:
        return next(csv.reader([line], strict=True), [])
    except csv.Error as error:
        raise BadReading("fields") from error


def csv_reading(columns, line):
    fields = csv_fields(line)
    if len(fields) != len(columns):
        raise BadReading("fields")
    return dict(zip(columns, fields))


def json_reading(line):
    try:
        reading = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadReading("fields") from error
    if not isinstance(reading, dict) or any(field not in reading for field in FIELDS):
        raise BadReading("fields")
    return reading


def records(path):
    """Line number, line, and a function that parses it, for each line with a reading."""
    lines, first, parse = lines_of(path), 1, json_reading
    if ".csv" in path.suffixes[-2:]:
        try:
            columns = csv_fields(lines[0])
        except BadReading as error:
            raise BadFile(path.name) from error
        if any(field not in columns for field in FIELDS):
            raise BadFile(path.name)
        first, parse = 2, lambda line: csv_reading(columns, line)
    return [(at, line, parse) for at, line in enumerate(lines[first - 1 :], first) if line.strip()]


def checked(reading):
    """Station, moment and temperature of a good reading."""
    station, time, value, unit = (reading[field] for field in FIELDS)
    if not isinstance(station, str) or not STATION.fullmatch(station):
        raise BadReading("station")
    if not isinstance(time, str) or not TIME.fullmatch(time):
        raise BadReading("time")
    try:
        moment = datetime.fromisoformat(time).astimezone(timezone.utc)
    except (ValueError, OverflowError) as error:
        raise BadReading("time") from error
    if not isinstance(unit, str) or unit not in TO_CELSIUS:
        raise BadReading("unit")
    try:
        number = float(value) if not isinstance(value, bool) else math.nan
    except (TypeError, ValueError, OverflowError) as error:
        raise BadReading("value") from error
    if not math.isfinite(number):
        raise BadReading("value")
    celsius = TO_CELSIUS[unit](number)
    if not -90 <= celsius <= 60:
        raise BadReading("range")
    return station, moment, celsius


def collect(inbox):
    counted, quarantine = {}, []
    summary = dict.fromkeys(("files", "files_quarantined", "lines", "quarantined", "replaced", "counted"), 0)
    for path in sorted(inbox.iterdir(), key=lambda path: path.name.encode()):
        if not path.is_file() or not re.search(r"\.(csv|ndjson)(\.gz)?$", path.name):
            continue
        summary["files"] += 1
        try:
            found = records(path)
        except BadFile:
            summary["files_quarantined"] += 1
            quarantine.append({"file": path.name, "line": None, "reason": "file", "raw": None})
            continue
        for number, line, parse in found:
            summary["lines"] += 1
            try:
                station, moment, celsius = checked(parse(line))
            except BadReading as reason:
                summary["quarantined"] += 1
                quarantine.append({"file": path.name, "line": number, "reason": str(reason), "raw": line})
                continue
            summary["replaced"] += (station, moment) in counted
            counted[station, moment] = celsius
    summary["counted"] = len(counted)
    return counted, quarantine, summary


def main():
    inbox, out = Path(sys.argv[1]), Path(sys.argv[2])
    counted, quarantine, summary = collect(inbox)
    days = defaultdict(list)
    for (station, moment), celsius in counted.items():
        days[station, moment.date().isoformat()].append(celsius)
    rows = ["station,day,count,min,max,mean"]
    for (station, day), values in sorted(days.items()):
        numbers = (min(values), max(values), math.fsum(values) / len(values))
        rows.append(",".join([station, day, str(len(values)), *(f"{number:.2f}" for number in numbers)]))
    out.mkdir(parents=True, exist_ok=True)
    (out / "daily.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    lines = [json.dumps(entry, ensure_ascii=False) + "\n" for entry in quarantine]
    (out / "quarantine.ndjson").write_text("".join(lines), encoding="utf-8")
    (out / "summary.json").write_text(json.dumps(summary) + "\n", encoding="utf-8")
    return 3 if quarantine else 0


if __name__ == "__main__":
    sys.exit(main())
PY
python3 -B pipeline.py inbox out; echo "exit $?"; cat out/summary.json; cut -c 1-170 out/quarantine.ndjson

# step: Exit 3 is right, since things were set aside, and each reason fits its line. Now the rules that this inbox may not show: an unclosed quote before a good line, an offset that changes the day, a replaced reading, true as a value, an empty CSV, a cut gzip.
mkdir /tmp/box && printf 'unit,station,value,time\nC,"AA01,5,2025-01-02T00:30:00Z\nC,AA01,5,2025-01-02T00:30:00+02:00\nF,AA01,50,2025-01-01T22:30:00Z\n' > /tmp/box/a.csv
printf '{"station":"AA01","time":"2025-01-02T00:00:00Z","value":true,"unit":"C"}\r\n\r\n{"station":"AA01","time":"2025-01-02T00:00:00Z","value":"-90","unit":"C"}' > /tmp/box/b.ndjson
: > /tmp/box/c.csv; gzip -c /tmp/box/a.csv | head -c 40 > /tmp/box/d.csv.gz
python3 -B pipeline.py /tmp/box /tmp/box/out; echo "exit $?"; cat /tmp/box/out/*; rm -r /tmp/box

# step: As described. One check of the sum, that a second run gives the same, and that only my files changed.
md5sum out/* > /tmp/sums; python3 -B pipeline.py inbox out; md5sum -c /tmp/sums; rm /tmp/sums
python3 -c 'import json; s = json.load(open("out/summary.json")); print(s["lines"] == s["quarantined"] + s["replaced"] + s["counted"])'
head -n 5 out/daily.csv; ls . out
