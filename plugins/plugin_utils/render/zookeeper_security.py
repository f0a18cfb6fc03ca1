# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""How servers of ZooKeeper and the brokers that use them know each other, in native properties and JAAS texts.

Servers show certificates to each other (mutual TLS on the quorum and election ports). Clients see the server's
certificate and log in with a name and a password (SASL, DIGEST-MD5), inside TLS; without a login nothing is answered.
What brokers write they alone may change (zookeeper.set.acl).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils._client.login import quoted

LOGIN = "org.apache.zookeeper.server.auth.DigestLoginModule"
JAAS_OPTION = "-Djava.security.auth.login.config="


def server_properties(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a server adds to zoo.cfg, its client port included.

    settings -- tls (bool), sasl (bool), port, host (to listen on for clients, empty for all), tls_dir (on the node),
    tls_protocols.
    """
    properties: dict[str, Any] = {}
    port = "secureClientPort" if settings["tls"] else "clientPort"
    properties[port] = settings["port"]
    if settings["host"]:
        properties[f"{port}Address"] = settings["host"]
    if settings["tls"]:
        properties["serverCnxnFactory"] = "org.apache.zookeeper.server.NettyServerCnxnFactory"
        properties["sslQuorum"] = True
        properties.update(_stores("ssl.", settings))
        properties.update(_stores("ssl.quorum.", settings))
        # Who shows a password needs no certificate; servers show one to each other.
        properties["ssl.clientAuth"] = "none" if settings["sasl"] else "need"
        properties["ssl.quorum.clientAuth"] = "need"
        properties["ssl.quorum.hostnameVerification"] = True
    if settings["sasl"]:
        properties["authProvider.sasl"] = "org.apache.zookeeper.server.auth.SASLAuthenticationProvider"
        properties["enforce.auth.enabled"] = True
        properties["enforce.auth.schemes"] = "sasl"
    return properties


def _stores(prefix: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    return {
        f"{prefix}keyStore.location": f"{settings['tls_dir']}/keystore.pem",
        f"{prefix}keyStore.type": "PEM",
        f"{prefix}trustStore.location": f"{settings['tls_dir']}/truststore.pem",
        f"{prefix}trustStore.type": "PEM",
        f"{prefix}protocol": settings["tls_protocols"][0],
        f"{prefix}enabledProtocols": ",".join(settings["tls_protocols"]),
    }


def broker_properties(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a broker of mode zookeeper adds to server.properties; settings as for servers."""
    properties: dict[str, Any] = {}
    if settings["tls"]:
        properties.update(
            {
                "zookeeper.ssl.client.enable": True,
                "zookeeper.clientCnxnSocket": "org.apache.zookeeper.ClientCnxnSocketNetty",
                "zookeeper.ssl.keystore.location": f"{settings['tls_dir']}/keystore.pem",
                "zookeeper.ssl.keystore.type": "PEM",
                "zookeeper.ssl.truststore.location": f"{settings['tls_dir']}/truststore.pem",
                "zookeeper.ssl.truststore.type": "PEM",
                "zookeeper.ssl.protocol": settings["tls_protocols"][0],
                "zookeeper.ssl.enabled.protocols": list(settings["tls_protocols"]),
                "zookeeper.ssl.endpoint.identification.algorithm": "HTTPS",
            }
        )
    if settings["sasl"]:
        properties["zookeeper.set.acl"] = True
    return properties


def server_jaas(user: str, password: str) -> str:
    """The JAAS text of a server: who may log in."""
    return f"Server {{\n  {LOGIN} required\n  user_{user}={quoted(password)};\n}};\n"


def client_jaas(user: str, password: str) -> str:
    """The JAAS text of a broker: as whom it logs in."""
    return f"Client {{\n  {LOGIN} required\n  username={quoted(user)}\n  password={quoted(password)};\n}};\n"


def access_options(servers: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The options of this collection's modules for an ensemble; settings -- tls, sasl, ca_file, user, password."""
    options: dict[str, Any] = {"servers": list(servers)}
    if settings["tls"]:
        options["ssl_ca_location"] = settings["ca_file"]
    if settings["sasl"]:
        options.update(sasl_username=settings["user"], sasl_password=settings["password"])
    return options
