"""Seeded clusters to plan on: few and many brokers, racks or none, mixed replication factors, skewed beginnings.

And what may stand in a document where something else belongs.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._reassign.model import BrokerSpec, Cluster, Spec

#: What a hand or another program may have put where something else belongs.
STRANGE: list[Any] = [
    None, "", "x", "²", 0, -1, 1, 2.5, True, float("nan"), float("inf"), 10**30,
    [], [[]], [None], ["x"], [-1], [[1]], [{}], {}, {"x": 1}, {"1": []},
]  # fmt: skip


def random_cluster(seed: int, brokers: int, partitions: int, dead: bool = True) -> Cluster:
    """A cluster drawn from a seed: 1 to 10 racks or none, brokers in every state, placement skewed or random."""
    draw = random.Random(seed)
    racks = draw.choice([0, *range(1, 11)])
    ids = draw.sample(range(brokers * 3), brokers) if draw.random() < 0.3 else list(range(brokers))
    specs = []
    for place, number in enumerate(ids):
        # Racks of unequal size in half of the clusters.
        rack = draw.randrange(racks) if racks and seed % 2 else place % racks if racks else None
        state = "alive"
        if dead and draw.random() < 0.04:
            state = draw.choice(["dead", "excluded", "draining"])
        specs.append(BrokerSpec(number, None if rack is None else f"rack{rack}", state))
    alive = [spec for spec in specs if spec.state == "alive"]
    most = min(5, len(alive))
    topics, topic_of, numbers, replicas = [], [], [], []
    skew = draw.choice([0.0, 0.0, 1.0, 3.0])
    while len(replicas) < partitions:
        factor = draw.randint(1, most)
        topics.append(f"topic{len(topics):04d}")
        for number in range(min(draw.choice([1, 3, 6, 12, 50]), partitions - len(replicas))):
            topic_of.append(len(topics) - 1)
            numbers.append(number)
            replicas.append(_placed(draw, specs, factor, skew, draw.random() < 0.5))
    return Cluster(tuple(specs), topics, [0] * len(topics), topic_of, numbers, replicas)


def _placed(draw: random.Random, specs: list[BrokerSpec], factor: int, skew: float, apart: bool) -> tuple[int, ...]:
    """Brokers of one partition: the lower numbers more often when skewed, racks apart when asked for and possible."""
    chosen: list[BrokerSpec] = []
    pool = list(specs)
    while len(chosen) < factor:
        fresh = [spec for spec in pool if spec.rack not in {one.rack for one in chosen}] if apart else []
        options = fresh or pool
        spec = options[int(len(options) * draw.random() ** (1 + skew))]
        chosen.append(spec)
        pool.remove(spec)
    return tuple(spec.id for spec in chosen)


def random_spec(seed: int, cluster: Cluster) -> Spec:
    """A spec that balances, with what may come beside it."""
    draw = random.Random(seed + 1)
    rule = draw.choice(["strict", "even", "none"])
    alive = sorted(spec.id for spec in cluster.brokers if spec.state == "alive")
    kind = draw.choice(["rebalance", "rebalance", "add", "drain", "factor", "both"])
    options: dict[str, object] = {}
    if kind in ("drain", "both") and len(alive) > 6:
        options["drain"] = tuple(draw.sample(alive, draw.randint(1, 2)))
    if kind == "add":
        racks = sorted({spec.rack for spec in cluster.brokers if spec.rack}) or [None]
        options["add"] = tuple(BrokerSpec(10_000 + n, draw.choice(racks)) for n in range(draw.randint(1, 3)))
    if kind in ("factor", "both"):
        topics = draw.sample(cluster.topics, min(2, len(cluster.topics)))
        options["replication_factor"] = {topic: draw.randint(1, min(4, len(alive))) for topic in topics}
    return Spec(rebalance=kind != "add", rack_rule=rule, **options)  # type: ignore[arg-type]


def with_sizes(seed: int, cluster: Cluster) -> Cluster:
    """The same cluster with sizes, lognormal: all alike, or a few that are most of it; some partitions are empty."""
    draw = random.Random(seed + 2)
    skew = draw.choice([0.0, 0.5, 1.0, 2.0])
    sizes = [0 if draw.random() < 0.03 else int(1e6 * draw.lognormvariate(0, skew)) for _ in cluster.replicas]
    return replace(cluster, sizes=sizes)


def with_weights(seed: int, cluster: Cluster, spec: Spec) -> tuple[Cluster, Spec]:
    """The same cluster with brokers of unequal weights, those that are added too."""
    draw = random.Random(seed + 3)

    def weighted(specs: tuple[BrokerSpec, ...]) -> tuple[BrokerSpec, ...]:
        return tuple(replace(spec, weight=draw.choice([0.5, 1, 2, 4])) for spec in specs)

    return replace(cluster, brokers=weighted(cluster.brokers)), replace(spec, add=weighted(spec.add))


def with_thin_isrs(seed: int, cluster: Cluster) -> Cluster:
    """The same cluster with replicas that are not in sync, few or most of them; each partition has one that is."""
    draw = random.Random(seed + 4)
    late = draw.choice([0.1, 0.3, 0.6])
    isr = [tuple(b for b in brokers if draw.random() > late) or brokers[:1] for brokers in cluster.replicas]
    least = [draw.choice([0, 1, 2]) for _topic in cluster.topics]
    return replace(cluster, isr=isr, leaders=[brokers[0] for brokers in isr], min_insync=least)
