# SPDX-License-Identifier: GPL-3.0-or-later
"""Which inventory is written of what a look found, what it has of the cluster itself, and what keeps it from that."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template

from ansible_collections.streamops.kafka.plugins.module_utils._acls.entries import parse_entries
from ansible_collections.streamops.kafka.plugins.module_utils._quotas.plan import parse_specs
from ansible_collections.streamops.kafka.plugins.plugin_utils.adopt.asked import Answer, Question, answer
from ansible_collections.streamops.kafka.plugins.plugin_utils.adopt.chosen import (
    canonical_name,
    chosen,
    cluster_name,
    gaps,
    part_of,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.adopt.clusters import ForeignCluster
from ansible_collections.streamops.kafka.plugins.plugin_utils.adopt.described import Rules, described, reached
from ansible_collections.streamops.kafka.plugins.plugin_utils.adopt.inventory import Written
from ansible_collections.streamops.kafka.plugins.plugin_utils.adopt.machines import said_by
from ansible_collections.streamops.kafka.plugins.plugin_utils.adopt.placed import (
    Placed,
    next_step,
    placed,
    written_lines,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.adopt.screen import looked
from ansible_collections.streamops.kafka.plugins.plugin_utils.findings import REFUSE, Finding, refused
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.definitions import BROKER_KEYS, TOPIC_KEYS
from tests.unit.plugins.plugin_utils.adopt.machines import FEATURES, info
from tests.unit.plugins.plugin_utils.adopt.test_inventory import (
    BROKER,
    CLUSTER_ID,
    COMBINED,
    CONTROLLER,
    DEFAULTS,
    WITH_ZOOKEEPER,
    loaded,
    machines_of,
    read_back,
    server,
    told,
)

RULES = Rules(BROKER_KEYS, TOPIC_KEYS, check_inventory)
TOPIC = {"name": "orders", "partitions": 12, "replication_factor": 1, "config": {"retention.ms": "604800000"}}
QUOTA = {"user": "orders", "producer_byte_rate": 1048576, "request_percentage": 12.5}


def held(*brokers: int, live: dict[str, str | None] | None = None, **other: Any) -> dict[str, Any]:
    """Return what resources_info says of a cluster; live -- what was set for its first broker."""
    first, *others = brokers or (1,)
    effective = {**DEFAULTS, **{key: value for key, value in (live or {}).items() if value is not None}}
    return {
        "topics": [TOPIC], "users": [], "acls": [], "quotas": [QUOTA], "left": [], "unread": {},
        "settings": {
            str(first): {"effective": effective, "live": live or {}},
            **{str(number): {"effective": dict(DEFAULTS), "live": {}} for number in others},
            "default": {"effective": dict(DEFAULTS), "live": {}},
        },
        **other,
    }  # fmt: skip


def machines(hosts: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Return what adoption_info told of machines."""
    full = {"ours": None, "ports": [], "argument_files": []}
    return {
        host: {"processes": [{**full, **process} for process in processes], "unread": []}
        for host, processes in hosts.items()
    }


def asked(brokers: tuple[int, ...], voters: tuple[int, ...]) -> Answer | Question:
    """Return what a cluster told of itself."""
    options = {"bootstrap_servers": ["k:9092"], "security_protocol": "PLAINTEXT"}
    return answer(Question(options), {**info(brokers, voters), "cluster_id": CLUSTER_ID}, FEATURES)


def described_of(
    hosts: dict[str, list[dict[str, Any]]],
    holds: dict[str, Any] | None,
    brokers: tuple[int, ...] = (1,),
    voters: tuple[int, ...] = (1,),
) -> Written:
    """Return the inventory of the one cluster of these hosts."""
    look = looked(machines(hosts))
    cluster = chosen(look, "")
    assert isinstance(cluster, ForeignCluster)
    variables = {host: {"ansible_host": f"{host}.example.com", "ansible_user": "ops"} for host in hosts}
    answered = asked(brokers, voters) if holds is not None else Question({}, why="was not asked: no login")
    return described(look, cluster, answered, holds, "prod", reached(variables), RULES)


def lone(**other: Any) -> dict[str, list[dict[str, Any]]]:
    """Return a machine with a combined node, whose data does not vanish."""
    return {"k1": [told(COMBINED.replace("/tmp/kraft-combined-logs", "/var/lib/kafka"), **other)]}


