# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Our defaults about copies: they follow what the cluster has registered as well as its inventory.

So a broker that is left out of the inventory lowers nothing: that takes a value in kafka_config, or a playbook that
removes the broker from the cluster too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...module_utils._migration.modes import KRAFT
from ..guards.registered import BROKER, more_brokers
from ..inventory.nodes import stage_of
from ..inventory.properties import MOST_COPIES, copies_defaults, never_less
from ..run.results import Results
from .parts import Parts

if TYPE_CHECKING:
    from .cluster_view import ClusterView


class Copies(Parts):
    """The key C(copies) of the model: C(brokers), how many there are, C(defaults) by property, what was C(asked)."""

    def __init__(self, cluster: ClusterView, results: Results) -> None:
        self._cluster, self._results = cluster, results
        super().__init__({"brokers": self._brokers, "defaults": self._defaults, "asked": self._asked})

    def _asked(self) -> Mapping[str, Any]:
        """Return what cluster_info returned on the host that asked for the cluster; empty without an answer."""
        found = (self._results.of(host).registered for host in self._cluster.every_host)
        return next((one for one in found if "nodes" in one), {})

    def _brokers(self) -> int:
        nodes = self._cluster.identities
        return sum(BROKER in node["roles"] for node in nodes) + more_brokers(nodes, self["asked"])

    def _defaults(self) -> dict[str, Any]:
        kraft = stage_of(self._cluster.settings) == KRAFT
        defaults = copies_defaults(self["brokers"], kraft)
        if self["asked"]:
            return defaults
        infos = (self._results.of(host).look for host in self._cluster.hosts)
        return never_less(defaults, [info.get("copies") or {} for info in infos], copies_defaults(MOST_COPIES, kraft))
