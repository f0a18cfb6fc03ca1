"""The legacy engine end to end: two mirrors in one group, stopped and killed under a stream."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.cluster import until
from tests.support.copies import Comparison, Follower, compared
from tests.support.traffic import Ledger, producing
from tests.support.two_legacy_mirrors import FLOW, LegacyMirrors, legacy_mirrors

pytestmark = pytest.mark.full

#: Records a second, and how many a stream has at least.
RATE, RECORDS = 1500, 24_000
#: Seconds that a mirror may need to go on, on a busy machine.
PATIENCE = 300
#: The partitioner of Java's producer, which the mirror's own is.
JAVA = {"partitioner": "murmur2_random"}
LEGACY = {**FLOW, "engine": "legacy", "streams": 2}


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LegacyMirrors]:
    """Installed by site.yml alone."""
    with legacy_mirrors(tmp_path_factory.mktemp("legacy")) as cluster:
        first = cluster.playbook().ok()
        assert "dc_a->dc_b runs on the legacy MirrorMaker. It delivers at least once" in first.output
        yield cluster


def test_topics_of_the_target_have_partitions_and_configuration_of_the_source(mirrored: LegacyMirrors) -> None:
    found = mirrored.topics("dc_b", "cleanup.policy", "retention.ms", "max.message.bytes")
    assert found["orders"][0] == 6
    assert (found["orders"][1]["retention.ms"], found["orders"][1]["cleanup.policy"]) == ("7200000", "delete")
    assert found["audit"][0] == 2
    assert (found["audit"][1]["cleanup.policy"], found["audit"][1]["max.message.bytes"]) == ("compact", "3000000")
    assert "orders.private" not in found


def test_a_second_run_changes_nothing(mirrored: LegacyMirrors) -> None:
    before = mirrored.pids()
    again = mirrored.playbook().ok()
    assert again.changed == 0, again.output
    assert mirrored.pids() == before


def test_the_password_is_in_one_file_and_the_mirror_listens_nowhere(mirrored: LegacyMirrors) -> None:
    files = [path for path in (mirrored.directory / "config").rglob("*") if path.is_file()]
    assert [path.name for path in files if "[secret]" in path.read_text()] == ["secrets.properties"]
    assert "${file:" in mirrored.written("mirror1", "consumer.properties")
    assert "${file:" in mirrored.written("mirror1", "producer.properties")
    listening = Path(f"/proc/{mirrored.pid('mirror1')}/net/tcp").read_text()
    port = f"{mirrored.port_base + 70:04X} 00000000:0000 0A"
    assert port not in listening


@dataclass
class Story:
    """What a stream through a fault came to; committed -- the mirrors' offsets just before it, by partition."""

    found: Comparison
    ledger: Ledger
    committed: dict[int, int]
    last_before: int


def streamed(cluster: LegacyMirrors, fault: str) -> Story:
    """A stream through a fault of mirror1, read back from the target and compared."""
    topic = f"orders.{fault}"
    cluster.create(topic)
    cluster.playbook("playbooks/mirrors.yml").ok()
    settings = {**cluster.settings("dc_a"), **JAVA}
    with (
        producing(cluster.servers("dc_a"), topic, rate=RATE, settings=settings, keys=997) as ledger,
        contextlib.closing(Follower(cluster.servers("dc_b"), topic, cluster.settings("dc_b"))) as follower,
    ):
        until(lambda: follower.passed(2 * RATE), "the first records in the target", PATIENCE)
        before, committed = cluster.pid("mirror1"), cluster.committed(topic, 6)
        getattr(cluster, fault)("mirror1")
        last_before = max(ledger.acknowledged)
        until(lambda: cluster.has_started_again("mirror1", before), "mirror1 to come back", PATIENCE)
        at_work = max(ledger.acknowledged)
        until(lambda: follower.passed(at_work), "records after it", PATIENCE)
        until(lambda: len(ledger.acknowledged) >= RECORDS, "enough records", PATIENCE)
    assert not ledger.failed
    last = dict(sorted((place[0], number) for number, place in ledger.acknowledged.items()))
    with contextlib.closing(Follower(cluster.servers("dc_b"), topic, cluster.settings("dc_b"))) as waiting:
        until(lambda: waiting.reached(last), "the last records", PATIENCE)
    # Another one, since the end of a partition is told once.
    with contextlib.closing(Follower(cluster.servers("dc_b"), topic, cluster.settings("dc_b"))) as proof:
        found = compared(ledger, proof.to_the_end())
    print(f"{fault}: {found}")
    return Story(found, ledger, committed, last_before)


