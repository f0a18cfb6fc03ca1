# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""How a mirror logs in to the clusters it stands between: native client properties, with secrets by reference. Pure.

What a cluster says about itself in a run is its endpoint: {cluster, bootstrap_servers, protocol (for those next to it),
mirror_bootstrap_servers, mirror_protocol (for mirrors elsewhere), mechanism, user, password, tokens (options of a
connection that say where tokens are), kerberos (kafka_kerberos where one logs in by it), keytab_file (of the user, on
the control node), ca_file, brokers, connection (of the administrator), job_properties (native, of Spark jobs)}. That of
a cluster outside of the inventory (mirrors/external.py) has brokers None, neither tokens nor Kerberos, and is_external.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...module_utils._client.login import TICKETS, SaslLogin
from ..inventory.kerberos import Kerberos, shared_krb5
from .security import SASL_PROTOCOLS, TLS_PROTOCOLS, client_properties

_JAAS = "sasl.jaas.config"


def cluster_endpoints(
    said: Iterable[Mapping[str, Any]], aliases: Sequence[str], external: Iterable[Mapping[str, Any]] = ()
) -> dict[str, dict[str, Any]]:
    """Return what each cluster said about itself in this run, sorted by name.

    said -- what the hosts of the inventory published, empty for those that published nothing.
    external -- the endpoints of clusters outside of the inventory.

    ValueError names those of which no host took part: their passwords and certificates are not known then.
    """
    found: dict[str, dict[str, Any]] = {}
    for endpoint in (*said, *external):
        if endpoint and endpoint["cluster"] in aliases:
            found.setdefault(str(endpoint["cluster"]), dict(endpoint))
    missing = sorted(set(aliases) - set(found))
    if missing:
        raise ValueError(
            f"no broker of {', '.join(missing)} takes part in this run, and a mirror needs to know how to reach it; "
            f"run without --limit, or with at least one broker of {', '.join(missing)} in it; before a play of your "
            "own enter role _common with tasks_from endpoint.yml on these brokers"
        )
    return dict(sorted(found.items()))


def mirror_clients(
    endpoints: Mapping[str, Mapping[str, Any]], target: str, files: Mapping[str, str]
) -> dict[str, dict[str, Any]]:
    """Return what mirror_properties takes as its clusters: alias -> {bootstrap_servers, properties, brokers}.

    files -- paths on the mirror: secrets (a .properties file), truststores (a directory, also of keytabs), keystore
    (PEM).
    The target is reached as by its own clients, any other cluster by the listener that it has for mirrors.
    """
    return {
        alias: {
            "bootstrap_servers": _servers(endpoint, alias == target),
            "properties": _properties(alias, endpoint, _protocol(endpoint, alias == target), files),
            "brokers": endpoint["brokers"],
        }
        for alias, endpoint in endpoints.items()
    }


def mirror_secrets(endpoints: Mapping[str, Mapping[str, Any]], target: str, directory: str) -> dict[str, str]:
    """The content of the secrets file that mirror_clients refers to, as properties; empty where nobody logs in.

    directory -- on the mirror, with its keytabs.
    """
    secrets = {}
    for alias, endpoint in endpoints.items():
        protocol = _protocol(endpoint, alias == target)
        if protocol in SASL_PROTOCOLS:
            secrets[f"{alias}.{_JAAS}"] = client_properties(_options(endpoint, protocol, directory))[_JAAS]
    return secrets


def mirror_keytabs(endpoints: Mapping[str, Mapping[str, Any]], target: str, directory: str) -> list[dict[str, str]]:
    """Return the keytab of each cluster that is entered by Kerberos: file on the control node, path on the mirror."""
    return [
        {"file": str(endpoint["keytab_file"]), "path": _keytab(directory, endpoint)}
        for endpoint in by_ticket(endpoints, target)
    ]


def mirror_kerberos(endpoints: Mapping[str, Mapping[str, Any]], target: str, own: Kerberos) -> Kerberos:
    """Return which krb5.conf a mirror or its canary reads; own -- kafka_kerberos of the mirror."""
    return shared_krb5((Kerberos.of(endpoint["kerberos"]) for endpoint in by_ticket(endpoints, target)), own)


def by_ticket(endpoints: Mapping[str, Mapping[str, Any]], target: str) -> list[Mapping[str, Any]]:
    """Return the endpoints that a mirror and its canary enter by Kerberos."""
    return [
        endpoint
        for alias, endpoint in endpoints.items()
        if endpoint["mechanism"] == TICKETS and _protocol(endpoint, alias == target) in SASL_PROTOCOLS
    ]


def service_login(endpoint: Mapping[str, Any], user: str, password: str, keytab: str) -> SaslLogin:
    """Return how a mirror or its canary logs in at a cluster; keytab -- where it runs."""
    if endpoint["mechanism"] == TICKETS:
        return Kerberos.of(endpoint["kerberos"]).login(user, keytab)
    return SaslLogin(endpoint["mechanism"], user, password)


def _keytab(directory: str, endpoint: Mapping[str, Any]) -> str:
    return f"{directory}/{endpoint['cluster']}.keytab"


def mirror_trusts(endpoints: Mapping[str, Mapping[str, Any]], target: str) -> dict[str, str]:
    """The CA file on the control node of each cluster that is reached over TLS, by alias."""
    return {
        alias: str(endpoint["ca_file"])
        for alias, endpoint in endpoints.items()
        if _protocol(endpoint, alias == target) in TLS_PROTOCOLS
    }


def _servers(endpoint: Mapping[str, Any], is_target: bool) -> list[str]:
    return list(endpoint["bootstrap_servers" if is_target else "mirror_bootstrap_servers"])


def _protocol(endpoint: Mapping[str, Any], is_target: bool) -> str:
    return str(endpoint["protocol" if is_target else "mirror_protocol"])


def _options(endpoint: Mapping[str, Any], protocol: str, directory: str) -> dict[str, Any]:
    login = service_login(endpoint, endpoint["user"], endpoint["password"], _keytab(directory, endpoint))
    return {
        "security_protocol": protocol,
        "ssl_ca_location": endpoint["ca_file"],
        **login.options(),
        **endpoint.get("tokens", {}),
    }


def _properties(alias: str, endpoint: Mapping[str, Any], protocol: str, files: Mapping[str, str]) -> dict[str, str]:
    trusted = f"{files['truststores']}/truststore-{alias}.pem"
    properties = client_properties(_options(endpoint, protocol, files["truststores"]), trusted)
    if _JAAS in properties:
        properties[_JAAS] = f"${{file:{files['secrets']}:{alias}.{_JAAS}}}"
    # To a cluster outside of the inventory nobody gave the mirror's certificate: there SSL only encrypts.
    if protocol == "SSL" and not endpoint.get("is_external"):
        properties["ssl.keystore.type"] = "PEM"
        properties["ssl.keystore.location"] = files["keystore"]
    return properties
