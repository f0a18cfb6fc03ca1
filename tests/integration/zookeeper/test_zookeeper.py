"""An ensemble and its brokers on real processes: installed, unchanged, hurt, refused."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from typing import Any

import pytest

from tests.support.cluster import ROOT, environment, until
from tests.support.metrics import missing, scrape, served
from tests.support.modules import run_module
from tests.support.traffic import producing, read_all
from tests.support.watch import Watch
from tests.support.zookeeper import ZookeeperCluster

#: The port for Prometheus, counted from that for clients.
METRICS = 60


def servers_of(cluster: ZookeeperCluster) -> list[dict[str, object]]:
    """The servers as the modules take them."""
    return [{"id": cluster.identities[s], "host": "127.0.0.1", "port": cluster.port(s)} for s in cluster.servers]


def test_one_server_leads_all_others_follow_and_the_brokers_are_registered(zookeeper: ZookeeperCluster) -> None:
    found = zookeeper.ensemble(chroot="/local_zookeeper")
    assert found["healthy"], found["problems"]
    assert sorted(server["state"] for server in found["servers"]) == ["follower", "follower", "leader"]
    assert {server["version"] for server in found["servers"]} == {"3.9.5"}
    assert all(server["members"] == [1, 2, 3] for server in found["servers"])
    assert [broker["id"] for broker in found["cluster"]["brokers"]] == [11, 12, 13]
    assert found["cluster"]["controller_id"] in (11, 12, 13)
    endpoints = found["cluster"]["brokers"][0]["endpoints"]
    assert [endpoint.partition("://")[0] for endpoint in endpoints] == ["INTERNAL", "EXTERNAL", "BROKER"]


def test_a_status_has_features_and_no_metadata_log_to_compare(zookeeper: ZookeeperCluster) -> None:
    servers = {"bootstrap_servers": zookeeper.bootstrap_servers}
    seen = run_module("streamops.kafka.cluster_status", servers)
    assert (seen["failed"], seen["cluster"]["quorum"], seen["metadata"]) == (False, None, {}), seen
    alone = run_module("streamops.kafka.features_info", {**servers, "ask_controller": False})
    same = ("epoch", "features", "nodes", "lines")
    assert {key: seen["features"][key] for key in same} == {key: alone[key] for key in same}
    assert [node["id"] for node in alone["nodes"]] == [11, 12, 13]


def test_every_name_of_alerts_and_dashboards_is_served(zookeeper: ZookeeperCluster) -> None:
    assert missing("zookeeper", [scrape(zookeeper.port(server, METRICS)) for server in zookeeper.servers]) == set()
    assert "kafka_server_replicamanager_partitioncount" in served(scrape(zookeeper.port("broker11", METRICS)))


@pytest.mark.full
@pytest.mark.parametrize("word", ["dump", "cons", "envi", "wchp", "stat"])
def test_words_that_tell_too_much_are_refused(zookeeper: ZookeeperCluster, word: str) -> None:
    assert "not in the whitelist" in zookeeper.word("zookeeper1", word)


@pytest.mark.full
def test_identity_and_transaction_log_are_where_they_belong(zookeeper: ZookeeperCluster) -> None:
    assert (zookeeper.data("zookeeper2") / "myid").read_text() == "2"
    assert list((zookeeper.directory / "data" / "zookeeper2-txlog" / "version-2").glob("log.*"))
    assert not list((zookeeper.data("zookeeper2") / "version-2").glob("log.*"))
    listening = subprocess.run(["ss", "-Htlnp"], capture_output=True, text=True, check=False).stdout
    assert f"pid={zookeeper.pid('zookeeper2')}," in listening
    ours = [line for line in listening.splitlines() if f"pid={zookeeper.pid('zookeeper2')}," in line]
    assert not [line for line in ours if ":8080 " in line], "the AdminServer is off"


@pytest.mark.full
def test_a_topic_grows_until_every_broker_leads_it(zookeeper: ZookeeperCluster) -> None:
    options = {"bootstrap_servers": zookeeper.bootstrap_servers}
    led = {"name": "led", "partitions": 1, "replication_factor": 2}
    run_module("streamops.kafka.topics", {**options, "topics": [led]})
    grown = run_module("streamops.kafka.topics", {**options, "topics": [{**led, "every_broker_leads": True}]})
    assert grown["grown"] == ["led"], grown
    (found,) = run_module("streamops.kafka.cluster_info", {**options, "topics": ["led"]})["topics"]
    assert sorted(partition["leader"] for partition in found["partitions"]) == [11, 12, 13]
    absent = {"name": "led", "state": "absent"}
    assert run_module("streamops.kafka.topics", {**options, "topics": [absent], "allow_delete": True})["changed"]


@pytest.mark.full
def test_a_second_run_changes_and_restarts_nothing(zookeeper: ZookeeperCluster) -> None:
    before = zookeeper.pids()
    assert zookeeper.playbook().ok().changed == 0
    assert zookeeper.pids() == before


@pytest.mark.full
def test_a_roll_takes_followers_first_keeps_the_quorum_and_loses_nothing(zookeeper: ZookeeperCluster) -> None:
    before, leader = zookeeper.pids(), zookeeper.leader()
    with producing(zookeeper.bootstrap_servers, "orders", rate=200) as ledger, Watch(zookeeper) as watch:
        until(lambda: len(ledger.acknowledged) > 100, "the producer to be under way")
        # For all runs to come, so that none of them rolls the servers back.
        zookeeper.variables["zookeeper_ensemble_config"] = {"globalOutstandingLimit": 900}
        zookeeper.playbook().ok()
    assert {node for node, pid in zookeeper.pids().items() if pid != before[node]} == set(zookeeper.servers)
    assert watch.most_down == 1
    assert watch.order[-1] == leader, "the leader is left for pass 2"
    assert not ledger.failed
    assert not ledger.lost(read_all(zookeeper.bootstrap_servers, "orders"))


def test_the_leader_is_killed_another_one_leads_and_brokers_serve_on(zookeeper: ZookeeperCluster) -> None:
    before = zookeeper.ensemble()
    leader = zookeeper.leader()
    assert leader is not None
    with producing(zookeeper.bootstrap_servers, "orders", rate=200) as ledger:
        until(lambda: len(ledger.acknowledged) > 100, "the producer to be under way")
        zookeeper.kill(leader)
        until(lambda: zookeeper.leader() not in (None, leader), "another leader")
        written = len(ledger.acknowledged)
        until(lambda: len(ledger.acknowledged) > written + 200, "the producer to go on")
        servers = {"servers": servers_of(zookeeper), "interval": 1}
        after = run_module("streamops.kafka.zookeeper_wait", servers)
    assert after["reached"], after
    assert after["epoch"] > before["epoch"]
    assert not ledger.failed


@pytest.mark.full
def test_without_a_quorum_brokers_serve_and_changes_wait_until_it_is_back(zookeeper: ZookeeperCluster) -> None:
    away = zookeeper.servers[:2]
    with producing(zookeeper.bootstrap_servers, "orders", rate=200) as ledger:
        for server in away:
            zookeeper.stop(server)
        since = time.monotonic()
        refused = run_module("streamops.kafka.zookeeper_wait", {"servers": servers_of(zookeeper), "timeout": 1})
        assert refused["failed"]
        assert "a majority is 2" in refused["msg"]
        topic = {"name": "waited", "partitions": 1, "replication_factor": 3}
        wish = {"bootstrap_servers": zookeeper.bootstrap_servers, "topics": [topic], "request_timeout": 10}
        assert run_module("streamops.kafka.topics", {**wish, "timeout": 10})["failed"], "a change waits in vain"
        written = len(ledger.acknowledged)
        until(lambda: time.monotonic() - since > 60, "60 seconds without a quorum", timeout=120)
        assert len(ledger.acknowledged) > written, "what needs no metadata goes on"
        for server in away:
            zookeeper.start(server)
        until(lambda: zookeeper.leader() is not None, "a leader")

        def works() -> bool:
            return not run_module("streamops.kafka.topics", wish)["failed"]

        until(works, "changes to work again", timeout=120)
    assert not ledger.failed
    assert not ledger.lost(read_all(zookeeper.bootstrap_servers, "orders"))


@pytest.mark.full
@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("2", ("the disk is that of another server", "several servers have the same id on their disks")),
        pytest.param(None, ("myid is missing beside the data of a server",), marks=pytest.mark.full),
    ],
)
def test_a_wrong_myid_is_refused_before_any_change(
    zookeeper: ZookeeperCluster, content: str | None, said: tuple[str, ...]
) -> None:
    myid = zookeeper.data("zookeeper3") / "myid"
    kept = myid.read_text()
    before = zookeeper.pids()
    try:
        if content is None:
            myid.unlink()
        else:
            myid.write_text(content)
        run = zookeeper.playbook()
    finally:
        myid.write_text(kept)
    assert run.rc != 0
    words = " ".join(run.output.split())
    assert all(part in words for part in said), run.output[-3000:]
    assert run.changed == 0
    assert zookeeper.pids() == before


def test_two_servers_cannot_be_stopped_at_once(zookeeper: ZookeeperCluster) -> None:
    asked = {"servers": servers_of(zookeeper), "stopping": [1, 2], "timeout": 1}
    found = run_module("streamops.kafka.zookeeper_wait", asked)
    assert found["failed"]
    assert "without server 1, 2 1 of 3 servers would serve (3), a majority is 2" in found["msg"]


@pytest.mark.full
def test_members_do_not_come_or_go_in_passing(zookeeper: ZookeeperCluster) -> None:
    before = zookeeper.pids()
    run = zookeeper.playbook("site.yml", zookeeper_members=["zookeeper1", "zookeeper2"], kafka_profile="development")
    assert run.rc != 0
    assert "zookeeper_members.yml" in run.output
    assert zookeeper.pids() == before
    assert zookeeper.ensemble()["healthy"]


@pytest.mark.full
def test_a_frozen_server_is_seen(zookeeper: ZookeeperCluster) -> None:
    follower = next(server for server in zookeeper.servers if server != zookeeper.leader())
    os.kill(zookeeper.pid(follower), signal.SIGSTOP)
    try:
        found = zookeeper.ensemble(request_timeout=1)
    finally:
        os.kill(zookeeper.pid(follower), signal.SIGCONT)
    assert not found["healthy"]
    assert any("unreachable" in problem for problem in found["problems"])
    assert run_module("streamops.kafka.zookeeper_wait", {"servers": servers_of(zookeeper)})["reached"]


def gate(cluster: ZookeeperCluster, broker: str, **options: Any) -> dict[str, Any]:
    """The gate's answer for a broker, in a roll of all brokers."""
    asked = {
        "bootstrap_servers": cluster.bootstrap_servers,
        "node_id": cluster.identities[broker],
        "roles": ["broker"],
        "expected_brokers": [cluster.identities[one] for one in cluster.brokers],
        "timeout": 0,
        **options,
    }
    return run_module("streamops.kafka.restart_gate", asked)


