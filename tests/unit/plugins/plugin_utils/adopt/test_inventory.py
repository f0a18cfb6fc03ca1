# SPDX-License-Identifier: GPL-3.0-or-later
"""Native files of others become an inventory, and what this collection writes for that inventory says the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible.vars.hostvars import HostVars
from ansible.vars.manager import VariableManager

from ansible_collections.streamops.kafka.plugins.module_utils._adopt.masks import MASK, masked
from ansible_collections.streamops.kafka.plugins.module_utils._adopt.settings import origins, settings, values
from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import value_text
from ansible_collections.streamops.kafka.plugins.plugin_utils.adopt.difference import difference
from ansible_collections.streamops.kafka.plugins.plugin_utils.adopt.inventory import Source, Written, inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.adopt.written import Secret
from ansible_collections.streamops.kafka.plugins.plugin_utils.findings import REFUSE
from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.foreign import foreign_nodes
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.task import TaskReader
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.definitions import BROKER_KEYS
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.view import View

CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
#: What a broker of 4.x, and one of 3.9, tells of what its file does not say (DescribeConfigs).
DEFAULTS: Mapping[str, str | None] = {
    "allow.everyone.if.no.acl.found": "false",
    "auto.create.topics.enable": "true",
    "default.replication.factor": "1",
    "max.connection.creation.rate": "2147483647",
    "max.connections": "2147483647",
    "max.connections.per.ip": "2147483647",
    "max.connections.per.ip.overrides": "",
    "min.insync.replicas": "1",
    "offsets.topic.replication.factor": "3",
    "queued.max.request.bytes": "-1",
    "replica.fetch.backoff.ms": "1000",
    "sasl.enabled.mechanisms": "GSSAPI",
    "sasl.server.max.receive.size": "524288",
    "share.coordinator.state.topic.min.isr": "2",
    "share.coordinator.state.topic.replication.factor": "3",
    "ssl.client.auth": "none",
    "ssl.enabled.protocols": "TLSv1.2,TLSv1.3",
    "ssl.endpoint.identification.algorithm": "https",
    "ssl.keystore.type": "JKS",
    "ssl.principal.mapping.rules": "DEFAULT",
    "ssl.protocol": "TLSv1.3",
    "ssl.truststore.type": "JKS",
    "super.users": "",
    "transaction.state.log.min.isr": "2",
    "transaction.state.log.replication.factor": "3",
    "unclean.leader.election.enable": "false",
}
#: What says who a node is, where it listens and where its data is: by variables, and so in our own form.
NAMED = frozenset(
    """node.id broker.id process.roles listeners advertised.listeners listener.security.protocol.map log.dirs log.dir
    inter.broker.listener.name security.inter.broker.protocol controller.listener.names metadata.log.dir
    controller.quorum.voters controller.quorum.bootstrap.servers zookeeper.connect broker.rack""".split()  # noqa: SIM905
)

#: config/server.properties of Apache Kafka 4.1, of a combined node.
COMBINED = """
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=localhost:9093
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
inter.broker.listener.name=PLAINTEXT
advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL
num.network.threads=3
num.io.threads=8
socket.send.buffer.bytes=102400
socket.receive.buffer.bytes=102400
socket.request.max.bytes=104857600
log.dirs=/tmp/kraft-combined-logs
num.partitions=1
num.recovery.threads.per.data.dir=1
offsets.topic.replication.factor=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.retention.hours=168
log.segment.bytes=1073741824
log.retention.check.interval.ms=300000
"""
#: The same in a container, whose ports are others outside of it.
TRANSLATED = (
    COMBINED.replace("//localhost:9092", "//public:19092")
    .replace("CONTROLLER://localhost:9093", "CONTROLLER://localhost:19093")
    .replace("servers=localhost:9093", "servers=localhost:19093")
)
#: config/controller.properties and config/broker.properties of the same, each with what is its own.
COMMON = "\n".join(line for line in COMBINED.splitlines() if line.startswith(("num.", "socket.", "log.re", "log.seg")))
CONTROLLER = f"""
process.roles=controller
node.id={{id}}
controller.quorum.bootstrap.servers=c1.example.com:9093,c2.example.com:9093,c3.example.com:9093
listeners=CONTROLLER://:9093
advertised.listeners=CONTROLLER://c{{id}}.example.com:9093
controller.listener.names=CONTROLLER
log.dirs=/tmp/kraft-controller-logs
{COMMON}
"""
BROKER = f"""
process.roles=broker
node.id={{id}}
controller.quorum.bootstrap.servers=c1.example.com:9093,c2.example.com:9093,c3.example.com:9093
listeners=PLAINTEXT://b{{id}}.example.com:9092
inter.broker.listener.name=PLAINTEXT
advertised.listeners=PLAINTEXT://b{{id}}.example.com:9092
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs=/disk1/kafka,/disk2/kafka
broker.rack=rack{{id}}
{COMMON}
"""
#: Brokers of ZooKeeper with key stores of Java, SCRAM by a property and ACLs.
WITH_ZOOKEEPER = """
broker.id={id}
listeners=SASL_SSL://:9093,SSL://:9094
advertised.listeners=SASL_SSL://k{id}.example.com:9093,SSL://k{id}.example.com:9094
security.inter.broker.protocol=SSL
log.dir=/var/lib/kafka/data
zookeeper.connect=zk1:2181,zk2:2181,zk3:2181/prod/kafka
zookeeper.set.acl=true
zookeeper.connection.timeout.ms=18000
sasl.enabled.mechanisms=SCRAM-SHA-256,SCRAM-SHA-512
listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config=\\
    org.apache.kafka.common.security.scram.ScramLoginModule required username="admin" password="hunter2";
listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
ssl.keystore.location=/etc/kafka/ssl/keystore.jks
ssl.keystore.password=hunter2
ssl.key.password=hunter2
ssl.truststore.location=/etc/kafka/ssl/truststore.jks
ssl.truststore.password=hunter2
ssl.client.auth=required
authorizer.class.name=kafka.security.authorizer.AclAuthorizer
super.users=User:CN=k1.example.com,OU=kafka;User:admin
inter.broker.protocol.version=3.9
auto.create.topics.enable=false
delete.topic.enable=true
"""
#: As a role of others writes it: a listener for each kind of client, and the plugin of a vendor.
MANY = """
node.id={id}
process.roles=broker,controller
controller.quorum.voters=1@k1:9093,2@k2:9093,3@k3:9093
controller.listener.names=CONTROLLER
listeners=BROKER://:9091,INTERNAL://:9092,CUSTOM://:9095,TOKEN://:9096,CONTROLLER://:9093
advertised.listeners=BROKER://k{id}:9091,INTERNAL://k{id}:9092,CUSTOM://public{id}.example.com:9095,TOKEN://k{id}:9096
listener.security.protocol.map=BROKER:SASL_SSL,INTERNAL:SSL,CUSTOM:SASL_SSL,TOKEN:SASL_PLAINTEXT,CONTROLLER:SASL_SSL
inter.broker.listener.name=BROKER
sasl.mechanism.inter.broker.protocol=PLAIN
sasl.mechanism.controller.protocol=PLAIN
listener.name.broker.sasl.enabled.mechanisms=PLAIN
listener.name.broker.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\
    username="kafka" password="hunter2" user_kafka="hunter2";
listener.name.custom.sasl.enabled.mechanisms=SCRAM-SHA-512
listener.name.custom.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.custom.plain.sasl.jaas.config=${{file:/etc/kafka/secrets:custom}}
listener.name.token.sasl.enabled.mechanisms=SCRAM-SHA-512,OAUTHBEARER
listener.name.token.plain.sasl.jaas.config=
listener.name.token.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.controller.sasl.enabled.mechanisms=PLAIN
listener.name.controller.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\
    user_kafka="hunter2";
listener.name.broker.scram-sha-512.sasl.jaas.config=\\
    org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.controller.scram-sha-512.sasl.jaas.config=\\
    org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.broker.ssl.client.auth=requested
