"""In which order several processes take the files of unit tests."""

from __future__ import annotations

import pytest

from tests.support.schedule import unit_order


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Several processes begin with what takes longest, see `--no-loadscope-reorder` in ./test; one keeps the order."""
    if hasattr(config, "workerinput"):
        place = unit_order(item.nodeid for item in items)
        items.sort(key=lambda item: place(item.nodeid))
