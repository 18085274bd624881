#!/bin/bash
# step: I look at the example logs and commands, since the program has to match them to the letter.
ls -R .; cat -A march.log | head -14; for file in examples/*.cmd; do echo "== $file"; cat $file ${file%.cmd}.out; done

# step: A module with one function per command. Entries become spans of time, so that midnight needs no special case later. I use fullmatch and strict patterns, because strptime alone would take "9:00".
cat > worklog.py <<'PY'
"""Reads a work log and tells how much time went where."""

import argparse
import re
import sys
from collections import Counter
from datetime import date, datetime, timedelta
from typing import NamedTuple

ENTRY = re.compile(r"(\d{4}-\d\d-\d\d)\s+(\d\d:\d\d)-(\d\d:\d\d)\s+([a-z0-9-]+)(\s.*)?", re.ASCII | re.DOTALL)


class Entry(NamedTuple):
    line: int
    day: date
    start: datetime
    end: datetime
    project: str


def day_of(text):
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII):
        raise ValueError(text)
    return date.fromisoformat(text)


def parse(number, text):
    found = ENTRY.fullmatch(text)
    if not found:
        raise ValueError(text)
    day = day_of(found[1])
    start, end = (datetime.strptime(f"{found[1]} {time}", "%Y-%m-%d %H:%M") for time in found.group(2, 3))
    if end <= start:
        end += timedelta(days=1)
    return Entry(number, day, start, end, found[4])


def read(path):
    entries, invalid = [], []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            text = line.strip()
            if not text or text.startswith("#"):
                continue
            try:
                entries.append(parse(number, text))
            except ValueError:
                invalid.append(f"{path}:{number}: invalid entry")
    return entries, invalid


def hours(minutes):
    return f"{minutes // 60}:{minutes % 60:02d}"


def minutes(entry):
    return int((entry.end - entry.start).total_seconds()) // 60


def chosen(entries, options):
    for entry in entries:
        if options.first and entry.day < options.first or options.last and entry.day > options.last:
            continue
        if options.project is None or entry.project == options.project:
            yield entry


def total(entries, options):
    print(hours(sum(minutes(entry) for entry in chosen(entries, options))))
    return 0


def report(entries, options):
    sums = Counter()
    for entry in chosen(entries, options):
        year, week, _ = entry.day.isocalendar()
        key = {"project": entry.project, "day": entry.day.isoformat(), "week": f"{year:04d}-W{week:02d}"}
        sums[key[options.by]] += minutes(entry)
    order = (lambda row: (-row[1], row[0])) if options.by == "project" else None
    for key, spent in sorted(sums.items(), key=order):
        print(f"{key}\t{hours(spent)}")
    return 0


def check(entries, options):
    found = False
    for at, entry in enumerate(entries):
        for other in entries[:at]:
            if entry.start < other.end and other.start < entry.end:
                print(f"{entry.line}: overlaps line {other.line}")
                found = True
                break
    return int(found)


def arguments():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    commands = parser.add_subparsers(required=True)
    for function in (total, report, check):
        command = commands.add_parser(function.__name__, allow_abbrev=False)
        command.set_defaults(function=function)
        command.add_argument("file")
        if function is not check:
            command.add_argument("--from", dest="first", type=day_of)
            command.add_argument("--to", dest="last", type=day_of)
            command.add_argument("--project")
        if function is report:
            command.add_argument("--by", choices=["project", "day", "week"], default="project")
    return parser.parse_args()


def main():
    options = arguments()
    try:
        entries, invalid = read(options.file)
    except (OSError, UnicodeDecodeError) as error:
        print(f"{options.file}: {error}", file=sys.stderr)
        return 1
    if invalid:
        print("\n".join(invalid), file=sys.stderr)
        return 1
    return options.function(entries, options)


if __name__ == "__main__":
    sys.exit(main())
PY

# step: Now all the examples against it.
for file in examples/*.cmd; do sh $file 2> /tmp/err | diff - ${file%.cmd}.out && echo "$file ok"; done; rm -f /tmp/err

# step: The description has corners without an example: midnight at the turn of the year, ISO weeks, entries that touch, usage errors.
printf '2024-12-30 23:00-01:00 a\n2024-12-31 01:00-02:00 b\n2024-12-31 00:30-00:40 c\n2025-01-06 09:00-09:00 a' > /tmp/corner.log
python3 -B worklog.py report /tmp/corner.log --by week; python3 -B worklog.py check /tmp/corner.log; echo "exit $?"
python3 -B worklog.py total /tmp/corner.log --from 2025-02-30 2>&1; echo "exit $?"
python3 -B worklog.py total /tmp/none.log; echo "exit $?"; rm -f /tmp/corner.log

# step: Everything is as described. I make sure that I left nothing behind but the program.
ls -a . && python3 -B worklog.py report march.log --by week
