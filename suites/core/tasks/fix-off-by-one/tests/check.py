"""Does pagination.py do what its docstrings say, on every small case and some large ones?"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from evalkit_grader import Case, Grader

grader = Grader()

ITEMS = "abcdefghijklm"


def page_count(total: int, size: int) -> object:
    if size < 1:
        raise ValueError("a page holds at least one item")
    return max(1, -(-total // size))


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

SEEN = {
    page_count: [[11, 5], [10, 5], [0, 5]],
    page_items: [[list(ITEMS[:10]), 1, 4], [list(ITEMS[:10]), 3, 4]],
    page_range: [[2, 20, 95], [5, 20, 95]],
    page_links: [[6, 11, 1], [2, 4, 1]],
}  # what test_pagination.py shows

for reference, cases in CASES.items():
    name = reference.__name__
    known = [Case(args, hidden=False) for args in SEEN[reference]]
    fresh = [Case(args) for args in cases if args not in SEEN[reference]]
    grader.values(name.replace("_", "-"), f"pagination.{name}", [*known, *fresh], reference=reference)
grader.finish()
