"""What calls a node whole: legal values with which it looks well, and which take it out of service for all others."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic

from tests.support.cluster import NODE_OPTIONS, Cluster, Run, parse_recap, read_until, until
from tests.support.growing import three_nodes
from tests.support.modules import run_module
from tests.support.traffic import producing, read_all

pytestmark = pytest.mark.full

STATE_TOPIC = "_streamops_state"
#: An address of this machine where nothing of a cluster listens.
NOWHERE = "127.0.0.9"
#: Where the listener with the wrong address is bound: no check can judge where a name leads.
HERE = socket.gethostname()
#: Files of names for a Java: the name by which brokers reach each other leads to them, and elsewhere.
RIGHT_NAMES = f"127.0.0.1 localhost {HERE}\n"
WRONG_NAMES = f"{NOWHERE} localhost\n127.0.0.1 {HERE}\n"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three combined nodes of this file alone; each test leaves them whole."""
    found = three_nodes(tmp_path_factory.mktemp("whole"))
    try:
        found.playbook().ok()
        yield found
    finally:
        found.destroy()


def advertising(cluster: Cluster, node: str, listener: str) -> dict[str, Any]:
    """Variables with which a node advertises one of its listeners at an address where nothing listens."""
    identity = cluster.identities[node]
    wrong = f"{{{{ '{NOWHERE}' if kafka_node_id | int == {identity} else '127.0.0.1' }}}}"
    return {
        "kafka_listeners": [
            {
                "name": name,
                "host": f"{{{{ '{HERE}' if kafka_node_id | int == {identity} else '127.0.0.1' }}}}"
                if name == listener
                else "127.0.0.1",
                "port": f"{{{{ node_port | int + {offset} }}}}",
                "purpose": purpose,
                **({"advertised_host": wrong} if name == listener else {}),
            }
            for offset, (name, purpose) in enumerate(
                [("CLIENT", "clients"), ("BROKER", "brokers"), ("CONTROLLER", "controllers")]
            )
        ]
    }


def goes_back(cluster: Cluster, node: str, **variables: Any) -> str:
    """Roll a value of which a node is to be taken back, under load; nothing acknowledged is lost. Return the output."""
    with producing(cluster.bootstrap_servers, "orders", rate=200) as ledger:
        run = cluster.playbook(**variables)
        until(lambda: len(ledger.acknowledged) > 2000, "2,000 acknowledged records", 120)
    assert run.rc != 0
    said = " ".join(run.output.split())
    assert f"{node} did not come back with its new start files. It runs with those from before again" in said, said
    assert not ledger.failed
    assert not ledger.lost(read_all(cluster.bootstrap_servers, "orders"))
    return said


def test_a_broker_from_which_no_other_can_copy_goes_back(cluster: Cluster) -> None:
    said = goes_back(cluster, "kafka1", **advertising(cluster, "kafka1", "BROKER"))
    assert "cannot copy from broker 1" in said or "are not committed" in said or NOWHERE in said


def blamed_kafka1(cluster: Cluster, run: Run, cause: str, requests: int) -> str:
    """Check that a run named kafka1 and its cause, took it back, and left kafka2 with the file of this run and kafka3
    without. Return what it said."""
    said = " ".join(run.output.split())
    assert run.rc == 2, said[-4000:]
    assert "So kafka1 is at fault, not kafka2." in said
    assert cause in said.split("Changed last on kafka1: ")[1].split(" was whole")[0]
    assert "kafka2 did not come back" not in said
    assert f"queued.max.requests={requests}" in cluster.start_files("kafka2")
    assert f"queued.max.requests={requests}" not in cluster.start_files("kafka3")
    assert cluster.is_proven("kafka1")
    return said


def named_listeners() -> dict[str, Any]:
    """Return variables with which brokers reach each other by a name."""
    offsets = {"clients": 0, "brokers": 1, "controllers": 2}
    return {
        "kafka_listeners": [
            {
                "name": name,
                "host": "127.0.0.1",
                "port": f"{{{{ node_port | int + {offsets[purpose]} }}}}",
                "purpose": purpose,
                **({"advertised_host": "localhost"} if purpose == "brokers" else {}),
            }
            for name, purpose in (("CLIENT", "clients"), ("BROKER", "brokers"), ("CONTROLLER", "controllers"))
        ]
    }


