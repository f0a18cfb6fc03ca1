"""A node is taken over where it is the one that the inventory describes, and its service can be stopped and started."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.take_over import Wanted, take_over
from tests.unit.plugins.plugin_utils.adopt.machines import CLUSTER, RELEASE, machine, node, server

UNIT = {
    "manager": "systemd",
    "name": "kafka.service",
    "scope": "",
    "enabled": "enabled",
    "control": "/etc/systemd/system/kafka.service",
    "files": ["/etc/systemd/system/kafka.service"],
}
WANTED = Wanted(
    host="kafka1",
    product="kafka",
    node_id=1,
    roles=("controller", "broker"),
    mode="kraft",
    version="4.3.1",
    cluster_id=CLUSTER,
    user="kafka",
    data=["/var/lib/kafka"],
    own=["/etc/streamops-kafka/kafka1", "/etc/systemd/system/kafka-kafka1.service"],
    main_class="kafka.Kafka",
    properties={},
)
#: What a broker of ZooKeeper mode and a server of its ensemble are started with.
OF_ZOOKEEPER: dict[str, Any] = {
    "process.roles": None,
    "node.id": None,
    "broker.id": "1",
    "zookeeper.connect": "zk1:2181,zk2:2181/kafka",
}
MEMBERS = {f"server.{number}": f"10.0.0.{number}:2888:3888" for number in (1, 2, 3)}
BROKER = replace(WANTED, roles=("broker",), mode="zookeeper", properties={"zookeeper.connect": "10.0.0.1:2181/kafka"})
SERVER = replace(
    WANTED,
    product="zookeeper",
    roles=("zookeeper",),
    mode="",
    version="3.8.6",
    user="zookeeper",
    data=["/var/lib/zookeeper"],
    main_class="org.apache.zookeeper.server.quorum.QuorumPeerMain",
    properties={**MEMBERS, "clientPort": 2181, "reconfigEnabled": False},
)


def old(number: int = 1, service: dict[str, Any] | None = None, **other: Any) -> dict[str, Any]:
    """Return a node that a unit runs; C(service) and the others count before that."""
    known = {
        "main_class": "kafka.Kafka",
        "properties_file": "/opt/kafka/config/server.properties",
        "logs_dir": "/opt/kafka/logs",
        "service": {**UNIT, **(service or {})},
    }
    return node(number, **{**known, **other})


#: What a mirror of a -> b is started with here, as far as it counts.
MIRROR = replace(
    WANTED,
    product="mirror",
    node_id=None,
    roles=("mirror",),
    mode="",
    data=[],
    main_class="org.apache.kafka.connect.mirror.MirrorMaker",
    properties={
        "clusters": ["b", "a"],
        "a->b.enabled": True,
        "a->b.replication.policy.class": "org.apache.kafka.connect.mirror.DefaultReplicationPolicy",
        "a->b.offset-syncs.topic.location": "source",
        "a->b.emit.heartbeats.enabled": True,
        "b.exactly.once.source.support": "disabled",
    },
)


def old_mirror(properties: dict[str, Any] | None = None, **other: Any) -> dict[str, Any]:
    """Return a mirror that a unit runs; C(properties) are added to its own."""
    known = {
        "product": "mirror",
        "main_class": "org.apache.kafka.connect.mirror.MirrorMaker",
        "properties_file": "/opt/kafka/config/mm2.properties",
        "logs_dir": "/opt/kafka/logs",
        "service": UNIT,
        "dirs": [],
    }
    told = node(1, **{**known, **other})
    return {**told, "properties": {"clusters": "a, b", "a->b.enabled": "true", **(properties or {})}}


def old_server(properties: dict[str, Any] | None = None, **other: Any) -> dict[str, Any]:
    """Return a server of ZooKeeper that a unit runs; C(properties) are added to its own."""
    told = server(1)
    known = {
        "main_class": "org.apache.zookeeper.server.quorum.QuorumPeerMain",
        "properties_file": "/opt/zookeeper/conf/zoo.cfg",
        "logs_dir": "/opt/zookeeper/logs",
        "service": UNIT,
    }
    return {**told, **known, "properties": {**told["properties"], **(properties or {})}, **other}


def refusals(*processes: dict[str, Any], wanted: Wanted = WANTED, is_known: bool = False) -> str:
    """Return why a node is not taken over, in one text."""
    result = take_over(machine(*processes), wanted, is_known)
    assert not (result.claim and result.findings)
    return " ".join(str(finding) for finding in result.findings)


def test_the_node_of_the_inventory_is_claimed_with_all_that_starts_it_again() -> None:
    result = take_over(machine(old(2), old(1)), WANTED, is_known=False)
    assert result.findings == ()
    assert result.claim == {
        "manager": "systemd",
        "name": "kafka.service",
        "enabled": True,
        "control": "/etc/systemd/system/kafka.service",
        "main_class": "kafka.Kafka",
        "properties_file": "/opt/kafka/config/server.properties",
        "release_dir": "",
        "version": "4.3.1",
        "user": "kafka",
        "logs_dir": "/opt/kafka/logs",
        "pid": 801,
    }


@pytest.mark.parametrize(("state", "enabled"), [("enabled", True), ("disabled", False), ("linked", False)])
def test_whether_it_starts_at_boot_is_kept(state: str, enabled: bool) -> None:
    assert take_over(machine(old(service={"enabled": state})), WANTED, is_known=False).claim["enabled"] is enabled


@pytest.mark.parametrize(
    ("service", "why"),
    [
        ({"manager": "container", "name": "docker 3f2a91"}, "docker 3f2a91, which this collection cannot stop"),
        ({"manager": "other", "name": "runsv"}, "run by other runsv"),
        ({"scope": "user"}, "of a user's own systemd"),
        ({"enabled": "static"}, "it is not known what starts it at boot"),
        ({"enabled": ""}, "is in an unknown state"),
        ({"manager": "supervisor", "name": "kafka", "enabled": "enabled"}, "set autostart=false in /etc/systemd"),
        ({"manager": "supervisor", "name": "", "enabled": "disabled"}, "its program, or the file of its supervisord"),
    ],
)
def test_a_service_that_cannot_be_kept_from_starting_it_is_refused(service: dict[str, Any], why: str) -> None:
    assert why in refusals(old(service=service))


@pytest.mark.parametrize("service", [{"manager": "none", "name": "", "enabled": "", "control": "", "files": []},
                                     {"manager": "supervisor", "name": "kafka", "enabled": "disabled"}])  # fmt: skip
def test_other_managers_that_can_are_taken(service: dict[str, Any]) -> None:
    assert refusals(old(service=service)) == ""


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"version": "4.4.0"}, "its release by the inventory: apache 4.4.0; what runs: apache 4.3.1"),
        ({"cluster_id": "other"}, f"its cluster id by the inventory: other; what runs: {CLUSTER}"),
        ({"user": "root"}, "its user by the inventory: root; what runs: kafka"),
        (
            {"data": ["/var/lib/kafka", "/b"]},
            "its directories of data by the inventory: /b, /var/lib/kafka; what runs: /var/lib/kafka",
        ),
        ({"roles": ("broker",)}, "its roles by the inventory: broker; what runs: broker, controller"),
        ({"own": ["/opt/kafka/config"]}, "stands where this collection would write"),
        ({"node_id": 9}, "no node with id 9 runs on kafka1"),
        ({"product": "zookeeper"}, "no node with id 1 runs on kafka1"),
        ({"mode": "zookeeper"}, "its mode by the inventory: zookeeper; what runs: kraft"),
        (
            {"properties": {"zookeeper.connect": "zk1:2181/a"}},
            "its path in ZooKeeper by the inventory: /a; what runs: n",
        ),
    ],
)
def test_an_inventory_that_describes_another_node_is_refused(change: dict[str, Any], why: str) -> None:
    assert why in refusals(old(), wanted=replace(WANTED, **change))


@pytest.mark.parametrize("path", ["/tmp/kraft-combined-logs", "/home/kafka/data", "/var/tmp/x/../kafka"])
def test_data_that_our_unit_would_not_see_is_refused(path: str) -> None:
    hidden = old(dirs=[{"path": path, "meta_properties": {"cluster.id": CLUSTER, "node.id": "1"}}])
    assert "which a unit of this collection does not see" in refusals(hidden, wanted=replace(WANTED, data=[path]))
    # Where supervisord starts ours, it sees them.
    assert refusals(hidden, wanted=replace(WANTED, data=[path], user="")) == ""


def test_what_the_inventory_leaves_open_is_not_compared() -> None:
    assert refusals(old(), wanted=replace(WANTED, user="", cluster_id="")) == ""
    assert refusals(old(), wanted=replace(WANTED, data=["/var/lib/kafka/"])) == ""


def old_broker(mark: str = "1", **properties: Any) -> dict[str, Any]:
    """Return a broker of ZooKeeper mode that a unit runs; C(mark) is the id in its directory."""
    dirs = [{"path": "/var/lib/kafka", "meta_properties": {"cluster.id": CLUSTER, "broker.id": mark}}]
    return old(properties={**OF_ZOOKEEPER, **properties}, dirs=dirs)


def test_a_broker_of_zookeeper_mode_is_claimed_by_the_id_of_its_file_or_of_its_directory() -> None:
    for broker in (old_broker(), old_broker(**{"broker.id": None})):
        result = take_over(machine(broker, old_server()), BROKER, is_known=False)
        assert result.findings == ()
        assert result.claim["main_class"] == "kafka.Kafka"


@pytest.mark.parametrize(
    ("change", "properties", "why"),
    [
        ({"mode": "kraft"}, {}, "its mode by the inventory: kraft; what runs: zookeeper"),
        ({}, {"zookeeper.connect": "zk1:2181"}, "its path in ZooKeeper by the inventory: /kafka; what runs: none"),
        ({}, {"zookeeper.metadata.migration.enable": "true"}, "its mode by the inventory: zookeeper; what runs: migra"),
        ({"mode": "migrating"}, {"zookeeper.metadata.migration.enable": "true"}, "on its way from ZooKeeper to KRaft"),
        ({"node_id": 2}, {}, "no node with id 2 runs on kafka1"),
    ],
)
def test_a_broker_of_another_mode_path_or_stage_is_refused(
    change: dict[str, Any], properties: dict[str, Any], why: str
) -> None:
    assert why in refusals(old_broker(**properties), wanted=replace(BROKER, **change))


def test_a_server_is_claimed_whatever_its_members_are_called() -> None:
    result = take_over(machine(old_server(), old_broker()), SERVER, is_known=False)
    assert result.findings == ()
    assert result.claim["main_class"] == "org.apache.zookeeper.server.quorum.QuorumPeerMain"
    assert result.claim["properties_file"] == "/opt/zookeeper/conf/zoo.cfg"
    # As ZooKeeper 3.5 and later may write it, and what is said although it is so by itself.
    newer = {name: f"{value}:participant;2181" for name, value in MEMBERS.items()}
    assert refusals(old_server({**newer, "sslQuorum": "false"}), wanted=SERVER) == ""


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"server.4": "zk4:2888:3888"}, "its members, with their ports by the inventory: server.1 2888:3888"),
        ({"server.3": "zk3:2889:3888"}, "server.3 2889:3888"),
        ({"server.3": "zk3:2888:3888:observer"}, "server.3 2888:3888:observer"),
        ({"clientPort": "2182"}, "its ports for clients by the inventory: clientPort 2181; what runs: clientPort 2182"),
        ({"secureClientPort": "2281"}, "what runs: clientPort 2181, secureClientPort 2281"),
        ({"sslQuorum": "true"}, "its sslQuorum by the inventory: false; what runs: true"),
        ({"quorum.auth.enableSasl": "true"}, "its quorum.auth.enableSasl by the inventory: false; what runs: true"),
        ({"group.1": "1:2"}, "its groups of servers by the inventory: none; what runs: group.1=1:2"),
        (
            {"dynamicConfigFile": "/opt/zoo.cfg.dynamic"},
            "stand in /opt/zoo.cfg.dynamic, which the server itself writes",
        ),
    ],
)
def test_a_server_that_the_others_would_not_hear_is_refused(change: dict[str, Any], why: str) -> None:
    assert why in refusals(old_server(change), wanted=SERVER)


@pytest.mark.parametrize(
    ("runs", "wished", "is_taken"),
    [("3.8.6", "3.8.6", True), ("3.8.4", "3.8.6", True), ("3.8.6", "3.8.4", False), ("3.7.2", "3.8.6", False),
     ("3.8.6", "3.9.5", False), ("", "3.8.6", False), ("3.8.x", "3.8.6", False)],
)  # fmt: skip
def test_a_server_of_an_earlier_patch_is_taken_over_and_no_other_release(
    runs: str, wished: str, is_taken: bool
) -> None:
    told = old_server(release={**RELEASE, "version": runs})
    why = refusals(told, wanted=replace(SERVER, version=wished))
    assert ("its release by the inventory" not in why) is is_taken
    # Brokers of two releases may not understand each other's records.
    broker = old_broker() | {"release": {**RELEASE, "version": "4.3.0"}}
    assert "its release by the inventory: apache 4.3.1; what runs: apache 4.3.0" in refusals(broker, wanted=BROKER)


def test_one_that_serves_alone_may_say_so_and_needs_a_myid() -> None:
    alone = replace(SERVER, properties={"server.1": "10.0.0.1:2888:3888", "clientPort": 2181})
    nobody = {f"server.{number}": "" for number in (1, 2, 3)}
    assert refusals(old_server(nobody), wanted=alone) == ""
    nameless = old_server(nobody, dirs=[{"path": "/var/lib/zookeeper", "meta_properties": None, "myid": None}])
    why = refusals(nameless, wanted=alone)
    assert "nothing tells the id of process 801. fix: write 1 into the file myid in /var/lib/zookeeper" in why


def test_a_mirror_is_claimed_by_the_flows_that_it_carries() -> None:
    back = old_mirror({"a->b.enabled": "false", "b->a.enabled": "true"}, pid=7)
    result = take_over(machine(back, old_mirror(), old()), MIRROR, is_known=False)
    assert result.findings == ()
    assert (result.claim["pid"], result.claim["properties_file"]) == (801, "/opt/kafka/config/mm2.properties")
    # What is so by itself may be said too, of the flow or of all.
    said = {"replication.policy.separator": ".", "a->b.exactly.once": "x", "a->b.offset-syncs.topic.location": "SOURCE"}
    assert refusals(old_mirror(said), wanted=MIRROR) == ""


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"b->a.enabled": "true"}, "no mirror of a->b runs on kafka1; what runs: a->b, b->a (process 801)"),
        ({"a->b.enabled": "false"}, "what runs: no flow (process 801)"),
        ({"replication.policy.separator": "_"}, "its a->b.replication.policy.separator by the inventory: .; what runs"),
        ({"a->b.replication.policy.class": "x.Identity"}, "a->b.replication.policy.class by the inventory: org.apache"),
        ({"offset-syncs.topic.location": "target"}, "offset-syncs.topic.location by the inventory: source; what runs"),
        (
            {"b.offset.storage.topic": "mine"},
            "groups and topics of workers by the inventory: none; what runs: b.offset",
        ),
        ({"config.storage.topic": "mine"}, "what runs: config.storage.topic=mine"),
        ({"b.group.id": "mine"}, "what runs: b.group.id=mine"),
        ({"b.exactly.once.source.support": "enabled"}, "b.exactly.once.source.support by the inventory: disabled"),
    ],
)
def test_a_mirror_that_would_not_go_on_where_the_old_one_was_is_refused(change: dict[str, str], why: str) -> None:
    assert why in refusals(old_mirror(change), wanted=MIRROR)


def test_a_legacy_mirror_is_refused_and_one_that_is_ours_or_has_no_flow_needs_nothing() -> None:
    legacy = replace(MIRROR, main_class="kafka.tools.MirrorMaker", properties={})
    assert "a mirror of engine legacy, which is not taken over" in refusals(old_mirror(), wanted=legacy)
    assert "several processes of the mirror of a->b run on kafka1 (801, 9)" in refusals(
        old_mirror(), old_mirror(pid=9), wanted=MIRROR
    )
    ours = old_mirror(ours={"product": "mirror", "node_id": "none", "cluster": "b"})
    for wanted, processes in ((MIRROR, [ours]), (legacy, [ours]), (replace(MIRROR, properties={}), [])):
        result = take_over(machine(*processes), wanted, is_known=False)
        assert (result.claim, result.findings) == ({}, ())
    assert "no mirror of a->b runs on kafka1. fix: start it by its own service" in refusals(wanted=MIRROR)


def test_a_node_that_is_ours_already_and_one_whose_take_over_was_cut_need_nothing() -> None:
    ours = old(ours={"product": "kafka", "node_id": "1", "cluster": "c"})
    for processes, is_known in (((ours,), False), ((), True)):
        result = take_over(machine(*processes), WANTED, is_known)
        assert (result.claim, result.findings) == ({}, ())


def test_a_node_of_another_cluster_with_the_same_id_on_the_machine_is_left_alone() -> None:
    others_dirs = [{"path": "/srv/another", "meta_properties": {"cluster.id": "another", "node.id": "1"}}]
    another = old(pid=5, dirs=others_dirs)
    result = take_over(machine(another, old()), WANTED, is_known=False)
    assert (result.findings, result.claim["pid"]) == ((), 801)
    # Whoever runs it.
    ours = {"product": "kafka", "node_id": "1", "cluster": "c"}
    assert take_over(machine(old(pid=5, dirs=others_dirs, ours=ours), old()), WANTED, False).claim["pid"] == 801
    taken = take_over(machine(another, old(ours=ours)), WANTED, False)
    assert (taken.claim, taken.findings) == ({}, ())
    # Alone it is taken for the node, and refused for its directories.
    assert "its directories of data by the inventory: /var/lib/kafka; what runs: /srv/another" in refusals(another)


def test_two_with_one_id_and_a_silent_machine_are_refused() -> None:
    assert "several processes of the node with id 1 run on kafka1 (801, 5)" in refusals(old(), old(pid=5))
    silent = take_over({"unreachable": True, "msg": "no route"}, WANTED, is_known=True)
    assert "kafka1 was not looked at: no route" in str(silent.findings[0])
