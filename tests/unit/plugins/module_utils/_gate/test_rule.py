# SPDX-License-Identifier: GPL-3.0-or-later
"""The gate: every refusal by table, and that it never allows a stop that breaks the invariant, by brute force."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import (
    Broker,
    InFlight,
    Partition,
    Quorum,
    Snapshot,
    Voter,
)
from ansible_collections.streamops.kafka.plugins.module_utils._gate.rule import (
    holds_active_controller,
    refusals,
    warnings,
)
from ansible_collections.streamops.kafka.plugins.module_utils._gate.stop import Stop


def brokers(*ids: int, fenced: tuple[int, ...] = ()) -> tuple[Broker, ...]:
    """Return brokers with these ids."""
    return tuple(Broker(n, f"kafka{n}", 9092, None, n in fenced) for n in ids)


def quorum(leader: int | None = 1, **ago: int | None) -> Quorum:
    """Return a quorum; C(v2=100) is voter 2, last caught up 100 ms ago."""
    voters = tuple(Voter(int(name[1:]), None, 100, 0 if ms == 0 else 7, ms) for name, ms in ago.items())
    return Quorum(leader, 3, 100, voters, ())


def isolated(**ago: int | None) -> Quorum:
    """Return controllers 11 to 13, caught up, and brokers as their observers."""
    found = quorum(11, v11=0, v12=9, v13=9)
    return replace(found, observers=quorum(11, **ago).voters)


HEALTHY = quorum(1, v1=0, v2=100, v3=200)


def part(isr: tuple[int, ...], replicas: tuple[int, ...] = (1, 2, 3), minimum: int = 2, **other: Any) -> Partition:
    """Return a partition of topic t, led by the first of its ISR."""
    values = {"topic": "t", "index": 0, "leader": isr[0] if isr else None, "internal": False, **other}
    return Partition(replicas=replicas, isr=isr, min_insync=minimum, **values)


def cluster(*partitions: Partition, **other: Any) -> Snapshot:
    """Return a healthy cluster of three combined nodes with these partitions."""
    values: dict[str, Any] = {"cluster_id": "id", "controller_id": 1, "brokers": brokers(1, 2, 3), "quorum": HEALTHY}
    return Snapshot(partitions=partitions, **{**values, **other})


def stop(*nodes: int, **other: Any) -> Stop:
    """Return the stop to stop these nodes of a cluster of three."""
    expected = {"expected_brokers": frozenset((1, 2, 3)), "expected_controllers": frozenset((1, 2, 3))}
    return Stop(nodes=frozenset(nodes), **{**expected, **other})


def kinds(snapshot: Snapshot, stop: Stop, moving: tuple[InFlight, ...] = ()) -> list[str]:
    """Return the kinds of the refusals."""
    return [refusal.kind for refusal in refusals(snapshot, stop, moving)]


ALONE = stop(1, expected_brokers=frozenset(), expected_controllers=frozenset())
ALLOWED = [
    ("all in sync", cluster(part((1, 2, 3))), stop(3)),
    ("the node is not in the ISR and enough others are", cluster(part((1, 2))), stop(3)),
    ("the node has no replica of a partition under its minimum", cluster(part((1,), (1, 2, 4), 2)), stop(3)),
    ("a single replica that consent names", cluster(part((3,), (3,), 1)), stop(3, allow_unavailable_topics={"t"})),
    ("any topic by consent", cluster(part((3, 2), (2, 3), 2)), stop(3, allow_unavailable_topics={"*"})),
    ("two nodes at once where both can be spared", cluster(part((1, 2, 3), minimum=1), quorum=None), stop(2, 3)),
    ("the node itself is not registered", cluster(part((1, 2)), brokers=brokers(1, 2)), stop(3)),
    ("a node that is a broker only, the quorum elsewhere", cluster(quorum=isolated(v1=5, v2=400, v3=9999)),
     stop(3, roles={"broker"}, expected_controllers={11, 12, 13})),
    ("a broker whose old disk is still remembered",
     cluster(quorum=replace(HEALTHY, observers=quorum(1, v2=90000).voters)), stop(3)),
    ("a single voter", cluster(quorum=quorum(1, v1=0), brokers=brokers(1)), ALONE),
    ("one of two voters, the other caught up", cluster(quorum=quorum(1, v1=0, v2=50), brokers=brokers(1, 2)), ALONE),
    ("one of five voters, another away", cluster(quorum=quorum(1, v1=0, v2=9, v3=9, v4=9, v5=99999)),
     stop(2, expected_controllers=frozenset())),
    ("ZooKeeper mode", cluster(part((1, 2, 3)), quorum=None), stop(3, expected_controllers=frozenset())),
    ("ZooKeeper mode, the node itself does not answer",
     cluster(part((1, 2, 3)), quorum=None, silent={3: "x"}), stop(3)),
]  # fmt: skip


@pytest.mark.parametrize(("snapshot", "stop"), [row[1:] for row in ALLOWED], ids=[row[0] for row in ALLOWED])
def test_a_safe_stop_is_allowed(snapshot: Snapshot, stop: Stop) -> None:
    if snapshot.quorum is None:
        stop = replace(stop, expected_controllers=frozenset())
    assert kinds(snapshot, stop) == []


REFUSED = [
    ("would_fall_under_min_isr", cluster(part((1, 3))), stop(3)),
    ("would_fall_under_min_isr", cluster(part((1, 2, 3))), stop(2, 3)),
    ("would_fall_under_min_isr", cluster(part((1, 2, 3), (1, 2, 3, 4), 2)), stop(1, 2)),
    ("under_min_isr", cluster(part((1,))), stop(3)),
    ("under_min_isr", cluster(part((3,))), stop(3)),
    ("under_min_isr", cluster(part((1, 2)), brokers=brokers(1, 2, 3, fenced=(2,))), stop(3)),
    ("partition_offline", cluster(part((2,), leader=None)), stop(3)),
    ("no_spare_replica", cluster(part((3,), (3,), 1)), stop(3)),
    ("no_spare_replica", cluster(part((2, 3), (2, 3), 2)), stop(3)),
    ("no_spare_replica", cluster(part((2, 3), (2, 3), 3)), stop(3)),
    ("no_spare_replica", cluster(part((3,), (3,), 2)), stop(3)),
    ("no_spare_replica", cluster(part((3,), (3,), 1)), stop(3, allow_unavailable_topics={"other"})),
    ("under_min_isr", cluster(part((3,))), stop(3, allow_unavailable_topics={"*"})),
    ("broker_down", cluster(brokers=brokers(1, 3)), stop(3)),
    ("broker_down", cluster(brokers=brokers(1, 2, 3, fenced=(1,))), stop(3)),
    ("broker_down", cluster(quorum=None, silent={2: "x"}), stop(3, expected_brokers=frozenset())),
    ("under_min_isr", cluster(part((1, 2)), quorum=None, silent={2: "x"}), stop(1)),
    ("would_fall_under_min_isr", cluster(part((1, 2, 3)), quorum=None, silent={2: "x"}), stop(3)),
    ("broker_metadata_behind", cluster(quorum=isolated(v1=5, v2=2000, v3=5)), stop(3)),
    ("broker_metadata_behind", cluster(quorum=isolated(v1=5, v3=5)), stop(3)),
    ("broker_metadata_behind", cluster(quorum=quorum(1, v1=0, v2=25000, v3=5)), stop(3)),
    ("no_active_controller", cluster(quorum=quorum(None)), stop(3)),
    ("quorum_unknown", cluster(quorum=Quorum.unknown("no answer"), controller_id=None), stop(3)),
    ("no_active_controller", cluster(quorum=None, controller_id=None), stop(3)),
    ("quorum_majority", cluster(quorum=quorum(1, v1=0, v2=2000, v3=10)), stop(3)),
    ("quorum_majority", cluster(quorum=quorum(1, v1=0, v2=None, v3=10)), stop(3)),
    ("quorum_majority", cluster(quorum=quorum(1, v1=0, v2=9999)), stop(1)),
    ("quorum_majority", cluster(), stop(1, 2)),
    ("quorum_majority", cluster(quorum=quorum(1, v1=0, v2=9, v3=9, v4=9999)), stop(2)),
    ("controller_down", cluster(quorum=quorum(1, v1=0, v2=9)), stop(2)),
    ("controller_down", cluster(quorum=quorum(1, v1=0, v2=9, v3=9999)), stop(2)),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "snapshot", "stop"), REFUSED)
def test_an_unsafe_stop_is_refused_with_its_reason(kind: str, snapshot: Snapshot, stop: Stop) -> None:
    found = [refusal for refusal in refusals(snapshot, stop) if refusal.kind == kind]
    assert len(found) == 1
    assert kind != "quorum_unknown" or kinds(snapshot, stop) == [kind], "what is unknown is nothing else"
    assert all(found[0].as_dict()[name] for name in ("what", "found", "allowed", "fix"))


def test_a_broker_that_is_registered_and_does_not_answer_is_named_with_what_happened() -> None:
    # With its session open it is in every ISR still, and nothing else tells.
    snapshot = cluster(part((1, 2, 3)), quorum=None, silent={2: "[Errno 111] Connection refused"})
    found = refusals(snapshot, stop(3, expected_controllers=frozenset()))
    assert [refusal.kind for refusal in found] == ["would_fall_under_min_isr", "broker_down"]
    assert found[1].found == "broker 2 is registered and does not answer ([Errno 111] Connection refused)"
    assert found[1].transient


def test_a_reassignment_refuses_the_nodes_it_touches_and_no_other() -> None:
    moving = (InFlight("t", 4, (1,), frozenset((2,)), frozenset()),)
    assert kinds(cluster(), stop(2), moving) == ["reassignment"]
    assert kinds(cluster(), stop(3), moving) == []


def test_all_reasons_are_told_at_once() -> None:
    snapshot = cluster(
        part((3,), (3,), 1, topic="single"), part((1, 3), index=1), part((1,), index=2),
        brokers=brokers(1, 3), quorum=quorum(1, v1=0, v2=9999, v3=1),
    )  # fmt: skip
    assert kinds(snapshot, stop(3), (InFlight("t", 1, (3,), frozenset(), frozenset()),)) == [
        "no_spare_replica", "under_min_isr", "would_fall_under_min_isr", "broker_down",
        "quorum_majority", "controller_down", "reassignment",
    ]  # fmt: skip


def test_only_what_may_pass_by_itself_is_worth_waiting_for() -> None:
    waiting = {r.kind: r.transient for r in refusals(cluster(part((3,), (3,), 1), part((1, 3), index=1)), stop(3))}
    assert waiting == {"no_spare_replica": False, "would_fall_under_min_isr": True}
    assert not refusals(cluster(), stop(1, 2))[0].transient


def test_many_topics_are_listed_up_to_twenty_and_counted() -> None:
    found = refusals(cluster(*(part((1, 3), topic=f"t{n}") for n in range(500))), stop(3))
    assert len(found) == 1
    assert found[0].what.startswith("500 partition(s) would fall below")
    assert found[0].found.endswith("and 480 more")


def test_a_topic_of_many_partitions_hides_no_other() -> None:
    many = [part((1, 3), topic="many", index=n) for n in range(50)]
    found = refusals(cluster(*many, part((1, 3), topic="other")), stop(3))[0]
    assert found.what.startswith("51 partition(s)")
    assert found.found == "many-0 (ISR 1, 3, min 2) and 49 more of many, other-0 (ISR 1, 3, min 2)"


def test_the_active_controller_is_told() -> None:
    assert holds_active_controller(cluster(), stop(1))
    assert not holds_active_controller(cluster(), stop(2))
    assert holds_active_controller(cluster(quorum=None, controller_id=2), stop(2))


def test_what_cannot_be_helped_is_a_warning() -> None:
    assert warnings(cluster(), stop(1)) == []
    assert "not" not in " ".join(warnings(cluster(quorum=quorum(1, v1=0)), stop(1)))
    assert "1 voter(s)" in warnings(cluster(quorum=quorum(1, v1=0)), stop(1))[0]
    assert "node 9 is no registered broker" in warnings(cluster(), stop(9))[0]


def test_a_controller_that_is_no_broker_is_no_wrong_id() -> None:
    assert warnings(cluster(quorum=isolated(v1=5, v2=5, v3=5)), stop(12)) == []
    # Of a quorum that did not answer nothing is known.
    silent = replace(isolated(), voters=(), observers=(), error="no answer")
    assert warnings(cluster(quorum=silent), stop(12)) == []


@dataclass(frozen=True)
class World:
    """A cluster as it is, of which the gate sees only what C(seen) says; a replica in sync of a dead broker counts not.

    dying -- dead, and the cluster does not know it yet: the broker is registered, not fenced, and in its ISRs. gone --
    dead and known to be. moves -- the replicas of partitions before and after their move.
    """

    brokers: frozenset[int]
    dying: frozenset[int]
    gone: frozenset[int]
    partitions: tuple[Partition, ...]
    voters: frozenset[int] | None
    leader: int | None
    dead_voters: frozenset[int]
    moves: tuple[tuple[frozenset[int], frozenset[int]], ...]

    def seen(self) -> tuple[Snapshot, tuple[InFlight, ...]]:
        """What the cluster answers to the gate."""
        found = [Broker(n, "h", 1, None, n in self.gone) for n in sorted(self.brokers)]
        moving = tuple(
            InFlight("moved", index, tuple(before | after), after - before, before - after)
            for index, (before, after) in enumerate(self.moves)
        )
        dead = self.dying | self.gone | self.dead_voters
        quorum = None
        if self.voters is not None:
            # A dead member fell behind when it died, and of some the leader never heard.
            ages = {
                n: (None, 2000, 90000)[n % 3] if n in dead else (0, 1999)[n % 2] for n in self.brokers | self.voters
            }
            members = {n: Voter(n, None, 0, 0, age) for n, age in ages.items()}
            listed = [members[n] for n in sorted(self.voters)]
            observers = [members[n] for n in sorted(self.brokers - self.voters - self.gone)]
            quorum = Quorum(self.leader, 1, 0, tuple(listed), tuple(observers))
        silent = dict.fromkeys(self.dying, "Connection refused") if self.voters is None else {}
        return Snapshot("id", self.leader, tuple(found), self.partitions, quorum, silent), moving


NODES, CONTROLLERS = list(range(1, 7)), [11, 12, 13]


@st.composite
def situations(draw: st.DrawFn) -> tuple[World, Stop]:
    """Draw any cluster of up to six brokers in any state, healthy or not, and any set of nodes to stop."""
    ids = frozenset(NODES[: draw(st.integers(1, 6))])
    some = st.frozensets(st.sampled_from(sorted(ids)))
    few = st.frozensets(st.sampled_from(sorted(ids)), max_size=1)
    gone, dying = draw(few), draw(few)
    dying -= gone
    partitions = []
    for index in range(draw(st.integers(0, 4))):
        replicas = draw(st.lists(st.sampled_from(sorted(ids)), min_size=1, unique=True))
        isr = tuple(draw(st.lists(st.sampled_from(replicas), unique=True, min_size=1)))
        leader = next((one for one in isr if one not in gone), None)
        minimum = draw(st.integers(0, 3))
        partitions.append(Partition(f"t{index % 2}", index, leader, tuple(replicas), isr, minimum, False))
    voters = draw(
        st.sampled_from([None, *(frozenset(v) for v in (CONTROLLERS, [1], [1, 2], [1, 2, 3], [1, 2, 3, 4, 5]))])
    )
    dead_voters = draw(st.frozensets(st.sampled_from(CONTROLLERS), max_size=2)) if voters == {*CONTROLLERS} else set()
    led_by = sorted((ids if voters is None else voters) - gone - dying - dead_voters)
    known = ids | (voters or set())
    stop = Stop(
        nodes=draw(st.frozensets(st.sampled_from(sorted(known)), min_size=1, max_size=2)),
        expected_brokers=draw(some),
        expected_controllers=frozenset() if voters is None else draw(st.frozensets(st.sampled_from(sorted(known)))),
        allow_unavailable_topics=frozenset(draw(st.sampled_from([(), ("t0",), ("*",)]))),
    )
    world = World(
        brokers=ids,
        dying=dying,
        gone=gone,
        partitions=tuple(partitions),
        voters=voters,
        leader=draw(st.sampled_from([*led_by, *led_by, None])),
        dead_voters=frozenset(dead_voters),
        moves=tuple(draw(st.lists(st.tuples(some, some), max_size=1))),
    )
    return world, stop


def harm(world: World, stop: Stop) -> list[str]:
    """Kill the nodes in the world itself, and tell what is broken afterwards, or was by a death that nothing told."""
    running = {*world.brokers, *(world.voters or ())} - world.dying - world.gone - world.dead_voters - stop.nodes
    broken = []
    for one in world.partitions:
        if stop.nodes.isdisjoint(one.replicas):
            continue
        # A producer with acks=all is served by a leader with as many others in sync as it asks for.
        served = [one.isr[index] in running for index in range(len(one.isr))].count(True) >= max(one.min_insync, 1)
        at_its_best = len(one.replicas) - 1 >= max(one.min_insync, 1)
        consented = bool({"*", one.topic} & stop.allow_unavailable_topics)
        if not served and not (consented and not at_its_best):
            broken.append(f"{one.topic}-{one.index}")
    broken += [f"unknown death of {n}" for n in world.dying - stop.nodes]
    broken += [f"{n} is away" for n in stop.expected_brokers - running - stop.nodes]
    broken += [f"move {before} to {after}" for before, after in world.moves if (before | after) & stop.nodes]
    if world.leader is None:
        return [*broken, "no controller"]
    if world.voters is None:
        return broken
    # Who is no broker and no voter has no part in the metadata log.
    members = world.voters | (world.brokers - world.gone)
    broken += [f"controller {n} is away" for n in stop.expected_controllers - stop.nodes if n not in running & members]
    left = len(world.voters & running)
    # A cluster of one or two voters can never stop one otherwise.
    enough = left > len(world.voters) / 2 if len(world.voters) > 2 else len(world.voters) == 1 or left == 1
    return broken if enough or world.voters.isdisjoint(stop.nodes) else [*broken, "quorum"]


@settings(max_examples=500)
@given(situations())
def test_the_gate_allows_exactly_the_stops_that_break_nothing(situation: tuple[World, Stop]) -> None:
    world, stop = situation
    snapshot, moving = world.seen()
    found = refusals(snapshot, stop, moving)
    assert bool(found) == bool(harm(world, stop)), (found, harm(world, stop))


@settings(max_examples=300)
@given(situations(), st.integers(1, 6))
def test_stopping_one_node_more_is_never_safer_for_partitions(situation: tuple[World, Stop], more: int) -> None:
    world, stop = situation
    snapshot, _moving = world.seen()
    about_partitions = {"no_spare_replica", "under_min_isr", "would_fall_under_min_isr", "partition_offline"}
    if about_partitions & set(kinds(snapshot, stop)):
        assert about_partitions & set(kinds(snapshot, replace(stop, nodes=stop.nodes | {more})))
