# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster on ZooKeeper goes to KRaft step by step under load, and no acknowledged record is lost on the way."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import parse
from tests.support.cluster import said
from tests.support.metrics import missing, scrape
from tests.support.migration import FLAG, METRICS, OLD, TOPIC, Way, phase_behind
from tests.support.modules import run_module
from tests.support.traffic import producing

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def way(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Way]:
    """Three servers of ZooKeeper and three brokers that have topics with records."""
    with Way.begun(tmp_path_factory.mktemp("forward")) as made:
        yield made


def test_controllers_that_come_into_the_inventory_are_left_alone(way: Way) -> None:
    before = way.cluster.pids()
    way.add_controllers()
    run = way.cluster.playbook().ok()
    assert {node: way.cluster.pid(node) for node in before} == before, "no node restarts"
    assert not any((way.cluster.directory / "config" / node).exists() for node in way.cluster.controllers)
    assert "controller15" in run.recap
    assert way.phase() == "not_begun"


def test_a_check_shows_the_step_and_changes_nothing(way: Way) -> None:
    shown = said(way.next("--check").ok())
    assert "Step not_begun -> controllers_ready" in shown
    assert "Restart controller15 as migrating" in shown
    assert not any(way.cluster.alive(node) for node in way.cluster.controllers)
    assert way.phase() == "not_begun"


@pytest.mark.parametrize(
    ("goal", "restarted", "brokers", "state", "active"),
    [
        # The quorum has a leader beside the controller of ZooKeeper: no alert may take that for two.
        ("controllers_ready", [], {"broker.id"}, (2, 4), (1, 1)),
        ("copied", ["broker11", "broker12", "broker13"], {"broker.id", FLAG}, (1, 4), (1, 0)),
        ("dual_write_kraft", ["broker11", "broker12", "broker13"], {"node.id", "process.roles"}, (1, None), (1, 0)),
    ],
)
def test_a_step_under_load(
    way: Way,
    goal: str,
    restarted: list[str],
    brokers: set[str],
    state: tuple[int, int | None],
    active: tuple[int, int],
) -> None:
    before = {node: way.cluster.pid(node) for node in (*way.cluster.servers, *way.cluster.brokers)}
    if way.approved:
        refused = way.next(streamops_plan_digest=way.approved)
        assert "this is not the plan that was approved" in said(refused), "that of another step"
        assert {node: way.cluster.pid(node) for node in before} == before
    way.approved = way.plan()
    with producing(way.cluster.bootstrap_servers, TOPIC, rate=200) as ledger:
        ledger.reaches(500)
        run = way.next(streamops_plan_digest=way.approved).ok()
    assert [node for node in before if way.cluster.pid(node) != before[node]] == restarted
    assert phase_behind(run) == goal
    for node in way.cluster.brokers:
        assert set(way.started(node)) == brokers
    for node in way.cluster.controllers:
        assert way.cluster.alive(node)
        assert FLAG in way.started(node)
    kinds = (way.cluster.controllers, way.cluster.brokers)
    assert [set(way.metric(nodes, "zkmigrationstate")) for nodes in kinds] == [{value} for value in state]
    leading = [sum(value or 0 for value in way.metric(nodes, "activecontrollercount")) for nodes in kinds]
    assert tuple(leading) == active
    way.keeps(ledger, TOPIC)


def test_the_series_of_alerts_on_a_migration_are_served(way: Way) -> None:
    texts = [scrape(way.cluster.port(node, METRICS)) for node in way.cluster.controllers]
    assert missing("migration", texts) == set()
    # Every change so far is in ZooKeeper too.
    assert max(value or 0 for value in way.metric(way.cluster.controllers, "zkwritebehindlag")) <= 100


@pytest.mark.parametrize(
    ("playbook", "given", "words"),
    [
        ("site.yml", {"kafka_mode": "kraft_isolated"}, "migration_not_finalised"),
        ("playbooks/upgrade.yml", {"kafka_upgrade": "finalize"}, "on its way from ZooKeeper to KRaft"),
    ],
)
def test_what_closes_the_way_back_by_the_side_is_refused(
    way: Way, playbook: str, given: dict[str, str], words: str
) -> None:
    before = way.cluster.pids()
    refused = way.cluster.playbook(playbook, **given)
    assert refused.rc != 0
    assert words in said(refused)
    assert way.cluster.pids() == before
    assert way.phase() == "dual_write_kraft"


@pytest.mark.parametrize("again", ["site.yml", "playbooks/status.yml"])
def test_a_run_between_the_steps_leaves_each_node_as_it_is(way: Way, again: str) -> None:
    before = way.cluster.pids()
    way.cluster.playbook(again).ok()
    assert way.cluster.pids() == before
    assert way.phase() == "dual_write_kraft"


def test_topics_came_with_their_settings_and_change_by_the_quorum(way: Way) -> None:
    asked = {"bootstrap_servers": way.cluster.bootstrap_servers, "topic_configs": ["retention.ms"]}
    info = run_module("streamops.kafka.cluster_info", asked)
    config = {topic["name"]: topic["config"]["retention.ms"] for topic in info["topics"]}
    assert str(config[OLD]) == "-1"
    assert info["quorum"]["leader_id"] in (15, 16, 17)
    assert info["counts"]["under_replicated"] == 0


def test_brokers_keep_the_meta_properties_that_they_had(way: Way) -> None:
    for node in way.cluster.brokers:
        known = parse((way.cluster.data(node) / "meta.properties").read_text())
        assert known["broker.id"] == str(way.cluster.identities[node])


def test_the_last_step_back_is_closed_with_a_confirmation_alone(way: Way) -> None:
    before = way.cluster.pids()
    refused = way.next()
    assert refused.rc != 0
    assert "-e kafka_migration_confirmed=finalised" in said(refused)
    assert way.cluster.pids() == before, "nothing restarts"
    assert way.phase() == "dual_write_kraft"

    with producing(way.cluster.bootstrap_servers, TOPIC, rate=200) as ledger:
        ledger.reaches(500)
        done = way.next(kafka_migration_confirmed="finalised")
    assert phase_behind(done) == "finalised"
    assert "afterwards there is no way back to ZooKeeper" in said(done)
    changed = [node for node in before if way.cluster.pid(node) != before[node]]
    assert sorted(changed) == way.cluster.controllers
    assert not any(FLAG in way.started(node) for node in way.cluster.controllers)
    way.keeps(ledger, TOPIC)


def test_the_cluster_serves_without_zookeeper(way: Way) -> None:
    by_hand = way.next(kafka_migration_confirmed="zookeeper_gone")
    assert by_hand.rc != 0
    assert "stop the servers yourself" in said(by_hand)
    for server in way.cluster.servers:
        way.cluster.stop(server)
    with producing(way.cluster.bootstrap_servers, TOPIC, rate=200) as ledger:
        ledger.reaches(500)
    way.keeps(ledger, TOPIC)
    assert way.phase() == "zookeeper_gone"


def test_an_inventory_without_zookeeper_takes_the_cluster_over_and_restarts_nothing(way: Way) -> None:
    before = {node: way.cluster.pid(node) for node in (*way.cluster.brokers, *way.cluster.controllers)}
    way.leave_zookeeper()
    way.cluster.playbook().ok()
    assert way.cluster.pids() == before
    assert way.phase() == "zookeeper_gone"
