"""Settings of our test run."""


def pytest_collection_modifyitems(config, items):
    """Slow tests go last."""
    items = sorted(items, key=lambda item: item.get_closest_marker("slow") is not None)