ssl.keystore.type=PEM
ssl.keystore.key=-----BEGIN PRIVATE KEY----- hunter2
ssl.keystore.certificate.chain=-----BEGIN CERTIFICATE-----
ssl.enabled.protocols=TLSv1.3
ssl.principal.mapping.rules=RULE:^.*CN=([^,]*).*$/$1/,DEFAULT
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
allow.everyone.if.no.acl.found=true
super.users=User:kafka;Group:ops
log.dirs=/var/lib/kafka/data
metadata.log.dir=/var/lib/kafka/meta
metric.reporters=com.example.Reporter
com.example.template={{{{ not ours }}}}
com.example.password.url=https://kafka:hunter2@example.com/
max.connections=10000
min.insync.replicas=2
"""


def told(text: str, **other: Any) -> dict[str, Any]:
    """Return what adoption_info says of a node of Kafka with this file."""
    found = settings("/etc/kafka/server.properties", text, {})
    mark = {"cluster.id": CLUSTER_ID}
    return {
        "product": "kafka", "pid": 42, "ours": None, "user": "cp-kafka", "group": "confluent", "cwd": "/opt/kafka",
        "properties": masked(values(found)), "origins": origins(found), "secrets": [],
        "dirs": [{"path": "/data", "meta_properties": mark, "myid": None}],
        "service": {"manager": "systemd", "name": "kafka.service"},
        "release": {"version": "4.1.2", "vendor": "apache", "summary": "4.1.2", "differing": [], "missing": []},
        "jvm": {"given": [], "heap": ["-Xmx1G", "-Xms1G"], "jmx": []}, "jmx_port": None, "argument_files": [],
        "limits": {"nofile": {"soft": 1000, "hard": 123456}},
        "java": {"path": "/usr/lib/jvm/java-17/bin/java", "version": 17, "full": "17", "error": None},
        **other,
    }  # fmt: skip


def server(number: int, **other: Any) -> dict[str, Any]:
    """Return what adoption_info says of a server of ZooKeeper."""
    lines = [f"server.{n}=zk{n}:2888:3888" for n in (1, 2, 3)]
    text = "\n".join([f"dataDir=/var/lib/zk{number}", "clientPort=2181", "tickTime=2000", *lines])
    directory = {"path": f"/var/lib/zk{number}", "meta_properties": None, "myid": str(number)}
    release = {"version": "3.8.6", "vendor": "apache", "summary": "3.8.6", "differing": [], "missing": []}
    return told(text, **{"product": "zookeeper", "dirs": [directory], "release": release, **other})


class Loader(yaml.SafeLoader):
    """Reads YAML as Ansible does, to which !unsafe is a text."""


Loader.add_constructor("!unsafe", lambda loader, node: loader.construct_scalar(node))


def loaded(text: str) -> Any:
    """Return what Ansible reads, as plain data."""
    return yaml.load(text, Loader)


def written(
    machines: Mapping[str, Sequence[Mapping[str, Any]]], effective: Mapping[str, str | None] = DEFAULTS, **more: Any
) -> Written:
    """Return the inventory of these processes by machine."""
    nodes = foreign_nodes({host: {"processes": processes, "unread": []} for host, processes in machines.items()})
    return inventory("prod", [Source(node, effective=effective) for node in nodes], known=BROKER_KEYS, **more)


@dataclass(frozen=True)
class Read:
    """An inventory as the product reads it."""

    reader: TaskReader
    groups: Mapping[str, Sequence[str]]

    def properties(self, host: str) -> dict[str, str]:
        """Return the properties that this collection writes for a host, as texts."""
        self.reader.host = host
        return {key: value_text(key, value) for key, value in View(self.reader)["properties"].items()}


def read_back(found: Written, directory: Path, static: Sequence[str] = ()) -> Read:
    """Read the files with Ansible, with each secret of the vault the text SECRET.

    static -- hosts on whose disks a static quorum is
    """
    for path, text in found.files.items():
        target = directory / path.removesuffix(".example")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text.replace("CHANGE-ME", "SECRET"))
    loader = DataLoader()
    hosts = InventoryManager(loader, [str(directory / "hosts.yml")])
    manager = VariableManager(loader, hosts)
    for host in static:
        manager.set_nonpersistent_facts(host, {"__common_node_info": {"quorum": {"static": True}}})
    hostvars = HostVars(hosts, manager, loader)
    first = hosts.get_hosts()[0]
    variables = {**manager.get_vars(host=first), "hostvars": hostvars}
    return Read(TaskReader(Templar(loader=loader, variables=variables), variables), hosts.get_groups_dict())


def differing(
    found: Written, machines: Mapping[str, Sequence[Mapping[str, Any]]], directory: Path, static: bool = False
) -> dict[str, Any]:
    """Return by host what is not as it was, when each secret is put into the vault."""
    kafka = [host for host, processes in machines.items() if processes[0]["product"] == "kafka"]
    seen = read_back(found, directory, kafka if static else ())
    return {
        host: lines
        for host in kafka
        if (lines := _lines(seen.properties(host), machines[host][0]["properties"])) != ([], [])
    }


def _lines(ours: Mapping[str, str], theirs: Mapping[str, str]) -> tuple[list[Any], list[str]]:
    """Return what differs between two sets of properties; masked values are those of the vault."""
    plain = {key: "SECRET" if MASK in value else value for key, value in theirs.items()}
    left = difference(ours, plain, DEFAULTS, NAMED)
    return [(kept.key, kept.value, kept.ours) for kept in left.kept], list(left.unknown)


def machines_of(
    text: str, prefix: str, ids: Sequence[int] = (1, 2, 3), **other: Any
) -> dict[str, list[dict[str, Any]]]:
    """Return nodes with the same file but their ids."""
    return {f"{prefix}{number}": [told(text.format(id=number), **other)] for number in ids}


LAYOUTS = {
    "combined": {"localhost": [told(COMBINED)]},
    "translated": {"localhost": [told(TRANSLATED)]},
    "isolated": {**machines_of(CONTROLLER, "c"), **machines_of(BROKER, "b", (4, 5, 6))},
    "zookeeper": {**machines_of(WITH_ZOOKEEPER, "k"), **{f"zk{number}": [server(number)] for number in (1, 2, 3)}},
    "static and many listeners": machines_of(MANY, "k"),
}


@cache
def of_layout(layout: str) -> Written:
    """Return the inventory of a layout."""
    return written(LAYOUTS[layout])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_we_would_write_is_what_runs(layout: str, tmp_path: Path) -> None:
    machines = LAYOUTS[layout]
    found = of_layout(layout)
    assert differing(found, machines, tmp_path, static="static" in layout) == {}
    assert [finding for finding in found.findings if finding.level == REFUSE] == []
    assert "hunter2" not in repr(found)


@pytest.mark.parametrize(
    ("layout", "host", "key", "value"),
    [
        ("combined", "localhost", "listeners", "PLAINTEXT://:9092,CONTROLLER://:9093"),
        ("combined", "localhost", "log.dirs", "/tmp/kraft-combined-logs"),
        ("translated", "localhost", "listeners", "PLAINTEXT://:9092,CONTROLLER://:9093"),
        (
            "translated",
            "localhost",
            "advertised.listeners",
            "PLAINTEXT://public:19092,CONTROLLER://localhost:19093",
        ),
        ("translated", "localhost", "controller.quorum.bootstrap.servers", "localhost:19093"),
        ("combined", "localhost", "controller.quorum.bootstrap.servers", "localhost:9093"),
        ("isolated", "b4", "advertised.listeners", "PLAINTEXT://b4.example.com:9092"),
        ("isolated", "b5", "broker.rack", "rack5"),
        ("isolated", "b6", "log.dirs", "/disk1/kafka,/disk2/kafka"),
        (
            "isolated",
            "b6",
            "controller.quorum.bootstrap.servers",
            "c1.example.com:9093,c2.example.com:9093,c3.example.com:9093",
        ),
        ("zookeeper", "k2", "zookeeper.connect", "zk1:2181,zk2:2181,zk3:2181/prod/kafka"),
        ("zookeeper", "k2", "inter.broker.listener.name", "SSL"),
        ("zookeeper", "k3", "broker.id", "3"),
        ("static and many listeners", "k2", "controller.quorum.voters", "1@k1:9093,2@k2:9093,3@k3:9093"),
        ("static and many listeners", "k2", "metadata.log.dir", "/var/lib/kafka/meta"),
        ("static and many listeners", "k2", "inter.broker.listener.name", "BROKER"),
    ],
)
def test_who_a_node_is_is_said_by_variables(layout: str, host: str, key: str, value: str, tmp_path: Path) -> None:
    static = list(LAYOUTS[layout]) if "static" in layout else ()
    assert read_back(of_layout(layout), tmp_path, static).properties(host)[key] == value


def test_what_nodes_share_stands_once_and_what_differs_at_its_group_or_host() -> None:
    files = {path: loaded(text) for path, text in of_layout("isolated").files.items()}
    assert list(files) == [
        "hosts.yml", "group_vars/all/kafka.yml", "group_vars/kraft_controllers.yml", "group_vars/kafka_brokers.yml",
        *(f"host_vars/{host}.yml" for host in ("c1", "c2", "c3", "b4", "b5", "b6")),
    ]  # fmt: skip
    shared = files["group_vars/all/kafka.yml"]
    assert shared["kafka_config"]["num.io.threads"] == 8
    assert (shared["kafka_user"], shared["kafka_group"], shared["kafka_limit_nofile"]) == (
        "cp-kafka",
        "confluent",
        123456,
    )
    assert (shared["kafka_java_home"], shared["kafka_java_package"]) == ("/usr/lib/jvm/java-17", "")
    brokers = files["group_vars/kafka_brokers.yml"]
    assert brokers["kafka_log_dirs"] == ["/disk1/kafka", "/disk2/kafka"]
    assert "auto.create.topics.enable" in brokers["kafka_broker_config"]
    assert list(files["host_vars/b4.yml"]) == ["kafka_listeners"]
    assert files["hosts.yml"]["kafka_brokers"]["hosts"]["b5"] == {"kafka_node_id": 5, "kafka_rack": "rack5"}


def test_each_property_has_its_origin_and_ours_as_advice() -> None:
    text = of_layout("combined").files["group_vars/all/kafka.yml"]
    assert "  # /etc/kafka/server.properties:10\n  num.network.threads: 3\n" in text
    broker = of_layout("combined").files["group_vars/all/kafka.yml"]
    assert "  # not set by it, and this holds; ours is false\n  auto.create.topics.enable: true\n" in broker


def test_a_property_that_one_node_has_differently_stands_with_each() -> None:
    machines = machines_of(BROKER, "b", (4, 5, 6))
    machines["b5"] = [told(BROKER.format(id=5) + "num.replica.fetchers=4\n")]
    machines["b6"] = [told(BROKER.format(id=6) + "num.replica.fetchers=2\n")]
    files = {path: loaded(text) for path, text in written({**machines, **machines_of(CONTROLLER, "c")}).files.items()}
    found = {
        host: files[f"host_vars/{host}.yml"]["kafka_broker_config"].get("num.replica.fetchers") for host in machines
    }
    assert found == {"b4": None, "b5": 4, "b6": 2}
    assert "kafka_broker_config" not in files["group_vars/kafka_brokers.yml"]


def test_three_brokers_of_one_machine_are_three_hosts_with_one_address(tmp_path: Path) -> None:
    text = COMBINED.replace("9092", "{id}9092").replace("9093", "{id}9093").replace("node.id=1", "node.id={id}")
    processes = [told(text.format(id=number)) for number in (1, 2, 3)]
    nodes = foreign_nodes({"m": {"processes": processes, "unread": []}})
    reached = {"ansible_host": "10.0.0.1", "ansible_password": "hunter2", "ansible_ssh_private_key_file": "~/.ssh/k"}
    found = inventory("prod", [Source(node, reached, effective=DEFAULTS) for node in nodes])
    hosts = loaded(found.files["hosts.yml"])["kafka_brokers"]["hosts"]
    assert list(hosts) == ["m-broker-controller1", "m-broker-controller2", "m-broker-controller3"]
    kept = {"ansible_host": "10.0.0.1", "ansible_ssh_private_key_file": "~/.ssh/k", "kafka_node_id": 1}
    assert hosts["m-broker-controller1"] == kept
    assert read_back(found, tmp_path).properties("m-broker-controller2")["advertised.listeners"] == (
        "PLAINTEXT://localhost:29092,CONTROLLER://localhost:29093"
    )
    # No resolver knows the new names.
    found = inventory("prod", [Source(node, {}, effective=DEFAULTS) for node in nodes])
    hosts = loaded(found.files["hosts.yml"])["kafka_brokers"]["hosts"]
    assert [host["ansible_host"] for host in hosts.values()] == ["m"] * 3


def options(**jvm: Any) -> dict[str, Any]:
    """Return the variables of all of a node whose JVM was started so."""
    given = {"given": [], "heap": [], "jmx": [], **jvm}
    found = written({"k": [told(COMBINED, jvm=given, jmx_port=9999 if given["jmx"] else None)]})
    return dict(loaded(found.files["group_vars/all/kafka.yml"]))


@pytest.mark.parametrize(
    ("jvm", "heap", "words"),
    [
        ({"heap": ["-Xmx1G", "-Xms1G"]}, "1G", []),
        ({"given": ["-Xms2g", "-Xmx6g"]}, "6g", ["-Xms2g"]),
        ({"heap": ["-Xmx1G"], "given": ["-Dx=y"]}, "1G", ["-Dx=y"]),
        ({}, "1g", []),
        ({"given": ["-Xmx4g", "-Xms4g", "-XX:+UseZGC"]}, "4g", ["-XX:-UseG1GC", "-XX:+UseZGC"]),
        ({"given": ["-Xmx4g", "-XX:+UseG1GC"]}, "4g", ["-XX:+UseG1GC"]),
        (
            {"jmx": ["-Dcom.sun.management.jmxremote", "-Dcom.sun.management.jmxremote.port=9999"]},
            "1g",
            ["-Dcom.sun.management.jmxremote", "-Dcom.sun.management.jmxremote.port=9999"],
        ),
        (
            {"given": ["-Djavax.net.ssl.trustStorePassword=********"]},
            "1g",
            ["-Djavax.net.ssl.trustStorePassword={{ vault_kafka_javax_net_ssl_trustStorePassword }}"],
        ),
        ({"given": ["-Dx={{ y }}"]}, "1g", ["-Dx={{ y }}"]),
    ],
)
def test_the_jvm_is_started_with_what_somebody_chose(jvm: dict[str, Any], heap: str, words: list[str]) -> None:
    found = options(**jvm)
    assert (found["kafka_heap_size"], found["kafka_jvm_options"]) == (heap, words)


@pytest.mark.parametrize("given", [[], ["-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=https://a,https://b"]])
def test_a_broker_may_go_on_asking_the_issuer_of_tokens_that_it_asks(given: list[str]) -> None:
    key = "listener.name.plaintext.oauthbearer.sasl.oauthbearer.jwks.endpoint.url"
    jvm = {"given": given, "heap": [], "jmx": []}
    found = written({"k": [told(f"{COMBINED}\n{key}=https://id/keys", jvm=jvm)]})
    allowed = ["-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls=https://id/keys"]
    assert loaded(found.files["group_vars/all/kafka.yml"])["kafka_jvm_options"] == (given or allowed)


def test_logins_of_a_jaas_file_are_asked_for_in_the_vault() -> None:
    text = WITH_ZOOKEEPER.replace("listener.name.sasl_ssl.scram", "# listener.name.sasl_ssl.scram")
    jvm = {"given": ["-Djava.security.auth.login.config=/etc/kafka/jaas.conf"]}
    machines = {**machines_of(text, "k", jvm=jvm), "zk1": [server(1)]}
    found = written(machines)
    key = "listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config"
    secret = "{{ vault_kafka_listener_name_sasl__ssl_scram__sha__256_sasl_jaas_config }}"
    assert loaded(found.files["group_vars/all/kafka.yml"])["kafka_config"][key] == secret
    assert "# k1: the login of KafkaServer in /etc/kafka/jaas.conf" in found.files["group_vars/all/vault.yml.example"]


def test_what_kafka_does_not_know_is_meant_for_a_plugin() -> None:
    shared = loaded(of_layout("static and many listeners").files["group_vars/all/kafka.yml"])
    assert shared["kafka_allow_unknown_config"] == ["com.example.password.url", "com.example.template"]


def test_an_id_that_kafka_drew_itself_may_be_written_down() -> None:
    mark = {"cluster.id": CLUSTER_ID, "broker.id": "1001"}
    directory = {"path": "/d", "meta_properties": mark, "myid": None}
    text = "zookeeper.connect=zk1:2181\nlog.dirs=/d\n"
    found = written({"k": [told(text, dirs=[directory])], "zk1": [server(1)]})
    assert loaded(found.files["group_vars/all/kafka.yml"])["kafka_config"]["broker.id.generation.enable"] is False


@pytest.mark.parametrize(
    ("machines", "words"),
    [
        (
            {"k": [told(COMBINED.replace("PLAINTEXT://localhost:9092,", ""))]},
            "kafka_listeners cannot say advertised.listeners=",
        ),
        ({"k": [told(COMBINED, argument_files=["/etc/jvm"])]}, "the arguments of Java in /etc/jvm are not known"),
    ],
)
def test_what_no_variable_can_say_refuses(machines: dict[str, Any], words: str) -> None:
    (finding,) = [finding for finding in written(machines).findings if finding.level == REFUSE]
    assert words in finding.what


def test_what_nobody_tells_is_named_in_the_file_and_to_the_caller() -> None:
    found = written({"k": [told(COMBINED)]}, {})
    assert "# max.connections.per.ip becomes 500, and nothing tells what holds now" in "".join(found.files.values())
    assert any("max.connections.per.ip becomes 500" in finding.what for finding in found.findings)


def test_others_add_variables_of_their_own_with_secrets_of_theirs() -> None:
    found = written({"k": [told(COMBINED)]}, more={"kafka_topics": [{"name": "a{{b", "password": Secret("users.x")}]})
    assert loaded(found.files["group_vars/all/resources.yml"]) == {
        "kafka_topics": [{"name": "a{{b", "password": "{{ vault_kafka_users_x }}"}]
    }
    assert "vault_kafka_users_x: CHANGE-ME" in found.files["group_vars/all/vault.yml.example"]


def test_a_mirror_is_a_host_whose_flows_people_write() -> None:
    mirror = told("clusters=a,b\n", product="mirror", dirs=[])
    found = written({"k": [told(COMBINED)], "m": [mirror]})
    assert loaded(found.files["hosts.yml"])["mirror_makers"] == {"hosts": {"m": {}}}
    assert ["mirror_flows" in finding.fix for finding in found.findings if finding.level == REFUSE] == [True]


def test_origins_with_line_ends_break_no_file() -> None:
    process = told(COMBINED)
    process["origins"] = dict.fromkeys(process["properties"], "/etc/a\nb: c\x00:1")
    found = written({"k": [process]})
    assert loaded(found.files["group_vars/all/kafka.yml"])["kafka_config"]["num.io.threads"] == 8


def test_a_server_of_zookeeper_keeps_what_its_jvm_was_told_and_what_held_by_itself() -> None:
    jvm = {"given": ["-Dzookeeper.4lw.commands.whitelist=*"]}
    found = written({f"zk{number}": [server(number, jvm=jvm)] for number in (1, 2, 3)})
    kept = loaded(found.files["group_vars/zookeeper.yml"])["zookeeper_ensemble_config"]
    assert (kept["4lw.commands.whitelist"], kept["admin.enableServer"], kept["autopurge.purgeInterval"]) == (
        "*",
        True,
        0,
    )
    assert "tickTime" not in kept
