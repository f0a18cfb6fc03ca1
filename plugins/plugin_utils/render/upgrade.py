# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The upgrade of a cluster for its tasks: facts of the run to the plan, and what is left behind it.

Results of node_info are C(__common_upgrade_node) of each host, its one disk being the directory of releases; those of
cluster_info C(__common_upgrade_cluster) of the host that asked, which keeps the release from before as
C(__common_upgrade_before).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.cves import numbers
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError
from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.registered import ACCEPT, accepted_ids
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory, Node
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.parts import Parts, Results
from ansible_collections.streamops.kafka.plugins.plugin_utils.upgrade import plan
from ansible_collections.streamops.kafka.plugins.plugin_utils.upgrade.checks import check_all
from ansible_collections.streamops.kafka.plugins.plugin_utils.upgrade.model import BINARIES, ClusterFacts, NodeFacts

_MIB = 1024 * 1024


class Upgrade(Parts):
    """The key C(upgrade) of the model; docs/house.md lists its own keys."""

    def __init__(self, model: Mapping[str, Any], inventory: Inventory, results: Results) -> None:
        self._model, self._inventory, self._results = model, inventory, results
        super().__init__(
            {
                "release_dir": self._release_dir,
                "facts": self._facts,
                "plan": lambda: plan.plan_lines(self._plan),
                "refusal": lambda: plan.refusal_text(self._plan),
                "before": self._before,
                "left": lambda: plan.left_lines(self._plan, str(results.own("__common_upgrade_before"))),
            }
        )

    @property
    def _plan(self) -> plan.Plan:
        facts = self["facts"]
        made: plan.Plan = self._once("made", lambda: plan.make_plan(facts, check_all(facts)))
        return made

    def _release_dir(self) -> str:
        """Where the node's release is to be; empty for one that this collection does not have, as the plan will say."""
        try:
            return str(self._model["release"]["dir"])
        except (OSError, StreamopsError):
            return ""

    def _before(self) -> str:
        """The oldest release that a node runs which is to change; empty where none is."""
        runs = {node.runs for node in self["facts"].kafka if node.runs and node.runs != node.target}
        return min(runs, key=numbers, default="")

    def _facts(self) -> ClusterFacts:
        settings, cluster = self._model["settings"], str(self._model["settings"]["kafka_cluster_name"]).strip()
        asked = self._results.of(self._results.host, "__common_upgrade_cluster")
        own = (node for node in self._inventory.nodes if node.cluster == cluster)
        mirrors = (node for node in self._inventory.mirrors if node.cluster == cluster)
        return ClusterFacts(
            name=cluster,
            mode=str(settings["kafka_mode"]),
            action=str(settings.get("kafka_upgrade") or BINARIES),
            target=str(settings["kafka_version"]),
            nodes=tuple(self._node(node) for node in _kafka_first(own)),
            info=asked if "nodes" in asked else None,
            unasked=_one_line(asked),
            accepted=frozenset(accepted_ids(settings[ACCEPT])),
            mirrors={node.name: self._runs(node.name) for node in mirrors},
        )

    def _node(self, node: Node) -> NodeFacts:
        info = self._results.of(node.name, "__common_upgrade_node")
        java, answered = info.get("java") or {}, "process" in info
        free = [disk["free_bytes"] for disk in info.get("disks") or () if disk.get("free_bytes") is not None]
        return NodeFacts(
            host=node.name,
            node_id=node.id,
            roles=tuple(role for role in ("zookeeper", "broker", "controller") if getattr(node, role)),
            target=node.text("zookeeper_version" if node.zookeeper else "kafka_version"),
            runs=self._runs(node.name),
            running=answered and bool(info["process"]["running"]),
            silence="" if answered else _one_line(info) or "no answer",
            java=None if java.get("error") else java.get("version"),
            installs_java=_installs_java(node),
            installed=bool(info.get("installed")),
            install_dir=node.text("kafka_install_dir"),
            free_mib=min(free) // _MIB if free else None,
            properties={one.key: (one.value, one.variable) for one in node.properties().values()},
        )

    def _runs(self, host: str) -> str:
        return str(self._results.of(host, "__common_upgrade_node").get("version") or "")


def _kafka_first(nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes of Kafka in the order of the inventory, then the servers of their ensemble."""
    return sorted(nodes, key=lambda node: node.zookeeper)


def _installs_java(node: Node) -> bool:
    """Tell whether a run brings Java where there is none (roles/_common/tasks/machine.yml)."""
    systemd = node.text("kafka_service_manager") == "systemd"
    return systemd and bool(node.text("kafka_java_package")) and not node.text("kafka_java_home")


def _one_line(result: Mapping[str, Any]) -> str:
    """Return why a task has no answer: the first sentence of its message, on one line."""
    return " ".join(str(result.get("msg") or "").split()).partition(". ")[0]