def gate_while_frozen(cluster: ZookeeperCluster, frozen: str) -> dict[str, Any]:
    """The gate's answer while another broker is frozen: one that is killed is started again within a second.

    The frozen one is not among those that are asked, as in a roll that asks the brokers that are left.
    """
    left = [broker for broker in cluster.brokers if broker != frozen]
    with cluster.frozen(frozen):
        return gate(cluster, left[0], bootstrap_servers=[f"127.0.0.1:{cluster.port(broker)}" for broker in left])


def controller(cluster: ZookeeperCluster) -> str:
    """The broker that is the controller now; which one that is nobody can know before."""
    elected = cluster.ensemble(chroot="/local_zookeeper")["cluster"]["controller_id"]
    return next(broker for broker in cluster.brokers if cluster.identities[broker] == elected)


def spread_topic(cluster: ZookeeperCluster) -> None:
    """A topic on all brokers that cannot lose two of them, in sync on all."""
    topic = {"name": "gate-dead", "partitions": 6, "replication_factor": 3, "config": {"min.insync.replicas": "2"}}
    wish = {"bootstrap_servers": cluster.bootstrap_servers, "topics": [topic]}
    assert not run_module("streamops.kafka.topics", wish)["failed"]
    for broker in cluster.brokers:
        assert gate(cluster, broker, timeout=60)["allowed"]