def shown_on_the_page() -> Written:
    """Return the inventory that docs/adopt.md shows in part."""
    users = [{"name": "alice", "mechanism": "SCRAM-SHA-512", "iterations": 8192}]
    return described_of(lone(), held(live={"num.io.threads": "16"}, users=users))


def test_what_the_cluster_holds_is_written_beside_what_its_nodes_run_with() -> None:
    users = [{"name": "alice", "mechanism": "SCRAM-SHA-512", "iterations": 4096}]
    left = ["quota team a stays as it is: no limit"]
    found = described_of(lone(), held(users=users, left=left, quotas=[QUOTA]))
    assert refused(found.findings) == []
    text = found.files["group_vars/all/resources.yml"]
    assert loaded(text) == {
        "kafka_topics": [{**TOPIC, "config": {"retention.ms": 604800000}}],
        "kafka_users": [],
        "kafka_acls": [],
        "kafka_quotas": [QUOTA],
    }
    flat = " ".join(line.removeprefix("# ") for line in text.splitlines())
    assert "user alice is kept with its password, which nothing tells (SCRAM-SHA-512, 4096 iterations)" in flat
    assert left[0] in flat
    whole = [finding.what for finding in found.findings]
    assert left[0] in whole
    assert any("the passwords of its SCRAM users (1) cannot be read" in what for what in whole)
    assert loaded(found.files["hosts.yml"])["kafka_brokers"]["hosts"]["k1"] == {
        "ansible_host": "k1.example.com", "ansible_user": "ops", "kafka_node_id": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        "{{ lookup('pipe', 'id') }}",
        "#jinja2: trim_blocks:True\n",
        "{% x",
        "a\nb",
        "null",
        "1e3",
        "CN=a, O=b",
        "ü ",
    ],
)
def test_odd_names_of_a_cluster_are_read_back_as_they_are(name: str) -> None:
    acls = [{"principal": f"User:{name}", "operations": ["read"], "resource_type": "group", "resource": name}]
    quotas = [{"user": name, "producer_byte_rate": 1}]
    hosts = lone()
    hosts["k1"][0]["properties"]["authorizer.class.name"] = "com.example.Authorizer"
    found = described_of(hosts, held(acls=acls, quotas=quotas))
    assert refused(found.findings) == []
    # Trusted, as Ansible reads the files of an inventory.
    read = DataLoader().load(trust_as_template(found.files["group_vars/all/resources.yml"]))
    variables = Templar(loader=DataLoader(), variables={}).template(read)
    assert (variables["kafka_acls"], variables["kafka_quotas"]) == (acls, quotas)
    assert parse_entries(variables["kafka_acls"])[2] == parse_specs(variables["kafka_quotas"])[1] == []


def test_what_was_set_live_for_a_broker_is_said_by_its_host_alone(tmp_path: Path) -> None:
    live: dict[str, str | None] = {"num.io.threads": "16", "leader.replication.throttled.rate": "9"}
    hosts = {**machines_of(CONTROLLER.replace("/tmp", "/var"), "c"), **machines_of(BROKER, "b", (4, 5, 6))}
    found = described_of(hosts, held(4, 5, 6, live=live), (4, 5, 6), (1, 2, 3))
    assert refused(found.findings) == []
    text = found.files["host_vars/b4.yml"]
    assert loaded(text)["kafka_broker_config"]["num.io.threads"] == 16
    assert re.search(r"# set live in the cluster, which wins over /etc/kafka/server.properties:\d+\n", text)
    seen = read_back(found, tmp_path)
    threads = {host: seen.properties(host)["num.io.threads"] for host in ("b4", "b5", "c1")}
    assert threads == {"b4": "16", "b5": "8", "c1": "8"}
    # No file takes the place of a throttle, so it is named and not written.
    assert "throttled" not in "".join(found.files.values())
    assert any(
        "leader.replication.throttled.rate set live for broker 4 stays there" in one.what for one in found.findings
    )


