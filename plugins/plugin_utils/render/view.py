# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The model as roles read it: plain data about the cluster of one host, each part made when it is first asked for."""

from __future__ import annotations

from collections.abc import Mapping

from ..inventory.kerberos import Kerberos
from ..run.results import Results
from .access import Access
from .cluster_view import ClusterView
from .mirror_clients import mirror_kerberos
from .node_view import NodeView
from .parts import Parts, keys_of
from .readers import MirrorReader, Reader
from .run_view import RunView
from .turns import Turns


class View(Parts):
    """What docs/development/house.md lists; a part that cannot be made raises ValueError."""

    def __init__(self, reader: Reader) -> None:
        reader = MirrorReader(reader)
        results = Results(reader.read, reader.host)
        cluster = ClusterView(reader, results)
        node = NodeView(reader, cluster, self._of_mirror, self._tokens_of_mirror, self._kerberos_of_mirror)
        access = Access(cluster, node, lambda: bool(self["page"]["acl_owners"]))
        turns = Turns(reader, lambda: cluster.inventory.processes)
        run = RunView(self, reader, results, cluster, access)
        super().__init__(keys_of(cluster, node, access, turns, run))

    def _of_mirror(self) -> Mapping[str, object]:
        """Return what the mirror of the host is started with; nothing of one without a flow."""
        mirroring = self["mirroring"]
        return dict(mirroring["properties"]) if mirroring["flows"] else {}

    def _tokens_of_mirror(self) -> list[str]:
        """Return where the mirror of the host gets tokens for the clusters that it logs in at; empty without a flow."""
        mirroring = self["mirroring"]
        given = (endpoint.get("tokens") for endpoint in mirroring["endpoints"].values()) if mirroring["flows"] else ()
        return [tokens["sasl_oauthbearer_endpoint_url"] for tokens in given if tokens]

    def _kerberos_of_mirror(self) -> Kerberos:
        """Return which krb5.conf the Java of the mirror of the host reads; empty without a flow."""
        mirroring, settings = self["mirroring"], self["settings"]
        if not mirroring["flows"]:
            return Kerberos()
        own = Kerberos.of(settings["kafka_kerberos"])
        return mirror_kerberos(mirroring["endpoints"], str(settings["kafka_cluster_name"]), own)
