# SPDX-License-Identifier: GPL-3.0-or-later
"""What nodes and the ensemble tell becomes the look that the phase is judged by, in each phase and for each silence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._migration.model import (
    ClusterLook,
    EnsembleLook,
    MigrationZnode,
    NodeLook,
    Znodes,
)
from ansible_collections.streamops.kafka.plugins.module_utils._migration.modes import CONTROLLER
from ansible_collections.streamops.kafka.plugins.module_utils._migration.phase import (
    NOT_BEGUN,
    UNKNOWN,
    WAY,
    phase_of,
)
from ansible_collections.streamops.kafka.plugins.module_utils._migration.shown import outlook_of
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.build import build_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.migration.read import (
    ask_ensemble,
    chroot_of,
    cluster_look,
    metadata_dirs,
    moving_partitions,
)
from tests.support.inventory_data import DataReader, view
from tests.unit.plugins.module_utils._migration import looks

SERVERS = ("zk1", "zk2", "zk3")
PHASES = [getattr(looks, name) for name in WAY]


def node_answer(node: NodeLook) -> dict[str, Any]:
    """Return what migration_info tells of a node."""
    if node.silence:
        return {"unreachable": True, "msg": f"Task failed: {node.silence}. Check the line."}
    log = node.log and {**asdict(node.log), "brokers": {str(broker): of for broker, of in node.log.brokers.items()}}
    return {
        "running": node.running,
        "release": node.release,
        "start_record": node.started,
        "log": log,
        "unread": node.unread,
        "record_unread": node.record_unread,
        "epoch": node.epoch,
        "kraft_dirs": None if node.kraft_dirs is None else list(node.kraft_dirs),
        "dirs_unread": node.dirs_unread,
    }


def ensemble_answer(look: EnsembleLook) -> dict[str, Any]:
    """Return what zookeeper_info tells of an ensemble of three."""
    states = ["leader", "follower", "follower"][: look.serving] + ["unreachable"] * (3 - look.serving)
    answer: dict[str, Any] = {
        "servers": [{"id": number, "state": state} for number, state in enumerate(states, 1)],
        "leader_id": 1 if look.serving > 1 else None,
    }
    if look.znodes is not None:
        answer.update(znodes=contents(look.znodes), unread={})
        answer["cluster"] = {"brokers": [{"id": broker} for broker in sorted(look.znodes.brokers)]}
    if look.denied:
        answer["denied"] = list(look.denied)
    return answer


def contents(znodes: Znodes) -> dict[str, Any]:
    """Return znodes as Kafka 3.9 writes them."""
    controller = {"version": 2, "brokerid": znodes.controller, "kraftControllerEpoch": znodes.kraft_epoch}
    migration = znodes.migration and {
        "version": 0,
        "kraft_controller_id": znodes.migration.controller,
        "kraft_controller_epoch": znodes.migration.epoch,
        "kraft_metadata_offset": znodes.migration.offset,
        "kraft_metadata_epoch": znodes.migration.epoch,
    }
    return {
        "/controller": None if znodes.controller is None else controller,
        "/controller_epoch": znodes.epoch,
        "/migration": migration,
    }


def read_back(look: ClusterLook, ensemble: Mapping[str, Any] | None = None, **machines: Any) -> ClusterLook:
    """Return what is read where the nodes of a cluster tell what it has; machines -- what those of servers tell."""
    hosts: dict[str, dict[str, Any]] = {
        node.host: {"kafka_node_id": node.id, "__common_migration_node": node_answer(node)} for node in look.nodes
    }
    for number, server in enumerate(SERVERS, 1):
        stopped = number > 3 - look.ensemble.stopped
        machine = machines.get(server, {"running": not stopped, "record_unread": ""})
        hosts[server] = {"zookeeper_id": number, "__common_migration_node": machine}
    groups = {
        "kafka_brokers": [node.host for node in look.brokers],
        "kraft_controllers": [node.host for node in look.controllers],
        "zookeeper": list(SERVERS),
    }
    reader = DataReader(hosts, groups, kafka_cluster_name=look.name, kafka_mode="zookeeper")
    nodes = build_inventory(reader.read, reader.groups).nodes
    answer = ensemble_answer(look.ensemble) if ensemble is None else ensemble
    return cluster_look(nodes[0].name, nodes, reader.read, answer)


def told(look: ClusterLook) -> dict[str, NodeLook]:
    return {node.host: node for node in look.nodes}


@pytest.mark.parametrize("phase", PHASES, ids=WAY)
def test_each_phase_is_read_as_nodes_and_znodes_tell_it(phase: Callable[[], ClusterLook]) -> None:
    look = phase()
    read = read_back(look)
    assert (told(read), phase_of(read)) == (told(look), phase_of(look))
    expected = replace(look.ensemble, unread="" if look.ensemble.znodes else "no server leads")
    assert read.ensemble == expected


def test_znodes_that_the_login_may_not_change_are_named() -> None:
    look = looks.not_begun()
    read = read_back(replace(look, ensemble=replace(look.ensemble, denied=("/config/users/app",))))
    assert read.ensemble.denied == ("/config/users/app",)
    outlook = outlook_of(read)
    trouble = next(trouble for trouble in outlook.troubles if trouble.name == "znodes_denied")
    assert trouble.what.endswith("1 znodes of the cluster: /config/users/app")


def test_a_machine_that_does_not_answer_is_silent_and_says_why() -> None:
    read = read_back(looks.with_node(looks.copied(), "controller2", silence="Connection timed out", log=None))
    controller = told(read)["controller2"]
    assert (controller.silence, controller.answers, controller.log) == ("Connection timed out", False, None)
    assert "controller_silent" in [trouble.name for trouble in outlook_of(read).troubles]


def test_a_host_that_no_task_reached_is_silent_and_not_stopped() -> None:
    look = looks.not_begun()
    hosts = {node.host: {"kafka_node_id": node.id} for node in look.nodes}
    reader = DataReader(hosts, {"kafka_brokers": list(hosts)}, kafka_cluster_name="blue")
    nodes = build_inventory(reader.read, reader.groups).nodes
    read = cluster_look(nodes[0].name, nodes, reader.read, {})
    assert {node.silence for node in read.nodes} == {"no answer"}
    assert read.ensemble == EnsembleLook()
    assert phase_of(read).name == UNKNOWN


def test_controllers_that_are_in_the_inventory_and_nowhere_else_leave_the_phase_as_it_is() -> None:
    assert phase_of(read_back(looks.not_begun())).name == NOT_BEGUN


def test_znodes_that_may_not_be_read_are_not_known_and_not_missing() -> None:
    look = looks.copied()
    answer = ensemble_answer(look.ensemble)
    answer["unread"] = {"/migration": "kafka has no right to read it"}
    answer["znodes"]["/migration"] = None
    ensemble = read_back(look, answer).ensemble
    assert (ensemble.znodes, ensemble.unread) == (None, "/migration: kafka has no right to read it")
    assert "znodes_unread" in [trouble.name for trouble in outlook_of(read_back(look, answer)).troubles]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"servers": [], "leader_id": None}, "no server leads"),
        ({"servers": [], "msg": "ZooKeeper zk1:2181: it does not answer us: x. Run again."}, "ZooKeeper zk1:2181"),
        ({}, "no server leads"),
    ],
)
def test_an_ensemble_without_an_answer_says_why(answer: dict[str, Any], why: str) -> None:
    ensemble = read_back(looks.copied(), answer).ensemble
    assert (ensemble.znodes, ensemble.serving, ensemble.servers) == (None, 0, 3)
    assert ensemble.unread.startswith(why)


@pytest.mark.parametrize(
    ("machine", "stopped"),
    [
        ({"running": False, "record_unread": ""}, 3),
        ({"running": True, "record_unread": ""}, 2),
        ({"running": False, "record_unread": "Permission denied"}, 2),
        ({"msg": "Connection refused"}, 2),
        ({}, 2),
    ],
    ids=["stopped", "runs", "denied", "silent", "never asked"],
)
def test_a_server_is_stopped_for_certain_where_its_machine_says_so(machine: dict[str, Any], stopped: int) -> None:
    look = looks.zookeeper_gone()
    assert read_back(look, zk3=machine).ensemble.stopped == stopped


def test_a_server_that_answers_is_not_stopped_whatever_its_machine_says() -> None:
    assert read_back(looks.copied(), zk1={"running": False, "record_unread": ""}).ensemble.stopped == 0


def test_a_controller_znode_of_an_older_broker_names_no_epoch_of_kraft() -> None:
    answer = ensemble_answer(looks.not_begun().ensemble)
    answer["znodes"]["/controller"] = {"version": 1, "brokerid": 2, "timestamp": "1"}
    znodes = read_back(looks.not_begun(), answer).ensemble.znodes
    assert znodes
    assert (znodes.controller, znodes.kraft_epoch) == (2, -1)


def test_the_offset_of_the_migration_tells_whether_it_was_copied() -> None:
    look = looks.with_znodes(looks.controllers_ready(), migration=MigrationZnode(101, 4, 0))
    znodes = read_back(look).ensemble.znodes
    assert znodes
    assert znodes.migration == MigrationZnode(101, 4, 0)


@pytest.mark.parametrize(
    ("given", "path"), [("/blue", "/blue"), ("blue/", "/blue"), ("", "/"), (" /a/b ", "/a/b"), ("/", "/")]
)
def test_the_path_is_that_of_the_brokers(given: str, path: str) -> None:
    reader = DataReader({"b1": {"kafka_node_id": 1}}, {"kafka_brokers": ["b1"]}, zookeeper_chroot=given)
    assert chroot_of("b1", build_inventory(reader.read, reader.groups).nodes) == path


@pytest.mark.parametrize("rights", [False, True])
@pytest.mark.parametrize(("words", "is_had"), [({"leader_id": 2}, True), ({"leader_id": None}, False), ({}, False)])
def test_a_session_is_had_where_a_server_leads(words: dict[str, Any], is_had: bool, rights: bool) -> None:
    calls: list[dict[str, Any]] = []

    def ask(**options: Any) -> dict[str, Any]:
        calls.append(options)
        return {**words, "chroot": options["chroot"]} if options else words

    assert ask_ensemble(ask, "/blue", rights) == ({**words, "chroot": "/blue"} if is_had else words)
    assert calls == [{}, {"chroot": "/blue", **({"rights": True} if rights else {})}][: 1 + is_had]


def test_the_metadata_log_is_where_the_model_has_it() -> None:
    hosts: dict[str, dict[str, Any]] = {
        "zk1": {"zookeeper_id": 1},
        "broker1": {"kafka_node_id": 1, "kafka_log_dirs": ["/disks/a", "/disks/b"]},
        "broker2": {"kafka_node_id": 2, "kafka_metadata_log_dir": "/disks/fast"},
        "controller1": {"kafka_node_id": 101, "kafka_log_dirs": ["/data/controller1"]},
    }
    kinds = {"zookeepers": ["zk1"], "brokers": ["broker1", "broker2"], "controllers": ["controller1"]}
    groups = {"zookeeper": ["zk1"], "kafka_brokers": kinds["brokers"], "kraft_controllers": ["controller1"]}
    reader = DataReader(hosts, groups, kafka_mode="zookeeper")
    dirs = metadata_dirs(build_inventory(reader.read, reader.groups).nodes)
    assert dirs == {"broker1": "/disks/a", "broker2": "/disks/fast", "controller1": "/data/controller1"}
    for host in dirs:
        assert view(hosts, **kinds, host=host, kafka_mode="zookeeper")["paths"]["metadata"] == dirs[host]


@pytest.mark.parametrize("mode", ["zookeeper", "kraft_isolated"])
def test_the_model_holds_for_an_inventory_with_both_kinds_of_nodes(mode: str) -> None:
    hosts: dict[str, dict[str, Any]] = {node.host: {"kafka_node_id": node.id} for node in looks.copied().nodes}
    hosts.update({server: {"zookeeper_id": number} for number, server in enumerate(SERVERS, 1)})
    for host in hosts:
        model = view(
            hosts,
            brokers=[node.host for node in looks.copied().brokers],
            controllers=[node.host for node in looks.copied().nodes if CONTROLLER in node.roles],
            zookeepers=SERVERS,
            host=host,
            kafka_mode=mode,
            kafka_version="3.9.2",
        )
        assert model["paths"]["state"].endswith(f"/{host}")
        assert model["paths"]["metadata"]
        assert model["process"]["config_file"] == ("zoo.cfg" if host in SERVERS else "server.properties")
        assert [server["id"] for server in model["zookeeper_access"]["servers"]] == [1, 2, 3]
        assert model["first_in_play"] == "controller1"


def test_partitions_that_move_are_named_and_an_answer_that_is_missing_says_why() -> None:
    still, moves = {"partition": 0}, {"partition": 1, "adding_replicas": [4], "removing_replicas": []}
    asked = {"topics": [{"name": "orders", "partitions": [still, moves]}, {"name": "idle", "partitions": [still]}]}
    assert moving_partitions(asked) == (("orders-1",), "")
    refused = {"failed": True, "msg": "no broker answers. Start one"}
    assert moving_partitions(refused) == ((), "no broker answers")
    assert moving_partitions({}) == ((), "no answer")


def test_what_a_host_told_last_counts_in_place_of_its_result() -> None:
    hosts: dict[str, dict[str, Any]] = {"b1": {"kafka_node_id": 1, "__common_migration_node": {"failed": True}}}
    reader = DataReader(hosts, {"kafka_brokers": ["b1"]}, kafka_mode="zookeeper")
    nodes = build_inventory(reader.read, reader.groups).nodes
    fresh = node_answer(looks.broker(1, "zookeeper"))
    assert not cluster_look("b1", nodes, reader.read, {}).brokers[0].answers
    assert cluster_look("b1", nodes, reader.read, {}, fresh).brokers[0].answers
