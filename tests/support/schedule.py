"""Which tests run in one process, and in which order, when `pytest -n` runs several."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from xdist.scheduler import LoadScopeScheduling

from tests.support.cluster import ROOT

#: Clusters that several files share, by the names of their fixtures.
SHARED = ("combined", "secured", "zookeeper", "jobs")
#: Minutes of each unit of work, see tests/support/parts.py: in its long form, and in its plain one.
TABLE = ROOT / "tests" / "minutes.yml"
PLAIN_TABLE = ROOT / "tests" / "minutes_plain.yml"
#: What leaves the long forms out, as ./test says it to pytest.
PLAIN = "not full"
#: Minutes of a unit that has no entry.
DEFAULT = 3.0
#: Files of unit tests that take long although they have few tests: jobs that run until they are ended, all inventories
#: rendered in three orders.
LONG_UNIT_FILES = ("tests/unit/plugins/module_utils/_spark/test_run.py", "tests/unit/test_order.py")


class Together(LoadScopeScheduling):  # type: ignore[misc]  # xdist ships no types
    """Keeps every file whole, and files that share a cluster in one process, so that it is installed once."""

    def __init__(self, config: Any, log: Any = None) -> None:
        """The order is that of the collection, see `longest_first`, not the number of tests."""
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return together(nodeid.partition("::")[0])


def is_plain(config: pytest.Config) -> bool:
    """Tell whether the long forms are left out."""
    return str(config.option.markexpr) == PLAIN


@cache
def minutes_table(plain: bool = False) -> dict[str, float]:
    """The minutes of units that have been measured, in their long or plain form."""
    table: dict[str, float] = yaml.safe_load((PLAIN_TABLE if plain else TABLE).read_text())
    return table


def longest_first(nodeid: str, plain: bool = False) -> float:
    """The place of a test among the others: what takes long, begun last, would leave a processor idle at the end."""
    return -minutes_table(plain).get(f"integration:{together(nodeid.partition('::')[0])}", DEFAULT)


def unit_order(nodeids: Iterable[str]) -> Callable[[str], tuple[bool, int]]:
    """Return the place of a unit test by its nodeid: long files first, then those with the most tests of all nodeids.

    The tests of a file keep their order, and so do files with equally many tests.
    """
    counted = Counter(nodeid.partition("::")[0] for nodeid in nodeids)

    def place(nodeid: str) -> tuple[bool, int]:
        file = nodeid.partition("::")[0]
        return file not in LONG_UNIT_FILES, -counted[file]

    return place


@cache
def together(path: str) -> str:
    """The cluster that a file of tests shares with others, or the file itself.

    A test names a cluster as an argument, or as a word where it asks for it while it runs. A file with a fixture of
    that name has a cluster of its own.
    """
    text = (ROOT / path).read_text()
    shared = (name for name in SHARED if not re.search(rf"^def {name}\(", text, re.M))
    word = r'|"{0}"' if "getfixturevalue(" in text else ""
    named = (name for name in shared if re.search((r"^def \w+\([^)]*\b{0}: " + word).format(name), text, re.M))
    return next(named, Path(path).name)
