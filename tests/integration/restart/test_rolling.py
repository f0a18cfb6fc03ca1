"""The rolling path under load, cut, and with nodes that do not come up: never two down, nothing acknowledged lost."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pytest
import yaml

from tests.support.cluster import NODE_OPTIONS, ROOT, Cluster, free_port_base, kill, read_until, until
from tests.support.modules import run_module
from tests.support.traffic import producing, read_all
from tests.support.watch import Watch

Stable = dict[str, dict[str, object]]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three combined nodes that the tests of this file restart again and again."""
    cluster = Cluster(ROOT / "inventories" / "local", tmp_path_factory.mktemp("rolling"), free_port_base())
    try:
        cluster.playbook().ok()
        yield cluster
    finally:
        cluster.destroy()


def config_of(cluster: Cluster, kind: str, name: str, key: str) -> str:
    output = cluster.tool("kafka-configs.sh", "--describe", "--all", "--entity-type", kind, "--entity-name", name)
    settings = [line.split()[0] for line in output.splitlines() if "=" in line]
    return next(setting.partition("=")[2] for setting in settings if setting.startswith(f"{key}="))


@pytest.fixture
def stable(cluster: Cluster) -> Stable:
    """What the nodes run with, whichever tests came before: a run with it restarts none of them."""
    return {
        "kafka_broker_config": {"queued.max.requests": int(config_of(cluster, "brokers", "1", "queued.max.requests"))}
    }


@pytest.mark.full
def test_a_read_only_property_restarts_each_node_once_in_its_turn_and_loses_nothing(cluster: Cluster) -> None:
    before = cluster.pids()
    with producing(cluster.bootstrap_servers, "orders") as ledger, Watch(cluster) as watch:
        until(lambda: len(ledger.acknowledged) > 1000, "the producer to be under way")
        run = cluster.playbook(kafka_broker_config={"queued.max.requests": 401}).ok()
        until(lambda: len(ledger.acknowledged) >= 20000, "20,000 acknowledged records", timeout=120)
    after = cluster.pids()
    assert all(after[node] != before[node] for node in cluster.nodes)
    assert watch.most_down == 1
    assert sorted(watch.order) == sorted(cluster.nodes), f"exactly one restart per node, saw {watch.order}"
    said = " ".join(run.output.split())
    for node in cluster.nodes:
        assert re.search(
            rf"{node} restarted \(queued\.max\.requests: \(not set\) -> 401\), down \w+, back in sync \w+", said
        )
    assert re.search(r"OK +local: 3 brokers up, \d+ partitions in sync", said)
    assert "Restarted kafka1, kafka2, kafka3" in said
    assert not ledger.failed
    found = read_all(cluster.bootstrap_servers, "orders")
    assert not ledger.lost(found)
    assert max(found.values()) == 1, "an idempotent producer leaves no duplicates"
    assert cluster.playbook(kafka_broker_config={"queued.max.requests": 401}).ok().changed == 0


@pytest.mark.full
def test_of_two_runs_at_once_the_second_is_refused_by_name_and_the_first_goes_on(cluster: Cluster) -> None:
    lock = cluster.directory / "config" / "local.lock"
    before = cluster.pids()
    with Watch(cluster) as watch, cluster.begin(kafka_broker_config={"queued.max.requests": 405}) as first:
        until(lambda: lock.exists() and lock.read_text() != "", "the first run to take a node", 300)
        second = cluster.playbook(kafka_broker_config={"queued.max.requests": 406})
        output, _ = first.communicate(timeout=600)
    assert first.returncode == 0, output[-6000:]
    assert second.rc != 0
    assert second.changed == 0
    assert "another run is changing it (site.yml)" in second.output
    assert f"(process {first.pid})" in second.output
    assert watch.most_down == 1
    assert all(cluster.pid(node) != before[node] for node in cluster.nodes)
    assert lock.read_text() == ""