def reads_names(cluster: Cluster) -> dict[str, Any]:
    """Return variables with which kafka1 reads names from a file of its own, which is right now.

    Java looks a name up again for a new connection only, so what becomes wrong there shows when a leader restarts.
    """
    names = cluster.directory / "names"
    names.write_text(RIGHT_NAMES)
    reads = [*NODE_OPTIONS, f"-Djdk.net.hosts.file={names}"]
    return {"kafka_jvm_options": f"{{{{ {reads} if kafka_node_id | int == 1 else {NODE_OPTIONS} }}}}"}


def test_a_follower_that_was_whole_is_taken_back_and_not_the_leader_that_restarts_behind_it(cluster: Cluster) -> None:
    """A name that leads elsewhere shows only when a leader restarts: of the one that follows nobody saw it before."""
    named = named_listeners()
    cluster.playbook(**named).ok()
    lets_another_lead_the_quorum(cluster, "kafka1")
    change = {**named, **reads_names(cluster)}
    change["kafka_broker_config"] = "{{ {} if kafka_node_id | int == 1 else {'queued.max.requests': 612} }}"
    with producing(cluster.bootstrap_servers, "orders", rate=200) as ledger:
        begun = cluster.begin("site.yml", **change)
        before = read_until(begun, "kafka1 restarted (")
        (cluster.directory / "names").write_text(WRONG_NAMES)
        assert begun.stdout is not None
        output = before + begun.stdout.read()
        run = Run(begun.wait(), output, parse_recap(output))
    assert "broker 1 does not copy from broker 2" in blamed_kafka1(cluster, run, "-Djdk.net.hosts.file", 612)
    assert "jdk.net" not in cluster.start_files("kafka1")
    assert preferred(cluster, "kafka1"), "it leads again what it prefers to lead"
    assert not ledger.failed
    assert not ledger.lost(read_all(cluster.bootstrap_servers, "orders"))

    cluster.playbook(**named, kafka_broker_config={"queued.max.requests": 612}).ok()
    assert all(cluster.is_proven(node) for node in cluster.nodes)
    earlier = cluster.directory / "config" / "kafka1" / "earlier" / "jvm.options"
    assert "jdk.net" not in earlier.read_text()
    cluster.playbook(**named).ok()


def test_a_follower_that_an_earlier_run_left_so_is_taken_back_when_a_leader_restarts_in_the_next_run(
    cluster: Cluster,
) -> None:
    named = named_listeners()
    cluster.playbook(**named).ok()
    lets_another_lead_the_quorum(cluster, "kafka1")
    reads = {**named, **reads_names(cluster)}
    cluster.playbook("site.yml", "--limit", "kafka1", preflight_allow_limit=True, **reads).ok()
    assert cluster.is_proven("kafka1")
    (cluster.directory / "names").write_text(WRONG_NAMES)
    leads = preferred(cluster, "kafka1")
    reads["kafka_broker_config"] = "{{ {} if kafka_node_id | int == 1 else {'queued.max.requests': 613} }}"
    with producing(cluster.bootstrap_servers, "orders", rate=200) as ledger:
        run = cluster.playbook(**reads)
    blamed_kafka1(cluster, run, "-Djdk.net.hosts.file", 613)
    assert "jdk.net" not in cluster.start_files("kafka1")
    assert preferred(cluster, "kafka1") == leads, "it leads again what it prefers to lead"
    assert not ledger.failed
    assert not ledger.lost(read_all(cluster.bootstrap_servers, "orders"))
    cluster.playbook().ok()


def test_a_stopped_node_that_starts_with_such_files_goes_back_too(cluster: Cluster) -> None:
    cluster.stop("kafka1")
    # The same files were given up before, so they are refused without this word.
    goes_back(cluster, "kafka1", kafka_retry_generation=True, **advertising(cluster, "kafka1", "BROKER"))
    assert NOWHERE not in cluster.start_files("kafka1")


def test_a_topic_that_would_go_offline_is_refused_at_the_gate(cluster: Cluster, alone: str) -> None:
    before = cluster.pids()
    run = cluster.playbook(kafka_broker_config={"queued.max.requests": 404}, kafka_gate_timeout=3)
    assert run.rc != 0
    assert f"found replication factor with min.insync.replicas: {alone} 1 with 2" in run.output
    assert cluster.pids() == before


def test_a_broker_that_no_client_reaches_goes_back(cluster: Cluster) -> None:
    said = goes_back(cluster, "kafka3", **advertising(cluster, "kafka3", "CLIENT"))
    assert f"{NOWHERE}:{cluster.port('kafka3')}" in said, said


