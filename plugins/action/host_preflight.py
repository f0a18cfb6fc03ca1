# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges what all hosts of the play answered, at once, and fails with everything that is wrong; no remote call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Node, as_bool, as_int
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.reader import InventoryReader
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.host import Host
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.result import preflight_result
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rules import check_hosts
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.trust_reader import trust_facts

SPEC = {
    "controllers_group": {"type": "str", "default": "kraft_controllers"},
    "brokers_group": {"type": "str", "default": "kafka_brokers"},
    "zookeeper_group": {"type": "str", "default": "zookeeper"},
    "mirror_makers_group": {"type": "str", "default": "mirror_makers"},
    "node_info_variable": {"type": "str", "default": "__common_node_info"},
    "clock_info_variable": {"type": "str", "default": "__preflight_clock"},
}


class ActionModule(ActionBase):  # type: ignore[misc]  # Ansible ships no types
    """Applies the host rules."""

    _requires_connection = False
    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Collect the registered node_info of all hosts of the play, apply all rules, report all violations."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        known = task_vars or {}
        _, options = self.validate_argument_spec(argument_spec=SPEC)
        reader = InventoryReader(self, known)
        expected = set(known.get("ansible_play_hosts_all", ()))
        groups = (options[f"{name}_group"] for name in ("controllers", "brokers", "zookeeper", "mirror_makers"))
        nodes = reader.nodes(*groups)
        hosts, asked = [], []
        for node in (*nodes, *reader.mirrors(options["mirror_makers_group"], nodes)):
            if node.name in expected:
                answers = reader.raw(node.name)
                info, clock = (answers.get(options[f"{kind}_variable"]) for kind in ("node_info", "clock_info"))
                hosts.append(_host(node, info, clock))
                asked.append((node, hosts[-1].info))
        trust = trust_facts(asked)
        hosts = [replace(host, trust=trust.get(host.name)) for host in hosts]
        return dict(result, **preflight_result(check_hosts(hosts), bool(self._task.register)))


def _host(node: Node, info: Any, clock: Any) -> Host:
    """What the rules look at, from a node of the inventory and what node_info and clock_info registered there."""
    return Host(
        name=node.name,
        cluster=node.cluster,
        machine=node.machine,
        node_id=as_int(node.get("zookeeper_id" if node.zookeeper else "kafka_node_id")),
        roles=tuple(role for role in ("broker", "controller", "zookeeper", "mirror") if getattr(node, role)),
        cluster_id=node.text("kafka_cluster_id"),
        version=node.text("zookeeper_version" if node.zookeeper else "kafka_version"),
        mode=node.text("kafka_mode"),
        emptied=node.name in node.names("kafka_replaced_nodes"),
        member=node.is_member(),
        production=node.text("kafka_profile") != "development",
        min_free_mib=as_int(node.get("preflight_min_free_mib")) or 0,
        min_free_inodes=as_int(node.get("preflight_min_free_inodes")) or 0,
        network_mbits=as_int(node.get("preflight_network_mbits")) or 0,
        require_mount=as_bool(node.get("kafka_require_mount", False)),
        installs_java=node.text("kafka_service_manager") == "systemd"
        and bool(node.text("kafka_java_package"))
        and not node.text("kafka_java_home"),
        accepted=tuple(node.names("preflight_accept")),
        info=_answer(info, "disks"),
        clock=_answer(clock, "offset"),
        silence=_silence(clock) or _silence(info),
    )


def _answer(registered: Any, key: str) -> Any:
    """A registered result that has what was asked for, else None."""
    return registered if isinstance(registered, dict) and key in registered else None


def _silence(registered: Any) -> str:
    """Why a registered result is no answer, on one line; '' when it is one."""
    if not isinstance(registered, dict) or not (registered.get("unreachable") or registered.get("failed")):
        return ""
    return " ".join(str(registered.get("msg", "")).removeprefix("Task failed: ").split())[:300]