@pytest.mark.full
def test_a_lock_of_another_machine_keeps_this_run_away_until_it_ends(cluster: Cluster) -> None:
    lock = cluster.directory / "config" / "local.lock"
    lock.write_text('{"run": "elsewhere 1 2", "owner": "anna@north (process 7)"}')
    changed = {"kafka_broker_config": {"queued.max.requests": 407}}
    refused = cluster.playbook(**changed)
    assert refused.rc != 0
    assert refused.changed == 0
    assert "anna@north (process 7)" in refused.output
    os.utime(lock, (0, 0))
    run = cluster.playbook(**changed).ok()
    assert "the lock of anna@north (process 7)" in " ".join(run.output.split())
    assert lock.read_text() == ""


@pytest.mark.full
def test_a_run_cut_between_two_restarts_goes_on_with_exactly_the_remaining_nodes(cluster: Cluster) -> None:
    before = cluster.pids()
    changed = {"kafka_broker_config": {"queued.max.requests": 402}}
    run = cluster.begin("site.yml", **changed)
    read_until(run, "Roll | Record the restart")
    kill(run)
    done = {node for node in cluster.nodes if cluster.pid(node) != before[node]}
    assert len(done) == 1
    middle = cluster.pids()
    again = cluster.playbook(**changed).ok()
    after = cluster.pids()
    assert {node for node in cluster.nodes if after[node] != middle[node]} == set(cluster.nodes) - done
    assert again.output.count("Roll | Record the restart") == 2


@pytest.mark.full
def test_a_node_that_restarts_by_itself_before_its_turn_is_waited_for_and_not_stopped_again(
    cluster: Cluster, stable: Stable
) -> None:
    cluster.playbook(**stable).ok()  # Where a file waits for it, a node is restarted in any case.
    before = cluster.pids()
    run = cluster.begin("playbooks/rolling_restart.yml", **stable)
    read_until(run, "Roll | Record the restart")
    victim = next(node for node in cluster.nodes if cluster.pid(node) == before[node])
    cluster.kill(victim)
    until(lambda: cluster.has_started_again(victim, before[victim]), f"{victim} to start again")
    came_back = cluster.pid(victim)
    output, _ = run.communicate(timeout=900)
    assert run.returncode == 0, output[-6000:]
    said = output.partition(f"{victim} has restarted by itself since this run looked at it")[2]
    assert f"[{victim}] isr_wait" in said.partition("PLAY [")[0]
    assert cluster.pid(victim) == came_back
    assert all(cluster.pid(node) != before[node] for node in cluster.nodes)


def displaced(cluster: Cluster) -> list[dict[str, object]]:
    """The partitions that another broker leads than the one they prefer."""
    found = run_module("streamops.kafka.cluster_info", {"bootstrap_servers": cluster.bootstrap_servers})
    return list(found["not_preferred_leader"])


@pytest.mark.full
def test_the_leaders_that_a_cut_run_left_away_come_back_with_the_next(cluster: Cluster) -> None:
    """Kafka's own balance of leaders is off, as many operators have it."""
    off = {"auto.leader.rebalance.enable": False}
    cluster.playbook(kafka_broker_config=off).ok()
    assert not displaced(cluster)
    changed = {"kafka_broker_config": {**off, "queued.max.requests": 404}}
    run = cluster.begin("site.yml", **changed)
    # Printed once the task is done, so the leaders are next.
    read_until(run, "In sync | Wait until the replicas of the node are in every ISR")
    kill(run)
    assert displaced(cluster), "cut before it gave all leaders back"
    middle = cluster.pids()
    # The other nodes go back to what they run with, so that nothing restarts a node but what is tested here.
    (done,) = {node for node in cluster.nodes if not cluster.is_proven(node)}
    own = {node: changed["kafka_broker_config"] if node == done else off for node in cluster.nodes}
    cluster.playbook(kafka_broker_config=f"{{{{ {own}[inventory_hostname] }}}}").ok()
    assert cluster.pids() == middle
    assert not displaced(cluster)
    assert cluster.is_proven(done)


#: Kafka takes this when it reads its properties, and finds out at its start that there is no such class.
LATE = {"metric.reporters": "no.such.Reporter"}


@pytest.mark.full
def test_values_that_kafka_does_not_take_together_stop_no_node(cluster: Cluster) -> None:
    before = cluster.pids()
    own = {"replica.fetch.wait.max.ms": 20000, "replica.lag.time.max.ms": 10000}
    run = cluster.playbook(kafka_broker_config=own)
    assert run.rc != 0
    said = "replica.fetch.wait.max.ms should always be less than or equal to replica.lag.time.max.ms"
    assert said in " ".join(run.output.split())
    assert cluster.pids() == before


