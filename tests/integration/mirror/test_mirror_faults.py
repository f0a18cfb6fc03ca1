"""Mirrors, brokers and the line between two data centres are hurt under a stream: what is lost, what is doubled.

The source writes numbers into six partitions. After the faults the copy is read from its first offset by a client of
our own, at read_committed, and held against what the source acknowledged: every number, its partition, its place there.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.support.cluster import until
from tests.support.copies import Comparison, Follower, compared
from tests.support.traffic import Ledger, producing
from tests.support.two_mirrors import FLUSH, TwoMirrors, two_mirrors

#: Records a second, and how many a stream has at least.
RATE, RECORDS = 1500, 100_000
#: Age in seconds that the last note of how far a task had come may have: Connect gives up one that takes 5 s to write.
AGE = FLUSH + 5
#: Seconds without a line.
GONE = 60
#: Seconds that a mirror may need to go on, on a busy machine.
PATIENCE = 300
FAULTS = ["mirror2", "leader", "freeze", "mirror1", "mirror2", "leader", "mirror1", "cut", "mirror2", "leader"]


# Each fault takes minutes to follow. In the plain form test_mirror.py shows that copies arrive.
pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoMirrors]:
    """The tests of this file follow each other: exactly once is switched on in the middle."""
    with two_mirrors(tmp_path_factory.mktemp("hurt")) as cluster:
        yield cluster


def following(cluster: TwoMirrors, copy: str) -> contextlib.closing[Follower]:
    """Reads a copy in the target until the block ends."""
    return contextlib.closing(Follower(cluster.servers("dc_b"), copy))


def inflict(cluster: TwoMirrors, fault: str, copy: str) -> None:
    """Does it, and undoes what does not heal by itself."""
    if fault in ("cut", "freeze"):
        getattr(cluster.line, fault)()
        time.sleep(GONE)
        cluster.line.restore()
    else:
        cluster.kill_and_see_it_back(cluster.leader(copy) if fault == "leader" else fault)


def hurt(cluster: TwoMirrors, topic: str) -> tuple[Comparison, list[range]]:
    """A stream through all FAULTS, one after the other: the comparison, and for each fault the numbers it may repeat.

    A task begins again at the last note of how far it had come, so what was mirrored since then may come twice: from
    where the copy was AGE seconds before the fault to what is written until the mirror is at work again.
    """
    copy = cluster.create(topic)
    repeatable = []
    with producing(cluster.servers("dc_a"), topic, rate=RATE) as ledger, following(cluster, copy) as follower:
        until(lambda: follower.passed(RATE), "the first records in the copy", PATIENCE)
        for fault in FAULTS:
            noted, begun = follower.passed_before(AGE), time.monotonic()
            inflict(cluster, fault, copy)
            healed = max(ledger.acknowledged)
            until(lambda number=healed: follower.passed(number), f"records after {fault}", PATIENCE)
            repeatable.append(range(noted + 1, max(ledger.acknowledged) + 1))
            print(f"{topic}: {fault}, whole again after {time.monotonic() - begun:.1f} s")
        until(lambda: len(ledger.acknowledged) >= RECORDS, "enough records", PATIENCE)
    assert not ledger.failed
    return judged(cluster, topic, copy, ledger), repeatable


def judged(cluster: TwoMirrors, topic: str, copy: str, ledger: Ledger) -> Comparison:
    """Waits for the last record of each partition, then reads the copy from its beginning and compares."""
    last = dict(sorted((place[0], number) for number, place in ledger.acknowledged.items()))
    with following(cluster, copy) as follower:
        until(lambda: follower.reached(last), f"the last records of {copy}", PATIENCE)
    with following(cluster, copy) as proof:
        result = compared(ledger, proof.to_the_end())
    print(f"{topic}: {result}")
    return result


def test_at_least_once_loses_nothing_and_repeats_no_more_than_since_its_last_note(mirrored: TwoMirrors) -> None:
    assert mirrored.exactly_once == "disabled"
    result, repeatable = hurt(mirrored, "orders.at-least-once")
    assert result.is_complete, result
    times = Counter(result.repeated)
    too_often = [number for number, count in times.items() if count > sum(number in one for one in repeatable)]
    assert too_often == [], f"{repeatable} may be repeated: {result}"


def test_a_worker_that_does_not_lead_finds_a_new_topic(mirrored: TwoMirrors) -> None:
    """Without the internal REST it could not tell the leader, and the topic would never be mirrored (KAFKA-9981)."""
    until(lambda: len(mirrored.workers()) == 2, "the workers to have met", PATIENCE)
    if mirrored.workers()["holder"] == mirrored.workers()["leader"]:
        # Who comes back is given the connector by the other one, who leads then.
        leader = mirrored.workers()["leader"]
        mirrored.kill_and_see_it_back(leader)
        until(lambda: mirrored.workers().get("holder") == leader, "a worker to be given the connector", PATIENCE)
    roles = mirrored.workers()
    assert roles["leader"] != roles["holder"]
    copy = mirrored.create("orders.new")
    with producing(mirrored.servers("dc_a"), "orders.new") as ledger:
        until(lambda: len(ledger.acknowledged) > 5000, "records")
    result = judged(mirrored, "orders.new", copy, ledger)
    assert result.is_complete, result
    assert mirrored.workers() == roles


def test_exactly_once_is_switched_on_in_two_steps_under_load(mirrored: TwoMirrors) -> None:
    copy = mirrored.create("orders.switched")
    with producing(mirrored.servers("dc_a"), "orders.switched", rate=RATE) as ledger:
        until(lambda: len(ledger.acknowledged) > RATE, "records")
        mirrored.set_exactly_once("preparing")
        mirrored.set_exactly_once("enabled")
        switched = max(ledger.acknowledged)
        until(lambda: max(ledger.acknowledged) > switched + 5 * RATE, "records after it", PATIENCE)
    result = judged(mirrored, "orders.switched", copy, ledger)
    assert result.is_complete, result
    assert [number for number in result.repeated if number > switched] == []
    # An orderly restart writes down how far it had come.
    assert result.repeated == []


def test_exactly_once_loses_nothing_and_repeats_nothing(mirrored: TwoMirrors) -> None:
    enable(mirrored)
    result, _ = hurt(mirrored, "orders.exactly-once")
    assert result.is_complete, result
    assert result.repeated == [], result


@pytest.mark.parametrize("victim", ["mirror1", "mirror2"])
def test_the_other_worker_takes_over_and_sees_a_new_topic(mirrored: TwoMirrors, victim: str) -> None:
    enable(mirrored)
    topic, fresh = f"orders.{victim}", f"orders.without-{victim}"
    copy = mirrored.create(topic)
    with (
        producing(mirrored.servers("dc_a"), topic, rate=RATE) as ledger,
        following(mirrored, copy) as follower,
        mirrored.unsupervised(),
    ):
        until(lambda: follower.passed(RATE), "the first records in the copy", PATIENCE)
        mirrored.kill(victim)
        killed = max(ledger.acknowledged)
        until(lambda: follower.passed(killed + RATE), "records by the other one", PATIENCE)
        late = mirrored.create(fresh)
        with producing(mirrored.servers("dc_a"), fresh) as second:
            until(lambda: len(second.acknowledged) > 5000, "records")
        arrived = judged(mirrored, fresh, late, second)
        assert not mirrored.alive(victim)
    result = judged(mirrored, topic, copy, ledger)
    assert (arrived.is_complete, arrived.repeated) == (True, []), arrived
    assert (result.is_complete, result.repeated) == (True, []), result
    until(lambda: mirrored.alive(victim), f"{victim} to be started again", 120)


def enable(cluster: TwoMirrors) -> None:
    """Exactly once in its two steps, where the test before has not done it."""
    if cluster.exactly_once == "disabled":
        cluster.set_exactly_once("preparing")
        cluster.set_exactly_once("enabled")
