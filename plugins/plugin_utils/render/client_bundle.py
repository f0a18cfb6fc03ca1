# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What people get who will use a cluster: where it is, whom to trust, settings for their client, and no secret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os.path import expanduser
from pathlib import Path
from typing import Any

from ...module_utils._client.login import SaslLogin
from .parts import Parts
from .security import SASL_PROTOCOLS, TLS_PROTOCOLS

# Where the clients find the password: an environment variable, so that no file of the bundle holds one.
PASSWORD_VARIABLE = "KAFKA_PASSWORD"
# What a client that shows a certificate puts beside the bundle: its key (PKCS 8) and certificate in one file.
CERTIFICATE_FILE = "client.pem"
_ENVIRONMENT = {
    "config.providers": "env",
    "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
    "config.providers.env.param.allowlist.pattern": PASSWORD_VARIABLE,
}


class ClientBundle(Parts):
    """The key C(client_bundle) of the model: its C(directories) and C(files), as the module node_files takes them."""

    def __init__(self, model: Mapping[str, Any]) -> None:
        settings = model["settings"]
        folder = f"{expanduser(settings['kafka_resources_client_bundle_dir'])}/{settings['kafka_cluster_name']}"

        def files() -> list[dict[str, str]]:
            """Return what is in the bundle of each user."""
            is_tls = "ssl_ca_location" in model["connection"]
            ca = Path(model["connection"]["ssl_ca_location"]).read_text(encoding="utf-8") if is_tls else ""
            # Clients get the addresses of the inventory, and none that a broker is about to leave.
            connection = {**model["connection"], "bootstrap_servers": model["bootstrap_servers"]}
            return client_bundle(bundle_users(model["node"], settings), connection, folder, ca)

        super().__init__(
            {
                "directories": lambda: bundle_directories(bundle_users(model["node"], settings), folder),
                "files": files,
            }
        )


def bundle_users(node: Mapping[str, Any], settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return who gets a folder: names and mechanisms, no password; who shows a certificate has only a name."""
    if any(one["purpose"] == "clients" and one["protocol"] == "SSL" for one in node["listeners"]):
        return [{"name": name} for name in settings["kafka_tls_client_names"]]
    present = sorted(
        (one for one in settings["kafka_users"] if one.get("state") != "absent"), key=lambda one: "state" in one
    )
    return [{key: one[key] for key in ("name", "mechanism") if key in one} for one in present]


def client_bundle(
    users: Sequence[Mapping[str, Any]], connection: Mapping[str, Any], directory: str, ca: str
) -> list[dict[str, str]]:
    """The files of the bundle as {path, content, mode}: one folder for each user.

    users -- {name, mechanism}, as the module users takes them, or only {name} of those that show certificates;
    connection -- the connection of the administrator, of which only servers and protocol are taken; ca -- the text of
    the trusted certificates, empty without TLS.
    """
    protocol = connection.get("security_protocol", "PLAINTEXT")
    servers = ",".join(connection["bootstrap_servers"])
    files = []
    for user in users:
        folder = f"{directory}/{user['name']}"
        mechanism = user.get("mechanism") or "SCRAM-SHA-512"
        texts = {
            "java.properties": _text(_java(user["name"], mechanism, protocol, servers), "Java clients"),
            "librdkafka.properties": _text(
                _librdkafka(user["name"], mechanism, protocol, servers), "librdkafka (C, Python, Go, .NET, Node)"
            ),
            "spark.properties": _text(
                _spark(user["name"], mechanism, protocol, servers), "Spark's Kafka source and sink"
            ),
        }
        if protocol in TLS_PROTOCOLS:
            texts["ca.pem"] = ca
        files += [{"path": f"{folder}/{name}", "content": text, "mode": "0644"} for name, text in texts.items()]
    return files


def bundle_directories(users: Sequence[Mapping[str, Any]], directory: str) -> list[dict[str, str]]:
    """The folders of the bundle as {path, mode}."""
    return [{"path": f"{directory}/{user['name']}", "mode": "0755"} for user in users]


def _java(user: str, mechanism: str, protocol: str, servers: str) -> dict[str, str]:
    properties = {"bootstrap.servers": servers, "security.protocol": protocol}
    if protocol in TLS_PROTOCOLS:
        properties.update({"ssl.truststore.type": "PEM", "ssl.truststore.location": "ca.pem"})
    if protocol == "SSL":
        properties.update({"ssl.keystore.type": "PEM", "ssl.keystore.location": CERTIFICATE_FILE})
    if protocol in SASL_PROTOCOLS:
        properties.update(_ENVIRONMENT)
        properties.update(SaslLogin(mechanism, user, f"${{env:{PASSWORD_VARIABLE}}}").java())
    return properties


def _librdkafka(user: str, mechanism: str, protocol: str, servers: str) -> dict[str, str]:
    properties = {"bootstrap.servers": servers, "security.protocol": protocol}
    if protocol in TLS_PROTOCOLS:
        properties["ssl.ca.location"] = "ca.pem"
    if protocol == "SSL":
        properties.update({"ssl.certificate.location": CERTIFICATE_FILE, "ssl.key.location": CERTIFICATE_FILE})
    if protocol in SASL_PROTOCOLS:
        # librdkafka reads no environment: the program adds sasl.password.
        properties.update(SaslLogin(mechanism, user).librdkafka())
    return properties


def _spark(user: str, mechanism: str, protocol: str, servers: str) -> dict[str, str]:
    return {f"kafka.{name}": value for name, value in _java(user, mechanism, protocol, servers).items()}


def _text(properties: Mapping[str, str], client: str) -> str:
    lines = [f"# Settings for {client}. Paths are relative to this folder."]
    if any("sasl" in name for name in properties):
        lines.append(f"# The password is not here: {_where(properties)}.")
    if CERTIFICATE_FILE in properties.values():
        lines.append(f"# {CERTIFICATE_FILE} is not here: your key (PKCS 8), and your certificate behind it.")
    return "\n".join([*lines, *(f"{name}={properties[name]}" for name in sorted(properties)), ""])


def _where(properties: Mapping[str, str]) -> str:
    if any(name.endswith("config.providers") for name in properties):
        return f"it is read from the environment variable {PASSWORD_VARIABLE}"
    return "set sasl.password in the program"
