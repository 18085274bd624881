"""Does the conftest's hook put tests into the order that ORDER.md tells?"""

import itertools
import json
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from evalkit_grader import Grader, require

MARKERS = ("smoke", "slow", "quarantine", "other")
CALLER = """
import json, types
class Item:
    def __init__(self, nodeid, markers):
        self.nodeid, self.name, self._markers = nodeid, nodeid.rpartition("::")[2], markers
    def get_closest_marker(self, name, default=None):
        return types.SimpleNamespace(name=name) if name in self._markers else default
    def iter_markers(self, name=None):
        return (types.SimpleNamespace(name=one) for one in self._markers if name in (None, one))
    @property
    def own_markers(self):
        return list(self.iter_markers())
    @property
    def keywords(self):
        return {{one: True for one in (*self._markers, self.name)}}
import conftest
results = []
for case in json.loads({cases!r}):
    items = [Item(nodeid, markers) for nodeid, markers in case]
    conftest.pytest_collection_modifyitems(types.SimpleNamespace(), items)
    results.append([item.nodeid for item in items])
print(json.dumps(results))
"""


def group(markers):
    if "smoke" in markers:
        return 0
    if "quarantine" in markers:
        return 3
    return 2 if "slow" in markers else 1


def cases():
    subsets = [list(one) for size in range(5) for one in itertools.combinations(MARKERS, size)]
    chance = random.Random(17)
    for count in (0, 1, 2, 5, 12, 40):
        for _ in range(6):
            yield [[f"test_{at}.py::test_{chance.randrange(10**6)}", chance.choice(subsets)] for at in range(count)]


CASES = list(cases())
grader = Grader()


def ordered():
    grader.deliverable("conftest.py")
    with grader.scratch() as cwd:
        found = grader.call(CALLER.format(cases=json.dumps(CASES)), cwd)
    require(isinstance(found, list) and len(found) == len(CASES), "the conftest printed something of its own")
    return zip(CASES, found, strict=True)


def only_order():
    for case, found in ordered():
        require(sorted(found) == sorted(name for name, _ in case), "tests were added, left out or repeated")


def groups():
    for case, found in ordered():
        of = dict(case)
        told = [group(of[name]) for name in found if name in of]
        require(found != [name for name, _ in case] or told == sorted(told), "the list itself was not put in order")
        require(told == sorted(told), f"groups are not in order: {told}")


def stable():
    for case, found in ordered():
        expected = [name for name, _ in sorted(case, key=lambda one: group(one[1]))]
        require(found == expected, f"{found[:5]} is not the order, expected {expected[:5]}")


grader.checks({"groups": groups, "stable": stable, "only-order": only_order})
grader.finish()
