# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The process of a node: its class, its Java arguments, its logs, and its service."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from posixpath import basename
from typing import Any

from ...module_utils._client.login import KRB5_OPTION, TOKEN_ADDRESSES
from ...module_utils._migration.modes import KRAFT
from ...module_utils._release.releases import release
from ..inventory.nodes import stage_of
from ..inventory.oauth import TokenIssuer
from .paths import SYSTEMD, owners, service_file
from .release import product_of
from .security import offers_several, takes_tokens

#: By what runs: its class, the file with the properties that it is judged by, and the file with the words behind the
#: class, a line each, where they are more than the name of that file.
PROGRAMS = {
    "kafka": ("kafka.Kafka", "server.properties", ""),
    "zookeeper": ("org.apache.zookeeper.server.quorum.QuorumPeerMain", "zoo.cfg", ""),
    "mirror": ("org.apache.kafka.connect.mirror.MirrorMaker", "mm2.properties", ""),
    "legacy": ("kafka.tools.MirrorMaker", "consumer.properties", "arguments"),
}
#: What the log of a mirror says once it serves. MirrorMaker 2 listens before it has asked any cluster for its id, and
#: ends when one does not answer or refuses its login; the legacy engine listens nowhere (ConsumerCoordinator of its
#: clients).
READY_LINES = {"mirror": "Kafka MirrorMaker started", "legacy": "Successfully joined group"}
#: How often supervisord starts a broker again that ended at once, where ZooKeeper refuses one that was killed until its
#: old session has ended (18 s, KIP-537). Pauses of 1, 2, 3 and so on seconds are 21 s, besides what each start takes.
SESSION_RETRIES = 6
#: Loggers with a file of their own: name, file, level.
LOGGERS = (
    ("org.apache.kafka.controller", "controller", "INFO"),
    ("kafka.controller", "controller", "INFO"),
    ("state.change.logger", "state-change", "INFO"),
    ("kafka.authorizer.logger", "authorizer", "INFO"),
)
#: A broker says by which mechanism a client begins to log in, at this level alone (handleHandshakeRequest); the
#: templates keep that line of it and nothing else. No metric of Kafka names a mechanism.
LOGIN_LOGGER = ("org.apache.kafka.common.security.authenticator.SaslServerAuthenticator", "logins", "DEBUG")
#: A client of Kafka 4 that has reached nobody yet starts over without a pause and says so each time: hundreds of lines
#: a second while a source is out of reach. What it cannot do is said by others.
MIRROR_LOGGERS = (("org.apache.kafka.clients.admin.internals.AdminMetadataManager", "server", "WARN"),)
#: How each library is told its configuration.
LOGGING_OPTIONS = {
    "logback.xml": "-Dlogback.configurationFile=",
    "log4j2.yaml": "-Dlog4j2.configurationFile=",
    "log4j.properties": "-Dlog4j.configuration=file:",
}
#: Those of Kafka's own start script.
G1 = (
    "-server",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
    "-XX:+ExitOnOutOfMemoryError",
    "-Djava.awt.headless=true",
)
#: Who may change configurations must not load classes that reach out (CVE-2023-25194, CVE-2025-27818): of login modules
#: only Kafka's own and Kerberos. Newer releases take such a list, older ones only one of what is forbidden.
ALLOWED = "org.apache.kafka.allowed.login.modules"
ALLOWED_MODULES = (
    f"-D{ALLOWED}="
    "org.apache.kafka.common.security.scram.ScramLoginModule,"
    "org.apache.kafka.common.security.plain.PlainLoginModule,"
    "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule,"
    "com.sun.security.auth.module.Krb5LoginModule"
)
FORBIDDEN_MODULES = (
    "-Dorg.apache.kafka.disallowed.login.modules="
    "com.sun.security.auth.module.JndiLoginModule,"
    "com.sun.security.auth.module.LdapLoginModule"
)


