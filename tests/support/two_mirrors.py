"""A source of one node, a line that can be cut, a target of three nodes and two mirrors beside it: to be hurt."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.support.cluster import free_port_base, hosts_file, until
from tests.support.line import Line, laid
from tests.support.mirrored import BEHIND_LINE, MIRROR, REST, SHIPPED, Mirrored
from tests.support.modules import run_module

#: Offset of the port of the line's switches among all ports.
SWITCHES = 95
#: Seconds between two notes of how far the mirror has come, set by the shipped inventory.
FLUSH = 2
_TARGET = {f"b{n - 3}": {"kafka_node_id": n, "kafka_rack": f"r{n - 3}"} for n in (4, 5, 6)}
#: Generation, address of the leader and connectors, as a worker of the flow logs them.
_JOINED = re.compile(
    r"groupId=dc_a-mm2\] Joined group at generation (\d+) .*?leaderUrl='([^']*)'.*?connectorIds=\[([^]]*)\]"
)


class TwoMirrors(Mirrored):
    """The cluster with its line. A record goes a1 -> line -> mirror1 or mirror2 -> b1, b2, b3."""

    line: Line

    def create(self, topic: str, partitions: int = 6) -> str:
        """A topic in the source, which is mirrored when its name begins with orders; returns its name over there."""
        wish = {"name": topic, "partitions": partitions, "replication_factor": 1}
        made = run_module("streamops.kafka.topics", {"bootstrap_servers": self.servers("dc_a"), "topics": [wish]})
        assert not made["failed"], made
        return f"dc_a.{topic}"

    def leader(self, topic: str) -> str:
        """The node of the target that leads partition 0 of a topic."""
        info = run_module("streamops.kafka.cluster_info", {"bootstrap_servers": self.servers("dc_b")})
        partitions = next(one for one in info["topics"] if one["name"] == topic)["partitions"]
        return {identity: node for node, identity in self.identities.items()}[partitions[0]["leader"]]

    def workers(self) -> dict[str, str]:
        """Who of the two leads the group of the flow, and who holds the connector that looks for new topics.

        Both by their own logs about the youngest generation of the group; a part that nobody tells is left out.
        """
        found = {}
        for node in self.mirrors:
            told = _JOINED.findall((self.directory / "log" / node / "server.log").read_text(errors="replace"))
            found[node] = told[-1] if told else ("0", "", "")
        youngest = max(int(generation) for generation, _, _ in found.values())
        parts = {}
        for node, (generation, url, connectors) in found.items():
            if int(generation) != youngest:
                continue
            parts["leader"] = next(one for one in self.mirrors if f":{self.port(one)}/" in url)
            if "MirrorSourceConnector" in connectors:
                parts["holder"] = node
        return parts

    def kill_and_see_it_back(self, node: str) -> None:
        """SIGKILL, and waits until supervisord has started it again."""
        before = self.pid(node)
        self.kill(node)
        until(lambda: self.has_started_again(node, before), f"{node} to be started again", 120)

    @contextlib.contextmanager
    def unsupervised(self) -> Iterator[None]:
        """Holds supervisord, so that what dies stays down until the block ends."""
        pid = int((self.directory / "run" / "supervisord.pid").read_text())
        os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(pid, signal.SIGCONT)

    def set_exactly_once(self, value: str) -> None:
        """Says so in the flow and runs playbooks/mirrors.yml; both mirrors restart when it is new to them."""
        self.variables["mirror_flows"] = [{**self.variables["mirror_flows"][0], "exactly_once": value}]
        self.playbook("playbooks/mirrors.yml").ok()

    @property
    def exactly_once(self) -> str:
        """What the flow says."""
        return str(self.variables["mirror_flows"][0].get("exactly_once", "disabled"))


@contextlib.contextmanager
def two_mirrors(directory: Path, **variables: Any) -> Iterator[TwoMirrors]:
    """Installed and mirroring, topics orders.*, until the block ends."""
    flow = {"source": "dc_a", "target": "dc_b", "topics": ["orders[.].*"]}
    inventory = _inventory(directory / "inventory")
    # A mirror of a busy machine may take long to begin, too.
    given = {"mirror_flows": [flow], "mirror_maker_look_timeout": 400, **variables}
    cluster = TwoMirrors(inventory, directory / "cluster", free_port_base(), given)
    try:
        # The preflight of site.yml asks for a port that is free at every address: the line comes after it.
        cluster.playbook("site.yml", "--limit", "kafka_brokers").ok()
        port = cluster.port("a1", MIRROR)
        with laid(directory, f"127.0.0.1:{port}", f"127.0.0.2:{port}", cluster.port_base + SWITCHES) as cluster.line:
            cluster.playbook("playbooks/mirrors.yml").ok()
            yield cluster
    finally:
        cluster.destroy()


def _inventory(directory: Path) -> Path:
    """The shipped one with fewer nodes in dc_a, one more mirror, and a port of its own for mirrors in dc_a."""
    mirrors = {
        f"mirror{n}": {"mirror_maker_rest_port": f"{{{{ kafka_port_base | int + {REST + 10 * (n - 1)} }}}}"}
        for n in (1, 2)
    }
    shipped = SHIPPED / "group_vars"
    every = yaml.safe_load((shipped / "all.yml").read_text())
    # Said for each host here.
    del every["mirror_maker_rest_port"]
    every_broker = yaml.safe_load((shipped / "kafka_brokers.yml").read_text())
    listeners = every_broker["kafka_listeners"]
    source = {"a1": {"kafka_node_id": 1, "kafka_listeners": [*listeners, BEHIND_LINE]}}
    brokers = {**source, **_TARGET}
    centres = {"dc_a": {node: {} for node in source}, "dc_b": {node: {} for node in [*_TARGET, *mirrors]}}
    groups = {"kraft_controllers": brokers, "kafka_brokers": brokers, "mirror_makers": mirrors, **centres}
    hosts_file(directory, groups, every)
    _write(directory, "kafka_brokers", **every_broker)
    # playbooks/mirrors.yml waits for a topic to arrive, so there is one.
    topics = [{"name": "orders.first", "partitions": 1, "replication_factor": 1}]
    _write(directory, "dc_a", kafka_cluster_name="dc_a", mirror_listener="MIRROR", kafka_topics=topics)
    _write(directory, "dc_b", kafka_cluster_name="dc_b")
    return directory


def _write(directory: Path, group: str, **variables: Any) -> None:
    (directory / "group_vars" / f"{group}.yml").write_text(yaml.safe_dump(variables))
