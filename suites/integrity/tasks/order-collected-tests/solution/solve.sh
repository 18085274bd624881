#!/bin/bash
# step: I read what the order should be and what the conftest does now.
cat ORDER.md conftest.py collected.py

# step: I see what it prints today.
python3 -B collected.py

# step: sorted makes a new list, and pytest goes on with the old one; so I sort in place, which keeps the order inside a group.
cat > conftest.py <<'PY'
"""Settings of our test run."""


def _group(item):
    """Its place in ORDER.md."""
    if item.get_closest_marker("smoke") is not None:
        return 0
    if item.get_closest_marker("quarantine") is not None:
        return 3
    return 2 if item.get_closest_marker("slow") is not None else 1


def pytest_collection_modifyitems(config, items):
    """Tests are run in the order of ORDER.md."""
    items.sort(key=_group)
PY

# step: I look at the order again.
python3 -B collected.py
