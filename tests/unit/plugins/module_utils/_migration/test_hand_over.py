# SPDX-License-Identifier: GPL-3.0-or-later
"""The hand-over to ZooKeeper as data: its order, what must hold before each part, epochs, what is left after cuts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._migration.hand_over import (
    Act,
    HandOverError,
    after,
    aside,
    changes,
    epoch_of_kraft,
    hand_over,
    may_run,
    with_versions,
    znodes_of,
)
from ansible_collections.streamops.kafka.plugins.module_utils._migration.model import (
    ClusterLook,
    EnsembleLook,
    MigrationZnode,
    Znodes,
)
from ansible_collections.streamops.kafka.plugins.module_utils._node.disks import METADATA_PARTITION
from tests.unit.plugins.module_utils._migration import looks

OF_KRAFT, COPIED = looks.OF_KRAFT, MigrationZnode(101, 4, 800)
DIRECTORIES = {f"controller{number}": f"/data/controller{number}" for number in (1, 2, 3)}
SECONDS = 1795986000


def texts(look: ClusterLook) -> list[str]:
    return [str(act) for act in hand_over(look, DIRECTORIES, SECONDS)]


def of_znodes(znodes: Znodes, quorum_epoch: int = 4) -> list[str]:
    return [str(act) for act in changes(znodes, quorum_epoch)]


def test_a_whole_hand_over_stops_first_and_sets_the_logs_aside_last() -> None:
    assert texts(looks.with_znodes(looks.copied(), epoch=3)) == [
        "stop controller controller1",
        "stop controller controller2",
        "stop controller controller3",
        "set /controller_epoch 5",
        "delete /controller",
        "delete /migration",
        *(
            f"set aside /data/controller{number}/__cluster_metadata-0 -> "
            f"/data/controller{number}/__cluster_metadata-1795986000 on controller{number}"
            for number in (1, 2, 3)
        ),
    ]


def test_all_but_a_stop_needs_every_controller_to_be_seen_stopped() -> None:
    acts = hand_over(looks.copied(), DIRECTORIES, SECONDS)
    assert {act.stopped for act in acts if act.kind != "stop"} == {("controller1", "controller2", "controller3")}
    assert {act.stopped for act in acts if act.kind == "stop"} == {()}


@pytest.mark.parametrize("phase", [looks.controllers_ready, looks.brokers_migrating])
def test_before_the_copy_the_broker_stays_in_charge(phase: Callable[[], ClusterLook]) -> None:
    look = looks.with_znodes(phase(), epoch=1)
    assert [text for text in texts(look) if text.startswith(("set /", "delete"))] == ["delete /migration"]


def test_controllers_that_took_over_after_the_look_hand_over_too() -> None:
    taken = replace(OF_KRAFT, epoch=3)
    assert of_znodes(taken, quorum_epoch=0) == ["set /controller_epoch 5", "delete /controller", "delete /migration"]


@pytest.mark.parametrize(
    ("quorum", "epoch", "value"), [(4, 9, None), (4, 5, None), (4, 4, "5"), (4, 3, "5"), (100, 10, "101")]
)
def test_the_epoch_of_zookeeper_is_above_that_of_the_quorum(quorum: int, epoch: int, value: str | None) -> None:
    raised = [act.value for act in changes(replace(OF_KRAFT, epoch=epoch), quorum) if act.kind == "set"]
    assert raised == ([] if value is None else [value])


def test_elections_that_nobody_won_count() -> None:
    look = looks.with_node(looks.copied(), "controller2", epoch=23)
    assert epoch_of_kraft(look) == 23
    assert "set /controller_epoch 24" in texts(look)
    assert epoch_of_kraft(looks.brokers_migrating()) == 0, "KRaft was in charge of nothing"


@pytest.mark.parametrize(
    ("znodes", "left"),
    [
        (Znodes(None, -1, 9, COPIED), ["delete /migration"]),
        (Znodes(2, -1, 10, COPIED), ["delete /migration"]),
        (Znodes(None, -1, 3, None), ["set /controller_epoch 5"]),
        (Znodes(None, -1, 9, None), []),
        (Znodes(2, -1, 10, None), []),
    ],
)
def test_what_somebody_has_done_already_is_not_done_again(znodes: Znodes, left: list[str]) -> None:
    assert of_znodes(znodes) == left


def test_nothing_is_changed_below_a_broker_that_is_in_charge_in_too_low_an_epoch() -> None:
    with pytest.raises(
        HandOverError, match=r"broker 2 is in charge already .* not above epoch 4 .* Nothing was changed"
    ):
        changes(Znodes(2, -1, 4, COPIED), 4)


def test_a_path_without_an_epoch_is_not_that_of_the_cluster() -> None:
    with pytest.raises(HandOverError, match="fix: check zookeeper_chroot"):
        changes(Znodes(101, 4, None, COPIED), 4)
    assert changes(Znodes(), 0) == ()


def test_no_plan_is_made_of_znodes_that_are_not_known() -> None:
    with pytest.raises(HandOverError, match="the znodes are not known"):
        hand_over(replace(looks.copied(), ensemble=EnsembleLook(3, 1, 0)), DIRECTORIES, SECONDS)


def test_each_part_that_is_done_leaves_the_plan() -> None:
    look = looks.copied()
    assert len(texts(look)) == 8
    look = looks.with_controllers(look, running=False)
    assert len(texts(look)) == 5
    look = looks.with_znodes(look, controller=None, kraft_epoch=-1, migration=None)
    assert len(texts(look)) == 3
    look = looks.with_node(look, "controller1", log=None, epoch=0)
    assert len(texts(look)) == 2
    assert texts(looks.with_controllers(look, log=None, epoch=0)) == []


@pytest.mark.parametrize("change", [{"silence": "timed out"}, {"running": True}, {"record_unread": "denied"}])
def test_stopped_is_what_a_machine_says_for_certain(change: dict[str, object]) -> None:
    look = looks.with_controllers(looks.copied(), running=False)
    assert may_run(look) == ()
    assert [node.host for node in may_run(looks.with_node(look, "controller2", **change))] == ["controller2"]


def test_a_controller_that_never_had_a_leader_is_stopped_too() -> None:
    look = looks.with_node(looks.not_begun(), "controller2", running=True)
    assert texts(look)[0] == "stop controller controller2"
    assert texts(look)[-1].endswith("on controller2")


def test_a_log_that_is_set_aside_is_no_partition_to_a_broker() -> None:
    path, name = aside("/data/1/", SECONDS)
    assert path == f"/data/1/{METADATA_PARTITION}"
    assert name == "/data/1/__cluster_metadata-1795986000"
    topic, _dash, partition = name.rpartition("/")[2].rpartition("-")
    assert topic == "__cluster_metadata"
    assert int(partition) < 2**31


def test_changes_are_tied_to_the_versions_that_were_read_and_say_so() -> None:
    versions = {"/controller": 0, "/controller_epoch": 8, "/migration": 31}
    acts = with_versions(changes(replace(OF_KRAFT, epoch=3), 4), versions)
    assert [str(act) for act in acts] == [
        "set /controller_epoch 5 if its version is 8",
        "delete /controller if its version is 0",
        "delete /migration if its version is 31",
    ]
    before = {"/controller": {"brokerid": 101}, "/controller_epoch": 3, "/migration": {}}
    assert after(before, acts) == {"/controller": None, "/controller_epoch": 5, "/migration": None}
    assert acts[0] == Act("set", path="/controller_epoch", value="5", version=8)


def test_znodes_are_read_as_kafka_writes_them() -> None:
    contents = {
        "/controller": {"version": 2, "brokerid": 101, "timestamp": "1", "kraftControllerEpoch": 4},
        "/controller_epoch": 9,
        "/migration": {"kraft_controller_id": 101, "kraft_controller_epoch": 4, "kraft_metadata_offset": 800},
    }
    assert znodes_of(contents) == OF_KRAFT
    assert znodes_of(dict.fromkeys(contents)) == Znodes()
    assert znodes_of({**contents, "/controller": {"version": 1, "brokerid": 2}}).kraft_epoch == -1