def test_a_mirror_that_is_stopped_in_order_loses_and_repeats_nothing(mirrored: LegacyMirrors) -> None:
    story = streamed(mirrored, "terminate")
    assert len(story.ledger.acknowledged) >= RECORDS
    assert story.found.is_complete, story.found
    assert not story.found.repeated, story.found


def test_a_mirror_that_is_killed_loses_nothing_and_repeats_what_it_had_not_committed(mirrored: LegacyMirrors) -> None:
    story = streamed(mirrored, "kill")
    assert len(story.ledger.acknowledged) >= RECORDS
    assert story.found.is_complete, story.found
    places = {number: story.ledger.acknowledged[number] for number in story.found.repeated}
    assert {number for number, (place, offset) in places.items() if offset < story.committed[place]} == set()
    assert {number for number in places if number > story.last_before} == set()


def test_a_new_topic_of_the_source_is_made_by_the_next_run(mirrored: LegacyMirrors) -> None:
    mirrored.create("orders.new", 4)
    foreseen = mirrored.playbook("playbooks/mirrors.yml", "--check").ok()
    assert foreseen.changed == 1
    assert "orders.new" not in mirrored.topics("dc_b")
    before = mirrored.pids()
    assert mirrored.playbook("playbooks/mirrors.yml").ok().changed == 1
    assert mirrored.topics("dc_b")["orders.new"][0] == 4
    assert mirrored.pids() == before


def test_more_streams_restart_the_mirrors_one_by_one_and_nothing_else(mirrored: LegacyMirrors) -> None:
    before = mirrored.pids()
    mirrored.variables["mirror_flows"] = [{**LEGACY, "streams": 3}]
    foreseen = mirrored.playbook("playbooks/mirrors.yml", "--check", "--diff").ok()
    assert "+3" in foreseen.output
    assert mirrored.pids() == before
    changed = mirrored.playbook("playbooks/mirrors.yml").ok()
    assert "arguments" in changed.output
    after = mirrored.pids()
    assert {node for node in before if before[node] != after[node]} == {"mirror1", "mirror2"}
    assert mirrored.playbook("playbooks/mirrors.yml").ok().changed == 0


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"kafka_version": "4.3.1"}, "this Kafka version no longer has the legacy engine of dc_a->dc_b"),
        (
            {"mirror_flows": [LEGACY, {"source": "dc_c", "target": "dc_b", "topics": ["x"]}]},
            "dc_a->dc_b (legacy), dc_c->dc_b (mirror_maker_2)",
        ),
    ],
    ids=["version", "engines"],
)
def test_what_a_process_cannot_carry_is_refused(mirrored: LegacyMirrors, variables: dict[str, Any], told: str) -> None:
    before = mirrored.pids()
    # The step alone has the guards of its role.
    refused = mirrored.playbook("playbooks/_mirrors_step.yml", **variables)
    assert refused.rc != 0
    assert told in " ".join(refused.output.split())
    assert "nothing was touched" in refused.output
    assert refused.changed == 0
    assert mirrored.pids() == before


def test_a_mirror_that_cannot_work_fails_the_run_with_its_last_words(mirrored: LegacyMirrors) -> None:
    before = mirrored.pids()
    broken = [{**LEGACY, "producer_config": {"acks": "some"}}]
    failed = mirrored.playbook("playbooks/mirrors.yml", mirror_flows=broken, kafka_start_timeout=120)
    assert failed.rc != 0
    assert "Invalid value some for configuration acks" in failed.output
    # The second one works on.
    assert mirrored.pid("mirror2") == before["mirror2"]
    assert mirrored.playbook("playbooks/mirrors.yml").ok()
    assert mirrored.alive("mirror1")
