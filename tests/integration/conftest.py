"""Real clusters for the tests of this room: one for each mode, installed by the product's own site.yml."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cluster import ROOT, Cluster, free_port_base


def _cluster(inventory: str, directory: Path) -> Iterator[Cluster]:
    cluster = Cluster(ROOT / "inventories" / inventory, directory, free_port_base())
    try:
        cluster.playbook().ok()
        yield cluster
    finally:
        cluster.destroy()


@pytest.fixture(scope="session")
def combined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three combined nodes kafka1 to kafka3; tests leave all of them running and in sync."""
    yield from _cluster("local", tmp_path_factory.mktemp("combined"))


@pytest.fixture(scope="session")
def isolated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three controllers and three brokers; tests leave all of them running and in sync."""
    yield from _cluster("local_isolated", tmp_path_factory.mktemp("isolated"))
