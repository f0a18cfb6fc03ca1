# SPDX-License-Identifier: GPL-3.0-or-later
"""Two of three controllers are gone for good: the steps of docs/at-night.md, typed as they stand there."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import describe_quorum
from tests.support.cluster import BIN, ROOT, Cluster, environment, free_port_base, hosts_file, local_variables, until
from tests.support.modules import run_module
from tests.support.traffic import producing, read_all

pytestmark = pytest.mark.full

CONTROLLERS = {f"controller{number}": {"kafka_node_id": number} for number in (1, 2, 3)}
BROKERS = {"broker4": {"kafka_node_id": 4}}
VARIABLES = {
    "kafka_profile": "development",
    "kafka_mode": "kraft_isolated",
    "kafka_topics": [{"name": "orders", "partitions": 1}],
    # One broker: its topics are away while it restarts.
    "kafka_gate_allow_unavailable_topics": ["*"],
}
SECTION = "**Two of three are gone for good.**"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three controllers and a broker."""
    directory = tmp_path_factory.mktemp("lost")
    groups = {"kraft_controllers": CONTROLLERS, "kafka_brokers": BROKERS}
    cluster = Cluster(
        hosts_file(directory / "i", groups, local_variables()), directory / "c", free_port_base(), VARIABLES
    )
    try:
        cluster.playbook().ok()
        yield cluster
    finally:
        cluster.destroy()


def quorum(cluster: Cluster) -> tuple[int | None, list[int]]:
    """The leader, None where none answers, and the voters that have caught up."""
    with (
        contextlib.suppress(Exception),
        Session(Connection(tuple(cluster.bootstrap_servers), request_timeout=5)) as session,
    ):
        found = describe_quorum(session)
        if found is not None and not found.error:
            there = [
                one.id for one in found.voters if (one.last_caught_up_ms_ago or 0) < 2000 or one.id == found.leader_id
            ]
            return found.leader_id, sorted(there)
    return None, []


def commands() -> tuple[str, list[str]]:
    """What the page says to type: for the id of a directory, and as root on the machine of controller 2."""
    text = (ROOT / "docs" / "at-night.md").read_text().split(SECTION)[1].split("\n## ")[0].replace("\\\n", "")
    identity = re.findall(r"^ +\$ (.*)$", text, re.MULTILINE)
    typed = re.findall(r"^ +# (.*)$", text, re.MULTILINE)
    assert (len(identity), len(typed)) == (1, 4)
    return identity[0], typed


def lose(cluster: Cluster, nodes: list[str]) -> None:
    """The machines of these controllers are gone, with their disks."""
    for node in nodes:
        cluster.kill(node)
        cluster.supervisorctl("stop", cluster.service(node))
    for node in nodes:
        until(lambda node=node: not cluster.alive(node), f"{node} to be gone")
        shutil.rmtree(cluster.directory / "data" / node)


def bring_back(cluster: Cluster, left: str, lost: list[str], kept: Path) -> None:
    """Steps 1 to 5 of the page, with the directories of this cluster; chown needs a user that tests do not have."""
    data = cluster.directory / "data"
    identity, typed = commands()
    cluster.stop(left)
    shutil.copytree(data / left, kept)
    cluster_id = re.findall(r"^cluster.id=(.*)$", (kept / "meta.properties").read_text(), re.MULTILINE)[0]
    for node in lost:
        number = str(cluster.identities[node])
        ask = identity.replace("THE-CLUSTER-ID", cluster_id).replace("directory_id(2)", f"directory_id({number})")
        ran = {"shell": True, "cwd": ROOT, "env": environment(BIN), "check": True}
        said = subprocess.run(ask, **ran, capture_output=True, text=True).stdout  # type: ignore[call-overload]
        directory_id = re.findall(r"msg: '?([\w-]+)", said)[0]
        for one in typed:
            if not one.startswith("chown"):
                command = one.replace("/root/from-controller1", str(kept)).replace("THE-ID-OF-STEP-3", directory_id)
                command = command.replace("/var/lib/kafka/controller2", str(data / node)).replace(
                    "=2/;", f"={number}/;"
                )
                subprocess.run(command, **ran)  # type: ignore[call-overload]
        assert f"node.id={number}\n" in (data / node / "meta.properties").read_text()
    for node in CONTROLLERS:
        cluster.start(node)
    until(lambda: quorum(cluster)[1] == [1, 2, 3], "all three to vote", 180)


def topics(cluster: Cluster) -> set[str]:
    """The topics that the cluster knows."""
    found = run_module("streamops.kafka.cluster_info", {"bootstrap_servers": cluster.bootstrap_servers})
    return {one["name"] for one in found["topics"]}


def create(cluster: Cluster, name: str) -> None:
    wish = {"name": name, "partitions": 1, "replication_factor": 1}
    run_module("streamops.kafka.topics", {"bootstrap_servers": cluster.bootstrap_servers, "topics": [wish]})


def test_the_log_of_the_one_that_is_left_makes_the_quorum_again(cluster: Cluster, tmp_path: Path) -> None:
    with producing(cluster.bootstrap_servers, "orders", rate=50) as ledger:
        until(lambda: len(ledger.acknowledged) > 50, "the producer to be under way")
        lose(cluster, ["controller2", "controller3"])
        until(lambda: quorum(cluster)[0] is None, "the quorum to be lost")
        before = len(ledger.acknowledged)
        until(lambda: len(ledger.acknowledged) > before + 50, "the broker to serve without a quorum")
        bring_back(cluster, "controller1", ["controller2", "controller3"], tmp_path / "kept")
        create(cluster, "behind")
        assert {"orders", "behind"} <= topics(cluster)
    assert not ledger.failed
    assert not ledger.lost(read_all(cluster.bootstrap_servers, "orders"))
    pids = cluster.pids()
    again = cluster.playbook().ok()
    assert (again.changed, cluster.pids()) == (0, pids)


def test_what_only_the_lost_two_had_is_lost_and_its_records_lie_aside(cluster: Cluster, tmp_path: Path) -> None:
    # The one that is left lacks what the majority of the others decided.
    leader, voters = quorum(cluster)
    left = next(f"controller{one}" for one in voters if one != leader)
    lost = [node for node in CONTROLLERS if node != left]
    with cluster.frozen(left):
        create(cluster, "late")
        with producing(cluster.bootstrap_servers, "late", rate=20) as ledger:
            until(lambda: len(ledger.acknowledged) > 20, "records of the topic")
        lose(cluster, lost)
    broker = cluster.pid("broker4")
    bring_back(cluster, left, lost, tmp_path / "kept")
    until(lambda: cluster.listens("broker4") and quorum(cluster)[0] is not None, "the broker to serve", 180)
    # It knew more than the quorum of now, so it has ended, and was started again with less.
    with pytest.raises(ProcessLookupError):
        os.kill(broker, 0)
    assert "late" not in topics(cluster)
    (aside,) = (cluster.directory / "data" / "broker4").glob("late-0.*-stray")
    assert sum(one.stat().st_size for one in aside.glob("*.log")) > 0, "its records"
