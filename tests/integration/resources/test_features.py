# SPDX-License-Identifier: GPL-3.0-or-later
"""Features of a real broker: what is below, raised one by one, and taken back where Kafka allows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._features.api import announced_at, update_features
from tests.support.cluster import Cluster, free_port_base, hosts_file, local_variables, until
from tests.support.lone_broker import LoneBroker
from tests.support.modules import run_module

ELR = "eligible.leader.replicas.version"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, kafka_release: Callable[[str], Path]) -> Iterator[LoneBroker]:
    """One broker and controller of 4.3.1 that was formatted as 4.0 would have been."""
    one = LoneBroker(kafka_release("4.3.1"), tmp_path_factory.mktemp("features"), free_port_base() + 10)
    one.format("MkU3OEVBNTcwNTJENDM2Qk", "--release-version=4.0")
    one.start()
    try:
        yield one
    finally:
        one.kill()


def features(broker: LoneBroker, check: bool = False, diff: bool = False, **options: Any) -> dict[str, Any]:
    """Run the module."""
    arguments = {"bootstrap_servers": broker.bootstrap_servers, **options}
    return run_module("streamops.kafka.features", arguments, check=check, diff=diff)


def info(broker: LoneBroker, **options: Any) -> dict[str, Any]:
    """Look at the features."""
    found = run_module("streamops.kafka.features_info", {"bootstrap_servers": broker.bootstrap_servers, **options})
    assert not found["failed"], found
    return found


def levels(broker: LoneBroker) -> dict[str, int]:
    """Return the finalized levels by feature."""
    return {one["name"]: one["finalized"] for one in info(broker)["features"]}


def test_what_is_below_is_named_with_what_all_nodes_could_run(broker: LoneBroker) -> None:
    found = info(broker)
    metadata, *_others = found["features"]
    assert (metadata["name"], metadata["finalized_name"], metadata["max_name"]) == (
        "metadata.version",
        "4.0-IV3",
        "4.3-IV0",
    )
    assert (metadata["below"], metadata["held_by"], metadata["refusal"]) == (True, [], None)
    assert {"metadata.version", ELR, "share.version", "streams.version"} <= set(found["below"])
    assert found["lines"][0] == (
        "metadata.version is 4.0-IV3 (level 25) although all nodes could run 4.3-IV0 (level 30)"
    )
    (node,) = found["nodes"]
    assert (node["id"], node["kind"], node["supported"]["metadata.version"]["max"]) == (1, "broker", 30)
    assert (found["ghosts"], found["unknown"]) == ([], [])


def test_the_listener_of_a_controller_tells_the_same_before_any_login(broker: LoneBroker) -> None:
    at = announced_at(f"127.0.0.1:{broker.port + 1}", None, 10)
    (node,) = info(broker)["nodes"]
    assert node["supported"] == {name: {"min": low, "max": high} for name, (low, high) in at.supported.items()}


def test_a_status_tells_what_is_below_and_fails_nothing_for_it(broker: LoneBroker, tmp_path: Path) -> None:
    hosts = {"kafka1": {"kafka_node_id": 1}}
    groups = {"kafka_brokers": hosts, "kraft_controllers": hosts}
    inventory = hosts_file(tmp_path / "inventory", groups, local_variables())
    run = Cluster(inventory, tmp_path / "run", broker.port - 10).playbook("playbooks/status.yml").ok()
    said = " ".join(run.output.split())
    assert "OK local: 1 brokers up" in said
    assert "Features metadata.version 4.0-IV3 although all nodes could run 4.3-IV0" in said
    assert "Features kraft.version" not in said


def test_levels_are_refused_that_the_node_does_not_have_and_nothing_is_changed(broker: LoneBroker) -> None:
    before = levels(broker)
    high = features(broker, features={"metadata.version": "4.4", ELR: "1", "group.versio": 1})
    assert high["failed"] is True
    assert "metadata.version: level 4.4-IV2 (level 33) is not supported by all nodes (broker 1: 7 to 30)" in high["msg"]
    assert "group.versio: no node knows a feature of this name (names like it: group.version" in high["msg"]
    assert "nothing was changed" in high["msg"]
    assert (levels(broker), before["metadata.version"]) == (before, 25)


def test_features_are_shown_raised_and_left(broker: LoneBroker) -> None:
    wanted = {ELR: "1", "metadata.version": "4.3"}
    plan = features(broker, check=True, diff=True, features=wanted)
    assert not plan["failed"], plan
    assert [(one["feature"], one["from"], one["to"], one["can_be_taken_back"]) for one in plan["changes"]] == [
        ("metadata.version", 25, 30, False),
        (ELR, 0, 1, True),
    ]
    assert plan["diff"]["after"] == {"metadata.version": {"level": "4.3-IV0 (level 30)"}, ELR: {"level": "1"}}
    assert (levels(broker)["metadata.version"], levels(broker)[ELR]) == (25, 0)
    done = features(broker, features=wanted)
    assert not done["failed"], done
    assert (done["changed"], done["changes"]) == (True, plan["changes"])
    assert (levels(broker)["metadata.version"], levels(broker)[ELR]) == (30, 1)
    again = features(broker, features=wanted)
    assert (again["changed"], again["changes"], again["unchanged"]) == (False, [], ["metadata.version", ELR])
    newest = features(broker, state="newest", names=["share.version", "metadata.version"])
    assert not newest["failed"], newest
    assert [one["feature"] for one in newest["changes"]] == ["share.version"]
    assert levels(broker)["kraft.version"] == 0


def test_only_what_loses_nothing_is_taken_back(broker: LoneBroker) -> None:
    assert not features(broker, features={"metadata.version": "4.3-IV0", ELR: 1})["failed"]
    lost = features(broker, features={"metadata.version": "4.0"}, upgrade_type="safe_downgrade")
    assert "what the metadata log holds changed with 4.3-IV0, so Kafka has no safe way back" in lost["msg"]
    unasked = features(broker, features={ELR: 0})
    assert "is a downgrade; give upgrade_type safe_downgrade" in unasked["msg"]
    assert (levels(broker)["metadata.version"], levels(broker)[ELR]) == (30, 1)
    back = features(broker, features={ELR: "0"}, upgrade_type="safe_downgrade")
    assert not back["failed"], back
    assert (back["changed"], levels(broker)[ELR]) == (True, 0)


@pytest.mark.full
def test_a_broker_of_an_old_release_holds_features_down_alive_and_stopped_until_it_is_unregistered(
    tmp_path: Path, kafka_release: Callable[[str], Path]
) -> None:
    port, cluster = free_port_base(), "MkU3OEVBNTcwNTJENDM2Qg"
    one = LoneBroker(kafka_release("4.3.1"), tmp_path / "one", port)
    only_a_broker = {
        "process.roles": "broker",
        "node.id": "2",
        "controller.quorum.voters": f"1@127.0.0.1:{port + 1}",
        "listeners": f"PLAINTEXT://127.0.0.1:{port + 10}",
    }
    two = LoneBroker(kafka_release("3.9.2"), tmp_path / "two", port + 10, **only_a_broker)
    wanted = {"metadata.version": "4.3"}
    one.format(cluster, "--release-version=3.9")
    two.format(cluster, "--release-version=3.9")
    one.start()
    try:
        two.start()
        until(lambda: [node["fenced"] for node in info(one)["nodes"]] == [False, False], "broker 2 to be up")
        found = info(one)
        assert (found["features"][0]["max_name"], found["features"][0]["held_by"]) == ("3.9-IV0", ["broker 2"])
        assert "broker 2: 1 to 21" in features(one, features=wanted)["msg"]
        two.kill()
        until(lambda: info(one)["ghosts"] == ["broker 2"], "broker 2 to be fenced", 60)
        ghost = info(one)["features"][0]
        assert (ghost["below"], "roker 2 only supports versions 1-21" in ghost["refusal"]) == (True, True)
        silent = info(one, ask_controller=False)
        assert (silent["features"][0]["below"], silent["features"][0]["refusal"], silent["unasked"]) == (
            True,
            None,
            None,
        )
        refused = features(one, features=wanted)
        assert "registered and fenced, so that they count all the same: broker 2" in refused["msg"]
        assert levels(one)["metadata.version"] == 21
        gone = {"bootstrap_servers": one.bootstrap_servers, "broker": 2, "state": "unregistered"}
        assert not run_module("streamops.kafka.broker_registration", gone)["failed"]
        done = features(one, features=wanted)
        assert not done["failed"], done
        assert levels(one)["metadata.version"] == 30
    finally:
        two.kill()
        one.kill()


@pytest.mark.full
def test_a_controller_of_an_old_release_is_asked_at_its_own_listener(
    tmp_path: Path, kafka_release: Callable[[str], Path]
) -> None:
    port, cluster = free_port_base(), "MkU3OEVBNTcwNTJENDM2Qh"
    voters = {"controller.quorum.voters": f"1@127.0.0.1:{port}"}
    only_a_controller = {"process.roles": "controller", "listeners": f"CONTROLLER://127.0.0.1:{port}"}
    only_a_broker = {"process.roles": "broker", "node.id": "2", "listeners": f"PLAINTEXT://127.0.0.1:{port + 10}"}
    one = LoneBroker(kafka_release("3.9.2"), tmp_path / "one", port, **voters, **only_a_controller)
    two = LoneBroker(kafka_release("4.3.1"), tmp_path / "two", port + 10, **voters, **only_a_broker)
    for node in (one, two):
        node.format(cluster, "--release-version=3.9")
    try:
        one.start()
        two.start()
        until(lambda: [node["fenced"] for node in info(two)["nodes"]] == [False, False], "broker 2 to be up")
        # A broker that has just come up does not know yet what its controller takes.
        until(lambda: info(two)["unasked"] is None, "the controller to judge")
        found = info(two)
        kinds = [(node["kind"], node["supported"]["metadata.version"]["max"]) for node in found["nodes"]]
        assert kinds == [("controller", 21), ("broker", 30)]
        assert (found["below"], found["unknown"], found["features"][0]["held_by"]) == (
            ["kraft.version"],
            [],
            ["controller 1"],
        )
        assert "controller 1: 1 to 21" in features(two, features={"metadata.version": "4.3"})["msg"]
    finally:
        two.kill()
        one.kill()


@pytest.mark.full
def test_a_broker_of_3_9_answers_for_each_feature(tmp_path: Path, kafka_release: Callable[[str], Path]) -> None:
    one = LoneBroker(kafka_release("3.9.2"), tmp_path, free_port_base())
    one.format("MkU3OEVBNTcwNTJENDM2Qk", "--release-version=3.7")
    one.start()
    try:
        assert "metadata.version is 3.7-IV4 (level 19) although all nodes could run 3.9-IV0" in info(one)["lines"][0]
        done = features(one, state="newest", names=["metadata.version"])
        assert (done["failed"], levels(one)["metadata.version"]) == (False, 21)
        back = features(one, features={"metadata.version": "3.8"}, upgrade_type="safe_downgrade")
        assert (back["failed"], levels(one)["metadata.version"]) == (False, 20)
        with Session(Connection(tuple(one.bootstrap_servers))) as session:
            error = update_features(session, {"metadata.version": 17}, lowers=True, validate_only=True)
        assert error["metadata.version"] is None
        with Session(Connection(tuple(one.bootstrap_servers))) as session:
            error = update_features(session, {"metadata.version": 16}, lowers=True, validate_only=True)
        code, why = error["metadata.version"] or ("", "")
        assert (code, "might delete metadata" in why) == ("INVALID_UPDATE_VERSION", True)
    finally:
        one.kill()
