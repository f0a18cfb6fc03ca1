"""Which tests run in one process, when `pytest -n` runs several."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from xdist.scheduler import LoadScopeScheduling

from tests.support.cluster import ROOT

#: Clusters that several files share, by the names of their fixtures.
SHARED = ("combined", "secured", "zookeeper")


class Together(LoadScopeScheduling):  # type: ignore[misc]  # xdist ships no types
    """Keeps every file whole, and files that share a cluster in one process, so that it is installed once."""

    def _split_scope(self, nodeid: str) -> str:
        return together(nodeid.partition("::")[0])


@cache
def together(path: str) -> str:
    """The cluster that a file of tests shares with others, or the file itself.

    A test names a cluster as an argument, or as a word where it asks for it while it runs.
    """
    text = (ROOT / path).read_text()
    named = (name for name in SHARED if re.search(rf'\b{name}: \w*Cluster|"{name}"', text))
    return next(named, Path(path).name)
