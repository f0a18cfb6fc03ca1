# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which partitions a replica came to lead that was not in sync, as the log of a controller says it.

Kafka's metrics count unclean elections (UncleanLeaderElectionsPerSec) and name nothing, and no request of clients asks
for them. Each controller logs one line for each (PartitionRegistration.maybeLogPartitionChange, since KRaft); with
ZooKeeper there is no such line.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from typing import Any

from .log_lines import every_said, seconds_of

#: How long an election is told: as long as its alert fires (HELD of the alerts).
KEPT_SECONDS = 7 * 86_400
#: How many partitions are named.
MOST = 1_000
_FILES = ("controller.log.1", "controller.log")
_LINE = re.compile(
    r"UNCLEAN partition change for (?P<partition>\S+-\d+)(?: with topic ID \S+)?:"
    r"(?=.*\bleader: (?P<before>-?\d+) -> (?P<leader>\d+))(?=.*\bleaderEpoch: -?\d+ -> (?P<epoch>\d+))"
)


def unclean_elections(directory: str, now: float) -> list[dict[str, Any]]:
    """Return {partition, at, when, leader, epoch} of the unclean elections that a controller has logged.

    directory -- of its logs. at -- seconds since 1970, when -- the same as text. epoch -- that of the leader. What is
    older than KEPT_SECONDS is left out.
    """
    paths = [os.path.join(directory, name) for name in _FILES]
    return elections_of(every_said(paths, "UNCLEAN partition change", now - KEPT_SECONDS))


def elections_of(lines: Iterable[str]) -> list[dict[str, Any]]:
    """Return the elections in lines of a log, each once.

    A controller that starts reads its metadata log again, and says the same of the same epoch of the leader once more.
    """
    told: dict[tuple[str, str], dict[str, Any]] = {}
    for line in lines:
        match, at = _LINE.search(line), seconds_of(line)
        if match and at is not None:
            when = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(at))
            about = {"at": at, "when": when, "leader": int(match["leader"]), "epoch": int(match["epoch"])}
            told.setdefault((match["partition"], match["epoch"]), {"partition": match["partition"], **about})
    return list(told.values())[-MOST:]
