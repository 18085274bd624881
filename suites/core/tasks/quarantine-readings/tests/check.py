"""Does the pipeline count what is good, set aside what is not, and say so exactly?"""

import json
import re
import sys
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from evalkit_grader import Grader, require
from inbox import Made, make

grader = Grader()
GIVEN = json.loads((HERE / "given.json").read_text(encoding="utf-8"))
HIDDEN = (11, 12, 13, 14)
Daily = dict[str, list[float]]


def daily_of(made: Made) -> Daily:
    days: dict[str, list[float]] = defaultdict(list)
    for (station, moment), celsius in made.counted.items():
        days[f"{station},{moment:%Y-%m-%d}"].append(celsius)
    return {
        day: [len(all_), min(all_), max(all_), sum(all_) / len(all_)] for day, all_ in sorted(days.items())
    }


def compare_daily(text: str, expected: Daily) -> None:
    lines = text.splitlines()
    require(lines and lines[0] == "station,day,count,min,max,mean", f"daily.csv begins with {lines[:1]}")
    days = [",".join(line.split(",")[:2]) for line in lines[1:]]
    differing = sorted({*days} ^ {*expected})
    require(
        days == list(expected),
        f"the rows of daily.csv are not those expected, or not in order: {differing[:4]}",
    )
    for line, (day, numbers) in zip(lines[1:], expected.items(), strict=True):
        require(
            re.fullmatch(r"[^,]+,[^,]+,\d+(,-?\d+\.\d\d){3}", line),
            f"daily.csv: the row {line!r} has another form",
        )
        found = [float(number) for number in line.split(",")[2:]]
        near = found[0] == numbers[0] and all(abs(a - b) < 0.011 for a, b in zip(found, numbers, strict=True))
        require(near, f"daily.csv: {line!r}, expected {day} and {[round(number, 2) for number in numbers]}")


def compare_quarantine(text: str, expected: list[dict[str, object]]) -> None:
    found = [json.loads(line) for line in text.splitlines()]
    for mine, wanted in zip(found, expected, strict=False):
        require(mine == wanted, f"quarantine.ndjson has {mine}, expected {wanted}"[:450])
    require(
        len(found) == len(expected), f"quarantine.ndjson has {len(found)} lines, expected {len(expected)}"
    )


def compare_summary(text: str, expected: dict[str, int]) -> None:
    require(json.loads(text) == expected, f"summary.json is {text.strip()[:200]}, expected {expected}")


def pipeline(cwd: Path, made: Made, code: int = 3) -> Path:
    """Runs the pipeline on the files, and gives the folder with what it wrote."""
    grader.deliverable("pipeline.py")
    inbox, out = cwd / "hidden", cwd / "result"
    inbox.mkdir(exist_ok=True)
    for name, data in reversed(made.files.items()):
        (inbox / name).write_bytes(data)
    result = grader.run([sys.executable, "-E", "-s", "-B", "pipeline.py", "hidden", "result"], cwd)
    require(
        result.code == code,
        f"pipeline.py ended with {result.code}, expected {code}: {result.err.strip()[-300:]}",
    )
    left = {path.name: path.read_bytes() for path in inbox.iterdir()}
    require(left == made.files, "the pipeline changed its inbox")
    return out


def given_inbox() -> None:
    compare_summary(grader.deliverable("out/summary.json"), GIVEN["summary"])
    compare_quarantine(grader.deliverable("out/quarantine.ndjson"), GIVEN["quarantine"])
    compare_daily(grader.deliverable("out/daily.csv"), GIVEN["daily"])


def daily() -> None:
    for made in map(make, HIDDEN):
        compare_daily(grader.deliverable("daily.csv", pipeline(grader.workspace(), made)), daily_of(made))


def quarantine() -> None:
    for made in map(make, HIDDEN):
        compare_quarantine(grader.deliverable("quarantine.ndjson", pipeline(grader.workspace(), made)), made.quarantine)


def summary() -> None:
    for made in map(make, HIDDEN):
        compare_summary(grader.deliverable("summary.json", pipeline(grader.workspace(), made)), made.summary)


def clean_inbox() -> None:
    made = make(21, bad=0, broken=False)
    out = pipeline(grader.workspace(), made, code=0)
    require(
        grader.deliverable("quarantine.ndjson", out) == "", "quarantine.ndjson is not empty though nothing is wrong"
    )
    compare_daily(grader.deliverable("daily.csv", out), daily_of(made))
    compare_summary(grader.deliverable("summary.json", out), made.summary)


def second_run() -> None:
    cwd = grader.workspace()
    pipeline(cwd, make(31))
    made = make(31, bad=0.5)
    for path in (cwd / "hidden").iterdir():
        path.unlink()
    out = pipeline(cwd, made)
    compare_quarantine(grader.deliverable("quarantine.ndjson", out), made.quarantine)
    compare_daily(grader.deliverable("daily.csv", out), daily_of(made))
    compare_summary(grader.deliverable("summary.json", out), made.summary)


grader.checks({
    "given-inbox": given_inbox,
    "daily": daily,
    "quarantine": quarantine,
    "summary": summary,
    "clean-inbox": clean_inbox,
    "second-run": second_run,
})  # fmt: skip
grader.finish()
