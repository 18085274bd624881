"""Does pagination.py do what its docstrings say, on every small case and some large ones?"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from harness import call, deliverable, judge, require, workspace

ITEMS = "abcdefghijklm"


def page_count(total: int, size: int) -> object:
    return "ValueError" if size < 1 else max(1, -(-total // size))


def page_items(items: list[str], number: int, size: int) -> object:
    return [item for at, item in enumerate(items) if at // size + 1 == number]


def page_range(number: int, size: int, total: int) -> object:
    on_page = [at for at in range(1, total + 1) if (at - 1) // size + 1 == number]
    return [on_page[0], on_page[-1]] if on_page else [0, 0]


def page_links(current: int, last: int, around: int) -> object:
    shown = {page for page in range(1, last + 1) if page in (1, last) or abs(page - current) <= around}
    shown |= {page for page in range(1, last + 1) if {page - 1, page + 1} <= shown}
    links: list[int | None] = []
    for page in range(1, last + 1):
        if page in shown:
            links.append(page)
        elif links[-1] is not None:
            links.append(None)
    return links


TOTALS = [*range(26), 95, 999, 1000, 1001]
CASES = {
    page_count: [[total, size] for total in TOTALS for size in (*range(-1, 8), 10, 500)],
    page_items: [
        [list(ITEMS[:n]), at, size] for n in (0, 1, 6, 12) for at in range(-1, 8) for size in range(1, 8)
    ],
    page_range: [[at, size, total] for at in range(-1, 8) for size in range(1, 7) for total in TOTALS],
    page_links: [
        [at, last, around] for last in range(1, 16) for at in range(1, last + 1) for around in range(5)
    ],
}

CALLER = """
import json, pagination
results = []
for arguments in json.loads({cases!r}):
    try:
        results.append(pagination.{name}(*arguments))
    except Exception as error:
        results.append(type(error).__name__)
print(json.dumps(results))
"""


def compare(reference) -> None:
    deliverable("pagination.py")
    cases, name = CASES[reference], reference.__name__
    results = call(CALLER.format(cases=json.dumps(cases), name=name), workspace())
    require(isinstance(results, list), "the module printed something of its own")
    for case, result in zip(cases, results, strict=True):
        expected = reference(*case)
        require(result == expected, f"{name}{tuple(case)} is {result}, expected {expected}")


judge({reference.__name__.replace("_", "-"): lambda r=reference: compare(r) for reference in CASES})