def test_what_was_set_live_for_all_brokers_is_what_their_files_say() -> None:
    holds = held()
    live = {"min.insync.replicas": "1", "log.retention.ms": "5000"}
    holds["settings"]["default"]["live"] = live
    holds["settings"]["1"]["effective"] = {**DEFAULTS, **live}
    found = described_of(lone(), holds)
    config = loaded(found.files["group_vars/all/kafka.yml"])["kafka_config"]
    assert (config["log.retention.ms"], config.get("min.insync.replicas", 1)) == (5000, 1)
    notes = [finding.what for finding in found.findings if "set live for all brokers" in finding.what]
    assert len(notes) == 1
    assert "log.retention.ms" in notes[0]
    assert "min.insync" not in notes[0]


@pytest.mark.parametrize(("of_all", "is_refused"), [("5", True), ("7", False)])
def test_what_is_set_for_a_broker_and_otherwise_for_all_is_refused(of_all: str, is_refused: bool) -> None:
    holds = held(live={"log.retention.ms": "7"})
    holds["settings"]["default"]["live"] = {"log.retention.ms": of_all}
    found = described_of(lone(), holds)
    assert [finding.what.partition(": ")[2] for finding in refused(found.findings)] == [
        "log.retention.ms is set live for broker 1 (7) and for all (5), and a take-over would take the former away"
    ] * is_refused
    assert bool(found.files) is not is_refused


@pytest.mark.parametrize(
    ("hosts", "holds", "words"),
    [
        (lone(), None, "what was set live for the brokers of MkU3OEVBNTcwNTJENDM2Qg is not known"),
        (lone(), {"failed": True, "msg": "no broker answers."}, "is not known (no broker answers)"),
        (lone(), held(2), "set live for the brokers of k1 (broker, controller, id 1, process 42) is not known"),
        (lone(), held(unread={"settings": "not allowed"}), "is not known (not allowed)"),
        (lone(properties={}), held(), "the properties of k1"),
        (lone(release={"version": "", "vendor": "confluent", "summary": "Confluent 7"}), held(), "runs Confluent 7"),
        ({"k1": [told(COMBINED.replace("PLAINTEXT://localhost:9092,", ""))]}, held(), "kafka_listeners cannot say"),
    ],
)  # fmt: skip
def test_no_file_is_made_where_the_inventory_would_not_be_true(
    hosts: dict[str, Any], holds: dict[str, Any] | None, words: str
) -> None:
    found = described_of(hosts, holds)
    assert found.files == {}
    assert any(words in finding.what for finding in refused(found.findings)), found.findings


def test_lists_that_may_not_be_read_are_named_and_left_alone() -> None:
    found = described_of(lone(), held(unread={"acls": "not allowed"}))
    assert found.files
    assert any("its acls are not written: not allowed" in finding.what for finding in found.findings)
    found = described_of(lone(), held(unread={"moves": "not allowed"}))
    assert found.files
    assert any("which topics are moved now cannot be read: not allowed" in one.what for one in found.findings)


def test_what_an_older_release_set_at_a_topic_is_named_and_not_written() -> None:
    found = described_of(lone(), held(topics=[{**TOPIC, "config": {"message.format.version": "2.8"}}]))
    (topic,) = loaded(found.files["group_vars/all/resources.yml"])["kafka_topics"]
    assert topic == {"name": "orders", "partitions": 12, "replication_factor": 1}
    assert any("does not know message.format.version, which stays as it is" in one.what for one in found.findings)


def test_one_of_several_clusters_is_named() -> None:
    other = told(COMBINED, dirs=[{"path": "/d", "meta_properties": {"cluster.id": "B" * 22}, "myid": None}])
    look = looked(machines({**lone(), "k2": [other], "k3": []}))
    none = chosen(look, "")
    assert isinstance(none, Finding)
    assert none.fix == f"name one of them with -e kafka_adopt_cluster=ID: {'B' * 22}, {CLUSTER_ID}"
    assert isinstance(chosen(look, "C"), Finding)
    cluster = chosen(look, CLUSTER_ID)
    assert isinstance(cluster, ForeignCluster)
    part = part_of(look, cluster, {})
    assert ([node.host for node in part.nodes], list(part.machines)) == (["k1"], ["k1"])
    assert isinstance(chosen(looked(machines({"k3": []})), ""), Finding)


