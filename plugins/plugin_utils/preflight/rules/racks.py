# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on the loss of a rack, or site, for clusters that shall survive it (kafka_survive_rack_loss)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ...inventory.model import Cluster, Inventory, Node
from ...inventory.variables import as_int
from ..rule import Problem, rule
from .replication import DEFAULT_RF, MIN_ISR, leaves, topic_names

#: The broker's property of copies, that of how many must be in sync, and what they are about.
_DEFAULTS = (
    (DEFAULT_RF, MIN_ISR, "topics without numbers of their own"),
    ("offsets.topic.replication.factor", MIN_ISR, "__consumer_offsets"),
    ("transaction.state.log.replication.factor", "transaction.state.log.min.isr", "__transaction_state"),
)


@rule(
    variable="kafka_rack",
    allowed="a rack for each broker and each controller",
    fix="set kafka_rack on these hosts to the site that each is in; of a controller only this collection reads it",
)
def rack_loss_without_racks(inventory: Inventory) -> Iterator[Problem]:
    """With `kafka_survive_rack_loss` a broker or a controller has no `kafka_rack`, so the loss of a rack cannot be
    judged."""
    for cluster in _that_survive(inventory):
        without = [node for node in _nodes(cluster) if not node.text("kafka_rack")]
        if without:
            yield Problem(without, "what is lost with a rack cannot be judged", "no rack")


@rule(
    variable="kraft_controllers",
    allowed="a majority of the controllers outside of each rack",
    fix="put one controller into each of three racks; the third rack may be a small one without brokers",
)
def rack_loss_ends_quorum(inventory: Inventory) -> Iterator[Problem]:
    """With `kafka_survive_rack_loss` a rack has so many controllers that the others are no majority: its loss would end
    the quorum."""
    for cluster in _that_survive(inventory):
        voters = [node for node in cluster.controllers if not leaves(node)]
        for rack, inside in sorted(Counter(node.text("kafka_rack") for node in voters).items()):
            left, needed = len(voters) - inside, len(voters) // 2 + 1
            if rack and left < needed:
                yield Problem(
                    [node for node in voters if node.text("kafka_rack") == rack],
                    f"the loss of rack {rack} leaves {left} of {len(voters)} controllers of cluster {cluster.name},"
                    f" and the quorum needs {needed}",
                    found=f"{inside} of {len(voters)} controllers in rack {rack}",
                )


@rule(
    variable="kafka_topics",
    fix="raise the replication factor or add a rack with brokers; lower min.insync.replicas only to 2",
)
def rack_loss_ends_writes(inventory: Inventory) -> Iterator[Problem]:
    """With `kafka_survive_rack_loss` one rack must hold so many copies of a partition that the others are fewer than
    `min.insync.replicas`: its loss would end writes with `acks=all`."""
    for cluster in _that_survive(inventory):
        racks = Counter(node.text("kafka_rack") for node in cluster.brokers)
        if "" in racks or not racks:
            continue
        by_numbers: dict[tuple[int, int], list[str]] = {}
        for factor, least, name in _copies(cluster):
            by_numbers.setdefault((factor, least), []).append(name)
        for (factor, least), names in by_numbers.items():
            left = factor - most_in_a_rack(factor, list(racks.values()))
            if left < max(1, min(least, factor)):
                yield Problem(
                    cluster.brokers,
                    f"the loss of one rack of cluster {cluster.name} leaves {left} of {factor} copies: "
                    + ("no leader is left" if not left else "acks=all would be refused")
                    + f" for {_in_words(names)}",
                    found=f"{len(racks)} racks with brokers ({', '.join(sorted(racks))}), replication factor {factor},"
                    f" {MIN_ISR} {least}",
                )


@rule(
    variable="kafka_topics",
    allowed="2 or more",
    fix="set min.insync.replicas to 2, with at least 3 copies of each partition in three racks: then no record is lost "
    "with a rack; 4 copies in two racks go on with writes too, and lose a record only where both copies in the other "
    "rack were out of sync when it was written",
)
def rack_loss_loses_records(inventory: Inventory) -> Iterator[Problem]:
    """With `kafka_survive_rack_loss` `min.insync.replicas` is below 2: a record that one copy has is acknowledged with
    `acks=all`, and is lost with the rack of that copy. Not judged is a rack that holds as many copies as
    `min.insync.replicas` asks for, as one of two racks with 4 copies does: it loses such a record only where no copy in
    the other rack was in sync."""
    for cluster in _that_survive(inventory):
        names = [name for _factor, least, name in _copies(cluster) if least < 2] if cluster.brokers else []
        if names:
            what = (
                f"the loss of one rack of cluster {cluster.name} may lose records that acks=all acknowledged, for "
                f"{_in_words(names)}"
            )
            yield Problem(cluster.brokers, what, f"{MIN_ISR} 1")


def _in_words(names: list[str]) -> str:
    """Return names of topics, and what else _copies is about, in a sentence."""
    others = [name for _factor, _least, name in _DEFAULTS if name in names]
    topics = [name for name in names if name not in others]
    return ", ".join([*([topic_names(topics)] if topics else []), *others])


def most_in_a_rack(factor: int, brokers: list[int]) -> int:
    """Return how many of so many copies the fullest rack holds, spread as evenly as the brokers of the racks allow."""
    held = [0] * len(brokers)
    for _copy in range(min(factor, sum(brokers))):
        free = [at for at, most in enumerate(brokers) if held[at] < most]
        held[min(free, key=lambda at: held[at])] += 1
    return max(held, default=0)


def _that_survive(inventory: Inventory) -> Iterator[Cluster]:
    """Return the clusters that shall survive the loss of a rack."""
    return (one for one in inventory.clusters() if one.nodes[0].get("kafka_survive_rack_loss"))


def _nodes(cluster: Cluster) -> list[Node]:
    """Return the controllers that stay, and the brokers."""
    voters = [node for node in cluster.controllers if not leaves(node)]
    return [*voters, *(node for node in cluster.brokers if node not in voters)]


def _copies(cluster: Cluster) -> Iterator[tuple[int, int, str]]:
    """Return replication factor and min.insync.replicas of all topics of the inventory, and of brokers' defaults."""
    known = cluster.properties(cluster.brokers[0])
    numbers = {key: as_int(one.value) for key, one in known.items() if key.endswith((".factor", ".isr", MIN_ISR))}
    for factor_key, least_key, name in _DEFAULTS:
        if factor := numbers.get(factor_key):
            yield factor, numbers.get(least_key) or 1, name
    for topic in cluster.topics():
        factor = topic.replication_factor or numbers.get(DEFAULT_RF)
        least = as_int(topic.config.get(MIN_ISR, numbers.get(MIN_ISR)))
        if factor:
            yield factor, least or 1, topic.name
