"""Show in which order the conftest puts some tests."""

from types import SimpleNamespace

import conftest


class Item:
    def __init__(self, nodeid, *markers):
        self.nodeid, self._markers = nodeid, markers

    def get_closest_marker(self, name, default=None):
        return SimpleNamespace(name=name) if name in self._markers else default

    def iter_markers(self, name=None):
        return (SimpleNamespace(name=one) for one in self._markers if name in (None, one))


ITEMS = [
    Item("test_shop.py::test_import", "slow"),
    Item("test_shop.py::test_cart"),
    Item("test_shop.py::test_flaky", "quarantine"),
    Item("test_shop.py::test_start", "smoke"),
    Item("test_shop.py::test_price"),
    Item("test_shop.py::test_boot", "smoke", "slow"),
]

if __name__ == "__main__":
    items = list(ITEMS)
    conftest.pytest_collection_modifyitems(SimpleNamespace(), items)
    for item in items:
        print(item.nodeid)
