"""How long the planner of moves takes, how much memory, and how near its plans are to the fewest moves possible.

Every row runs in a process of its own, whose peak memory is measured; no cluster is needed. Forms:
random: replicas drawn at random with racks apart (unbalanced by chance), then rebalanced.
add: a perfectly balanced cluster to which 5 % more brokers are added.
drain: the same cluster, from which 5 % of the brokers are drained, with rebalance.
unequal: as random, but racks of 45, 23, 14, 9 and 9 % of the brokers, each with as many replicas: half of them move,
and direct moves do not reach every broker.
uniform, skewed, clumped (--drained): 5 % of the brokers are drained and nothing else moves. Replicas are drawn as in
random; or most of them from the first brokers of each rack; or those of a topic from three brokers of each rack.
topics: as random, with what brokers hold of every topic bounded too (--topic-spread).
Beside it stands what kafka-reassign-partitions --generate moves on the same input (--kafka-libs DIR: the jars of a
Kafka release; its own method is called, with neither cluster nor network), or without the jars what it is expected to
move, since it assigns everything anew: N * (1 - r / B).

    python benchmarks/planner.py --kafka-libs /opt/kafka/libs    the three sizes of docs/development/benchmarks.md
    python benchmarks/planner.py --growth        growth with partitions and with brokers
    python benchmarks/planner.py --large         growth on 5,000 brokers, up to two million partitions
    python benchmarks/planner.py --large --most  up to ten million: minutes, and some GB of memory
    python benchmarks/planner.py --topic-spread  sizes of that form
    python benchmarks/planner.py --drained       drains without rebalance
    python benchmarks/planner.py --bytes         balance by bytes, partitions of unequal sizes
    python benchmarks/planner.py --row random 20000 220
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "collections")]

from ansible_collections.streamops.kafka.plugins.module_utils._reassign.figures import plan_figures
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.model import (
    BrokerSpec,
    Cluster,
    Plan,
    Spec,
)
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.plan import plan_moves

#: Racks of every cluster here, and replicas of every partition; partitions of a topic.
RACKS, REPLICAS, TOPIC = 10, 3, 50
SIZES = [(20_000, 220), (200_000, 1_000), (1_000_000, 1_000)]
GROWTH = [
    (50_000, 500),
    (100_000, 500),
    (200_000, 500),
    (400_000, 500),
    (200_000, 250),
    (200_000, 1_000),
    (200_000, 2_000),
]
#: With --large, and with --most too.
LARGE, MOST = [(500_000, 5_000), (1_000_000, 5_000), (2_000_000, 5_000)], (10_000_000, 5_000)
FORMS = ("random", "add", "drain", "unequal")
#: With --drained: the forms, and their size.
DRAINED, DRAINED_SIZE = ("uniform", "skewed", "clumped"), (200_000, 1_000)
#: With --topic-spread: form topics is random, and every topic is bounded.
BOUNDED = [(5_000, 60), (20_000, 220), (50_000, 220), (50_000, 500)]
#: The racks of 22 brokers in a row where racks are unequal.
UNEQUAL = [rack for rack, size in enumerate((10, 5, 3, 2, 2)) for _ in range(size)]


def rack_of(form: str, broker: int) -> int:
    """The rack of a broker."""
    return UNEQUAL[broker % len(UNEQUAL)] if form == "unequal" else broker % RACKS


def placement(form: str, partitions: int, brokers: int) -> list[tuple[int, ...]]:
    """Replicas of every partition; brokers of rack k are k, k + RACKS, and so on."""
    numbers = list(range(brokers))  # One object for each number, however many replicas name it.
    if form in ("add", "drain"):
        # Partition after partition the next three brokers, which are in three racks: loads differ by at most one.
        start = (REPLICAS * p % brokers for p in range(partitions))
        return [tuple(numbers[(s + i) % brokers] for i in range(REPLICAS)) for s in start]
    draw = random.Random(1)
    racks = range(1 + max(rack_of(form, broker) for broker in numbers))
    by_rack = [[broker for broker in numbers if rack_of(form, broker) == rack] for rack in racks]
    if form == "skewed":
        return [
            tuple(by_rack[rack][int(len(by_rack[rack]) * draw.random() ** 2)] for rack in draw.sample(racks, REPLICAS))
            for _ in range(partitions)
        ]
    placed: list[tuple[int, ...]] = []
    some = by_rack
    while len(placed) < partitions:
        if form == "clumped" and len(placed) % TOPIC == 0:
            some = [draw.sample(of_rack, min(REPLICAS, len(of_rack))) for of_rack in by_rack]
        placed.append(tuple(draw.choice(some[rack]) for rack in draw.sample(racks, REPLICAS)))
    return placed


def problem(form: str, partitions: int, brokers: int) -> tuple[Cluster, Spec]:
    """The cluster and the spec of a row."""
    more = max(1, brokers // 20) // RACKS * RACKS or 1
    old = brokers - more if form == "add" else brokers
    specs = tuple(BrokerSpec(b, f"rack{rack_of(form, b)}") for b in range(brokers))
    topics = -(-partitions // TOPIC)
    of_topic = list(range(topics))
    cluster = Cluster(
        brokers=specs,
        topics=[f"topic-{number:05d}" for number in of_topic],
        min_insync=[2] * topics,
        topic_of=[of_topic[p // TOPIC] for p in range(partitions)],
        numbers=[p % TOPIC for p in range(partitions)],
        replicas=placement(form, partitions, old),
    )
    drained = tuple(range(brokers - more, brokers)) if form in ("drain", *DRAINED) else ()
    return cluster, Spec(rebalance=form not in DRAINED, drain=drained, topic_spread=form == "topics")


def row(form: str, partitions: int, brokers: int) -> dict[str, object]:
    """One plan, measured and counted anew from its changes."""
    cluster, spec = problem(form, partitions, brokers)
    before = resource.getrusage(resource.RUSAGE_SELF)
    start = time.monotonic()
    plan = plan_moves(cluster, spec)
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    found = {
        "form": form,
        "partitions": partitions,
        "brokers": brokers,
        "wall_s": round(wall, 2),
        "cpu_s": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2),
        "cluster_mib": before.ru_maxrss // 1024,
        "peak_mib": after.ru_maxrss // 1024,
        "moves": plan.moves,
        "bound": plan.bound,
        "proof": plan.proof,
    }
    return {**found, **counted(form, plan, spec), "generate_expected": anew(partitions, brokers - len(spec.drain))}


def row_by_bytes(form: str, partitions: int, brokers: int) -> dict[str, object]:
    """One plan that balances by bytes within a tenth; the middle one of the sizes is 100 MB, the biggest many GB."""
    cluster, spec = problem(form, partitions, brokers)
    draw = random.Random(3)
    cluster.sizes = [int(1e8 * draw.lognormvariate(0, 1)) for _partition in cluster.replicas]
    start, cpu = time.monotonic(), time.process_time()
    plan = plan_moves(cluster, replace(spec, balance_by="bytes"))
    wall, cpu = time.monotonic() - start, time.process_time() - cpu
    figures = plan_figures(plan)
    return {
        "form": form,
        "partitions": partitions,
        "brokers": brokers,
        "wall_s": round(wall, 2),
        "cpu_s": round(cpu, 2),
        "moves": plan.moves,
        "bytes": figures["bytes"],
        "bytes_bound": figures["bytes_bound"],
        "of_bound": round(figures["bytes"] / figures["bytes_bound"], 4),
        "most_of_share": figures["bytes_spread"]["to"],
        "above": len(figures["bytes_above"]),
    }


def counted(form: str, plan: Plan, spec: Spec) -> dict[str, object]:
    """What the plan leads to, counted without the planner."""
    placed = list(plan.cluster.replicas)
    moves = 0
    for change in plan.changes:
        moves += len(set(change.after) - set(change.before))
        placed[change.partition] = change.after
    assert moves == plan.moves
    kept = [broker.id for broker in plan.cluster.brokers if broker.id not in spec.drain]
    loads = Counter(broker for brokers in placed for broker in brokers)
    leads = Counter(brokers[0] for brokers in placed)
    breaches = sum(len({rack_of(form, broker) for broker in brokers}) < REPLICAS for brokers in placed)
    return {
        "spread": max(loads[b] for b in kept) - min(loads[b] for b in kept),
        "leader_spread": max(leads[b] for b in kept) - min(leads[b] for b in kept),
        "rack_violations": breaches,
    }


def kafka_generates(form: str, partitions: int, brokers: int, libs: str) -> dict[str, object]:
    """What Kafka's own tool proposes for the same row: moves, seconds, partitions with two replicas in a rack."""
    cluster, spec = problem(form, partitions, brokers)
    with tempfile.TemporaryDirectory() as folder:
        known, placed = Path(folder, "brokers"), Path(folder, "placement")
        kept = [broker for broker in cluster.brokers if broker.id not in spec.drain]
        known.write_text("".join(f"{broker.id} {broker.rack}\n" for broker in kept))
        with placed.open("w") as file:
            for p, brokers_had in enumerate(cluster.replicas):
                topic = cluster.topics[cluster.topic_of[p]]
                file.write(f"{topic} {cluster.numbers[p]} {','.join(map(str, brokers_had))}\n")
        program = Path(__file__).with_name("KafkaGenerate.java")
        command = ["java", "-Xmx3g", "-cp", f"{libs}/*", str(program), str(known), str(placed)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    moves, took, violations = map(int, done.stdout.split())
    return {"kafka_moves": moves, "kafka_s": round(took / 1000, 2), "kafka_rack_violations": violations}


def anew(partitions: int, brokers: int) -> int:
    """The replicas that an assignment made anew is expected to move."""
    return round(partitions * REPLICAS * (1 - REPLICAS / brokers))


def measured(form: str, partitions: int, brokers: int) -> dict[str, object]:
    """A row from a process of its own."""
    command = [sys.executable, __file__, "--row", form, str(partitions), str(brokers)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, object] = json.loads(done.stdout)
    return found


def large(most: bool) -> list[dict[str, object]]:
    """Rows of growth, each beside the first: how often its partitions, its CPU time, and what planning takes of memory.

    What grows in step with partitions has the same number in all three.
    """
    rows: list[dict[str, object]] = []
    for size in [*LARGE, *([MOST] if most else [])]:
        print(f"  random {size} ...", file=sys.stderr, flush=True)
        found = measured("random", *size)
        found["plan_mib"] = int(str(found["peak_mib"])) - int(str(found["cluster_mib"]))
        first = rows[0] if rows else found
        for name in ("partitions", "cpu_s", "plan_mib"):
            found[f"x_{name}"] = round(float(str(found[name])) / float(str(first[name])), 1)
        rows.append(found)
    return rows


def markdown(rows: list[dict[str, object]]) -> str:
    """The rows as a table for people."""
    heads = list(rows[0])
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += [
        "| " + " | ".join(f"{one[head]:,}" if isinstance(one[head], int) else str(one[head]) for head in heads) + " |"
        for one in rows
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--row", nargs=3, metavar=("FORM", "PARTITIONS", "BROKERS"))
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--large", action="store_true", help="growth with partitions on 5,000 brokers")
    parser.add_argument("--most", action="store_true", help="with --large: ten million partitions too")
    parser.add_argument("--topic-spread", action="store_true", help="plans that bound what brokers hold of each topic")
    parser.add_argument("--drained", action="store_true", help="drains without rebalance")
    parser.add_argument("--bytes", action="store_true")
    parser.add_argument("--kafka-libs", metavar="DIR", help="jars of a Kafka release, to compare with its own tool")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.row:
        print(json.dumps(row(options.row[0], int(options.row[1]), int(options.row[2]))))
        return
    if options.bytes:
        rows = [row_by_bytes(form, *SIZES[0]) for form in FORMS]
        print(json.dumps(rows, indent=2) if options.json else markdown(rows))
        return
    if options.large:
        rows = large(options.most)
        print(json.dumps(rows, indent=2) if options.json else markdown(rows))
        return
    wanted = [(form, *size) for size in SIZES for form in FORMS]
    if options.growth or options.topic_spread:
        wanted = [("random", *size) for size in GROWTH] if options.growth else [("topics", *size) for size in BOUNDED]
    if options.drained:
        wanted = [(form, *DRAINED_SIZE) for form in DRAINED]
    rows = []
    for form, partitions, brokers in wanted:
        print(f"  {form} {partitions} x {brokers} ...", file=sys.stderr, flush=True)
        found = measured(form, partitions, brokers)
        if options.kafka_libs:
            del found["generate_expected"]
            found.update(kafka_generates(form, partitions, brokers, options.kafka_libs))
        rows.append(found)
    print(json.dumps(rows, indent=2) if options.json else markdown(rows))


if __name__ == "__main__":
    main()
