# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tells which clusters run on machines that others installed, by what these told, and by what the clusters tell."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ..module_utils._adopt.commands import KAFKA
from ..plugin_utils.adopt.asked import Address, Answer, Login, Question, answer, question
from ..plugin_utils.adopt.clusters import ForeignCluster
from ..plugin_utils.adopt.screen import all_findings, looked, screen_lines
from ..plugin_utils.findings import refused
from ..plugin_utils.progress.action import ClusterAction
from ..plugin_utils.specs import module_options

_LOCAL = ("local", "ansible.builtin.local")


class ActionModule(ClusterAction):
    """Groups the nodes, asks their clusters from the control node, and makes the screen."""

    # No variable of the roles says how to reach a cluster that is not theirs.
    named_by = ("machines", "")

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the lines of the screen, the clusters with their nodes, and what was found."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        known = task_vars or {}
        _checked, options = self.validate_argument_spec(argument_spec=dict(module_options("adoption_plan")))
        look = looked(options["machines"])
        addresses = {host: _address(host, known["hostvars"][host]) for host in look.machines}
        login = Login(
            options["user"],
            options["password"],
            *(_existing(options[name]) for name in ("ca_file", "certificate_file", "key_file")),
        )
        answers = [
            self._asked(cluster, question(cluster, addresses, login), known) if cluster.product == KAFKA else None
            for cluster in look.clusters
        ]
        findings = all_findings(look, answers)
        return dict(
            result,
            changed=False,
            lines=screen_lines(look, answers, findings),
            clusters=[_shown(cluster) for cluster in look.clusters],
            findings=[{"level": finding.level, "what": finding.what, "fix": finding.fix} for finding in findings],
            refused=bool(refused(findings)),
        )

    def _asked(self, cluster: ForeignCluster, how: Question, known: dict[str, Any]) -> Answer | Question:
        """Ask a cluster from the control node, unless there is a reason against it."""
        if how.why:
            return how
        info = self.call_here("streamops.kafka.cluster_info", {**how.options, "include_partitions": False}, known)
        features: dict[str, Any] = {}
        if not info.get("failed") and not cluster.mode.startswith("zookeeper"):
            # The controller is not asked what it would refuse: that needs more than the right to look.
            wanted = {**how.options, "controller_protocol": how.controller_protocol, "ask_controller": False}
            features = self.call_here("streamops.kafka.features_info", wanted, known)
        return answer(how, info, features)


def _address(host: str, variables: Mapping[str, object]) -> Address:
    """Return how the control node reaches a host of the inventory."""
    return Address(str(variables.get("ansible_host") or host), variables.get("ansible_connection") in _LOCAL)


def _existing(path: str) -> str:
    """Return the path of a file of the control node, empty where it is not there."""
    whole = os.path.expanduser(path)
    return whole if path and os.path.isfile(whole) else ""


def _shown(cluster: ForeignCluster) -> dict[str, Any]:
    """Return a cluster as a result has it."""
    return {
        "product": cluster.product,
        "cluster_id": cluster.cluster_id,
        "mode": cluster.mode,
        "quorum": cluster.quorum,
        "nodes": [
            {
                "host": node.host,
                "node_id": node.node_id,
                "roles": list(node.roles),
                "pid": node.told["pid"],
                "version": node.version,
                "vendor": node.vendor,
            }
            for node in cluster.nodes
        ],
    }
