"""Files that share a cluster run together, and no others."""

from __future__ import annotations

import pytest

from tests.support.schedule import DEFAULT, LONG_UNIT_FILES, ROOT, longest_first, together, unit_order

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


def test_unit_tests_begin_with_long_files_then_with_those_of_most_tests() -> None:
    few, many, long = "tests/unit/test_few.py", "tests/unit/test_many.py", LONG_UNIT_FILES[0]
    nodeids = [f"{few}::test_a", f"{many}::test_z", f"{many}::test_b", f"{long}::test_a"]
    begun = sorted(nodeids, key=unit_order(nodeids))
    assert begun == [f"{long}::test_a", f"{many}::test_z", f"{many}::test_b", f"{few}::test_a"]


def test_long_files_of_unit_tests_are_there() -> None:
    assert [path for path in LONG_UNIT_FILES if not (ROOT / path).is_file()] == []
