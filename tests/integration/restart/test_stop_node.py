# SPDX-License-Identifier: GPL-3.0-or-later
"""A node out for repair: stopped behind the gate by stop_node.yml, while resources.yml works without its machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import list_topics
from ansible_collections.streamops.kafka.plugins.module_utils._topics.api import delete_topics
from tests.support.cluster import Cluster, local_variables, said
from tests.support.modules import run_module

TOPIC = {"name": "while-it-is-out", "partitions": 2, "replication_factor": 2}
#: Ansible calls a host unreachable where it can make no directory for its files.
DEAD = {"ansible_remote_tmp": "/proc/nowhere", "ansible_pipelining": False}


@pytest.fixture
def one_may_go(combined: Cluster) -> Iterator[Cluster]:
    """The cluster, whose kafka3 serves again afterwards."""
    yield combined
    if not combined.alive("kafka3"):
        combined.start("kafka3")
    with Session(Connection(tuple(combined.bootstrap_servers))) as admin:
        if TOPIC["name"] in list_topics(admin):
            delete_topics(admin, [TOPIC["name"]])
    back = {"bootstrap_servers": combined.bootstrap_servers, "timeout": 120, "interval": 1}
    assert run_module("streamops.kafka.isr_wait", back)["in_sync"]


@pytest.mark.full
def test_a_node_goes_out_the_next_one_stays_and_topics_are_made_meanwhile(one_may_go: Cluster, tmp_path: Path) -> None:
    cluster = one_may_go
    pids = cluster.pids()
    foreseen = cluster.playbook("playbooks/stop_node.yml", "--check", kafka_stop_node="kafka3").ok()
    assert "kafka3 would stop, and stay down when its machine boots" in said(foreseen)
    assert cluster.pids() == pids
    stopped = cluster.playbook("playbooks/stop_node.yml", kafka_stop_node="kafka3").ok()
    assert "kafka3 is stopped, and stays down" in said(stopped)
    assert not cluster.alive("kafka3")
    cluster.playbook("playbooks/stop_node.yml", kafka_stop_node="kafka3").ok()
    refused = cluster.playbook("playbooks/stop_node.yml", kafka_stop_node="kafka2", kafka_gate_timeout=2)
    assert refused.rc != 0
    assert "another broker than node 2 is down" in said(refused)
    assert cluster.alive("kafka2")

    dead = tmp_path / "dead.yml"
    dead.write_text(yaml.safe_dump({"all": {"hosts": {"kafka3": DEAD}}}))
    wanted = {"kafka_topics": [*local_variables()["kafka_topics"], TOPIC]}
    site = cluster.playbook("site.yml", "-i", str(dead), **wanted)
    assert site.rc != 0
    assert "while its machine is out, playbook resources works without it" in said(site)
    made = cluster.playbook("playbooks/resources.yml", "-i", str(dead), **wanted).ok()
    assert made.changed == 1
    assert cluster.playbook("playbooks/resources.yml", "-i", str(dead), **wanted).ok().changed == 0
    with Session(Connection(tuple(cluster.bootstrap_servers))) as admin:
        assert TOPIC["name"] in list_topics(admin)
    assert not cluster.alive("kafka3")
    # Its lock is on a machine; that none can be reached hinders nothing that it does.
    dead.write_text(yaml.safe_dump({"all": {"hosts": dict.fromkeys(("kafka1", "kafka2", "kafka3"), DEAD)}}))
    alone = cluster.playbook("playbooks/resources.yml", "-i", str(dead), **wanted).ok()
    assert "no machine could be reached that keeps the lock of a run" in said(alone)
    assert alone.changed == 0


@pytest.mark.parametrize("named", [{}, {"kafka_stop_node": "kafka9"}])
def test_a_node_that_is_not_in_the_inventory_is_refused(one_may_go: Cluster, named: dict[str, str]) -> None:
    run = one_may_go.playbook("playbooks/stop_node.yml", **named)
    assert run.rc != 0
    assert run.changed == 0
    assert f"of the inventory (found: {named.get('kafka_stop_node', 'nothing')}). Nothing was changed." in said(run)
