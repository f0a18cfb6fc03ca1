"""The first user of a cluster of ZooKeeper mode, written before a broker could be asked."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.modules import run_module
from tests.support.zookeeper import ZookeeperCluster

WISH = {"chroot": "/local_zookeeper", "user": "first", "password": "one of tests"}


def ask(cluster: ZookeeperCluster, *, check: bool = False, **more: Any) -> dict[str, Any]:
    """Run the module against the ensemble."""
    servers = [{"id": cluster.identities[s], "host": "127.0.0.1", "port": cluster.port(s)} for s in cluster.servers]
    return run_module("streamops.kafka.zookeeper_credentials", {"servers": servers, **WISH, **more}, check=check)


@pytest.mark.full
def test_a_missing_credential_is_written_once_and_never_changed(zookeeper: ZookeeperCluster) -> None:
    assert ask(zookeeper, check=True)["added"] == ["SCRAM-SHA-512"]
    assert ask(zookeeper)["changed"]
    assert not ask(zookeeper, password="another of tests")["changed"]
    assert ask(zookeeper, mechanisms=["SCRAM-SHA-512", "SCRAM-SHA-256"])["added"] == ["SCRAM-SHA-256"]
    asked = {"bootstrap_servers": zookeeper.bootstrap_servers, "users": [{"name": "first", "state": "absent"}]}
    removed = run_module("streamops.kafka.users", asked)
    assert removed["changed"], "brokers know the user"


def test_an_ensemble_that_does_not_answer_is_named() -> None:
    servers = [{"id": 1, "host": "127.0.0.1", "port": 9}]
    found = run_module("streamops.kafka.zookeeper_credentials", {"servers": servers, "request_timeout": 1, **WISH})
    assert found["failed"]
    assert "ZooKeeper 127.0.0.1:9" in found["msg"]
