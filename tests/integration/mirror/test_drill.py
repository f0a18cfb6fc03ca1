# SPDX-License-Identifier: GPL-3.0-or-later
"""A drill of a failover beside production: it passes while records are written, changes nothing of production, deletes
what it made, and fails where the mirror stands still."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions
from confluent_kafka.admin import AdminClient

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from page.expected import Expected
from page.poll import take
from tests.support.cluster import Run, kill, read_until, said, until
from tests.support.groups import commit
from tests.support.mirrored import Mirrored, small_mirror
from tests.support.modules import run_module
from tests.support.stats import show_stats, stats_of
from tests.support.traffic import producing, read_all

pytestmark = pytest.mark.full

PLAYBOOK = "playbooks/mirror_drill.yml"
#: The port of the canary, counted from the first of the inventory.
CANARY = 90
ASKED = ("-e", "kafka_failover=dc_a->dc_b", "-e", "kafka_failover_operator=alice")
FLOW = {"source": "dc_a", "target": "dc_b", "topics": ["orders", "payments"]}


class Held(NamedTuple):
    """What a cluster holds: its topics with their partitions, its groups, and the offsets of the group billing."""

    topics: dict[str, int]
    groups: set[str]
    billing: dict[tuple[str, int], int]


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mirrored]:
    """One node in each cluster, a mirror with a canary, records in orders, and a group that has read some."""
    cluster = small_mirror(
        tmp_path_factory.mktemp("drill"), spark_validation_enabled=False, mirror_maker_look_timeout="70"
    )
    cluster.variables.update(mirror_maker_canary="yes", mirror_maker_canary_port=str(cluster.port_base + CANARY))
    try:
        cluster.playbook().ok()
        with producing(cluster.servers("dc_a"), "orders") as ledger:
            ledger.reaches(3000)
        commit(cluster.servers("dc_a"), "billing", {("orders", 0): 57})
        until(lambda: "dc_a.orders" in held(cluster, "dc_b").topics, "the copy of orders", 180)
        until(lambda: bool(held(cluster, "dc_b").billing), "the offsets of billing in the target", 300)
        yield cluster
    finally:
        cluster.destroy()


def held(cluster: Mirrored, place: str) -> Held:
    """What a cluster holds now."""
    admin = AdminClient({"bootstrap.servers": ",".join(cluster.servers(place))})
    topics = {name: len(topic.partitions) for name, topic in admin.list_topics(timeout=30).topics.items()}
    groups = {group.group_id for group in admin.list_consumer_groups(request_timeout=30).result().valid}
    offsets: dict[tuple[str, int], int] = {}
    if "billing" in groups:
        asked = [ConsumerGroupTopicPartitions("billing")]
        places = admin.list_consumer_group_offsets(asked, request_timeout=30)["billing"].result().topic_partitions or []
        offsets = {(place.topic, place.partition): place.offset for place in places}
    return Held(topics, groups, offsets)


def drills(cluster: Mirrored) -> set[str]:
    """The topics and groups of drills that are there in any of both clusters."""
    both = [held(cluster, place) for place in ("dc_a", "dc_b")]
    return {name for part in both for name in (*part.topics, *part.groups) if "streamops-drill" in name} | {
        name for part in both for name in part.groups if "streamops_drill" in name
    }


def last(cluster: Mirrored) -> dict[str, Any]:
    """How the last drill ended."""
    connection = {"bootstrap_servers": cluster.servers("dc_b")}
    source = {"source_connection": {"bootstrap_servers": cluster.servers("dc_a")}}
    told = run_module("streamops.kafka.mirror_drill", {**FLOW, **connection, **source, "state": "last"})
    assert not told["failed"], told["msg"]
    return dict(told)


def run(cluster: Mirrored, *words: str) -> Run:
    """Run a drill to its end."""
    return cluster.playbook(PLAYBOOK, *ASKED, *words)


def test_check_mode_and_wrong_topics_make_nothing(mirrored: Mirrored, monkeypatch: pytest.MonkeyPatch) -> None:
    show_stats(monkeypatch)
    shown = run(mirrored, "--check", "-e", "kafka_drill_topics=orders,payments").ok()
    assert "the last records of orders, payments, at most 1,000 and 10 MiB each" in said(shown)
    assert stats_of(shown.output)["streamops_plan"].startswith("Drill        dc_a->dc_b, not begun\n")
    wrong = run(mirrored, "-e", "kafka_drill_topics=order")
    assert wrong.rc != 0
    assert "dc_a has no topic order" in said(wrong)
    assert drills(mirrored) == set()
    assert last(mirrored)["drill"] is None


def test_a_drill_passes_beside_production_and_leaves_it_as_it_was(mirrored: Mirrored) -> None:
    before = {place: held(mirrored, place) for place in ("dc_a", "dc_b")}
    pids = mirrored.pids()
    with producing(mirrored.servers("dc_a"), "orders", rate=500) as ledger:
        ledger.reaches(500)
        done = run(mirrored, "-e", "kafka_drill_topics=orders,payments").ok()
        ledger.reaches(len(ledger.acknowledged) + 500)
    assert "dc_a->dc_b, passed" in said(done)
    assert drills(mirrored) == set()
    # The first drill makes the topic that it is kept in, where no other run did.
    for place, was in before.items():
        now = held(mirrored, place)
        assert {name: now.topics.get(name) for name in was.topics} == was.topics
        assert now.topics.keys() - was.topics.keys() <= {"_streamops_state"}
        assert (now.groups, now.billing) == (was.groups, was.billing)
    assert mirrored.pids() == pids
    drill = last(mirrored)["drill"]
    counts, loss = drill["counts"], drill["loss"]
    # At most 1,000 records of orders, as many of each partition; and payments is filled up.
    assert 1100 < counts["acknowledged"] <= 1200
    assert (counts["missing"], counts["skipped"]) == (0, 0)
    assert counts["again"] <= counts["again_at_most"]
    assert 0 < drill["rto_written"] <= drill["rto_read"] < 300
    assert 0 <= loss["missing"] <= loss["acknowledged"] < counts["acknowledged"]
    assert set(drill["seconds"]) == {"copied", "written", "fenced", "drained", "moved", "turned", "counted"}
    assert (drill["passed"], drill["by"], drill["why"]) == (True, "alice", [])
    until(lambda: not ledger.lost(read_all(mirrored.servers("dc_b"), "dc_a.orders")), "all of production", 120)


def test_the_plan_of_a_failover_tells_of_the_last_drill(mirrored: Mirrored) -> None:
    shown = mirrored.playbook("playbooks/mirror_failover.yml", "-e", "kafka_failover=dc_a->dc_b", "--check").ok()
    assert "Drill passed today: RPO 0, RTO" in said(shown)


def test_the_status_and_the_page_tell_of_the_last_drill(mirrored: Mirrored, tmp_path: Path) -> None:
    shown = mirrored.playbook("playbooks/status.yml", status_report=str(tmp_path / "status.html")).ok()
    assert "Drill passed today: RPO 0, RTO" in said(shown)
    (flow,) = json.loads((tmp_path / "status.json").read_text())["mirrors"]
    assert (flow["drill"]["state"], flow["drill"]["days"], flow["drill"]["rpo_records"]) == ("passed", 0, 0)
    connection = Connection.from_params({"bootstrap_servers": mirrored.servers("dc_b"), "request_timeout": 30})
    picture = take("dc_b", connection, Expected(), 120, flows=[Flow("dc_a", "dc_b", ("orders", "payments"))])
    assert picture.details.drills
    ended = picture.details.drills["dc_a->dc_b"]
    assert ended
    assert ended.passed
    assert ended.as_data() == last(mirrored)["drill"]


def test_what_a_killed_drill_left_goes_with_the_next_one(mirrored: Mirrored) -> None:
    begun = mirrored.begin(PLAYBOOK, *ASKED)
    read_until(begun, "Take the locks of both clusters anew")
    until(lambda: any("dc_a.streamops-drill" in name for name in drills(mirrored)), "a copy of the drill", 120)
    kill(begun)
    left = drills(mirrored)
    assert left
    assert "what a drill before it left: streamops-drill.dc_a.dc_b-" in said(run(mirrored, "--check").ok())
    run(mirrored).ok()
    assert drills(mirrored) == set()


def test_a_mirror_that_stands_still_fails_the_drill_and_all_is_cleaned_up(mirrored: Mirrored) -> None:
    begun = mirrored.begin(PLAYBOOK, *ASKED)
    read_until(begun, "Take the locks of both clusters anew")
    until(lambda: any("dc_a.streamops-drill" in name for name in drills(mirrored)), "a copy of the drill", 120)
    mirrored.stop("mirror1")
    try:
        output, _none = begun.communicate(timeout=900)
    finally:
        mirrored.start("mirror1")
    assert begun.returncode != 0
    assert "dc_b lacks records, and none came for 70 s" in " ".join(output.split())
    assert not last(mirrored)["drill"]["passed"]
    assert "Drill        failed today: not " in last(mirrored)["lines"][0]
    assert drills(mirrored) == set()
    # The mirror goes on with production, and the next drill passes.
    run(mirrored).ok()
    assert drills(mirrored) == set()


def test_without_the_canary_a_drill_is_refused_by_name(mirrored: Mirrored) -> None:
    refused = mirrored.playbook(PLAYBOOK, *ASKED, mirror_maker_canary="no")
    assert refused.rc != 0
    assert "mirror_maker_canary is off for the mirrors next to dc_b" in said(refused)


def test_the_status_tells_the_last_drill_while_only_the_source_is_lost(mirrored: Mirrored) -> None:
    for node, is_told in (("a1", True), ("b1", False)):
        mirrored.stop(node)
        try:
            shown = said(mirrored.playbook("playbooks/status.yml", status_fail_on="never"))
        finally:
            mirrored.start(node)
        assert "no bootstrap server answered" in shown
        assert ("Drill passed today: RPO 0, RTO" in shown) is is_told
        # A target that has not answered the look is not asked for the drill.
        assert "Drill not known" not in shown
