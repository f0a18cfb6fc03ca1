# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What tasks of a run have seen and will do: each key is a mapping with keys of its own.

Few tasks ask for these, and a process that does not shall not compile what they need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..inventory.model import GROUPS
from ..run.results import Results
from .access import Access
from .cluster_view import ClusterView
from .parts import Parts, key, keys_of
from .readers import Reader


class RunView:
    """What tasks of a run read together; C(model) is the whole model, of which they read what they need."""

    def __init__(
        self, model: Mapping[str, Any], reader: Reader, results: Results, cluster: ClusterView, access: Access
    ) -> None:
        self._model, self._reader, self._results = model, reader, results
        self._cluster, self._access = cluster, access

    @key
    def manifest(self) -> Parts:
        """All that the node is on its machine."""
        from .manifest import ManifestParts

        return ManifestParts(self._model, self._reader.managed)

    @key
    def seen(self) -> Parts:
        """Return what is done with the node, and what follows from what tasks saw of it and of its cluster."""
        from .cluster_run import ClusterRun
        from .node_run import NodeRun

        cluster = ClusterRun(self._model, self._results, self._restarted)
        return Parts(keys_of(cluster, NodeRun(self._model, self._results, cluster)))

    @key
    def firewall_trial(self) -> Parts:
        """Return what is tried before a firewall stays."""
        from .firewall_trial import FirewallTrial

        return FirewallTrial(self._model, self._results, self._reader.play_hosts)

    @key
    def answers(self) -> Parts:
        """Return which listeners of the node are asked from where, and whether they answer."""
        from .answers import Answers

        return Answers(self._model, self._reader.read, self._results, self._access.administrator)

    @key
    def ensemble(self) -> Parts:
        """Return how the ensemble is."""
        from .ensemble import Ensemble

        return Ensemble(self._model, self._results)

    @key
    def voters(self) -> Parts:
        """Return what a change of voters has to do."""
        from .voters import Voters

        return Voters(self._model, self._results)

    @key
    def reports(self) -> Parts:
        """Return what the run shows and writes about the cluster."""
        from .reports import Reports

        mirrors = self._reader.groups.get("mirror_makers", [])
        return Reports(self._model, self._results, self._restarted, self._everywhere, mirrors)

    @key
    def mirroring(self) -> Parts:
        """The flows between clusters, and what was seen of them."""
        from .mirroring import Mirroring

        reader = self._reader
        return Mirroring(self._model, reader.read, reader.groups, self._results, reader.play_hosts)

    @key
    def monitoring(self) -> Parts:
        """Return what Prometheus and Alertmanager are given."""
        from .monitoring import Monitoring

        return Monitoring(self._cluster.inventory, self._reader.read, self._reader.groups)

    @key
    def client_bundle(self) -> Parts:
        """Return what clients are given to connect with."""
        from .client_bundle import ClientBundle

        return ClientBundle(self._model)

    @key
    def canary(self) -> Parts:
        """The canary next to a mirror."""
        from .canary import Canary

        return Canary(self._model, self._reader.read, self._reader.groups, self._results)

    @key
    def page(self) -> Parts:
        """The page of the clusters."""
        from .page import Page

        return Page(
            self._model, lambda: self._cluster.inventory, self._reader.read, self._reader.groups, self._reader.host
        )

    @key
    def prometheus(self) -> Parts:
        """Prometheus and Alertmanager on a host."""
        from .prometheus import Prometheus

        return Prometheus(self._model, self._reader.read, self._results)

    @property
    def _everywhere(self) -> list[str]:
        """The hosts of all clusters and mirrors, in whichever play of the run they had their tasks."""
        groups = self._reader.groups
        return sorted({host for group in GROUPS.values() for host in groups.get(group, ())})

    @property
    def _restarted(self) -> Sequence[str]:
        """The hosts that this run has restarted."""
        return self._reader.groups.get("_streamops_restarted", [])
