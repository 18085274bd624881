"""Does worklog.py behave as described, on long made-up logs and on the corners of the description?"""

import random
import sys
from collections import Counter
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from evalkit_grader import Grader, Output, require

grader = Grader()
PROJECTS = ["website", "shop-api", "support", "admin", "x", "7", "web", "a-b"]


class Entry(NamedTuple):
    line: int
    day: date
    start: int  # minutes after midnight
    length: int
    project: str

    def span(self) -> tuple[int, int]:
        begin = self.day.toordinal() * 1440 + self.start
        return begin, begin + self.length


def made_up(dice: random.Random, first: date, days: int, count: int) -> tuple[str, list[Entry]]:
    lines, entries = ["# made up", "", "   # indented remark"], []
    for _ in range(count):
        day = first + timedelta(dice.randrange(days))
        start, end = (dice.randrange(0, 1440, dice.choice([1, 15, 60])) for _ in range(2))
        project, space = dice.choice(PROJECTS), dice.choice([" ", "\t", "   "])
        text = dice.choice(["", " ", " Text", "\t#3 12:00-13:00 größer"])
        lines.append(
            space.join([dice.choice(["", " "]) + str(day), f"{clock(start)}-{clock(end)}", project]) + text
        )
        entries.append(Entry(len(lines), day, start, (end - start - 1) % 1440 + 1, project))
        lines += dice.choice([[], [], ["  "], ["# 2025-13-99 nothing"]])
    return "\n".join(lines) + dice.choice(["", "\n"]), entries


