# SPDX-License-Identifier: GPL-3.0-or-later
"""Features of a real broker: what is below, raised one by one, and taken back where Kafka allows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cluster import free_port_base
from tests.support.lone_broker import LoneBroker
from tests.support.modules import run_module

ELR = "eligible.leader.replicas.version"


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, kafka_release: Callable[[str], Path]) -> Iterator[LoneBroker]:
    """One broker and controller of 4.3.1 that was formatted as 4.0 would have been."""
    one = LoneBroker(kafka_release("4.3.1"), tmp_path_factory.mktemp("features"), free_port_base())
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


def info(broker: LoneBroker) -> dict[str, Any]:
    """Look at the features."""
    found = run_module("streamops.kafka.features_info", {"bootstrap_servers": broker.bootstrap_servers})
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


def test_levels_are_refused_that_the_node_does_not_have_and_nothing_is_changed(broker: LoneBroker) -> None:
    before = info(broker)["epoch"]
    high = features(broker, features={"metadata.version": "4.4", ELR: "1", "group.versio": 1})
    assert high["failed"] is True
    assert "metadata.version: level 4.4-IV2 (level 33) is not supported by all nodes (broker 1: 7 to 30)" in high["msg"]
    assert "group.versio: no node knows a feature of this name (names like it: group.version" in high["msg"]
    assert "nothing was changed" in high["msg"]
    assert (info(broker)["epoch"], levels(broker)["metadata.version"]) == (before, 25)


def test_features_are_shown_raised_and_left(broker: LoneBroker) -> None:
    wanted = {ELR: "1", "metadata.version": "4.3"}
    plan = features(broker, check=True, diff=True, features=wanted)
    assert not plan["failed"], plan
    assert [(one["feature"], one["from"], one["to"], one["can_be_taken_back"]) for one in plan["changes"]] == [
        ("metadata.version", 25, 30, False),
        (ELR, 0, 1, True),
    ]
    assert plan["diff"]["after"] == {"metadata.version": {"level": "4.3-IV0 (level 30)"}, ELR: {"level": "1"}}
    assert levels(broker)["metadata.version"] == 25
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
