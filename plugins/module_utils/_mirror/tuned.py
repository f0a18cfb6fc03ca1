# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Topics that a tuning of a mirror makes: how they are named, and how a look finds what a killed one left. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

PREFIX = "_streamops_tune_"
#: The topic of the source that holds the load.
LOAD = f"{PREFIX}load"
#: All of them, as Python and the option --topic of Kafka's tools read it: the load, copies, and what a mirror writes
#: into MirrorMaker's topics about a source (DefaultReplicationPolicy, MirrorMakerConfig).
PATTERN = (
    rf"{PREFIX}(load|[0-9]+[.]({PREFIX}load|checkpoints[.]internal))"
    rf"|mm2-(offsets|configs|status|offset-syncs)[.]{PREFIX}[0-9]+[.]internal"
)


def own_topics(names: Iterable[str], run: int = 0) -> list[str]:
    """Return the topics among these that a tuning made, sorted; only those of one run where its number is given."""
    mine = f"{PREFIX}{run}." if run else ""
    return sorted(name for name in names if re.fullmatch(PATTERN, name) and mine in name)
