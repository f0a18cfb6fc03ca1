# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What the page needs: within a cluster a user and its rights, on its own host code, configuration and certificates."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from ...module_utils._client.login import chosen
from ...module_utils._cluster.snapshot import STATE_TOPIC
from ...module_utils._core.addresses import is_address, plain_host
from ...module_utils._health.model import Limits
from ...module_utils._mirror.flows import SHOWN
from ...module_utils._mirror.reading import read_flows
from ...module_utils._users.plan import MECHANISMS
from ..inventory.build import machine_of
from ..inventory.kerberos import Kerberos, shared_krb5
from ..inventory.model import PAGE_GROUP, PROMETHEUS_GROUP, Cluster, Inventory
from ..inventory.nodes import endpoints
from ..inventory.variables import names
from ..mirrors.heartbeats import wants_heartbeats
from ..mirrors.views import plain
from ..specs import role_options
from .page_code import code_files
from .parts import Parts
from .prometheus import alertmanager_socket
from .python_service import (
    code_entries,
    code_place,
    configuration_text,
    digest,
    krb5_path,
    read_here,
    secret_entries,
    service_paths,
    url,
)
from .security import SASL_PROTOCOLS, connection

SERVICE = "streamops-kafka-page"
#: What pins the libraries of the page.
LOCK = Path(__file__).resolve().parents[3] / "roles" / "kafka_page" / "files" / "requirements.lock"
#: Cost, block size and parallelization of scrypt: 16 MiB for each login (RFC 7914; page reads them from the digest).
SCRYPT = (16384, 8, 1)
_TAKEN = ("port", "interval", "poll_timeout", "stale_after", "details_interval", "series_limit")
#: Variables of numbers that the page takes as they are set, by its own names.
NUMBERS = {name: f"kafka_page_{name}" for name in _TAKEN}
#: The files of a connection that lie on the control node, and the endings of their copies beside the configuration.
_FILES = {
    "ssl_ca_location": "ca.pem",
    "ssl_certificate_location": "client.pem",
    "ssl_key_location": "client.key",
    "sasl_oauthbearer_ca_location": "ca.tokens.pem",  # As no file of another cluster is called, whatever its name.
    "sasl_kerberos_keytab": "client.keytab",
}
_KEYTAB = "sasl_kerberos_keytab"


