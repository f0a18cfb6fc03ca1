"""Files that share a cluster run together, and no others."""

from __future__ import annotations

import pytest

from tests.support.schedule import DEFAULT, longest_first, together

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


def test_what_takes_longest_begins_first() -> None:
    names = ("install/test_preflight_connections.py", "restart/test_rolling.py", "restart/test_isr_wait.py")
    begun = sorted((f"{DIRECTORY}/{name}::test_any" for name in names), key=longest_first)
    assert [nodeid.partition("::")[0] for nodeid in begun] == [f"{DIRECTORY}/{name}" for name in reversed(names)]


def test_plain_forms_have_an_order_of_their_own() -> None:
    mirrors = f"{DIRECTORY}/mirror/test_mirror.py::test_any"
    assert longest_first(mirrors) < longest_first(mirrors, plain=True) < -DEFAULT
