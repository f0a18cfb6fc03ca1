# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What the canary of a target needs: within each cluster a user and its rights, on its host code and configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...module_utils._core.addresses import plain_host
from ...module_utils._health.model import DOWN, fail_on, fails
from ...module_utils._mirror.canary import Route, routes
from ...module_utils._mirror.flows import SHOWN, Flow
from ...module_utils._mirror.reading import read_flows
from ..inventory.kerberos import Kerberos
from ..inventory.model import MIRROR_GROUP
from ..mirrors.rights import gap_acls, mirror_users
from ..mirrors.views import plain
from ..run.results import Results
from .mirror_clients import by_ticket, mirror_kerberos, service_login
from .page_code import package_files
from .parts import Parts
from .python_service import (
    code_entries,
    code_place,
    configuration_text,
    krb5_path,
    read_here,
    secret_entries,
    service_paths,
    url,
)
from .security import SASL_PROTOCOLS, TLS_PROTOCOLS

#: What pins its library.
LOCK = Path(__file__).resolve().parents[3] / "roles" / "mirror_maker" / "files" / "canary.lock"
#: Variables of numbers that the canary takes as they are set, by its own names.
NUMBERS = {
    "port": "mirror_maker_canary_port",
    "interval": "mirror_maker_canary_interval",
    "late_after": "mirror_maker_canary_late_seconds",
    "missing_after": "mirror_maker_canary_missing_seconds",
    "offset_flush": "mirror_maker_offset_flush_seconds",
}

_TOKEN_CA = "sasl_oauthbearer_ca_location"

Read = Callable[[str], Mapping[str, Any]]


