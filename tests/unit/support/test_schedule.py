"""Files that share a cluster run together, and no others."""

from __future__ import annotations

import pytest

from tests.support.schedule import together

DIRECTORY = "tests/integration"


@pytest.mark.parametrize(
    ("path", "shared"),
    [
        ("restart/test_isr_wait.py", "combined"),
        ("zookeeper/test_zookeeper_story.py", "zookeeper"),
        # Its cluster of that name is its own.
        ("zookeeper/test_zookeeper_secured.py", "test_zookeeper_secured.py"),
        ("restart/test_rolling.py", "test_rolling.py"),
    ],
)
def test_a_file_runs_with_those_that_use_the_same_shared_cluster(path: str, shared: str) -> None:
    assert together(f"{DIRECTORY}/{path}") == shared