def test_the_ensemble_of_a_cluster_belongs_to_it() -> None:
    hosts = {**machines_of(WITH_ZOOKEEPER, "k"), **{f"zk{number}": [server(number)] for number in (1, 2, 3)}}
    others = {f"other{number}": [server(number + 3)] for number in (1, 2)}
    look = looked(machines({**hosts, **others}))
    cluster = chosen(look, "")
    assert isinstance(cluster, ForeignCluster)
    assert {node.host for node in part_of(look, cluster, {}).nodes} >= set(hosts)


def ensemble_of(connect: str, members: str = "zk{n}", is_beside: bool = False) -> list[str]:
    """Return the hosts whose servers belong to brokers with this zookeeper.connect.

    members -- what zoo.cfg calls member n; is_beside -- zk1 is the machine of k1
    """
    text = WITH_ZOOKEEPER.replace("zk1:2181,zk2:2181,zk3:2181/prod/kafka", connect)
    servers = {f"zk{number}": [server(number)] for number in (1, 2, 3)}
    for (process,) in servers.values():
        process["pid"] = 43
        process["properties"].update({f"server.{n}": f"{members.format(n=n)}:2888:3888" for n in (1, 2, 3)})
    hosts = machines({**machines_of(text, "k"), **servers})
    said = {host: said_by({"zookeeper_id": 1} if host == "zk1" else {"kafka_node_id": 1}) for host in ("k1", "zk1")}
    names = {"k1": "m", "zk1": "m"} if is_beside else {}
    look = looked({host: {**told, "machine": names.get(host, host)} for host, told in hosts.items()}, said)
    cluster = chosen(look, "")
    assert isinstance(cluster, ForeignCluster)
    part = part_of(look, cluster, {"zk1": "10.0.0.1"})
    refusals = [finding.what for finding in gaps(part)]
    hosts_of_part = [node.host for node in part.nodes if node.product == "zookeeper"]
    assert bool(hosts_of_part) is not any("none of these hosts is known to run its ensemble" in why for why in refusals)
    return hosts_of_part


@pytest.mark.parametrize(
    ("connect", "members"),
    [("zk2.example.com:2181/prod", "zk{n}"), ("10.0.0.1:2181", "zk{n}"), ("zk3", "zk{n}"),
     ("Coordination2:2181", "coordination{n}.example.com"), ("other:2181,zk1:2181", "zk{n}")],
)  # fmt: skip
def test_an_ensemble_is_known_by_any_name_of_its_servers(connect: str, members: str) -> None:
    assert ensemble_of(connect, members) == ["zk1", "zk2", "zk3"]


@pytest.mark.parametrize("connect", ["other:2181/prod", "zk1:2182", "127.0.0.1:2181", "10.0.0.2:2181"])
def test_the_only_ensemble_of_a_look_is_not_that_of_a_cluster_that_names_other_servers(connect: str) -> None:
    assert ensemble_of(connect) == []


def test_a_server_on_loopback_is_the_one_on_the_machine_of_the_broker() -> None:
    assert ensemble_of("localhost:2181", is_beside=True) == ["zk1", "zk2", "zk3"]


def test_a_cluster_that_is_ours_in_part_is_refused() -> None:
    ours = told(COMBINED.replace("node.id=1", "node.id=2"), ours="kafka2")
    look = looked(machines({**lone(), "k2": [ours]}))
    cluster = chosen(look, "")
    assert isinstance(cluster, ForeignCluster)
    assert any("is taken over in part (k2)" in finding.what for finding in gaps(part_of(look, cluster, {})))


@pytest.mark.parametrize(
    ("listeners", "advertised", "name"),
    [("PLAINTEXT://:9092,CONTROLLER://:9093", "", "kafka1"), ("PLAINTEXT://k1:9092", "", ""),
     ("PLAINTEXT://:9092", "PLAINTEXT://p:9092", ""), ("PLAINTEXT://0.0.0.0:9092", "", "kafka1")],
)  # fmt: skip
def test_a_name_that_kafka_chose_itself_is_the_one_that_the_cluster_was_told(
    listeners: str, advertised: str, name: str
) -> None:
    process = told(COMBINED)
    process["properties"].update({"listeners": listeners, "advertised.listeners": advertised})
    (node,) = looked(machines({"k1": [process]})).nodes
    answered = asked((1,), (1,))
    assert isinstance(answered, Answer)
    assert canonical_name(node, answered) == name


