"""What the service knows at one moment: what metrics and the line of a status are made of. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.gap import Gap
from canary.ledger import Account, together


@dataclass(frozen=True)
class RouteFigures:
    """What is known of a way: C(path) as a->b->c, accounts by partition of its origin, latencies by quantile."""

    path: str
    origin: str
    is_ready: bool
    partitions: Mapping[int, Account] = field(default_factory=dict)
    latencies: Mapping[float, float] = field(default_factory=dict)

    @property
    def total(self) -> Account:
        """All partitions together."""
        return together(list(self.partitions.values()))


@dataclass(frozen=True)
class SourceFigures:
    """How writing into a source goes.

    C(last_written) are seconds since an event was taken, of the partition where that is longest, and since the start
    where none was. C(why) is what the last failure said, empty while there is none. C(unwatched) brokers lead no
    partition of the topic.
    """

    source: str
    last_written: float
    failures: int = 0
    unwatched: int = 0
    why: str = ""


@dataclass(frozen=True)
class GapFigures:
    """Which records a flow can no longer copy, as a look C(age) seconds ago found them.

    C(gaps) is None before the first look, whose C(age) is that of the service. A look that finds a new gap takes
    C(flush) seconds more, after which a mirror writes its positions down. C(why) is what the last look failed on,
    empty while it does not.
    """

    flow: str
    source: str
    age: float
    flush: float
    gaps: Sequence[Gap] | None = None
    why: str = ""


@dataclass(frozen=True)
class Figures:
    """Everything: C(cluster) is the target, C(readable) and C(foreign) are by name of a cluster.

    C(whys) say of clusters that cannot be read what the last failure was.
    """

    cluster: str
    interval: float
    routes: Sequence[RouteFigures] = ()
    sources: Sequence[SourceFigures] = ()
    readable: Mapping[str, bool] = field(default_factory=dict)
    foreign: Mapping[str, int] = field(default_factory=dict)
    whys: Mapping[str, str] = field(default_factory=dict)
    flows: Sequence[GapFigures] = ()