def test_a_sick_node_is_named_and_may_be_corrected(cluster: Cluster) -> None:
    """It was started with such files by hand, or by an older release: no run has seen it whole."""
    good = advertised(cluster, "kafka1")
    spoil(cluster, "kafka1")
    until(lambda: cut_off(cluster) == ["1"], "kafka1 to be cut off", 120)

    status = cluster.playbook("playbooks/status.yml").output
    assert "cannot copy from broker 1" in status
    assert f"kafka1 at 127.0.0.1:{cluster.port('kafka1', 1)}" in status
    assert "start the brokers that are missing" not in status

    asked = {"bootstrap_servers": cluster.bootstrap_servers, "node_ids": [2], "timeout": 1}
    refused = run_module("streamops.kafka.restart_gate", asked)
    assert "broker_cut_off" in [one["kind"] for one in refused["refusals"]], refused["msg"]

    run = cluster.playbook(kafka_restart_force=True).ok()
    assert "kafka1 is unhealthy" in run.output
    assert run.output.index("kafka1 restarted") < run.output.index("kafka2 restarted")
    assert advertised(cluster, "kafka1") == good
    assert cut_off(cluster) == []


def preferred(cluster: Cluster, node: str) -> list[tuple[str, int]]:
    """The partitions that prefer this node as their leader and are led by it."""
    topics = AdminClient({"bootstrap.servers": cluster.bootstrap_servers}).list_topics(timeout=30).topics
    broker = cluster.identities[node]
    return sorted(
        (name, index)
        for name, topic in topics.items()
        for index, partition in topic.partitions.items()
        if partition.replicas[0] == broker == partition.leader
    )


def lets_another_lead_the_quorum(cluster: Cluster, node: str) -> None:
    """Restart a node that is the active controller: a roll would leave it for last."""
    asked = {"bootstrap_servers": cluster.bootstrap_servers, "node_ids": [cluster.identities[node]]}
    if run_module("streamops.kafka.restart_gate", asked, check=True)["is_active_controller"]:
        cluster.stop(node)
        cluster.start(node)
        whole = {"bootstrap_servers": cluster.bootstrap_servers, "timeout": 120}
        assert run_module("streamops.kafka.isr_wait", whole)["in_sync"]


def advertised(cluster: Cluster, node: str) -> str:
    """The line with the advertised listeners of a node."""
    return next(line for line in cluster.start_files(node).splitlines() if line.startswith("advertised.listeners="))


def spoil(cluster: Cluster, node: str) -> None:
    """Start a node by hand so that it advertises its listener for brokers where nothing listens, and let it lead."""
    properties = cluster.directory / "config" / node / "current" / "server.properties"
    right = f"BROKER://127.0.0.1:{cluster.port(node, 1)}"
    head, key, rest = properties.read_text().partition("advertised.listeners=")
    assert right in rest
    cluster.stop(node)
    properties.write_text(head + key + rest.replace(right, right.replace("127.0.0.1", NOWHERE), 1))
    cluster.start(node)
    options = {"bootstrap_servers": cluster.bootstrap_servers, "scope": "own", "broker": cluster.identities[node]}
    assert run_module("streamops.kafka.isr_wait", options)["in_sync"]
    del options["scope"]
    run_module("streamops.kafka.leader_election", options)


def cut_off(cluster: Cluster) -> list[str]:
    """The ids of the brokers that the gate calls sick."""
    asked = {"bootstrap_servers": cluster.bootstrap_servers, "node_ids": [1]}
    return list(run_module("streamops.kafka.restart_gate", asked, check=True)["sick"])


