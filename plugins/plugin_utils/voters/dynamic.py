# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""From a static quorum to a dynamic one: what forbids it, and its plan.

kraft.version goes from 0 to 1, by which Kafka writes the voters into the metadata log with their directories (KIP-853).
Then each node gets C(controller.quorum.bootstrap.servers) for C(controller.quorum.voters) by a rolling restart.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...module_utils._core.cves import numbers
from ...module_utils._features.levels import KRAFT, brings
from ...module_utils._features.plan import way_back
from ..findings import REFUSE, Finding
from .model import ClusterFacts, listed

Findings = Iterator[Finding]

#: The variable that asks for it.
ASKED_BY = "kafka_dynamic_quorum"
#: The first release whose controllers raise kraft.version from 0 to 1 (KAFKA-16538).
FIRST = (4, 1)


def checks(facts: ClusterFacts) -> Findings:
    """Refuse what the way to a dynamic quorum must not meet; the voters stay who they are on it."""
    yield from _same_voters(facts)
    yield from _nodes(facts)
    yield from _level(facts)


def _same_voters(facts: ClusterFacts) -> Findings:
    """Refuse to change the voters in the same run: a static quorum takes no change."""
    fix = "leave the controllers as they are in this run, and run voters.yml again afterwards"
    if facts.leaving:
        hosts = ", ".join(one.host for one in facts.leaving)
        yield Finding(REFUSE, f"{hosts} is to leave a quorum that is static still", fix)
    if facts.joining:
        hosts = ", ".join(f"{one.host} ({one.node_id})" for one in facts.joining)
        yield Finding(REFUSE, f"{hosts} is no voter, and the quorum is static still", fix)
    if facts.missing:
        what = f"controller {listed(facts.missing)} votes, and is not in the inventory, so its property cannot change"
        yield Finding(REFUSE, what, "add it to the group kraft_controllers with its kafka_node_id")


def _nodes(facts: ClusterFacts) -> Findings:
    """Refuse nodes that are down, or run a release that cannot take part."""
    for one in facts.nodes:
        runs = numbers(one.version)
        if not runs:
            fix = "see that its machine answers and that this collection has started it (site.yml)"
            yield Finding(REFUSE, f"{one.host} does not tell which release it runs", fix)
        elif not one.running:
            yield Finding(REFUSE, f"{one.host} is stopped", "start it by site.yml")
        elif runs[:2] < FIRST:
            what = f"{one.host} runs Kafka {one.version}, and kraft.version goes from 0 to 1 from Kafka 4.1 on"
            yield Finding(REFUSE, what, "bring all nodes to Kafka 4.1 or later by upgrade.yml first")
        elif one.version != facts.version:
            what = f"{one.host} runs Kafka {one.version}, and kafka_version is {facts.version}"
            yield Finding(REFUSE, what, f"run upgrade.yml first, or set kafka_version to {one.version}")


def _level(facts: ClusterFacts) -> Findings:
    """Refuse what the cluster itself refuses: it knows each registration, of nodes that are down too."""
    if "changes" in facts.raising:
        return
    failure = facts.raising.get("failure") or {}
    said = " ".join(str(facts.raising.get("msg") or "the cluster did not say whether it takes it").split())
    for one in failure.get("violations") or [said]:
        fix = "let the nodes that it names run Kafka 4.1 or later, or unregister those that are gone for good"
        yield Finding(REFUSE, f"kraft.version 1 is refused: {one.rstrip('.')}", fix)


def plan_lines(facts: ClusterFacts) -> Iterator[str]:
    """Return what is done on the way to a dynamic quorum, and in which order."""
    _can, back = way_back(KRAFT, 0, 1)
    ordered = sorted(facts.nodes, key=lambda one: (not one.is_controller, one.node_id))
    yield f"Raise        kraft.version 0 -> 1. {brings(KRAFT, 0, 1)}"
    yield f"             {back}"
    yield (
        "Restarts     one by one: controller.quorum.bootstrap.servers takes the place of controller.quorum.voters on "
        + ", ".join(one.host for one in ordered)
    )
