# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters that were installed by nothing of this collection, made of ours, and what tests of a take-over ask them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node import adopted, adopted_look
from tests.support.cluster import Cluster, Run, until
from tests.support.mirrored import Mirrored
from tests.support.modules import run_module
from tests.support.zookeeper import ZookeeperCluster

#: What each run of adopt.yml is given.
TAKE, BACK, FINISH = (("-e", f"kafka_adopt={word}") for word in ("take", "back", "finish"))


class Others(Cluster):
    """A cluster whose nodes were installed by nothing of this collection, and whose inventory describes them."""

    @property
    def theirs(self) -> list[str]:
        """Return the nodes that others installed."""
        return self.nodes

    @property
    def homes(self) -> dict[str, Path]:
        """Return where the files of each node of the old installation are."""
        return {node: self.directory / "old" / node for node in self.theirs}

    def program(self, node: str) -> tuple[str, str, str]:
        """Return the product of a node, its main class and the name of its file."""
        return "kafka", "kafka.Kafka", "server.properties"

    def old_file(self, node: str) -> Path:
        """Return the file with which a node was started by others."""
        return self.homes[node] / "config" / self.program(node)[2]

    def become(self) -> None:
        """Make a cluster of ours that of others: their own files and processes, and nothing of ours but the data."""
        for node, home in self.homes.items():
            (home / "config").mkdir(parents=True)
            (home / "logs").mkdir()
            ours = self.directory / "config" / node / "current" / self.program(node)[2]
            self.old_file(node).write_text(self.written_by_others(ours.read_text()))
        self.forget_ours()
        self.start_all_old()

    def forget_ours(self) -> None:
        """End the nodes of ours, and remove all of them but the data."""
        # In order the last of them would wait for a quorum.
        super().destroy()
        until(lambda: not any(map(self.alive, self.nodes)), "the nodes to end")
        for name in ("config", "run", "log"):
            shutil.rmtree(self.directory / name)

    def written_by_others(self, text: str) -> str:
        """Return what others have in their file, of what is in ours."""
        return text

    def start_all_old(self) -> None:
        """Start all nodes by hand, and wait until they listen."""
        self.start_old(*self.nodes)

    def start_old(self, *nodes: str) -> None:
        """Start nodes as somebody does who types it, and wait until they listen."""
        self.spawn(*nodes)
        until(lambda: all(map(self.listens, nodes)), "the old nodes to listen", 180)

    def spawn(self, *nodes: str) -> None:
        """Start nodes as somebody does who types it."""
        for node in nodes:
            product, main_class, name = self.program(node)
            (libs,) = (self.directory / "install" / "releases").glob(f"{product}-*/libs")
            home = self.homes[node]
            argv = ["java", "-Xmx512m", f"-Dkafka.logs.dir={home}/logs", "-cp", f"{libs}/*", main_class]
            with (home / "console.log").open("ab") as output:
                subprocess.Popen(
                    [*argv, f"config/{name}"], cwd=home, stdout=output, stderr=output, start_new_session=True
                )

    def old_pid(self, node: str) -> int | None:
        """Return the number of the old process of a node; None where it does not run."""
        claim: adopted.Claim = {
            "manager": "none",
            "name": "",
            "enabled": False,
            "control": "",
            "main_class": self.program(node)[1],
            "properties_file": str(self.old_file(node)),
        }
        return adopted_look.old_process(adopted.claimed(claim))

    def runners(self) -> dict[str, str]:
        """Return who runs each node: old, ours, both or nobody."""
        names = {(True, True): "both", (True, False): "old", (False, True): "ours", (False, False): "nobody"}
        return {node: names[self.old_pid(node) is not None, self.alive(node)] for node in self.theirs}

    def kept(self) -> dict[str, bytes]:
        """Return the content of each file of the old installation that the nodes do not write themselves."""
        files = [path for home in self.homes.values() for path in (home / "config").rglob("*") if path.is_file()]
        return {str(path): path.read_bytes() for path in files}

    def adopt(self, *arguments: str, **variables: object) -> Run:
        """Run adopt.yml; what it does must come with the command line."""
        return self.playbook("playbooks/adopt.yml", *arguments, **variables)

    def destroy(self) -> None:
        """End the old processes too."""
        for node in self.theirs:
            if (pid := self.old_pid(node)) is not None:
                os.kill(pid, signal.SIGKILL)
        super().destroy()


class OthersWithEnsemble(Others, ZookeeperCluster):
    """Such a cluster of ZooKeeper mode, with its ensemble, which allows the words that ZooKeeper allows by itself."""

    def program(self, node: str) -> tuple[str, str, str]:
        """Return the product of a node, its main class and the name of its file."""
        if not self.is_server(node):
            return super().program(node)
        return "zookeeper", "org.apache.zookeeper.server.quorum.QuorumPeerMain", "zoo.cfg"

    def written_by_others(self, text: str) -> str:
        """Leave out which words are allowed; two servers of one machine cannot do without the rest."""
        return "".join(line for line in text.splitlines(True) if not line.startswith("4lw."))

    def start_all_old(self) -> None:
        """Start the ensemble, and brokers once the sessions of those that were killed have ended."""
        self.start_old(*self.servers)
        until(lambda: self.leader() is not None, "a server to lead", 60)
        until(lambda: self.registered() == [], "the old sessions to end", 120)
        self.start_old(*self.brokers)
        until(lambda: len(self.registered()) == len(self.brokers), "the brokers to register", 120)

    def registered(self) -> list[int]:
        """Return the ids of the brokers that are registered."""
        known = self.ensemble(chroot="/local_zookeeper")["cluster"]
        return [broker["id"] for broker in known["brokers"]]


class OthersMirror(Others, Mirrored):
    """Clusters of ours, with a mirror between them that others started."""

    @property
    def theirs(self) -> list[str]:
        """Return the mirrors."""
        return self.mirrors

    def program(self, node: str) -> tuple[str, str, str]:
        """Return the product of a node, its main class and the name of its file."""
        return "kafka", "org.apache.kafka.connect.mirror.MirrorMaker", "mm2.properties"

    def forget_ours(self) -> None:
        """Stop the mirrors of ours, and remove what is of them alone."""
        for mirror in self.mirrors:
            self.stop(mirror)
            for name in ("config", "run", "log"):
                shutil.rmtree(self.directory / name / mirror)
            (self.directory / "config" / "supervisor" / "conf.d" / f"{self.service(mirror)}.conf").unlink()
            self.supervisorctl("update", self.service(mirror))

    def start_all_old(self) -> None:
        """Start the mirrors, which need listen nowhere."""
        self.spawn(*self.mirrors)


def all_run(cluster: Others, who: str) -> bool:
    """Tell whether one of both runs all nodes."""
    return set(cluster.runners().values()) == {who}


def phases(cluster: Others) -> list[str]:
    """Return what the files say of the nodes; empty where there are none."""
    files = [cluster.directory / "config" / node / adopted.FILE for node in cluster.theirs]
    return [json.loads(path.read_text())["phase"] for path in files if path.exists()]


def no_manager(cluster: Others) -> None:
    """Leave out where whatever runs these tests looks like the service of the nodes: it would be stopped."""
    found = run_module("streamops.kafka.adoption_info", {"locks": []})["processes"]
    pids = {cluster.old_pid(node) for node in cluster.theirs}
    managers = {told["service"]["manager"] for told in found if told["pid"] in pids}
    if managers != {"none"}:
        pytest.skip(f"these tests themselves run below a service ({managers}), which would be stopped")
