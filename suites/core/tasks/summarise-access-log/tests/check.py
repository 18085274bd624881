"""Does the script count requests as asked, on the given logs and on logs that nobody has seen?"""

import random
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from evalkit_grader import Grader, require

grader = Grader()
HEADER = "path,requests,errors,bytes\n"
LOGS = ["logs/access.log", "logs/access.log.1"]


def summary(lines: list[str]) -> str:
    table: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for line in lines:
        parts = line.split('"')
        if len(parts) < 3 or len(parts[2].split()) != 2:
            continue
        request, (status, size) = parts[1].split(" "), parts[2].split()
        if len(request) == 3 and all(request):
            row = table[request[1].partition("?")[0]]
            row[0] += 1
            row[1] += int(status) >= 400
            row[2] += 0 if size == "-" else int(size)
    rows = sorted(table.items(), key=lambda row: (-row[1][0], row[0].encode()))
    return HEADER + "".join(f"{quoted(path)},{n},{errors},{size}\n" for path, (n, errors, size) in rows)


def quoted(path: str) -> str:
    return f'"{path}"' if "," in path else path


def line(path: str, status: int = 200, size: object = 10, tail: str = '"-" "curl/8.5.0"') -> str:
    return f'192.0.2.1 - - [12/Mar/2025:08:15:02 +0000] "GET {path} HTTP/1.1" {status} {size} {tail}'


def script_prints(*logs: list[str]) -> None:
    grader.deliverable("summarise.sh")
    cwd = grader.workspace()
    names = [f"hidden-{at}.log" for at in range(len(logs))]
    for name, lines in zip(names, logs, strict=True):
        (cwd / name).write_text("".join(f"{text}\n" for text in lines))
    result = grader.run(["sh", "summarise.sh", *names], cwd)
    require(result.code == 0, f"summarise.sh ended with {result.code}: {result.err[-200:]}")
    compare(result.out, summary([text for lines in logs for text in lines]), "summarise.sh")


def compare(found: str, expected: str, what: str) -> None:
    pairs = zip([*found.split("\n"), "(end)"], [*expected.split("\n"), "(end)"], strict=False)
    for at, (row, wanted) in enumerate(pairs, 1):
        require(row == wanted, f"{what}, line {at}: {row[:100]!r}, expected {wanted[:100]!r}")


def summary_file() -> None:
    lines = [text for log in LOGS for text in (grader.app / log).read_text().splitlines()]
    compare(grader.deliverable("summary.csv"), summary(lines), "summary.csv")


def other_log() -> None:
    dice = random.Random(2718)
    paths = [
        "/",
        "/a",
        "/A",
        "/a/",
        "/b,c",
        "/ü",
        "/zeta",
        "/z-1",
        "/z1",
        "/%20",
        *(f"/p/{n}" for n in range(40)),
    ]
    logs = [
        [
            line(
                dice.choice(paths) + dice.choice(["", "", "?x=1", "?a?b", "?c,d"]),
                dice.choice([200, 301, 399, 400, 404, 500, 599]),
                dice.choice(["-", 0, dice.randint(1, 10**8)]),
            )
            for _ in range(dice.randint(300, 400))
        ]
        for _ in range(3)
    ]
    script_prints(*logs, [line("/big", 200, 3_000_000_000), line("/big", 500, 3_000_000_000)])


def hostile_lines() -> None:
    start = "192.0.2.1 - - [12/Mar/2025:08:15:02 +0000] "
    script_prints([
        line("/plain", tail='"-" "x\\" 500 9 GET /fake HTTP/1.1"'),
        line("/plain", tail='"https://a.example/ GET /fake HTTP/1.1" "Mozilla/5.0 (a; b) 404 77"'),
        line("/agent", 404, "-", '"-" "GET /inner HTTP/1.1" 200 1 "'),
        start.replace("- -", "- two words") + '"GET /user HTTP/1.1" 200 5 "-" "-"',
        start + '"-" 408 - "-" "-"',
        start + '"" 400 0 "-" "-"',
        start + '"GET /two" 400 182 "-" "-"',
        start + '"GET /a file HTTP/1.1" 400 150 "-" "-"',
        start + '"\\x16\\x03\\x01" 400 226 "-" "-"',
        start + '"GET /cut',
        "",
        "[notice] worker exited",
    ])  # fmt: skip


def no_requests() -> None:
    script_prints(["[notice] started", ""])
    script_prints([])


grader.checks({
    "summary-file": summary_file,
    "other-log": other_log,
    "hostile-lines": hostile_lines,
    "no-requests": no_requests,
})  # fmt: skip
grader.finish()
