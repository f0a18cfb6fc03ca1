"""Two clusters and a mirror between them, installed by site.yml: what is mirrored, changed, restarted and refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._state.api import write_state
from ansible_collections.streamops.kafka.plugins.module_utils._topics.api import made_state_topic
from tests.support.cluster import until
from tests.support.metrics import missing, scrape
from tests.support.mirrored import Mirrored, local_mirror, small_mirror
from tests.support.modules import run_module
from tests.support.schedule import is_plain
from tests.support.traffic import producing, read_all

#: The port for Prometheus, counted from the first of a node.
METRICS = 3


@pytest.fixture(scope="module")
def mirrored(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mirrored]:
    """The shipped inventory, up and mirroring; for the short form, with one node in each cluster."""
    made = small_mirror if is_plain(request.config) else local_mirror
    cluster = made(tmp_path_factory.mktemp("mirrored"), kafka_metrics_enabled=True)
    try:
        cluster.playbook().ok()
        yield cluster
    finally:
        cluster.destroy()


def topics(cluster: Mirrored, name: str) -> dict[str, int]:
    """The topics of dc_a or dc_b with their number of partitions."""
    info = run_module("streamops.kafka.cluster_info", {"bootstrap_servers": cluster.servers(name)})
    return {topic["name"]: len(topic["partitions"]) for topic in info["topics"]}


def create(cluster: Mirrored, name: str, topic: str, partitions: int = 3) -> None:
    """A topic with three copies in dc_a or dc_b."""
    wish = {"name": topic, "partitions": partitions, "replication_factor": 3}
    made = run_module("streamops.kafka.topics", {"bootstrap_servers": cluster.servers(name), "topics": [wish]})
    assert not made["failed"], made


def test_records_arrive_under_the_name_of_their_origin(mirrored: Mirrored) -> None:
    with producing(mirrored.servers("dc_a"), "orders") as ledger:
        until(lambda: len(ledger.acknowledged) > 2000, "records")
    assert not ledger.failed
    until(lambda: "dc_a.orders" in topics(mirrored, "dc_b"), "the topic in the target", timeout=120)
    assert topics(mirrored, "dc_b")["dc_a.orders"] == 6
    until(
        lambda: not ledger.lost(read_all(mirrored.servers("dc_b"), "dc_a.orders")),
        "all records in the target",
        timeout=120,
    )
    found = read_all(mirrored.servers("dc_b"), "dc_a.orders")
    assert set(found) == set(ledger.acknowledged)


def test_every_name_of_mirrors_in_alerts_and_dashboards_is_served(mirrored: Mirrored) -> None:
    left: set[str] = set()

    def served() -> bool:
        """Whether the mirror has begun, and told of all."""
        left.clear()
        left.update(missing("mirror", [scrape(mirrored.port("mirror1", METRICS))]))
        return not left

    until(served, f"names that no mirror serves: {left}", timeout=180)


@pytest.mark.full
def test_lost_records_are_shown_until_they_are_forgotten_by_a_run(mirrored: Mirrored) -> None:
    """What a look has found is put where a look keeps it; how one is found is shown by test_mirror_status.py."""
    gap = {"kind": "purged", "topic": "orders", "partition": 0, "first": 60, "last": 79, "seen_at": "2026-01-31"}
    with Session(Connection(tuple(mirrored.servers("dc_b")))) as session:
        made_state_topic(session)
        write_state(session, "mirror_gaps dc_a->dc_b mirror_maker_2", {"topics": {}, "gaps": [gap]})
    playbook = "playbooks/mirror_gaps.yml"
    line = "orders-0: offsets 60 to 79 (20 records) are missing"
    refused = mirrored.playbook(playbook, "-e", "mirror_gaps_forget=dc_a->dc_c")
    assert refused.rc != 0
    assert "'dc_a->dc_c', which is no enabled flow of mirror_flows; these are dc_a->dc_b." in refused.output
    shown = mirrored.playbook(playbook).ok()
    assert line in shown.output
    assert shown.changed == 0
    checked = mirrored.playbook(playbook, "--check", "-e", "mirror_gaps_forget=dc_a->dc_b").ok()
    assert line in checked.output
    assert checked.recap["mirror1"]["changed"] == 1
    assert line in mirrored.playbook(playbook, "-e", "mirror_gaps_forget=dc_a->dc_b").ok().output
    planned = mirrored.playbook(playbook, "-e", "mirror_gaps_forget=dc_a->dc_b", "-e", "plan_only=true")
    assert planned.rc != 0
    assert "plan_only" in planned.output
    again = mirrored.playbook(playbook, "-e", "mirror_gaps_forget=dc_a->dc_b").ok()
    assert "nothing was known" in again.output
    assert "none is known" in again.output
    assert again.recap["mirror1"]["changed"] == 0


@pytest.mark.full
def test_internal_topics_have_three_copies_and_offsets_small_segments(mirrored: Mirrored) -> None:
    asked = {"bootstrap_servers": mirrored.servers("dc_b"), "topic_configs": ["segment.bytes"]}
    info = run_module("streamops.kafka.cluster_info", asked)
    own = {topic["name"]: topic for topic in info["topics"] if "mm2-" in topic["name"] or "dc_a" in topic["name"]}
    assert {"mm2-offsets.dc_a.internal", "mm2-configs.dc_a.internal", "dc_a.orders"} <= set(own)
    few = {name for name, topic in own.items() if any(len(p["replicas"]) != 3 for p in topic["partitions"])}
    assert few == set()
    assert own["mm2-offsets.dc_a.internal"]["config"]["segment.bytes"] == str(50 * 1024 * 1024)


@pytest.mark.full
def test_a_second_run_changes_nothing(mirrored: Mirrored) -> None:
    before = mirrored.pids()
    again = mirrored.playbook().ok()
    assert again.changed == 0, again.output
    assert mirrored.pids() == before


@pytest.mark.full
def test_check_mode_says_what_a_changed_flow_would_change_and_changes_nothing(mirrored: Mirrored) -> None:
    before = mirrored.pids()
    flows = [{"source": "dc_a", "target": "dc_b", "topics": ["orders", "payments", "extra"]}]
    seen = mirrored.playbook("playbooks/mirrors.yml", "--check", "--diff", mirror_flows=flows).ok()
    assert "orders,payments,extra" in seen.output
    assert seen.recap["mirror1"]["changed"] >= 1
    assert mirrored.pids() == before
    assert mirrored.playbook("playbooks/mirrors.yml").ok().changed == 0


@pytest.mark.full
def test_a_changed_flow_restarts_the_mirror_and_nothing_else(mirrored: Mirrored) -> None:
    create(mirrored, "dc_a", "extra")
    with producing(mirrored.servers("dc_a"), "extra") as ledger:
        until(lambda: len(ledger.acknowledged) > 100, "records")
    before = mirrored.pids()
    mirrored.variables["mirror_flows"] = [
        {"source": "dc_a", "target": "dc_b", "topics": ["orders", "payments", "extra"]}
    ]
    changed = mirrored.playbook().ok()
    assert "mirror1" in changed.recap
    after = mirrored.pids()
    assert {node for node in before if before[node] != after[node]} == {"mirror1"}
    until(lambda: "dc_a.extra" in topics(mirrored, "dc_b"), "the new topic in the target", timeout=120)
    until(lambda: not ledger.lost(read_all(mirrored.servers("dc_b"), "dc_a.extra")), "its records", timeout=120)


def flow_with(mirrored: Mirrored, **keys: Any) -> dict[str, Any]:
    """The flow of the inventory, changed."""
    flows = mirrored.variables.get("mirror_flows")
    return {**(flows[0] if flows else {"source": "dc_a", "target": "dc_b", "topics": ["orders", "payments"]}), **keys}


@pytest.mark.full
@pytest.mark.parametrize(
    ("fault", "why"),
    [
        # Kafka Connect refuses it, and the connectors go on as before.
        (
            {"config": {"topic.filter.class": "no.such.Filter"}},
            "dc_a->dc_b: Kafka Connect refuses the configuration of MirrorCheckpointConnector and "
            "MirrorSourceConnector, so the one from before goes on: Invalid value no.such.Filter",
        ),
        # Kafka Connect takes it, and no task reads anything.
        (
            {"config": {"source.consumer.bootstrap.servers": "127.0.0.1:9"}},
            "mirror1 listens, but what ran before its restart does not run: dc_a->dc_b: no heartbeat came through",
        ),
    ],
    ids=["refused", "dead"],
)
def test_a_mirror_that_no_longer_mirrors_goes_back_to_what_it_ran_with(
    mirrored: Mirrored, fault: dict[str, Any], why: str
) -> None:
    before = mirrored.pids()
    broken = flow_with(mirrored, **fault)
    run = mirrored.playbook("playbooks/mirrors.yml", mirror_flows=[broken], mirror_maker_look_timeout=40)
    assert run.rc != 0
    told = " ".join(run.output.split())
    assert "mirror1 did not come back with its new start files. It runs with those from before again and is" in told
    assert why in told
    (value,) = fault["config"].values()
    assert value not in mirrored.start_files("mirror1")
    # Whatever is written now arrives.
    with producing(mirrored.servers("dc_a"), "orders") as ledger:
        until(lambda: len(ledger.acknowledged) > 100, "records")
    until(lambda: not ledger.lost(read_all(mirrored.servers("dc_b"), "dc_a.orders")), "its records", timeout=120)
    assert {node for node, pid in mirrored.pids().items() if pid != before[node]} == {"mirror1"}
    mirrored.playbook("playbooks/mirrors.yml").ok()
    assert mirrored.playbook("playbooks/mirrors.yml").ok().changed == 0


@pytest.mark.full
def test_a_flow_that_did_not_run_before_takes_nothing_back(mirrored: Mirrored) -> None:
    """The restart may be what mends it; what it complains of is told at the end of the run."""
    mirrored.stop("mirror1")
    for port, restarted in ((8, False), (7, True)):
        broken = flow_with(mirrored, config={"source.consumer.bootstrap.servers": f"127.0.0.1:{port}"})
        run = mirrored.playbook("playbooks/mirrors.yml", mirror_flows=[broken], mirror_maker_look_timeout=20)
        assert run.rc != 0
        told = " ".join(run.output.split())
        assert "no heartbeat came through" in told
        assert "did not come back" not in told
        assert "Their last errors: " in told
        assert ("mirror1 restarted (" in told) == restarted
    mirrored.playbook("playbooks/mirrors.yml").ok()


@pytest.mark.full
def test_one_cluster_under_two_names_is_refused_and_nothing_is_changed(mirrored: Mirrored) -> None:
    before = mirrored.pids()
    servers = mirrored.servers("dc_a")
    # On one machine the preflight would see the same ports twice, so the role is told where both names lead.
    reached = {
        "bootstrap_servers": servers,
        "protocol": "PLAINTEXT",
        "mirror_bootstrap_servers": servers,
        "mirror_protocol": "PLAINTEXT",
        "mechanism": "",
        "user": "",
        "password": "",
        "ca_file": "",
        "brokers": 3,
        "connection": {"bootstrap_servers": servers},
    }
    endpoints = {name: {**reached, "cluster": name} for name in ("dc_a", "dc_b")}
    refused = mirrored.playbook("playbooks/mirrors.yml", _mirror_maker_endpoints=endpoints)
    assert refused.rc != 0
    assert "dc_a and dc_b are one cluster" in " ".join(refused.output.split())
    assert refused.changed == 0
    assert mirrored.pids() == before


@pytest.mark.full
def test_a_run_without_the_source_says_who_is_missing(mirrored: Mirrored) -> None:
    limited = ("--limit", "mirror1,b1,b2,b3")
    refused = mirrored.playbook("playbooks/mirrors.yml", *limited)
    assert refused.rc != 0
    assert "ERROR limit_without_ends" in refused.output
    assert refused.changed == 0
    insisted = mirrored.playbook("playbooks/mirrors.yml", *limited, preflight_allow_limit=True)
    assert insisted.rc != 0
    assert "no broker of dc_a takes part in this run" in insisted.output
    assert insisted.changed == 0


@pytest.mark.full
def test_a_mirror_whose_flows_are_switched_off_stops_and_stays_down(mirrored: Mirrored) -> None:
    kept, before = [flow_with(mirrored)], mirrored.pids()
    mirrored.variables["mirror_flows"] = [{**one, "enabled": False} for one in kept]
    mirrored.playbook("playbooks/mirrors.yml").ok()
    assert not mirrored.alive("mirror1")
    again = mirrored.playbook("playbooks/mirrors.yml").ok()
    assert again.changed == 0, again.output
    assert not mirrored.alive("mirror1")
    mirrored.variables["mirror_flows"] = kept
    mirrored.playbook("playbooks/mirrors.yml").ok()
    assert {node for node, pid in mirrored.pids().items() if pid != before[node]} == {"mirror1"}


@pytest.mark.full
def test_the_stop_of_one_site_or_of_the_mirror_leaves_the_other_site_as_it_is(mirrored: Mirrored) -> None:
    before = mirrored.pids()
    mirrored.playbook("playbooks/stop.yml", "--limit", "dc_a").ok()
    assert [node for node in mirrored.nodes if mirrored.alive(node)] == ["b1", "b2", "b3", "mirror1"]
    mirrored.playbook("playbooks/stop.yml", "--limit", "mirror1").ok()
    assert [node for node in mirrored.nodes if mirrored.alive(node)] == ["b1", "b2", "b3"]
    assert {node: mirrored.pid(node) for node in ("b1", "b2", "b3")} == {n: before[n] for n in ("b1", "b2", "b3")}
    mirrored.playbook().ok()


@pytest.mark.full
def test_stop_ends_the_mirror_too(mirrored: Mirrored) -> None:
    mirrored.playbook("playbooks/stop.yml").ok()
    assert not any(mirrored.alive(node) for node in mirrored.nodes)
