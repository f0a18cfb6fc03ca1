# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Clusters outside of the inventory that flows read from: mirror_external_clusters of their mirrors. Pure.

Of such a cluster only its servers, a login and a CA are known. The endpoint made of them has the keys of one that a
cluster of the inventory publishes (render/mirror_clients.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os.path import expanduser
from typing import Any

from ...module_utils._client.login import SaslLogin
from ..inventory.variables import known, names
from ..specs import Spec

VARIABLE = "mirror_external_clusters"
PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN")
#: The argument spec of one entry. Those of roles cannot describe a dict whose keys the user chooses.
OPTIONS: Spec = {
    "bootstrap_servers": {"type": "list", "elements": "str", "required": True},
    "security_protocol": {"type": "str", "choices": list(PROTOCOLS)},
    "sasl_mechanism": {"type": "str", "choices": list(MECHANISMS)},
    "username": {"type": "str"},
    "password": {"type": "str", "no_log": True},
    "ca_file": {"type": "path"},
}


def external_clusters(value: Any) -> dict[str, dict[str, Any]]:
    """Return the entries that are dicts by alias, without what could not be templated; rules name what is wrong."""
    entries = value.items() if isinstance(value, Mapping) else ()
    return {str(alias): known(entry) for alias, entry in entries if isinstance(entry, Mapping)}


def text_of(entry: Mapping[str, Any], key: str) -> str:
    """Return a value of an entry as text, empty where it is missing or null. A password keeps its white space."""
    value = entry.get(key)
    text = "" if value is None else str(value)
    return text if key == "password" else text.strip()


def servers_of(entry: Mapping[str, Any]) -> list[str]:
    """Return the bootstrap servers, which may be a list or text with commas."""
    return [one.strip() for one in names(entry.get("bootstrap_servers")) if one.strip()]


def protocol_of(entry: Mapping[str, Any]) -> str:
    """Return the security protocol: the one that is set, else SASL for a username and TLS for a ca_file."""
    if text_of(entry, "security_protocol"):
        return text_of(entry, "security_protocol")
    encrypted = "SSL" if text_of(entry, "ca_file") else "PLAINTEXT"
    if not text_of(entry, "username"):
        return encrypted
    return f"SASL_{encrypted}"


def mechanism_of(entry: Mapping[str, Any]) -> str:
    """Return the SASL mechanism."""
    return text_of(entry, "sasl_mechanism") or MECHANISMS[0]


def external_endpoint(alias: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the endpoint of an external cluster, the same for mirrors, modules and Spark jobs.

    Its number of brokers is not known: topics that a mirror creates there have that cluster's own number of copies.
    """
    servers, protocol, ca_file = servers_of(entry), protocol_of(entry), expanduser(text_of(entry, "ca_file"))
    connection: dict[str, Any] = {"bootstrap_servers": servers}
    if protocol != "PLAINTEXT":
        connection["security_protocol"] = protocol
    if protocol.endswith("SSL"):
        connection["ssl_ca_location"] = ca_file
    login = {"mechanism": "", "user": "", "password": ""}
    if protocol.startswith("SASL_"):
        user, password = text_of(entry, "username"), text_of(entry, "password")
        login = {"mechanism": mechanism_of(entry), "user": user, "password": password}
        connection |= SaslLogin(login["mechanism"], user, password).options()
    return {
        "cluster": alias,
        "bootstrap_servers": servers,
        "protocol": protocol,
        "mirror_bootstrap_servers": servers,
        "mirror_protocol": protocol,
        **login,
        "ca_file": ca_file,
        "brokers": None,
        "is_external": True,
        "connection": connection,
        "job_properties": {},
    }


def rights_lines(alias: str, entry: Mapping[str, Any], acls: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return in words which rights the login of an external cluster needs there: a line each; none without a login.

    acls -- what a mirror needs there, as kafka_acls has it.
    """
    user = text_of(entry, "username")
    return [f"User:{user} in {alias}: {', '.join(one['operations'])} on {_resource(one)}" for one in acls if user]


def _resource(acl: Mapping[str, Any]) -> str:
    if acl["resource_type"] == "cluster":
        return "the cluster"
    kind, name, pattern = str(acl["resource_type"]).replace("_", " "), acl["resource"], acl["pattern_type"]
    if name == "*":
        return f"every {kind}"
    return f"{kind} {name}" if pattern == "literal" else f"each {kind} that begins with {name}"


def failures(answers: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a sentence for each external cluster that did not tell its id.

    answers -- by item, the alias, what cluster_info returned.
    """
    return [
        f"{one['item']} of {VARIABLE} cannot be read: {str(one.get('msg') or 'no answer').rstrip('.')}. Its address, "
        f"login and CA are those in {VARIABLE}. Nothing was changed."
        for one in answers
        if "cluster_id" not in one
    ]


def led_home(external: Mapping[str, str], own: Mapping[str, str]) -> list[str]:
    """Return a sentence for each external alias that leads to a cluster of the inventory.

    external -- cluster id by alias, as the brokers there said. own -- kafka_cluster_id by kafka_cluster_name.
    """
    return [
        f"{alias} of {VARIABLE} leads to {cluster} of this inventory (cluster id {cluster_id}), so loops through it "
        f"cannot be seen. Name {cluster} in the flow and remove {alias}, or correct bootstrap_servers. Nothing was "
        "changed."
        for alias, cluster_id in sorted(external.items())
        for cluster, known_id in sorted(own.items())
        if cluster_id and cluster_id == known_id
    ]


def used(value: Any, sources: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the entries that are sources."""
    return {alias: entry for alias, entry in external_clusters(value).items() if alias in sources}
