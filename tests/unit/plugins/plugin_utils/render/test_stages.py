# SPDX-License-Identifier: GPL-3.0-or-later
"""The properties of a broker and of a controller in each stage of a migration, whole, plain and secured."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._migration.modes import (
    KRAFT,
    LEFT_ALONE,
    MIGRATING,
    ZOOKEEPER,
)
from ansible_collections.streamops.kafka.plugins.module_utils._node.restart_reasons import restart_reasons
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.view import View
from tests.support.inventory_data import view

HOSTS: dict[str, dict[str, Any]] = {
    **{f"b{n}": {"kafka_node_id": n, "ansible_host": f"10.0.1.{n}"} for n in (1, 2, 3)},
    **{f"c{n}": {"kafka_node_id": 100 + n, "ansible_host": f"10.0.2.{n}"} for n in (1, 2, 3)},
    **{f"z{n}": {"zookeeper_id": n, "ansible_host": f"10.0.0.{n}"} for n in (1, 2, 3)},
}
BROKERS, CONTROLLERS, SERVERS = ["b1", "b2", "b3"], ["c1", "c2", "c3"], ["z1", "z2", "z3"]


def listeners(clients: str, nodes: str) -> list[dict[str, Any]]:
    return [
        {"name": "CLIENT", "port": 9092, "purpose": "clients", "protocol": clients},
        {"name": "BROKER", "port": 9094, "purpose": "brokers", "protocol": nodes},
        {"name": "CONTROLLER", "port": 9093, "purpose": "controllers", "protocol": nodes},
    ]


PLAIN: dict[str, Any] = {
    "kafka_listeners": listeners("PLAINTEXT", "PLAINTEXT"),
    "kafka_authorizer": False,
    "kafka_log_dirs": ["/d"],
    "kafka_config_dir": "/c",
    "zookeeper_chroot": "/k",
    "kafka_heap_size": "1g",
}
SECURED: dict[str, Any] = {
    **PLAIN,
    "kafka_listeners": listeners("SASL_SSL", "SSL"),
    "kafka_tls_source": "files",
    "kafka_authorizer": True,
    "kafka_super_users": ["ops"],
    "kafka_sasl_mechanisms": ["SCRAM-SHA-512"],
    "zookeeper_tls": True,
    "zookeeper_user": "kafka",
    "zookeeper_password": "secret",
}


def seen(host: str, stage: str = "", controllers: bool = True, mode: str = "zookeeper", **common: Any) -> View:
    """Return the model of a host of a cluster with ZooKeeper that migrates; controllers -- whether it has any yet."""
    known = {"kafka_mode": mode, **PLAIN, **common}
    if stage:
        known["_kafka_stage"] = stage
    groups = {"brokers": BROKERS, "zookeepers": SERVERS, "controllers": CONTROLLERS if controllers else []}
    hosts = {name: HOSTS[name] for name in HOSTS if controllers or name not in CONTROLLERS}
    return view(hosts, **groups, host=host, **known)


def properties(host: str, stage: str = "", **more: Any) -> dict[str, Any]:
    return dict(seen(host, stage, **more)["properties"])


def addresses(*networks: int) -> list[str]:
    return [f"10.0.{network}.{number}:2147483647" for network in networks for number in (1, 2, 3)]


# -- what each stage has, without security -----------------------------------------------------------------------------

VOTERS = ["101@10.0.2.1:9093", "102@10.0.2.2:9093", "103@10.0.2.3:9093"]
CONNECT = "10.0.0.1:2181,10.0.0.2:2181,10.0.0.3:2181/k"
#: What a broker has in every stage.
OF_BROKERS = {
    "log.dirs": ["/d"],
    "listeners": ["CLIENT://:9092", "BROKER://:9094"],
    "advertised.listeners": ["CLIENT://10.0.1.1:9092", "BROKER://10.0.1.1:9094"],
    "listener.security.protocol.map": ["CLIENT:PLAINTEXT", "BROKER:PLAINTEXT", "CONTROLLER:PLAINTEXT"],
    "inter.broker.listener.name": "BROKER",
    "default.replication.factor": 3,
    "min.insync.replicas": 2,
    "offsets.topic.replication.factor": 3,
    "transaction.state.log.replication.factor": 3,
    "transaction.state.log.min.isr": 2,
    "auto.create.topics.enable": False,
    "replica.fetch.backoff.ms": 200,
    "unclean.leader.election.enable": False,
    "max.connections.per.ip": 500,
    "queued.max.request.bytes": 134217728,
    "max.connections.per.ip.overrides": addresses(0, 1, 2),
    "listener.name.client.max.connections": 5000,
    "listener.name.client.max.connection.creation.rate": 500,
}
QUORUM = {"controller.listener.names": "CONTROLLER", "controller.quorum.voters": VOTERS}
FLAGGED = {"zookeeper.metadata.migration.enable": True}
BROKER = {
    ZOOKEEPER: {
        **OF_BROKERS,
        "broker.id": 1,
        "zookeeper.connect": CONNECT,
        "listener.security.protocol.map": ["CLIENT:PLAINTEXT", "BROKER:PLAINTEXT"],
        "max.connections.per.ip.overrides": addresses(0, 1),
    },
    MIGRATING: {**OF_BROKERS, **QUORUM, **FLAGGED, "broker.id": 1, "zookeeper.connect": CONNECT},
    KRAFT: {
        **OF_BROKERS,
        **QUORUM,
        "node.id": 1,
        "process.roles": ["broker"],
        "share.coordinator.state.topic.replication.factor": 3,
        "share.coordinator.state.topic.min.isr": 2,
    },
}
OF_CONTROLLERS = {
    **QUORUM,
    "log.dirs": ["/d"],
    "node.id": 101,
    "process.roles": ["controller"],
    "listeners": ["CONTROLLER://:9093"],
    "advertised.listeners": ["CONTROLLER://10.0.2.1:9093"],
    "listener.security.protocol.map": ["CLIENT:PLAINTEXT", "BROKER:PLAINTEXT", "CONTROLLER:PLAINTEXT"],
    "max.connections.per.ip": 500,
}
CONTROLLER = {
    MIGRATING: {
        **OF_CONTROLLERS,
        **FLAGGED,
        "zookeeper.connect": CONNECT,
        "inter.broker.listener.name": "BROKER",
    },
    KRAFT: OF_CONTROLLERS,
}
PLAIN_CASES = [
    *(("b1", stage, expected) for stage, expected in BROKER.items()),
    *(("c1", stage, expected) for stage, expected in CONTROLLER.items()),
]


@pytest.mark.parametrize(("host", "stage", "expected"), PLAIN_CASES)
def test_a_node_has_the_properties_of_its_stage_and_no_other(host: str, stage: str, expected: dict[str, Any]) -> None:
    assert properties(host, stage) == expected


# -- what TLS, SCRAM, ACLs and the login at ZooKeeper add --------------------------------------------------------------


def tls(host: str) -> dict[str, Any]:
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": f"/c/{host}/tls/keystore.pem",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": f"/c/{host}/tls/truststore.pem",
        "ssl.enabled.protocols": ["TLSv1.3"],
        "ssl.protocol": "TLSv1.3",
        "ssl.endpoint.identification.algorithm": "https",
        "ssl.principal.mapping.rules": "RULE:^CN=([^,]+).*$/$1/,DEFAULT",
        "allow.everyone.if.no.acl.found": False,
    }


def session(host: str) -> dict[str, Any]:
    return {
        "zookeeper.ssl.client.enable": True,
        "zookeeper.clientCnxnSocket": "org.apache.zookeeper.ClientCnxnSocketNetty",
        "zookeeper.ssl.keystore.location": f"/c/{host}/tls/keystore.pem",
        "zookeeper.ssl.keystore.type": "PEM",
        "zookeeper.ssl.truststore.location": f"/c/{host}/tls/truststore.pem",
        "zookeeper.ssl.truststore.type": "PEM",
        "zookeeper.ssl.protocol": "TLSv1.3",
        "zookeeper.ssl.enabled.protocols": ["TLSv1.3"],
        "zookeeper.ssl.endpoint.identification.algorithm": "HTTPS",
        "zookeeper.set.acl": True,
    }


SCRAM = {
    "listener.name.client.ssl.client.auth": "none",
    "listener.name.broker.ssl.client.auth": "required",
    "listener.name.client.sasl.enabled.mechanisms": ["SCRAM-SHA-512"],
    "listener.name.client.scram-sha-512.sasl.jaas.config": (
        "org.apache.kafka.common.security.scram.ScramLoginModule required;"
    ),
    "sasl.server.max.receive.size": 65536,
}
USERS = "User:b1;User:b2;User:b3;User:admin;User:ops"
ALL_USERS = f"User:c1;User:c2;User:c3;{USERS}"
MAP = {"listener.security.protocol.map": ["CLIENT:SASL_SSL", "BROKER:SSL", "CONTROLLER:SSL"]}
ACLS_IN_ZOOKEEPER = {"authorizer.class.name": "kafka.security.authorizer.AclAuthorizer"}
ACLS_IN_KRAFT = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}
AUTH = {"listener.name.controller.ssl.client.auth": "required"}
OF_BROKER: dict[str, Any] = {**tls("b1"), **SCRAM, **MAP, "super.users": ALL_USERS}
OF_CONTROLLER: dict[str, Any] = {**tls("c1"), **MAP, **AUTH, **ACLS_IN_KRAFT, "super.users": ALL_USERS}
WITHOUT_CONTROLLERS = {"listener.security.protocol.map": ["CLIENT:SASL_SSL", "BROKER:SSL"], "super.users": USERS}
SECURED_CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("b1", ZOOKEEPER, {**BROKER[ZOOKEEPER], **OF_BROKER, **session("b1"), **ACLS_IN_ZOOKEEPER, **WITHOUT_CONTROLLERS}),
    ("b1", MIGRATING, {**BROKER[MIGRATING], **OF_BROKER, **session("b1"), **ACLS_IN_ZOOKEEPER}),
    ("b1", KRAFT, {**BROKER[KRAFT], **OF_BROKER, **ACLS_IN_KRAFT}),
    ("c1", MIGRATING, {**CONTROLLER[MIGRATING], **OF_CONTROLLER, **session("c1")}),
    ("c1", KRAFT, {**CONTROLLER[KRAFT], **OF_CONTROLLER}),
]


@pytest.mark.parametrize(("host", "stage", "expected"), SECURED_CASES)
def test_a_secured_node_has_the_properties_of_its_stage_and_no_other(
    host: str, stage: str, expected: dict[str, Any]
) -> None:
    assert properties(host, stage, **SECURED) == expected


@pytest.mark.parametrize("common", [PLAIN, SECURED], ids=["plain", "secured"])
def test_controllers_that_come_into_the_inventory_change_nothing_of_a_broker_with_zookeeper(
    common: dict[str, Any],
) -> None:
    assert properties("b1", ZOOKEEPER, **common) == properties("b1", controllers=False, **common)


@pytest.mark.parametrize("common", [PLAIN, SECURED], ids=["plain", "secured"])
@pytest.mark.parametrize("host", ["b1", "c1"])
def test_the_last_stage_is_what_a_static_quorum_of_kraft_has_so_that_its_kafka_mode_restarts_nothing(
    host: str, common: dict[str, Any]
) -> None:
    static: dict[str, Any] = {"__common_node_info": {"quorum": {"static": True}}}
    after = properties(host, mode="kraft_isolated", **static, **common)
    assert properties(host, KRAFT, **common) == after


def test_a_stage_that_is_left_behind_means_nothing_once_the_inventory_says_kraft() -> None:
    assert properties("b1", MIGRATING, mode="kraft_isolated") == properties("b1", mode="kraft_isolated")


# -- what the inventory itself sets ------------------------------------------------------------------------------------

OWN: dict[str, Any] = {
    "kafka_config": {
        "inter.broker.protocol.version": "3.9",
        "authorizer.class.name": "kafka.security.authorizer.AclAuthorizer",
        "num.io.threads": 4,
    },
    "kafka_broker_config": {
        "control.plane.listener.name": "BROKER",
        "zookeeper.session.timeout.ms": 30000,
        "password.encoder.secret": "s",
        "broker.id.generation.enable": False,
    },
}
OF_ZOOKEEPER = ("inter.broker.protocol.version", "control.plane.listener.name", "broker.id.generation.enable")


@pytest.mark.parametrize("stage", [ZOOKEEPER, MIGRATING])
def test_a_broker_of_zookeeper_keeps_all_that_the_inventory_sets(stage: str) -> None:
    own = {**OWN["kafka_config"], **OWN["kafka_broker_config"]}
    assert own.items() <= properties("b1", stage, **OWN).items()


def test_a_broker_of_kraft_has_nothing_that_kraft_refuses_and_acls_in_kraft() -> None:
    moved = properties("b1", KRAFT, **OWN)
    assert not [key for key in moved if key.startswith(("zookeeper.", "password.encoder.", *OF_ZOOKEEPER))]
    assert (moved["num.io.threads"], moved["authorizer.class.name"]) == (4, ACLS_IN_KRAFT["authorizer.class.name"])


def test_a_controller_that_migrates_has_the_session_of_brokers_and_reads_their_passwords() -> None:
    begun = properties("c1", MIGRATING, **OWN)
    assert (begun["zookeeper.session.timeout.ms"], begun["password.encoder.secret"]) == (30000, "s")
    assert not [key for key in begun if key in OF_ZOOKEEPER]
    assert begun["authorizer.class.name"] == ACLS_IN_KRAFT["authorizer.class.name"]
    ended = properties("c1", KRAFT, **OWN)
    assert not [key for key in ended if key.startswith(("zookeeper.", "password.encoder.", *OF_ZOOKEEPER))]


def test_the_metadata_log_is_at_one_place_from_the_flag_on() -> None:
    own = {"kafka_metadata_log_dir": "/m"}
    kept = {stage: properties("b1", stage, **own).get("metadata.log.dir") for stage in (ZOOKEEPER, MIGRATING, KRAFT)}
    assert kept == {ZOOKEEPER: None, MIGRATING: "/m", KRAFT: "/m"}
    assert properties("c1", MIGRATING, **own)["metadata.log.dir"] == "/m"


def test_brokers_that_talk_over_the_listener_of_clients_are_reached_by_it() -> None:
    shared = [one for one in listeners("PLAINTEXT", "PLAINTEXT") if one["purpose"] != "brokers"]
    assert properties("c1", MIGRATING, kafka_listeners=shared)["inter.broker.listener.name"] == "CLIENT"


# -- the process -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "stage", "logs_in"),
    [
        ("b1", ZOOKEEPER, True),
        ("b1", MIGRATING, True),
        ("b1", KRAFT, False),
        ("c1", MIGRATING, True),
        ("c1", KRAFT, False),
        ("z1", "", True),
    ],
)
def test_a_node_logs_in_at_zookeeper_as_long_as_it_uses_it(host: str, stage: str, logs_in: bool) -> None:
    assert bool(seen(host, stage, **SECURED)["jaas"]) == logs_in


@pytest.mark.parametrize(
    ("host", "stage", "retries", "seconds"),
    [("b1", MIGRATING, 6, 19.0), ("b1", KRAFT, 0, 10.0), ("c1", MIGRATING, 0, 19.0), ("c1", KRAFT, 0, 10.0)],
)
def test_the_session_of_a_stage_says_how_often_a_start_is_tried_and_how_long_a_node_is_looked_at(
    host: str, stage: str, retries: int, seconds: float
) -> None:
    model = seen(host, stage)
    assert (model["process"]["start_retries"], model["steady_seconds"]) == (retries, seconds)


def test_a_controller_that_is_left_alone_can_be_rendered_as_it_will_begin() -> None:
    assert properties("c1", LEFT_ALONE) == CONTROLLER[MIGRATING]


def test_a_quorum_with_other_voters_than_the_inventory_is_refused() -> None:
    asked = {"nodes": [], "quorum": {"leader_id": 101, "voters": [{"id": 101, "directory_id": None}]}}
    with pytest.raises(ValueError, match=r"where they are 101; the inventory has the controllers 101, 102, 103"):
        properties("b1", MIGRATING, __common_registered=asked)


# -- the approval of a step --------------------------------------------------------------------------------------------

#: What each step makes of its nodes: the stage that they were started in, None where they never were, and the next one.
STEPS = {
    "not_begun": ("c", None, MIGRATING),
    "controllers_ready": ("b", ZOOKEEPER, MIGRATING),
    "copied": ("b", MIGRATING, KRAFT),
    "dual_write_kraft": ("c", MIGRATING, KRAFT),
}


def left_by(host: str, before: str | None, stage: str) -> dict[str, Any]:
    """Return what tasks in check mode leave on a host that a step begins."""
    written = {"changed_paths": ["/c/server.properties"]}
    if before is None:
        return {"__common_node_info": {"process": {"running": False}, "disks": [], "restart_reasons": []},
                "__common_generation": written}  # fmt: skip
    was, wanted = (
        {key: str(value) for key, value in properties(host, each, **SECURED).items()} for each in (before, stage)
    )
    started = {"properties": was, "jvm": [], "files": {}, "limits": {}}
    reasons = restart_reasons(started, {"properties": wanted}, running=True)
    return {"__common_node_info": {"process": {"running": True}, "restart_reasons": reasons},
            "__common_generation": written}  # fmt: skip


def reports_of(step: str, **given: Any) -> Any:
    kind, before, stage = STEPS[step]
    hosts = {host: {**HOSTS[host], "_kafka_stage": stage, **left_by(host, before, stage)}
             for host in (*BROKERS, *CONTROLLERS) if host.startswith(kind)}  # fmt: skip
    brokers, controllers = (BROKERS, []) if kind == "b" else ([], CONTROLLERS)
    return view(hosts, brokers=brokers, controllers=controllers, kafka_mode="zookeeper", **given)["reports"]


@pytest.mark.parametrize("now", STEPS)
@pytest.mark.parametrize("approved", STEPS)
def test_the_approval_of_a_step_is_one_for_no_other_step(approved: str, now: str) -> None:
    plan = reports_of(approved, ansible_check_mode=True)
    assert plan["plan_digest"].startswith("3-changes-")
    given = {"streamops_plan_digest": plan["plan_digest"], "streamops_plan": plan["plans"]}
    refused = reports_of(now, **given)["approval_refusal"]
    assert bool(refused) == (now != approved)
    if refused:
        assert "this is not the plan that was approved" in refused