def process(node: Mapping[str, Any], settings: Mapping[str, Any], paths: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is started for a node, and how: all that does not depend on its release.

    paths -- those of the node (render/paths.py). Of the keys config_file, arguments_file and logging_file are names in
    its configuration directory, template is that of the service_file, loggers are (name, file, level).
    copies -- as the module node_generation takes them: the service manager reads its file at its own place.
    """
    program = _program(node)
    main_class, config_file, arguments_file = PROGRAMS[program]
    service = service_name(node)
    is_systemd = settings["kafka_service_manager"] == SYSTEMD
    file = service_file(service, settings)
    return {
        "product": product_of(node),
        "title": _title(node, settings),
        "identity": identity(node, settings["kafka_cluster_name"]),
        "main_class": main_class,
        "config_file": config_file,
        "arguments_file": arguments_file,
        "ready_line": READY_LINES.get(program, ""),
        "logging_file": _logging_file(node, settings),
        "loggers": [list(logger) for logger in _loggers(node, settings)],
        "start_retries": SESSION_RETRIES if _has_session(node, settings) else 0,
        "service": service,
        "service_file": file,
        "copies": [{"name": basename(file), "path": file, "mode": "0644", "owner": owners(settings)["root"]}],
        "template": "kafka.service.j2" if is_systemd else "supervisor.program.conf.j2",
    }


def _loggers(node: Mapping[str, Any], settings: Mapping[str, Any]) -> Sequence[tuple[str, str, str]]:
    if "mirror" in node["roles"]:
        return MIRROR_LOGGERS
    return (*LOGGERS, LOGIN_LOGGER) if offers_several(node["listeners"], settings["kafka_sasl_mechanisms"]) else LOGGERS


def _has_session(node: Mapping[str, Any], settings: Mapping[str, Any]) -> bool:
    return stage_of(settings) != KRAFT and "broker" in node["roles"]


def service_name(node: Mapping[str, Any]) -> str:
    """Return the name of a node's unit of systemd, or of its program of supervisord."""
    return f"{'mirror-maker' if 'mirror' in node['roles'] else product_of(node)}-{node['host']}"


def identity(node: Mapping[str, Any], cluster: str) -> str:
    """Write who a node is, for its note and its service; module_utils/_node/beside reads it on the host.

    Neither the name of the host nor any path is in it, so a node that was renamed is known by it. A mirror has no id.
    """
    product = "mirror" if "mirror" in node["roles"] else product_of(node)
    number = "none" if node["node_id"] is None else node["node_id"]
    return f"streamops.kafka node: product={product} id={number} cluster={str(cluster).strip()}"


def jvm_arguments(
    node: Mapping[str, Any],
    settings: Mapping[str, Any],
    paths: Mapping[str, Any],
    release_dir: str,
    has_jaas: bool,
    agent: str = "",
    tokens: Collection[str] = (),
    krb5: str = "",
) -> list[str]:
    """The Java arguments of a node, one a line in jvm.options; of two that say the same the later wins.

    has_jaas -- whether it logs in at ZooKeeper, or is a server that has such logins.
    tokens -- where a mirror gets tokens. krb5 -- the krb5.conf that Java reads; empty for that of the machine.
    agent -- the argument that loads the Prometheus agent (render/metrics.py); empty without it.
    """
    heap = settings["mirror_maker_heap_size" if "mirror" in node["roles"] else "kafka_heap_size"]
    logging_file = _logging_file(node, settings)
    return [
        f"-Xms{heap}",
        f"-Xmx{heap}",
        *G1,
        f"-Xlog:gc*:file={paths['log']}/gc.log:time,tags:filecount={settings['kafka_log_max_files']}"
        f",filesize={settings['kafka_log_max_size_mb']}M",
        *_guards(node, settings, tokens),
        # The first dump of a heap is kept, in a file of that name, and no second one fills the disk.
        "-XX:+HeapDumpOnOutOfMemoryError",
        f"-XX:HeapDumpPath={paths['heap_dumps']}/java.hprof",
        f"{LOGGING_OPTIONS[logging_file]}{paths['config']}/{logging_file}",
        *([f"-Djava.security.auth.login.config={paths['jaas']}"] if has_jaas else []),
        *([f"{KRB5_OPTION}{krb5}"] if krb5 else []),
        *([agent] if agent else []),
        *settings["kafka_jvm_options"],
        "-cp",
        f'"{release_dir}/libs/*"',
    ]


def _program(node: Mapping[str, Any]) -> str:
    if "mirror" not in node["roles"]:
        return product_of(node)
    return "mirror" if node["listeners"] else "legacy"


def _title(node: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    product = product_of(node)
    if product == "zookeeper":
        what = f"server {node['node_id']}"
    elif "mirror" in node["roles"]:
        what = "MirrorMaker next to the brokers"
    else:
        what = f"{' and '.join(node['roles'])} {node['node_id']}"
    name = {"kafka": "Kafka", "zookeeper": "ZooKeeper"}[product]
    return f"Apache {name} {settings[f'{product}_version']} ({what} of {settings['kafka_cluster_name']})"


def _logging_file(node: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """Kafka 4 logs through log4j2, 3.9 through reload4j, ZooKeeper through Logback."""
    if product_of(node) == "zookeeper":
        return "logback.xml"
    return {"log4j2": "log4j2.yaml", "reload4j": "log4j.properties"}[release(settings["kafka_version"]).logging]


def _guards(node: Mapping[str, Any], settings: Mapping[str, Any], tokens: Collection[str]) -> list[str]:
    if product_of(node) == "zookeeper":
        return []
    modules = ALLOWED_MODULES if ALLOWED in release(settings["kafka_version"]).options else FORBIDDEN_MODULES
    is_asked = takes_tokens(node["listeners"], settings["kafka_sasl_mechanisms"])
    keys = [TokenIssuer.of(settings["kafka_oauth"]).jwks_url] if is_asked else []
    return [modules, f"{TOKEN_ADDRESSES}{','.join(sorted({*keys, *tokens}))}"]
