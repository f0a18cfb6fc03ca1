# SPDX-License-Identifier: GPL-3.0-or-later
"""The znodes of a way back from KRaft, changed in a real ensemble: below a path of their own, and below brokers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from kazoo.client import KazooClient
from kazoo.security import OPEN_ACL_UNSAFE, make_acl

from tests.support.modules import run_module
from tests.support.zookeeper import ZookeeperCluster

PATH, OF_BROKERS = "/way_back", "/local_zookeeper"
#: What Kafka 3.9 writes (ZkData.scala).
OF_KRAFT = {"version": 2, "brokerid": 101, "timestamp": "1764400000000", "kraftControllerEpoch": 4}
COPIED = {
    "version": 0,
    "kraft_metadata_offset": 800,
    "kraft_controller_id": 101,
    "kraft_metadata_epoch": 4,
    "kraft_controller_epoch": 4,
}


@pytest.fixture
def session(zookeeper: ZookeeperCluster) -> Iterator[KazooClient]:
    """A session below a path on which no broker looks; it is removed afterwards."""
    client = KazooClient(",".join(f"127.0.0.1:{zookeeper.port(server)}" for server in zookeeper.servers))
    client.start()
    try:
        client.create(PATH)
        yield client
    finally:
        client.delete(PATH, recursive=True)
        client.stop()
        client.close()


def write(session: KazooClient, **znodes: Any) -> None:
    """Write znodes as Kafka does, each twice, so that their versions are none that they begin with."""
    for name, content in znodes.items():
        session.create(f"{PATH}/{name}", b"")
        session.set(f"{PATH}/{name}", json.dumps(content).encode())


def run(cluster: ZookeeperCluster, chroot: str = PATH, *, check: bool = False, **more: Any) -> dict[str, Any]:
    """Run the module against the ensemble."""
    servers = [{"id": cluster.identities[s], "host": "127.0.0.1", "port": cluster.port(s)} for s in cluster.servers]
    wish = {"servers": servers, "chroot": chroot, "quorum_epoch": 4, "controllers_stopped": True, **more}
    return run_module("streamops.kafka.migration_znodes", wish, check=check, diff=True)


def test_what_kraft_wrote_goes_in_one_transaction_and_the_epoch_is_above_it(
    zookeeper: ZookeeperCluster, session: KazooClient
) -> None:
    write(session, controller=OF_KRAFT, controller_epoch=3, migration=COPIED, other="kept")
    checked = run(zookeeper, check=True)
    assert checked["changed"]
    assert sorted(session.get_children(PATH)) == ["controller", "controller_epoch", "migration", "other"]

    given = run(zookeeper)
    assert (given["changed"], given["acts"]) == (True, checked["acts"])
    assert given["acts"] == [
        "set /controller_epoch 5 if its version is 1",
        "delete /controller if its version is 1",
        "delete /migration if its version is 1",
    ]
    assert given["znodes"]["/migration"] == COPIED
    assert sorted(session.get_children(PATH)) == ["controller_epoch", "other"]
    assert session.get(f"{PATH}/controller_epoch")[0] == b"5"

    again = run(zookeeper)
    assert (again["changed"], again["acts"]) == (False, [])


@pytest.mark.parametrize(
    ("left", "acts"),
    [
        ({"migration": COPIED}, ["delete /migration if its version is 1"]),
        ({"controller": OF_KRAFT}, ["delete /controller if its version is 1"]),
    ],
)
def test_what_a_person_left_half_done_is_ended(
    zookeeper: ZookeeperCluster, session: KazooClient, left: dict[str, Any], acts: list[str]
) -> None:
    write(session, controller_epoch=9, **left)
    assert run(zookeeper)["acts"] == acts
    assert session.get_children(PATH) == ["controller_epoch"]
    assert session.get(f"{PATH}/controller_epoch")[0] == b"9"


def test_nothing_is_done_while_a_controller_may_run(zookeeper: ZookeeperCluster, session: KazooClient) -> None:
    write(session, controller=OF_KRAFT, controller_epoch=9)
    refused = run(zookeeper, controllers_stopped=False)
    assert refused["failed"]
    assert "one that runs takes the controllership again" in refused["msg"]
    assert len(session.get_children(PATH)) == 2


def test_a_transaction_of_which_one_part_may_not_be_made_changes_nothing(
    zookeeper: ZookeeperCluster, session: KazooClient
) -> None:
    write(session, controller=OF_KRAFT, controller_epoch=3, migration=COPIED)
    # A znode with a child cannot be deleted.
    session.create(f"{PATH}/migration/child")
    refused = run(zookeeper)
    assert refused["failed"]
    assert "znode /migration was not changed, nor any other" in refused["msg"]
    assert len(session.get_children(PATH)) == 3
    assert session.get(f"{PATH}/controller_epoch")[0] == b"3"


def test_brokers_that_are_in_charge_stay_so(zookeeper: ZookeeperCluster) -> None:
    before = zookeeper.ensemble(chroot=OF_BROKERS)["znodes"]
    assert not run(zookeeper, OF_BROKERS, quorum_epoch=0)["changed"]
    refused = run(zookeeper, OF_BROKERS, quorum_epoch=before["/controller_epoch"])
    assert refused["failed"]
    assert f"broker {before['/controller']['brokerid']} is in charge already" in refused["msg"]
    assert zookeeper.ensemble(chroot=OF_BROKERS)["znodes"] == before


def test_a_path_of_no_cluster_is_left_as_it_is(zookeeper: ZookeeperCluster) -> None:
    assert not run(zookeeper, "/of_nobody", quorum_epoch=0)["changed"]


def test_rights_that_a_login_lacks_are_named_and_the_trial_changes_nothing(
    zookeeper: ZookeeperCluster, session: KazooClient
) -> None:
    write(session, controller_epoch=3, config={}, other={})
    session.create(f"{PATH}/config/users/app", b"{}", makepath=True)
    paths = [PATH, f"{PATH}/controller_epoch", f"{PATH}/config", f"{PATH}/config/users/app"]
    before = {path: session.get(path) for path in paths}
    assert zookeeper.ensemble(chroot=PATH, rights=True)["denied"] == []
    reads = [make_acl("world", "anyone", read=True, admin=True)]
    for path in ("controller_epoch", "config/users", "other"):
        session.set_acls(f"{PATH}/{path}", reads)
    session.set_acls(f"{PATH}/config/users/app", [make_acl("world", "anyone", admin=True)])
    try:
        denied = zookeeper.ensemble(chroot=PATH, rights=True)["denied"]
        assert denied == ["/config/users", "/config/users/app", "/controller_epoch"]
        # Who is asked nothing about rights is told nothing of them.
        assert "denied" not in zookeeper.ensemble(chroot=PATH)
    finally:
        for path in ("controller_epoch", "config/users/app", "config/users", "other"):
            session.set_acls(f"{PATH}/{path}", OPEN_ACL_UNSAFE)
    assert {path: (session.get(path)[0], session.get(path)[1].version) for path in paths} == {
        path: (content, status.version) for path, (content, status) in before.items()
    }


def test_the_brokers_of_an_open_ensemble_keep_nothing_from_a_migration(zookeeper: ZookeeperCluster) -> None:
    assert zookeeper.ensemble(chroot=OF_BROKERS, rights=True)["denied"] == []