def clock(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def hours(minutes: int) -> str:
    return f"{minutes // 60}:{minutes % 60:02d}"


def worklog(text: str | bytes, command: str, *options: str) -> Output:
    grader.deliverable("worklog.py")
    cwd = grader.workspace()
    (cwd / "hidden.log").write_bytes(text.encode() if isinstance(text, str) else text)
    return grader.run([sys.executable, "-E", "-s", "-B", "worklog.py", command, "hidden.log", *options], cwd)


def prints(text: str, expected: str, code: int, command: str, *options: str) -> None:
    found = worklog(text, command, *options)
    shown = " ".join([command, *options])
    require(found.out == expected, f"{shown} printed {found.out[:150]!r}, expected {expected[:150]!r}")
    require(found.code == code, f"{shown} ended with {found.code}, expected {code}: {found.err[-150:]}")


def selections(dice: random.Random, entries: list[Entry]):
    """Options, and the entries that they keep."""
    days = sorted(entry.day for entry in entries)
    low, high = days[len(days) // 4], days[-len(days) // 4]
    yield [], entries
    yield ["--from", str(low)], [entry for entry in entries if entry.day >= low]
    yield ["--to", str(high)], [entry for entry in entries if entry.day <= high]
    project = dice.choice(entries).project
    kept = [entry for entry in entries if low <= entry.day <= high and entry.project == project]
    yield ["--project", project, "--to", str(high), "--from", str(low)], kept
    yield ["--project", "nobody"], []


def total() -> None:
    dice = random.Random(2718)
    text, entries = made_up(dice, date(2023, 12, 25), 500, 250)
    for options, kept in selections(dice, entries):
        prints(text, hours(sum(entry.length for entry in kept)) + "\n", 0, "total", *options)
    prints("2024-02-29 09:00-09:00 x", "24:00\n", 0, "total")
    prints("2024-02-29 23:59-00:00 x\n2024-02-29 00:00-00:06 y z", "0:07\n", 0, "total")
    prints("", "0:00\n", 0, "total")


def report() -> None:
    dice = random.Random(2718)
    text, entries = made_up(dice, date(2024, 12, 20), 30, 60)
    keys = {
        "project": lambda entry: entry.project,
        "day": lambda entry: str(entry.day),
        "week": lambda entry: "{}-W{:02d}".format(*entry.day.isocalendar()[:2]),
    }
    for options, kept in selections(dice, entries):
        for by, key in keys.items():
            sums: Counter[str] = Counter()
            for entry in kept:
                sums[key(entry)] += entry.length
            rows = sorted(sums.items(), key=lambda row: (-row[1], row[0]) if by == "project" else row[:1])
            expected = "".join(f"{name}\t{hours(spent)}\n" for name, spent in rows)
            prints(text, expected, 0, "report", *options, *(["--by", by] if by != "project" else []))
    equal = "".join(
        f"2025-01-0{at} 10:00-11:00 {name}\n" for at, name in enumerate(["b", "a-b", "c", "a"], 1)
    )
    prints(equal, "a\t1:00\na-b\t1:00\nb\t1:00\nc\t1:00\n", 0, "report")


def check() -> None:
    dice = random.Random(2718)
    for days in (3, 12, 40):
        text, entries = made_up(dice, date(2025, 2, 20), days, 15)
        lines: list[str] = []
        for at, entry in enumerate(entries):
            begin, end = entry.span()
            others = [
                other.line for other in entries[:at] if begin < other.span()[1] and other.span()[0] < end
            ]
            lines += [f"{entry.line}: overlaps line {others[0]}\n"] if others else []
        prints(text, "".join(lines), int(bool(lines)), "check")
    prints("2025-03-01 09:00-10:00 a\n2025-03-01 10:00-11:00 a\n2025-03-01 08:00-09:00 a", "", 0, "check")
    night = "2025-03-02 01:00-02:00 a\n# between\n2025-03-01 23:00-01:30 b\n2025-03-02 02:00-02:00 c\n"
    prints(night + "2025-03-03 01:59-02:01 d\n", "3: overlaps line 1\n5: overlaps line 4\n", 1, "check")


def errors() -> None:
    good = "2025-03-01 09:00-10:00 a fine"
    bad = [
        "2025-02-29 09:00-10:00 a", "2025-3-01 09:00-10:00 a", "2025-03-01 9:00-10:00 a", "2025-03-01 09:00-24:00 a",
        "2025-03-01 09:60-10:00 a", "2025-03-01 09:00 - 10:00 a", "2025-03-01 09:00-10:00 Abc", "2025-03-01 09:00-10:00",
        "2025-03-01 09:00-10:00 a_b", "20250301 09:00-10:00 a", "2025-03-01 09:00-10:00a", "words",
        "2025-13-01 09:00-10:00 a", "2025-03-01 09:00-10:00:30 a", "2025-03-01T09:00-10:00 a",
    ]  # fmt: skip
    text = "\n".join([good, *bad, "# remark", good])
    wanted = "".join(f"hidden.log:{at}: invalid entry\n" for at in range(2, len(bad) + 2))
    for command in ("total", "report", "check"):
        found = worklog(text, command)
        require(
            found.code == 1 and not found.out,
            f"{command} with invalid lines: exit {found.code}, {found.out[:80]!r}",
        )
        differing = {*found.err.splitlines()} ^ {*wanted.splitlines()}
        require(
            found.err == wanted, f"{command}: wrong messages about invalid lines: {sorted(differing)[:3]}"
        )
    found = worklog(good.encode() + b" \xff\xfe", "total")
    require(
        found.code == 1 and found.err and not found.out,
        "a file that is not UTF-8 must end with 1 and a message",
    )
    for options in (
        ["sum"],
        ["total", "--from", "2025-02-30"],
        ["report", "--by", "month"],
        ["total", "--fast"],
    ):
        found = worklog(good, options[0], *options[1:])
        require(found.code == 2 and not found.out, f"{' '.join(options)} ended with {found.code}, expected 2")
    found = grader.run([sys.executable, "-E", "-s", "-B", "worklog.py", "total", "no-such.log"], grader.workspace())
    require(
        found.code == 1 and found.err and not found.out,
        f"a missing file: exit {found.code}, expected 1 and a message",
    )


grader.checks({"total": total, "report": report, "check": check, "errors": errors})
grader.finish()