@pytest.mark.full
def test_a_value_that_only_a_start_refuses_goes_back_by_itself_and_survives_on_no_node(
    cluster: Cluster, stable: Stable
) -> None:
    before = cluster.pids()
    with producing(cluster.bootstrap_servers, "orders") as ledger:
        until(lambda: len(ledger.acknowledged) > 1000, "the producer to be under way")
        run = cluster.playbook(kafka_broker_config=LATE, kafka_start_timeout=60)
        until(lambda: len(ledger.acknowledged) >= 10000, "10,000 acknowledged records", timeout=120)
    assert run.rc != 0
    said = " ".join(run.output.split())
    tried = [node for node in cluster.nodes if cluster.pid(node) != before[node]]
    assert len(tried) == 1
    assert f"{tried[0]} did not come back with its new start files. It runs with those from before again" in said
    assert "Taken back: property metric.reporters: (not set) -> no.such.Reporter" in said
    assert "no.such.Reporter" in said.partition("Cause:")[2]
    assert all(cluster.alive(node) for node in cluster.nodes)
    for node in cluster.nodes:
        assert "no.such" not in (cluster.directory / "config" / node / "server.properties").read_text()
    assert not ledger.failed
    assert not ledger.lost(read_all(cluster.bootstrap_servers, "orders"))
    middle = cluster.pids()
    again = cluster.playbook(kafka_broker_config=LATE, kafka_start_timeout=60)
    assert again.rc != 0
    assert "the node was restarted with exactly these files before and did not come back" in again.output
    assert "Stop the node" not in again.output
    assert cluster.pids() == middle
    cluster.playbook(**stable).ok()
    assert cluster.pids() == middle, "what was never in use needs no restart"
    for node in cluster.nodes:
        assert not (cluster.directory / "config" / node / "staged").exists()


@pytest.mark.full
def test_a_broken_value_of_a_run_that_was_cut_is_never_what_a_node_goes_back_to(
    cluster: Cluster, stable: Stable
) -> None:
    """The node listens and heartbeats too seldom to be unfenced; the gate does not judge the node that is to stop."""
    cluster.playbook(**stable).ok()
    assert all(cluster.is_proven(node) for node in cluster.nodes)
    whole = {node: cluster.start_files(node) for node in cluster.nodes}
    properties = stable["kafka_broker_config"]
    run = cluster.begin("site.yml", kafka_broker_config={**properties, "broker.heartbeat.interval.ms": 600000})
    # Printed once it listens.
    read_until(run, "Roll | Verify that the machine still answers")
    kill(run)
    (victim,) = {node for node in cluster.nodes if not cluster.is_proven(node)}
    assert "broker.heartbeat.interval.ms=600000" in cluster.start_files(victim)
    agent = {"kafka_jvm_options": [*NODE_OPTIONS, "-javaagent:/no/such.jar"]}
    third = cluster.playbook(**stable, **agent, kafka_start_timeout=60)
    assert third.rc != 0
    said = " ".join(third.output.split())
    assert (
        f"{victim} did not come back with its new start files. It runs with those from before again and is whole"
        in said
    )
    # The node ran with the heartbeat of the run that was cut, which is in neither of the two.
    assert "broker.heartbeat.interval.ms" not in said.partition("Taken back:")[2].partition("Cause:")[0]
    assert {node: cluster.start_files(node) for node in cluster.nodes} == whole
    middle = cluster.pids()
    cluster.playbook(**stable).ok()
    assert cluster.pids() == middle


@pytest.mark.full
def test_a_stopped_node_that_cannot_start_ends_the_run_before_any_other_stops(cluster: Cluster, stable: Stable) -> None:
    cluster.stop("kafka3")
    before = cluster.pids()
    common = {"queued.max.requests": 403}
    run = cluster.playbook(
        kafka_broker_config=f"{{{{ {common | LATE} if inventory_hostname == 'kafka3' else {common} }}}}",
        kafka_start_timeout=60,
    )
    assert run.rc != 0
    assert "no.such.Reporter" in run.output
    assert {node: cluster.pid(node) for node in ("kafka1", "kafka2")} == {n: before[n] for n in ("kafka1", "kafka2")}
    assert "Roll | Stop the node" not in run.output
    assert "kafka3 did not come back with its new start files" in run.output
    assert cluster.alive("kafka3"), "it runs with its older files"
    middle = cluster.pids()
    cluster.playbook(**stable).ok()
    assert cluster.pids() == middle