class Page(Parts):
    """The key C(page) of the model; docs/development/house.md lists its own keys.

    inventory -- all clusters. read -- the variables of a host. groups -- those of the inventory.
    """

    def __init__(
        self,
        model: Mapping[str, Any],
        inventory: Callable[[], Inventory],
        read: Callable[[str], Mapping[str, Any]],
        groups: Mapping[str, Sequence[str]],
        host: str,
    ) -> None:
        self._model, self._inventory, self._read, self._groups, self._host = model, inventory, read, groups, host
        super().__init__(
            {
                "users": self._users,
                "acls": lambda: describing(self["acl_owners"]),
                "acl_owners": self._acl_owners,
                "clusters": lambda: [cluster.name for cluster in self._clusters],
                "service": lambda: SERVICE,
                "paths": self._paths,
                "lock": lambda: str(LOCK),
                "wheels": lambda: LOCK.read_text(encoding="utf-8"),
                "wheels_digest": lambda: digest(self["wheels"]),
                "code": self._code,
                "code_directories": lambda: sorted({str(Path(one["path"]).parent) for one in self["code"]}),
                "certificate": self._certificate,
                "configuration": self._configuration,
                "secret_files": self._secret_files,
                "keytabs": self._keytabs,
                "krb5_config": lambda: krb5_path(self._kerberos, self["paths"]["config"]),
                "url": self._url,
            }
        )

    @property
    def _settings(self) -> Mapping[str, Any]:
        settings: Mapping[str, Any] = self._model["settings"]
        return settings

    # Within a cluster.

    @property
    def _is_shown(self) -> bool:
        """Return whether a page of the inventory shows the cluster of the host that asks."""
        cluster = str(self._settings["kafka_cluster_name"]).strip()
        named = [names(self._read(host)["kafka_page_clusters"]) for host in self._groups.get(PAGE_GROUP, ())]
        return any(not some or cluster in some for some in named)

    @property
    def _protocols(self) -> set[str]:
        return {one["protocol"] for one in self._model["node"]["listeners"] if one["purpose"] == "clients"}

    def _users(self) -> list[dict[str, Any]]:
        """The SCRAM user of the page unless the inventory lists it itself, as kafka_users has it."""
        settings = self._settings
        user, mechanism = settings["kafka_page_user"], chosen(settings["kafka_sasl_mechanisms"])
        known = [*(one["name"] for one in settings["kafka_users"]), settings["kafka_admin_user"]]
        if not self._is_shown or not self._protocols & set(SASL_PROTOCOLS):
            return []
        if not settings["kafka_page_password"] or mechanism not in MECHANISMS or user in known:
            return []
        return [{"name": user, "password": settings["kafka_page_password"], "mechanism": mechanism}]

    def _acl_owners(self) -> list[str]:
        """The principal of the page where it needs ACLs: who logs in, and is no super user."""
        settings = self._settings
        user = settings["kafka_page_user"]
        if not settings["kafka_authorizer"] or not self._is_shown or not self._protocols - {"PLAINTEXT"}:
            return []
        return [f"User:{user}"] if user and user not in self._model["super_users"] else []

    # On its own host.

    @property
    def _clusters(self) -> list[Cluster]:
        return shown_clusters(self._inventory(), names(self._settings["kafka_page_clusters"]))

    def _paths(self) -> dict[str, str]:
        """Return where everything of the page is on its machine."""
        settings = self._settings
        install, config = settings["kafka_page_install_dir"], settings["kafka_page_config_dir"]
        return {
            **service_paths(SERVICE, install, config, self["wheels"], settings),
            "code": code_place(install, code_files()),
            "config_file": f"{config}/page.json",
        }

    def _code(self) -> list[dict[str, str]]:
        """The files of the code, as the module node_files takes them."""
        return code_entries(self["paths"]["code"], code_files())

    def _certificate(self) -> dict[str, Any]:
        """The certificate of the page as the development CA issues it; empty where it does not."""
        settings = self._settings
        if settings["kafka_page_tls_source"] != "development_ca":
            return {}
        listens = plain_host(settings["kafka_page_host"])
        here = plain_host(settings.get("ansible_host") or self._host)
        hosts = dict.fromkeys(one for one in (listens, here, self._host) if one not in ("", "0.0.0.0", "::"))
        return {
            "name": self._host,
            "key": settings["kafka_page_tls_key_file"],
            "certificate": settings["kafka_page_tls_certificate_file"],
            "alternatives": [f"{'IP' if is_address(host) else 'DNS'}:{host}" for host in hosts],
            "usage": ["serverAuth"],
        }

    @property
    def _connections(self) -> dict[str, dict[str, Any]]:
        """By cluster how the page connects, with paths of the control node."""
        return {cluster.name: self._connection(cluster) for cluster in self._clusters}

    def _connection(self, cluster: Cluster) -> dict[str, Any]:
        settings = self._read(cluster.brokers[0].name)
        nodes = [node.plain() for node in cluster.nodes if not node.zookeeper]
        return connection(
            nodes,
            {
                "bootstrap_servers": endpoints(nodes, "clients"),
                "mechanisms": settings["kafka_sasl_mechanisms"],
                "admin_user": settings["kafka_page_user"],
                "admin_password": settings["kafka_page_password"],
                "oauth": settings["kafka_oauth"],
                "kerberos": {**settings["kafka_kerberos"], "client_keytab_file": settings["kafka_page_keytab_file"]},
                "ca_file": settings["kafka_tls_ca_file"],
                "admin_certificate_file": settings["kafka_page_certificate_file"],
                "admin_key_file": settings["kafka_page_key_file"],
            },
        )

    @property
    def _kerberos(self) -> Kerberos:
        """Return which krb5.conf it reads, for all clusters that it enters by Kerberos."""
        asked = (cluster for cluster in self._clusters if _KEYTAB in self._connection(cluster))
        said = (Kerberos.of(self._read(cluster.brokers[0].name)["kafka_kerberos"]) for cluster in asked)
        return shared_krb5(said, Kerberos.of(self._settings["kafka_kerberos"]))

    def _keytabs(self) -> list[dict[str, str]]:
        """Return the keytab of each cluster that it enters by Kerberos: file on the control node, path on its host."""
        config = self["paths"]["config"]
        return [
            {"file": options[_KEYTAB], "path": _there(config, name, _KEYTAB)}
            for name, options in self._connections.items()
            if _KEYTAB in options
        ]

    def _configuration(self) -> dict[str, Any]:
        """The configuration file as data; what the page takes is in page/config.py."""
        settings, config, records = self._settings, self["paths"]["config"], "kafka_page_records_"
        has_tls = bool(settings["kafka_page_tls_source"])
        return {
            "host": settings["kafka_page_host"],
            "trusted_proxies": names(settings["kafka_page_trusted_proxies"]),
            "reports": settings["kafka_page_reports"],
            **{name: settings[variable] for name, variable in NUMBERS.items()},
            **({"tls_certificate": f"{config}/page.pem", "tls_key": f"{config}/page.key"} if has_tls else {}),
            "users": {user: login(self._host, user, word) for user, word in settings["kafka_page_users"].items()},
            "clusters": {
                name: {key: _there(config, name, key) if key in _FILES else value for key, value in options.items()}
                for name, options in self._connections.items()
            },
            "expected": {cluster.name: self._expected(cluster) for cluster in self._clusters},
            "mirrors": self._mirrors(),
            "records": {
                name.removeprefix(records): names(settings[name]) if option["type"] == "list" else settings[name]
                for name, option in role_options("kafka_page").items()
                if name.startswith(records)
            },
            **({"alertmanager": at} if (at := self._alertmanager()) else {}),
        }

    def _alertmanager(self) -> dict[str, str]:
        """Return where the page asks for alerts, as page/alerts/settings.py takes it; empty without Alertmanager.

        Without one that is named it is that of the group prometheus on the same machine, which listens on loopback.
        """
        settings = self._settings
        if not settings["kafka_page_alertmanager_url"]:
            here = machine_of(self._read(self._host), self._host)
            found = [host for host in sorted(self._groups.get(PROMETHEUS_GROUP, ()))
                     if machine_of(self._read(host), host) == here]  # fmt: skip
            return {"url": f"http://{alertmanager_socket(self._read(found[0]))}"} if found else {}
        given = [name for name in ("url", "user", "password") if settings[f"kafka_page_alertmanager_{name}"]]
        ca = {"ca_file": self._alertmanager_ca} if settings["kafka_page_alertmanager_ca_file"] else {}
        return {**{name: settings[f"kafka_page_alertmanager_{name}"] for name in given}, **ca}

    @property
    def _alertmanager_ca(self) -> str:
        """The path of the copy of its CA. No copy of a cluster's file is called so: these have a dash."""
        return f"{self['paths']['config']}/alertmanager.pem"

    def _mirrors(self) -> list[dict[str, Any]]:
        """The flows that run and have an end among the clusters, each as page/flows.py takes it."""
        shown = {cluster.name for cluster in self._clusters}
        # The list is the same for the whole inventory, and brokers are what has the ACLs that follow from it.
        lists = [self._read(cluster.brokers[0].name)["mirror_flows"] for cluster in self._clusters]
        flows = {(flow.pair, flow.engine): flow for some in lists for flow in read_flows(some) if flow.enabled}
        return [
            {**{key: plain(flow)[key] for key in SHOWN}, "heartbeats": wants_heartbeats(flow)}
            for _place, flow in sorted(flows.items())
            if shown & {flow.source, flow.target}
        ]

    def _expected(self, cluster: Cluster) -> dict[str, Any]:
        """Return what a cluster is compared with: its nodes by the inventory, the limits of its status, and groups."""
        nodes = [node.plain() for node in cluster.nodes if not node.zookeeper]
        versions = {node["host"]: self._read(node["host"])["kafka_version"] for node in nodes}
        settings = self._read(cluster.brokers[0].name)
        return {
            "nodes": [
                {**{key: node[key] for key in ("host", "node_id", "roles")}, "version": versions[node["host"]]}
                for node in nodes
            ],
            "limits": {one.name: settings[f"kafka_resources_status_{one.name}"] for one in fields(Limits)},
            "groups": settings["kafka_groups_watched"],
        }

    def _secret_files(self) -> list[dict[str, Any]]:
        """The configuration, certificates and krb5.conf, as the module node_files takes them; it shows none of them."""
        settings, config = self._settings, self["paths"]["config"]
        copies = {
            _there(config, name, key): path
            for name, options in self._connections.items()
            for key, path in options.items()
            if key in _FILES and key != _KEYTAB
        }
        if settings["kafka_page_alertmanager_url"] and settings["kafka_page_alertmanager_ca_file"]:
            copies[self._alertmanager_ca] = settings["kafka_page_alertmanager_ca_file"]
        if settings["kafka_page_tls_source"]:
            copies[f"{config}/page.pem"] = settings["kafka_page_tls_certificate_file"]
            copies[f"{config}/page.key"] = settings["kafka_page_tls_key_file"]
        own = {
            self["paths"]["config_file"]: configuration_text(self["configuration"]),
            **{there: read_here(path) for there, path in copies.items()},
            **({self["krb5_config"]: krb5} if (krb5 := self._kerberos.krb5()) else {}),
        }
        return secret_entries(own, settings["kafka_page_os_user"], settings)

    def _url(self) -> str:
        """Return where the page answers on its own machine."""
        settings = self._settings
        scheme = "https" if settings["kafka_page_tls_source"] else "http"
        return url(scheme, settings["kafka_page_host"], settings["kafka_page_port"])


