# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""How one reaches a cluster and its ensemble, and as whom."""

from __future__ import annotations

import os
from collections.abc import Callable
from os.path import expanduser
from typing import Any

from ...module_utils._client.login import chosen
from ..inventory.kerberos import MECHANISM as KERBEROS
from ..inventory.mirror_nodes import mirror_reach
from ..inventory.oauth import TokenIssuer
from ..inventory.properties import effective, written
from ..inventory.zookeeper_nodes import expected_servers
from .cluster_view import ClusterView
from .node_view import NodeView
from .parts import key
from .security import client_certificates, connection, scram_credential
from .zookeeper_security import access_options


class Access:
    """How the modules, mirrors and clients reach a cluster.

    has_page -- tells whether a page reads the cluster with rights of its own.
    """

    def __init__(self, cluster: ClusterView, node: NodeView, has_page: Callable[[], bool]) -> None:
        self._cluster, self._node, self._has_page = cluster, node, has_page

    @key
    def client_certificates(self) -> list[dict[str, Any]]:
        """Return what the development CA issues where clients show certificates: to the administrator and to them."""
        settings = self._cluster.settings
        shown = (
            one for one in self._node.node["listeners"] if one["purpose"] == "clients" and one["protocol"] == "SSL"
        )
        if not any(shown):
            return []
        # The page shows one too, as the principal that has its rights.
        pages = [settings["kafka_page_user"]] if self._has_page() else []
        return client_certificates(
            list(dict.fromkeys([*settings["kafka_tls_client_names"], *pages])),
            {
                "directory": f"{settings['kafka_tls_ca_dir']}/clients",
                "admin_user": settings["kafka_admin_user"],
                "admin_certificate_file": settings["kafka_admin_certificate_file"],
                "admin_key_file": settings["kafka_admin_key_file"],
            },
        )

    @key
    def admin_credentials(self) -> list[str]:
        """The credentials of the administrator for every SCRAM mechanism, each with a salt of its own."""
        settings = self._cluster.settings
        user, password = settings["kafka_admin_user"], settings["kafka_admin_password"]
        mechanisms = [one for one in settings["kafka_sasl_mechanisms"] if one.startswith("SCRAM-")]
        return [scram_credential(mechanism, user, password, os.urandom(16)) for mechanism in mechanisms]

    @key
    def connection(self) -> dict[str, Any]:
        """Return how modules reach the cluster: the defaults of the action group streamops.kafka.cluster."""
        return connection(self._cluster.nodes, {"bootstrap_servers": self._cluster.servers_now, **self.administrator()})

    def administrator(self) -> dict[str, Any]:
        """Return who the administrator is, and what shows it; paths on the control node."""
        settings = self._cluster.settings
        return {
            "mechanisms": settings["kafka_sasl_mechanisms"],
            "admin_user": settings["kafka_admin_user"],
            "admin_password": settings["kafka_admin_password"],
            "oauth": settings["kafka_oauth"],
            "kerberos": settings["kafka_kerberos"],
            "ca_file": expanduser(settings["kafka_tls_ca_file"]),
            "admin_certificate_file": expanduser(settings["kafka_admin_certificate_file"]),
            "admin_key_file": expanduser(settings["kafka_admin_key_file"]),
        }

    @key
    def zookeeper_access(self) -> dict[str, Any]:
        """Return how modules reach the ensemble: the defaults of the action group streamops.kafka.zookeeper."""
        settings = self._cluster.settings
        return access_options(
            expected_servers(self._cluster.members),
            {
                "tls": settings["zookeeper_tls"],
                "sasl": bool(settings["zookeeper_password"]),
                "ca_file": expanduser(settings["kafka_tls_ca_file"]),
                "user": settings["zookeeper_user"],
                "password": settings["zookeeper_password"],
            },
        )

    @key
    def endpoint(self) -> dict[str, Any]:
        """Return what mirrors must know of this cluster, and the Spark jobs that compare it with another one."""
        settings = self._cluster.settings
        mechanism = chosen(settings["kafka_sasl_mechanisms"])
        near, far = mirror_reach(self._cluster.nodes), mirror_reach(self._cluster.nodes, settings["mirror_listener"])
        return {
            "cluster": settings["kafka_cluster_name"],
            "bootstrap_servers": self._cluster.bootstrap_servers,
            "protocol": near["protocol"],
            "mirror_bootstrap_servers": far["bootstrap_servers"],
            "mirror_protocol": far["protocol"],
            "mechanism": mechanism,
            # The same for all that log in at this cluster: where they get tokens.
            "tokens": TokenIssuer.of(settings["kafka_oauth"]).login(mechanism, "", "").token_options(),
            "kerberos": settings["kafka_kerberos"] if mechanism == KERBEROS else {},
            "user": settings["mirror_user"],
            "password": settings["mirror_password"],
            "keytab_file": expanduser(settings["mirror_keytab_file"]),
            "canary_user": settings["mirror_canary_user"],
            "canary_password": settings["mirror_canary_password"],
            "canary_keytab_file": expanduser(settings["mirror_canary_keytab_file"]),
            "ca_file": expanduser(settings["kafka_tls_ca_file"]),
            "brokers": self._cluster.copies["brokers"],
            "has_authorizer": self._has_authorizer(),
            "connection": self.connection,
            "job_properties": settings["spark_validation_client_properties"],
        }

    def _has_authorizer(self) -> bool:
        """Say whether the brokers use ACLs; without an authorizer they refuse them. Native properties win over ours."""
        own = effective(written(["broker"], self._cluster.settings.__getitem__)).get("authorizer.class.name")
        return bool(self._cluster.settings["kafka_authorizer"] if own is None else str(own.value or "").strip())