def watched(read: Read, groups: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the clusters next to which a canary is wanted."""
    return sorted(_first(read, groups))


def running(read: Read, groups: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the mirrors that run a canary: the first of each target that wants one, where flows are followed."""
    hosts = _first(read, groups)
    flows = read_flows(read(min(hosts.values()))["mirror_flows"]) if hosts else ()
    return sorted({hosts[route.last.target] for route in routes(flows, hosts)})


def _gaps_watched(read: Read, groups: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the clusters whose canary watches flows for gaps."""
    return sorted(name for name, host in _first(read, groups).items() if read(host)["mirror_maker_canary_gaps"])


def _first(read: Read, groups: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return by cluster the first mirror that wants a canary."""
    found: dict[str, str] = {}
    for host in sorted(groups.get(MIRROR_GROUP, ())):
        variables = read(host)
        if variables["mirror_maker_canary"]:
            found.setdefault(str(variables["kafka_cluster_name"]).strip(), host)
    return found


class Canary(Parts):
    """The key C(canary) of the model; docs/development/house.md lists its own keys.

    read -- the variables of a host. groups -- those of the inventory.
    """

    def __init__(
        self, model: Mapping[str, Any], read: Read, groups: Mapping[str, Sequence[str]], results: Results
    ) -> None:
        host = results.host
        self._model, self._read, self._groups, self._host, self._results = model, read, groups, host, results
        super().__init__(
            {
                "users": self._users,
                "acls": self._acls,
                "acl_owners": self._acl_owners,
                "runs": lambda: host in running(read, groups),
                "service": lambda: f"mirror-canary-{host}",
                "paths": self._paths,
                "lock": lambda: str(LOCK),
                "wheels": lambda: LOCK.read_text(encoding="utf-8"),
                "code_dir": lambda: code_place(self["paths"]["install"], package_files("canary")),
                "code": self._code,
                "code_directories": lambda: sorted({str(Path(one["path"]).parent) for one in self["code"]}),
                "secret_files": self._secret_files,
                "keytabs": self._keytabs,
                "krb5_config": lambda: krb5_path(self._kerberos, self["paths"]["config"]),
                "url": self._url,
                "verdict": self._verdict,
                "fails": lambda: fails(self["verdict"]["status"], fail_on(self._settings)),
            }
        )

    @property
    def _settings(self) -> Mapping[str, Any]:
        settings: Mapping[str, Any] = self._model["settings"]
        return settings

    @property
    def _cluster(self) -> str:
        return str(self._settings["kafka_cluster_name"]).strip()

    @property
    def _routes(self) -> list[Route]:
        """All ways of the inventory."""
        found: list[Route] = self._once(
            "ways", lambda: routes(read_flows(self._settings["mirror_flows"]), watched(self._read, self._groups))
        )
        return found

    # Within a cluster.

    def _followed(self) -> list[Flow]:
        """The last flows of the ways: their ends are what canaries log in at."""
        return list(dict.fromkeys(route.last for route in self._routes))

    def _users(self) -> list[dict[str, Any]]:
        """The SCRAM user of canaries unless the inventory lists it itself, or mirrors or the page are this user too; as
        kafka_users has it."""
        settings = self._settings
        protocols = {one["protocol"] for one in self._model["node"]["listeners"]}
        listed = [*settings["kafka_users"], *self._model["mirroring"]["users"], *self._model["page"]["users"]]
        known = [*(one["name"] for one in listed), settings["kafka_admin_user"]]
        user, password = settings["mirror_canary_user"], settings["mirror_canary_password"]
        if not password or user in known or not protocols & set(SASL_PROTOCOLS):
            return []
        return mirror_users(self._followed(), self._cluster, user, password, settings["kafka_sasl_mechanisms"])

    def _acls(self) -> list[dict[str, Any]]:
        """The ACLs of canaries, as kafka_acls has them."""
        rights: dict[str, dict[str, None]] = {}
        for route in self._routes:
            if route.last.source == self._cluster:
                writes = ("create", "write", "alter", "describe_configs") if len(route.flows) == 1 else ()
                rights.setdefault(route.topic, {}).update(dict.fromkeys(("read", *writes)))
            if route.last.target == self._cluster:
                rights.setdefault(route.copy, {}).update({"read": None})
        events = [
            {
                "principal": principal,
                "operations": list(operations),
                "resource_type": "topic",
                "resource": topic,
                "pattern_type": "literal",
            }
            for principal in self["acl_owners"]
            for topic, operations in sorted(rights.items())
        ]
        return [*events, *gap_acls(self._watched_flows, self._cluster, self["acl_owners"])]

    @property
    def _watched_flows(self) -> list[Flow]:
        """The flows that canaries watch for gaps: those that their events go through last, where canaries log in."""
        targets = _gaps_watched(self._read, self._groups)
        return [flow for flow in self._followed() if flow.target in targets]

    def _acl_owners(self) -> list[str]:
        """The principal of canaries, also where none is wanted any more; super users need no ACLs."""
        settings = self._settings
        user = settings["mirror_canary_user"]
        if not settings["kafka_authorizer"] or not user or user in self._model["super_users"]:
            return []
        return [f"User:{user}"]

    # On its own host.

    @property
    def _own_routes(self) -> list[Route]:
        return [route for route in self._routes if route.last.target == self._cluster]

    @property
    def _ends(self) -> dict[str, Mapping[str, Any]]:
        """Return the endpoints of the clusters that it connects to, by name."""
        endpoints = self._model["mirroring"]["endpoints"]
        names = {self._cluster, *(route.last.source for route in self._own_routes)}
        return {name: endpoints[name] for name in sorted(names)}

    @property
    def _kerberos(self) -> Kerberos:
        """Return which krb5.conf it reads: as its mirrors do."""
        return mirror_kerberos(self._ends, self._cluster, Kerberos.of(self._settings["kafka_kerberos"]))

    def _keytabs(self) -> list[dict[str, str]]:
        """Return the keytab of each cluster that it enters by Kerberos: file on the control node, path on its host."""
        return [
            {"file": str(endpoint["canary_keytab_file"]), "path": self._keytab(endpoint["cluster"])}
            for endpoint in by_ticket(self._ends, self._cluster)
        ]

    def _paths(self) -> dict[str, str]:
        """Return where everything of the canary is on its machine."""
        settings = self._settings
        install = f"{settings['mirror_maker_canary_install_dir']}/{self._host}"
        config = f"{settings['mirror_maker_canary_config_dir']}/{self._host}"
        return {
            **service_paths(self["service"], install, config, self["wheels"], settings),
            "config_file": f"{config}/canary.json",
        }

    def _code(self) -> list[dict[str, str]]:
        """The files of the code, as the module node_files takes them."""
        return code_entries(self["code_dir"], package_files("canary"))

    def _configuration(self) -> dict[str, Any]:
        """The configuration file as data; what the canary takes is in canary/config.py."""
        settings = self._settings
        flows = [flow for flow in self._watched_flows if flow.target == self._cluster]
        return {
            "cluster": self._cluster,
            "host": plain_host(settings["mirror_maker_canary_host"]),
            **{name: settings[variable] for name, variable in NUMBERS.items()},
            "clusters": {name: self._connection(endpoint) for name, endpoint in self._ends.items()},
            "routes": [
                {
                    "path": route.name,
                    "origin": route.origin,
                    "writer": route.writer,
                    "source": route.last.source,
                    "topic": route.topic,
                    "copy": route.copy,
                }
                for route in self._own_routes
            ],
            "flows": [{key: value for key, value in plain(flow).items() if key in SHOWN} for flow in flows],
        }

    def _connection(self, endpoint: Mapping[str, Any]) -> dict[str, Any]:
        """Return how the canary reaches a cluster: as its mirrors do, as a user of its own."""
        is_target = endpoint["cluster"] == self._cluster
        protocol = endpoint["protocol" if is_target else "mirror_protocol"]
        found = {
            "bootstrap_servers": list(endpoint["bootstrap_servers" if is_target else "mirror_bootstrap_servers"]),
            "security_protocol": protocol,
        }
        if protocol in TLS_PROTOCOLS:
            found["ssl_ca_location"] = self._ca(endpoint["cluster"])
        if protocol in SASL_PROTOCOLS:
            user, password = endpoint["canary_user"], endpoint["canary_password"]
            found.update(service_login(endpoint, user, password, self._keytab(endpoint["cluster"])).options())
            tokens = endpoint.get("tokens", {})
            own = {_TOKEN_CA: self._ca(endpoint["cluster"], "ca.tokens")} if _TOKEN_CA in tokens else {}
            found.update({**tokens, **own})
        return found

    def _ca(self, cluster: str, name: str = "ca") -> str:
        return f"{self['paths']['config']}/{cluster}-{name}.pem"

    def _keytab(self, cluster: str) -> str:
        return f"{self['paths']['config']}/{cluster}-client.keytab"

    def _secret_files(self) -> list[dict[str, Any]]:
        """The configuration, the CAs and krb5.conf, as the module node_files takes them; it shows none of them."""
        settings, configuration = self._settings, self._configuration()
        endpoints = self._model["mirroring"]["endpoints"]
        files = {self["paths"]["config_file"]: configuration_text(configuration)}
        if krb5 := self._kerberos.krb5():
            files[self["krb5_config"]] = krb5
        # In check mode of a first installation a development CA does not exist yet.
        may_miss = settings.get("ansible_check_mode", False)
        for name, options in configuration["clusters"].items():
            if "ssl_ca_location" in options and (Path(endpoints[name]["ca_file"]).is_file() or not may_miss):
                files[options["ssl_ca_location"]] = read_here(endpoints[name]["ca_file"])
            if _TOKEN_CA in options:
                files[options[_TOKEN_CA]] = read_here(endpoints[name]["tokens"][_TOKEN_CA])
        return secret_entries(files, settings["mirror_maker_canary_os_user"], settings)

    def _url(self) -> str:
        """Return where the canary answers on its own machine."""
        return url("http", self._settings["mirror_maker_canary_host"], self._settings["mirror_maker_canary_port"])

    def _verdict(self) -> dict[str, str]:
        """Return what the canary says, as status and line; DOWN where it does not answer, or another one does."""
        told = self._results.own.canary
        found = told.get("json")
        if told.get("status") == 200 and isinstance(found, Mapping) and {"cluster", "status", "line"} <= found.keys():
            if found["cluster"] != self._cluster:
                what = f"the canary of another cluster answers at {self['url']} ({found['cluster']})"
                return {"status": DOWN, "line": f"{DOWN:<12} canary at {self._cluster}: {what}"}
            return {"status": str(found["status"]), "line": str(found["line"])}
        why = str(told.get("msg") or "no answer").rstrip(".")
        return {"status": DOWN, "line": f"{DOWN:<12} canary at {self._cluster}: {self['url']} does not answer ({why})"}
