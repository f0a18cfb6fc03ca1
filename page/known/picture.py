"""What one poll saw of a cluster, as plain data. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._logs.model import Log
from page.known.details import Details
from page.known.doubts import Epoch
from page.known.newest import Newest
from page.known.standing import Standing


@dataclass(frozen=True)
class Picture:
    """One picture of a cluster.

    C(taken): seconds since 1970. C(seconds), C(requests): what the poll took. C(logs): by topic and partition.
    C(groups): as the module group_info returns them. C(silent_brokers): those that did not tell their groups.
    C(cluster): as the report of status.yml has a cluster (cluster_part), with C(groups) in it; each topic also has
    C(size_bytes), the bytes of the logs of its leaders, None where those of a partition are unknown. Its C(moves)
    are as page.cluster.moves_of returns them, its C(features) as page.known.features.features_of, its C(metadata) as
    page.known.agreement.agreement_of, None in ZooKeeper mode. C(details): what changes seldom, which may be older than
    the picture. C(newest): the newest records of the topics of flows. C(watched): the groups that must be there.
    C(standing): since when groups commit nothing. C(clock): when the ends of logs were read, in seconds of a clock that
    only goes forward and that pictures of one process alone share. C(unanswered): the brokers that did not answer at
    their own address, which are down when a second picture has them too; C(unled_since): since when (by that clock)
    no active controller of a quorum has had an answer, None where it has. C(epochs) of its leaders and
    C(unread_since) are as page.known.doubts has them. C(acknowledged): who has looked at unclean elections, as
    acknowledgement returns it; as old as C(details).
    """

    taken: float
    seconds: float
    requests: int
    brokers: int
    silent_brokers: int
    logs: Mapping[str, Mapping[int, Log]]
    groups: Sequence[Mapping[str, Any]]
    cluster: Mapping[str, Any] = field(default_factory=dict)
    details: Details = field(default_factory=Details)
    newest: Newest = field(default_factory=Newest)
    watched: Sequence[str] = ()
    standing: Standing = field(default_factory=Standing)
    clock: float = 0.0
    unanswered: frozenset[int] = frozenset()
    unled_since: float | None = None
    epochs: Sequence[Epoch] = ()
    unread_since: float | None = None
    acknowledged: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Polls:
    """How the polls of this process went: counts, when it began (seconds since 1970), and the last failure.

    C(is_down): no server answered the last poll, so nobody is served, as far as can be seen from here.
    """

    began: float
    done: int = 0
    failed: int = 0
    error: str = ""
    is_down: bool = False
