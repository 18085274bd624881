"""Are the balances those that the specification asks for?"""

import csv
import io
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from evalkit_grader import Grader, require

HERE = Path(__file__).parent
EXPECTED = HERE.joinpath("balances.csv").read_text()
grader = Grader()


def rows(text):
    return list(csv.reader(io.StringIO(text)))


def found():
    return rows(grader.deliverable("out/balances.csv"))


def everybody_once():
    expected = rows(EXPECTED)
    require([row[:1] for row in found()] == [row[:1] for row in expected], "not everybody once, in order")


def balances():
    require(found() == rows(EXPECTED), "a balance is not what the specification asks for")


def sums_to_zero():
    cents = [round(float(row[1]) * 100) for row in found()[1:]]
    require(len(cents) > 1 and sum(cents) == 0, "the balances do not add up to nothing")


grader.checks({"everybody-once": everybody_once, "balances": balances, "sums-to-zero": sums_to_zero})
grader.finish()
