#!/bin/bash
# step: Slow tests last, smoke tests first.
cat > conftest.py <<'PY'
def pytest_collection_modifyitems(config, items):
    items.sort(key=lambda item: (item.get_closest_marker("slow") is not None, item.get_closest_marker("smoke") is None))
PY
python3 -B collected.py