@pytest.mark.full
def test_consent_to_an_unavailable_topic_opens_the_gate(cluster: Cluster, alone: str, stable: Stable) -> None:
    before = cluster.pids()
    run = cluster.playbook(kafka_heap_size="448m", **stable, kafka_gate_allow_unavailable_topics=[alone]).ok()
    assert "JVM option -Xmx: 512m -> 448m" in " ".join(run.output.split())
    assert all(cluster.pid(node) != before[node] for node in cluster.nodes)
    cluster.variables["kafka_heap_size"] = "448m"


@pytest.mark.full
def test_min_insync_and_dynamic_properties_are_set_live_without_a_restart(cluster: Cluster, stable: Stable) -> None:
    before = cluster.pids()
    wanted = {"min.insync.replicas": 1, "group.initial.rebalance.delay.ms": 0}
    live = {**stable["kafka_broker_config"], "num.io.threads": 9}
    run = cluster.playbook(kafka_config=wanted, kafka_broker_config=live).ok()
    assert run.changed > 0
    assert cluster.pids() == before
    assert config_of(cluster, "topics", "orders", "min.insync.replicas") == "1"
    assert config_of(cluster, "brokers", "2", "num.io.threads") == "9"
    assert cluster.playbook(kafka_config=wanted, kafka_broker_config=live).ok().changed == 0
    back = cluster.playbook(**stable).ok()
    assert back.changed > 0
    assert config_of(cluster, "topics", "orders", "min.insync.replicas") == "2"


@pytest.mark.full
def test_the_whole_cluster_stopped_and_started_again_keeps_what_was_acknowledged(
    cluster: Cluster, stable: Stable
) -> None:
    with producing(cluster.bootstrap_servers, "orders") as ledger:
        until(lambda: len(ledger.acknowledged) >= 5000, "5,000 acknowledged records")
    # Kafka alone would let the last combined node wait 300 s for a quorum that is gone.
    run = cluster.playbook("playbooks/stop.yml", timeout=200).ok()
    assert not any(cluster.alive(node) for node in cluster.nodes)
    assert run.output.count("changed: [kafka") >= len(cluster.nodes)
    again = cluster.playbook("playbooks/stop.yml").ok()
    assert again.changed == 0, "stopping what is stopped changes nothing"
    cluster.playbook(**stable).ok()
    assert not ledger.lost(read_all(cluster.bootstrap_servers, "orders"))


@pytest.mark.full
def test_a_machine_that_is_lost_while_its_node_restarts_fails_the_run_which_gives_the_lock_back(
    cluster: Cluster, stable: Stable
) -> None:
    away, lost = cluster.directory / "away", cluster.directory / "lost.yml"
    # From then on each connection to kafka2 is one to a closed port.
    connection = f"{{{{ 'ssh' if '{away}' is ansible.builtin.exists else 'local' }}}}"
    lost.write_text(
        yaml.safe_dump({"all": {"hosts": {"kafka2": {"ansible_connection": connection, "ansible_port": 1}}}})
    )
    before = cluster.pids()
    with cluster.begin("site.yml", "-i", str(lost), kafka_broker_config={"queued.max.requests": 408}) as run:
        assert run.stdout is not None
        seen = []
        for line in run.stdout:
            seen.append(line)
            if "kafka2" in line and "Stop the node" in "".join(seen[-6:]):
                away.touch()
        run.wait(timeout=600)
    output = " ".join("".join(seen).split())
    assert run.returncode != 0
    assert "kafka2 cannot be reached any more. Its restart had begun" in output
    assert (cluster.directory / "config" / "local.lock").read_text() == ""
    away.unlink()
    others = {node for node in cluster.nodes if node != "kafka2" and cluster.pid(node) != before[node]}
    assert len(others) < 2, "the run ends with the node that was lost"
    cluster.playbook(**stable).ok()