@contextlib.contextmanager
def flapping(cluster: Cluster, node: str, frozen: float = 12, running: float = 6) -> Iterator[None]:
    """A node that is fenced and alive by turns: its process is stopped for longer than its session, and goes on."""
    ends = threading.Event()

    def flap() -> None:
        while not ends.is_set():
            with cluster.frozen(node):
                ends.wait(frozen)
            ends.wait(running)

    thread = threading.Thread(target=flap, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ends.set()
        thread.join(frozen + running)


def test_the_gate_stays_shut_while_a_broker_comes_and_goes(cluster: Cluster) -> None:
    asked = {"bootstrap_servers": cluster.bootstrap_servers, "node_ids": [2], "expected_brokers": [1, 2, 3]}
    with flapping(cluster, "kafka3"):
        refused = run_module("streamops.kafka.restart_gate", {**asked, "hold": 10, "timeout": 60, "interval": 1})
    assert refused["failed"]
    assert "was open and shut again" in refused["msg"], refused["msg"]
    allowed = run_module("streamops.kafka.restart_gate", {**asked, "hold": 10, "timeout": 120, "interval": 1})
    assert allowed["allowed"]
    assert len(allowed["history"]) > 3


def test_a_node_that_comes_and_goes_after_its_start_is_called_flapping(cluster: Cluster) -> None:
    with flapping(cluster, "kafka2"):
        found = run_module(
            "streamops.kafka.isr_wait",
            {
                "bootstrap_servers": cluster.bootstrap_servers,
                "scope": "own",
                "broker": 2,
                "serves": True,
                "hold": 20,
                "timeout": 300,
            },
        )
    assert found["failed"]
    assert found["wait_state"] == "flapping"
    assert "broker 2 is fenced" in found["msg"]


def test_a_node_that_freezes_in_its_proof_is_waited_for_and_then_proven(cluster: Cluster) -> None:
    """One pause that is longer than its session is a bad look: the time begins anew, and nothing goes back."""
    wanted = {"kafka_broker_config": {"queued.max.requests": 611}}
    run = cluster.begin(**wanted)
    read_until(run, "Elect the node as leader of its preferred partitions")
    with cluster.frozen("kafka1"):
        time.sleep(14)
    output, _none = run.communicate(timeout=900)
    assert run.returncode == 0, output[-4000:]
    assert all(cluster.is_proven(node) for node in cluster.nodes)


def test_two_sick_nodes_are_corrected_one_after_the_other(cluster: Cluster) -> None:
    for node in ("kafka1", "kafka2"):
        spoil(cluster, node)
    until(lambda: set(cut_off(cluster)) >= {"1", "2"}, "kafka1 and kafka2 to be cut off", 180)
    with producing(cluster.bootstrap_servers, "orders", rate=100) as ledger:
        run = cluster.playbook(kafka_restart_force=True).ok()
    assert "kafka1 is unhealthy" in run.output
    assert "kafka2 is unhealthy" in run.output
    assert cut_off(cluster) == []
    assert not ledger.lost(read_all(cluster.bootstrap_servers, "orders"))


def makes_state_topic(cluster: Cluster) -> None:
    """Make the topic of states, as the first move of replicas or look at gaps does."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    if STATE_TOPIC not in admin.list_topics(timeout=30).topics:
        admin.create_topics([NewTopic(STATE_TOPIC, 1, 3, config={"min.insync.replicas": "2"})])[STATE_TOPIC].result(60)


def test_a_quorum_that_got_slow_fails_the_proof_of_the_node_that_shows_it(cluster: Cluster) -> None:
    """Legal, and only warned of: each change of metadata waits a second, once a controller with it is active."""
    makes_state_topic(cluster)
    slow = {"kafka_config": {"controller.quorum.append.linger.ms": 1000}}
    asked = {"bootstrap_servers": cluster.bootstrap_servers, "node_ids": [1], "times_metadata": True}
    before = run_module("streamops.kafka.restart_gate", asked)["metadata_seconds"]
    assert 0 < before < 1

    with producing(cluster.bootstrap_servers, "orders", rate=100) as ledger:
        run = cluster.playbook(**slow)
    said = " ".join(run.output.split())
    assert run.rc == 2, said[-4000:]
    assert "did not come back with its new start files. It runs with those from before again" in said, said[-4000:]
    assert not ledger.lost(read_all(cluster.bootstrap_servers, "orders"))
    assert "slower than before: a change of metadata takes" in said, said[-4000:]
    assert "is active" in said
    lingers = [node for node in cluster.nodes if "append.linger.ms=1000" in cluster.start_files(node)]
    assert len(lingers) == 2, "the node that was active before restarts last, and has gone back"

    run = cluster.playbook().ok()
    assert "slower than before" not in run.output
    assert run_module("streamops.kafka.restart_gate", asked)["metadata_seconds"] < 0.9
    assert all(cluster.is_proven(node) for node in cluster.nodes)
    assert file_delete_delay(cluster) == "60000"


def file_delete_delay(cluster: Cluster) -> str:
    """The configuration that is set and set back, as it is now."""
    resource = ConfigResource(ConfigResource.Type.TOPIC, STATE_TOPIC)
    found = AdminClient({"bootstrap.servers": cluster.bootstrap_servers}).describe_configs([resource])
    return str(found[resource].result(60)["file.delete.delay.ms"].value)
