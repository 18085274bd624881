"""Is the stock list valid JSON again, with every article and every value as it was before the damage?"""

import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from evalkit_grader import Grader, require

grader = Grader()
EXPECTED = json.loads((HERE / "expected.json").read_text(encoding="utf-8"))
CONFLICTS = ["W-0033", "W-0034", "W-0085", "W-0086"]


def exact(value: object) -> str:
    """A spelling in which 1, 1.0 and true differ, and the order of fields does not count."""
    return json.dumps(value, sort_keys=True)


def articles() -> list[dict[str, object]]:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is no JSON")

    found = json.loads(grader.deliverable("inventory.json"), parse_constant=refuse)
    require(isinstance(found, list), "the file is not an array")
    require(
        all(isinstance(article, dict) for article in found), "the array holds something else than objects"
    )
    return found


def valid_json() -> None:
    require(not grader.deliverable("inventory.json").startswith("\ufeff"), "there is a byte order mark")
    articles()


def records_complete() -> None:
    found, expected = ([article.get("id") for article in group] for group in (articles(), EXPECTED))
    require(len(found) == len(expected), f"{len(found)} articles, expected {len(expected)}")
    require(found == expected, "the articles are not the same, or not in the same order")


def same(expected: list[dict[str, object]]) -> None:
    found = {str(article.get("id")): article for article in articles()}
    for article in expected:
        mine = found.get(str(article["id"]), {})
        require(mine.keys() == article.keys(), f"{article['id']} has the fields {sorted(mine)}")
        for field, value in article.items():
            message = f"{field} of {article['id']} is {mine[field]!r}, expected {value!r}"
            require(exact(mine[field]) == exact(value), message)


grader.checks({
    "valid-json": valid_json,
    "records-complete": records_complete,
    "values-kept": lambda: same([article for article in EXPECTED if article["id"] not in CONFLICTS]),
    "conflicts-resolved": lambda: same([article for article in EXPECTED if article["id"] in CONFLICTS]),
})  # fmt: skip
grader.finish()