def shown_clusters(inventory: Inventory, named: Sequence[str]) -> list[Cluster]:
    """Return the clusters with brokers that a page shows: those with these names, or all where no name is given."""
    return [one for one in inventory.clusters() if one.brokers and (not named or one.name in named)]


def describing(principals: Sequence[str]) -> list[dict[str, Any]]:
    """Return the ACLs that let principals see a cluster, and change nothing: as kafka_acls has them.

    Groups and topics that a principal may not describe are left out of what Kafka answers (KafkaApis, Acl of KIP-11).
    Log directories, quorum and moves need describe on the cluster; min.insync.replicas and throttles of topics and of
    brokers need describe_configs (KIP-133), which hides the values of sensitive settings; and the record of a move is
    read, from the topic of this collection alone.
    """
    everything = {"resource": "*", "pattern_type": "literal"}
    record = {"resource": STATE_TOPIC, "pattern_type": "literal", "operations": ["read"]}
    seeing = ["describe", "describe_configs"]
    return [
        entry
        for principal in principals
        for entry in (
            {"principal": principal, "operations": seeing, "resource_type": "cluster"},
            {"principal": principal, "operations": seeing, "resource_type": "topic", **everything},
            {"principal": principal, "operations": ["describe"], "resource_type": "group", **everything},
            {"principal": principal, "resource_type": "topic", **record},
        )
    ]


def login(host: str, user: str, password: str) -> str:
    """Return the digest of a login: scrypt$N$r$p$SALT$DIGEST in hexadecimal digits, the same in every run.

    The salt is its own for each host and user.
    """
    salt = hashlib.sha256(f"streamops.kafka page {host} {user}".encode()).digest()[:16]
    cost, block, parallel = SCRYPT
    digest = hashlib.scrypt(str(password).encode(), salt=salt, n=cost, r=block, p=parallel, dklen=32)
    return f"scrypt${cost}${block}${parallel}${salt.hex()}${digest.hex()}"


def _there(config: str, cluster: str, option: str) -> str:
    """Return the path of a cluster's file beside the configuration."""
    return f"{config}/{cluster}-{_FILES[option]}"
