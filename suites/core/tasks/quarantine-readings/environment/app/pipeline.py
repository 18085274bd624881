"""Turns the stations' files into a daily table."""

import csv
import json
import sys
from collections import defaultdict
from pathlib import Path


def read(path):
    if path.suffix == ".csv":
        with open(path) as file:
            yield from csv.DictReader(file)
    else:
        for line in path.read_text().splitlines():
            yield json.loads(line)


def celsius(reading):
    value = float(reading["value"])
    if reading["unit"] == "F":
        return (value - 32) * 5 / 9
    return value


def main():
    inbox, out = Path(sys.argv[1]), Path(sys.argv[2])
    days = defaultdict(list)
    rejected = []
    for path in inbox.iterdir():
        for reading in read(path):
            temperature = celsius(reading)
            if -90 < temperature < 60:
                days[reading["station"], reading["time"][:10]].append(temperature)
            else:
                rejected.append({"file": path.name, "reason": "range", "raw": str(reading)})

    out.mkdir(exist_ok=True)
    with open(out / "daily.csv", "w") as file:
        writer = csv.writer(file)
        writer.writerow(["station", "day", "count", "min", "max", "mean"])
        for (station, day), values in sorted(days.items()):
            mean = sum(values) / len(values)
            writer.writerow([station, day, len(values), round(min(values), 2), round(max(values), 2), round(mean, 2)])
    with open(out / "quarantine.ndjson", "a") as file:
        for line in rejected:
            file.write(json.dumps(line) + "\n")


main()
