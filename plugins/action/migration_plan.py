# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tells where a cluster stands between ZooKeeper and KRaft, by what its nodes told and its ensemble tells."""

from __future__ import annotations

from typing import Any

from ..module_utils._migration.shown import outlook_of, result_of
from ..plugin_utils.inventory.reader import InventoryReader
from ..plugin_utils.migration.read import chroot_of, cluster_look, has_leader
from ..plugin_utils.progress.action import ZOOKEEPER, ClusterAction


class ActionModule(ClusterAction):
    """Asks the ensemble, and judges."""

    named_by = ZOOKEEPER
    module = "streamops.kafka.zookeeper_info"

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Read the cluster of this host and what its nodes answered; return phase, troubles and what follows."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        known = task_vars or {}
        self.validate_argument_spec(argument_spec={})
        reader = InventoryReader(self, known)
        host, nodes = str(known["inventory_hostname"]), reader.nodes()
        look = cluster_look(host, nodes, reader.raw, self._ensemble(chroot_of(host, nodes), known))
        return dict(result, changed=False, **result_of(look, outlook_of(look)))

    def _ensemble(self, chroot: str, known: dict[str, Any]) -> dict[str, Any]:
        """Return what the ensemble says; a session is opened only where one can be had, since it is waited for."""
        if not self._of_role.get("servers"):
            return {}
        words = self.call(known)
        if not has_leader(words):
            return words
        asked = self.call(known, chroot=chroot)
        return {**words, "msg": asked.get("msg", "")} if asked.get("failed") else asked
