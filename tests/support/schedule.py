"""Which tests run in one process, and in which order, when `pytest -n` runs several."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from xdist.scheduler import LoadScopeScheduling

from tests.support.cluster import ROOT

#: Clusters that several files share, by the names of their fixtures.
SHARED = ("combined", "secured", "zookeeper")
#: What takes more than five minutes, the longest first: begun last, it would leave a processor idle at the end.
LONG = (
    *("combined", "test_rolling.py", "test_mirror.py", "test_moving_playbooks.py", "zookeeper", "secured"),
    *("test_mirror_faults.py", "test_installation.py"),
)


class Together(LoadScopeScheduling):  # type: ignore[misc]  # xdist ships no types
    """Keeps every file whole, and files that share a cluster in one process, so that it is installed once."""

    def __init__(self, config: Any, log: Any = None) -> None:
        """The order is that of the collection, see `longest_first`, not the number of tests."""
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return together(nodeid.partition("::")[0])


def longest_first(nodeid: str) -> int:
    """The place of a test among the others: what belongs to LONG begins first."""
    scope = together(nodeid.partition("::")[0])
    return LONG.index(scope) if scope in LONG else len(LONG)


@cache
def together(path: str) -> str:
    """The cluster that a file of tests shares with others, or the file itself.

    A test names a cluster as an argument, or as a word where it asks for it while it runs. A file with a fixture of
    that name has a cluster of its own.
    """
    text = (ROOT / path).read_text()
    shared = (name for name in SHARED if not re.search(rf"^def {name}\(", text, re.M))
    named = (name for name in shared if re.search(rf'^def \w+\([^)]*\b{name}: |"{name}"', text, re.M))
    return next(named, Path(path).name)