@pytest.mark.full
def test_a_dead_broker_whose_session_is_open_shuts_the_gate(zookeeper: ZookeeperCluster) -> None:
    spread_topic(zookeeper)
    # On a busy machine the question may take longer than the session, and the gate says "fenced": another try then.
    for _ in range(5):
        dead = next(broker for broker in zookeeper.brokers if broker != controller(zookeeper))
        number = zookeeper.identities[dead]
        found = gate_while_frozen(zookeeper, dead)
        assert found["failed"], found
        kinds = {refusal["kind"]: refusal["found"] for refusal in found["refusals"]}
        assert "broker_down" in kinds, found
        if kinds["broker_down"] != f"broker {number} is fenced":
            break
        assert gate(zookeeper, zookeeper.brokers[0], timeout=300)["allowed"]
    assert f"broker {number} is registered and does not answer" in kinds["broker_down"], "its session was still open"
    assert "would_fall_under_min_isr" in kinds
    # It goes on; the gate opens by itself.
    assert gate(zookeeper, zookeeper.brokers[0], timeout=300)["allowed"]


@pytest.mark.full
def test_a_dead_controller_shuts_the_gate_until_its_session_ends_and_after(zookeeper: ZookeeperCluster) -> None:
    """Until then no broker can tell what only the controller knows; which of both the gate sees is a matter of luck."""
    spread_topic(zookeeper)
    dead = controller(zookeeper)
    number = zookeeper.identities[dead]
    found = gate_while_frozen(zookeeper, dead)
    assert found["failed"], found
    hangs = f"these took a connection and did not answer: broker {number} at 127.0.0.1:{zookeeper.port(dead)}"
    assert hangs in found["msg"] or f"broker {number} is fenced" in found["msg"], found["msg"]
    assert gate(zookeeper, dead, timeout=300)["allowed"]


@pytest.mark.full
def test_servers_that_do_not_answer_are_told_and_fail_nothing() -> None:
    servers = [{"id": number, "host": "127.0.0.1", "port": number} for number in (1, 2, 3)]
    found = run_module("streamops.kafka.zookeeper_info", {"servers": servers})
    assert not found["failed"]
    assert [server["state"] for server in found["servers"]] == ["unreachable"] * 3
    assert "no server leads: 0 of 3 servers serve, a majority is 2" in found["problems"]


@pytest.mark.full
def test_stopping_all_ends_brokers_before_servers(zookeeper: ZookeeperCluster) -> None:
    with Watch(zookeeper) as watch:
        zookeeper.playbook("playbooks/stop.yml").ok()
    order = list(dict.fromkeys(watch.order))
    assert set(order[:3]) == set(zookeeper.brokers)
    assert not any(zookeeper.alive(node) for node in zookeeper.nodes)
    subprocess.run(zookeeper.command("site.yml"), cwd=ROOT, env=environment(), check=True, capture_output=True)
    assert zookeeper.ensemble()["healthy"]