def test_passwords_of_logins_are_named_and_not_written() -> None:
    hosts = reached({"k1": {"ansible_host": "10.0.0.1", "ansible_port": 22, "ansible_password": "hunter2"}, "k2": {}})
    assert hosts.connections == {"k1": {"ansible_host": "10.0.0.1", "ansible_port": 22}, "k2": {}}
    assert hosts.unsaid == ["k1"]


@pytest.mark.parametrize(
    ("command", "is_written"),
    [
        ("sshpass -p hunter2 ssh", False),
        ("sshpass -phunter2 ssh", False),
        ("/usr/bin/sshpass -v -p hunter2 ssh", False),
        ("sshpass -P 'Password:' -vp hunter2 ssh", False),
        ("env SSHPASS=hunter2 sshpass -e ssh", False),
        ("sshpass -e ssh -p 2222", True),
        ("sshpass -f /root/.pass ssh -p 2222", True),
        ("ssh -o PasswordAuthentication=no", True),
    ],
)
def test_a_password_on_the_way_to_a_host_is_not_written(command: str, is_written: bool) -> None:
    through = {"ansible_ssh_common_args": f'-o ProxyCommand="{command} -W %h:%p bastion"'}
    hosts = reached({"k1": through})
    assert hosts.connections == {"k1": through if is_written else {}}
    assert hosts.unsaid == ([] if is_written else ["k1"])


@pytest.mark.parametrize(
    ("path", "name"), [("/srv/inventories/prod", "prod"), ("/a/b c", "b-c"), ("/a/.x/", "x"), ("/", "kafka")]
)
def test_a_cluster_has_the_name_of_the_directory(path: str, name: str) -> None:
    assert cluster_name(path) == name


FILES = {"hosts.yml": "a", "group_vars/all/kafka.yml": "b", "group_vars/all/vault.yml.example": "c: CHANGE-ME"}


def test_files_are_written_where_nothing_is() -> None:
    files = placed("/inv", FILES, {}, [])
    assert isinstance(files, Placed)
    assert files.parents == ["/inv", "/inv/group_vars", "/inv/group_vars/all"]
    made = files.result(["/inv"])
    assert [entry["path"] for entry in made["directories"]] == ["/inv/group_vars", "/inv/group_vars/all"]
    assert [entry["path"] for entry in made["files"]] == [f"/inv/{path}" for path in FILES]
    (line,) = written_lines(files, False)
    assert line == f"Inventory    /inv: written: {', '.join(FILES)}"
    assert "a run without --check writes" in written_lines(files, True)[0]
    assert "without --check" in next_step(files, "kraft, combined", True)
    step = next_step(files, "kraft, combined", False)
    assert step == (
        "seal the values that /inv/group_vars/all/vault.yml.example names, then look at what a take-over would change: "
        "ansible-playbook streamops.kafka.adopt -i /inv/hosts.yml --become -e kafka_adopt=take --check --diff"
    )
    assert next_step(files, "zookeeper", False) == step
    assert "no node is taken over" in next_step(files, "zookeeper, and controllers of KRaft beside it", False)


def test_the_same_files_are_left_as_they_are_beside_a_vault_of_people() -> None:
    files = placed("/inv", FILES, FILES, ["hosts.yml", "group_vars", "vault.yml"])
    assert isinstance(files, Placed)
    assert files.result(files.parents) == {"directories": [], "files": []}
    assert written_lines(files, True) == ["Inventory    /inv: 3 files, which say what runs"]


def test_a_run_that_was_cut_writes_the_rest() -> None:
    files = placed("/inv", FILES, {"hosts.yml": "a"}, ["hosts.yml"])
    assert isinstance(files, Placed)
    assert files.missing == ("group_vars/all/kafka.yml", "group_vars/all/vault.yml.example")


@pytest.mark.parametrize(
    ("there", "entries", "words"),
    [({**FILES, "hosts.yml": "x"}, ["hosts.yml"], "an inventory with other content (hosts.yml)"),
     ({}, ["site.yml"], "is not empty (site.yml)")],
)  # fmt: skip
def test_nothing_is_written_over_or_beside_files_of_others(
    there: dict[str, str], entries: list[str], words: str
) -> None:
    finding = placed("/inv", FILES, there, entries)
    assert isinstance(finding, Finding)
    assert finding.level == REFUSE
    assert words in finding.what
