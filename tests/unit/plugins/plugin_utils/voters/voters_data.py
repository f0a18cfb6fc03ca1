# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters whose voters are to change, as facts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Quorum, Voter
from ansible_collections.streamops.kafka.plugins.plugin_utils.findings import REFUSE
from ansible_collections.streamops.kafka.plugins.plugin_utils.voters.checks import check
from ansible_collections.streamops.kafka.plugins.plugin_utils.voters.model import ClusterFacts, Controller
from ansible_collections.streamops.kafka.plugins.plugin_utils.voters.plan import make_steps

CLUSTER = "NkVFSTE3NzM3NDRkNDQ0NA"
#: What the module features returns in check mode where the cluster takes the level.
TAKEN = {"changed": True, "changes": [{"feature": "kraft.version", "from": 0, "to": 1}]}


def voter(number: int, ago: int | None = 10, directory: str | None = "") -> Voter:
    """A voter; its directory id follows from its number unless told."""
    return Voter(number, f"dir{number}" if directory == "" else directory, 100, 0 if ago == 10 else 50, ago)


def controller(number: int, **other: Any) -> Controller:
    """A controller k1, k2 and so on."""
    return Controller(**{"host": f"k{number}", "node_id": number, "listener": f"k{number}:9093", **other})


def facts(
    wanted: Sequence[int],
    voters: Sequence[int | Voter],
    *,
    leaving: Sequence[int] = (),
    down: Collection[int] = (),
    leader: int | None = 1,
    **other: Any,
) -> ClusterFacts:
    """A cluster whose inventory wants some controllers, and whose quorum has some voters, of which some are down."""
    found = [voter(one, None if one in down else 10) if isinstance(one, int) else one for one in voters]
    nodes = [controller(one) for one in wanted] + [controller(one, leaves=True) for one in leaving]
    quorum = Quorum(leader, 5, 100, tuple(found), ())
    return ClusterFacts(**{"name": "c", "cluster_id": CLUSTER, "controllers": tuple(nodes), "quorum": quorum, **other})


def refused(found: ClusterFacts) -> list[str]:
    """Why the change is refused."""
    return [one.what for one in check(found, make_steps(found)) if one.level == REFUSE]
