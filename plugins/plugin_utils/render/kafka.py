# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The native properties of a node: who it is and where it listens, our defaults, then the inventory. Later wins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils._core.addresses import plain_host
from ...module_utils._migration.modes import FLAG, KRAFT, MIGRATING
from ..inventory.kerberos import Kerberos
from ..inventory.nodes import ZOOKEEPER_MODE, endpoints, listener_for, listener_properties, stage_of
from ..inventory.properties import effective, written
from ..inventory.zookeeper_nodes import connect_string, data_dir, server_properties
from . import zookeeper_security
from .bounds import ADDRESS_CONNECTIONS, broker_bounds
from .security import AUTHORIZER, ZOOKEEPER_AUTHORIZER, security_properties

#: Of a server of ZooKeeper; initLimit and syncLimit are ticks that it may take to connect to its leader and copy its
#: data, and to fall behind it.
ZOOKEEPER_DEFAULTS: Mapping[str, Any] = {
    "tickTime": 2000,
    "initLimit": 10,
    "syncLimit": 5,
    # Snapshots and logs that are left, cleaned every so many hours; without it they grow until the disk is full.
    "autopurge.snapRetainCount": 5,
    "autopurge.purgeInterval": 24,
    # The files on disk are ours: members change by a rolling restart and by nothing else.
    "reconfigEnabled": False,
    # An HTTP server that shows configuration and connections to anybody (CVE-2024-51504, CVE-2025-58457).
    "admin.enableServer": False,
    # Those that the checks ask; dump, cons, envi and wchp tell too much.
    "4lw.commands.whitelist": "srvr, ruok, conf, mntr",
    # Each broker has a few sessions; a client that runs wild is kept from all others.
    "maxClientCnxns": 60,
}
#: A follower that asks a new leader before that one knows that it leads is refused, and asks again after so many
#: milliseconds (AbstractFetcherThread); meanwhile nothing is acknowledged to acks=all. With Kafka's 1000 a partition
#: whose leader returns was silent for 0.5 to 1.4 s. Each try against a dead leader writes a warning, so not much less.
FETCH_BACKOFF_MS = 200
#: What a process of KRaft refuses, or would follow: its protocol is the feature metadata.version (KIP-778), and it has
#: no listener of its own for the control plane (KafkaConfig, validateControlPlaneListenerEmptyForKRaft).
OF_ZOOKEEPER_MODE = ("broker.id", "inter.broker.protocol.version", "control.plane.listener.name")
#: How a session with ZooKeeper is made, and how Kafka encrypts passwords in it.
OF_SESSIONS = ("zookeeper.", "password.encoder.")

#: A node as Node.plain has it, or the variables of its host.
Plain = Mapping[str, Any]


def own_properties(roles: Sequence[str], settings: Plain) -> dict[str, Any]:
    """Return what the inventory itself gives a node with these roles; it wins over all that we write."""
    found = effective(written(roles, settings.__getitem__))
    return {key: one.value for key, one in found.items()}


def super_users(nodes: Sequence[Plain], settings: Plain) -> list[str]:
    """Return the super users: the nodes, the administrator, and the names that the inventory adds, sorted."""
    added = sorted(map(str, settings["kafka_super_users"]))
    return list(dict.fromkeys([*(node["host"] for node in nodes), settings["kafka_admin_user"], *added]))


def broker_properties(
    node: Plain,
    nodes: Sequence[Plain],
    servers: Sequence[Plain],
    settings: Plain,
    addresses: Sequence[str],
    copies: Plain,
) -> dict[str, Any]:
    """Return the properties of a broker, or of a combined node.

    nodes -- of its cluster; servers -- the members of its ensemble, all of them, since a broker that knows a part hangs
    on that part; settings -- its variables; addresses -- what the nodes of the cluster connect from; copies -- our
    defaults about copies (render/copies.py).
    """
    kraft = stage_of(settings) == KRAFT
    own = own_of_stage(node["roles"], settings, kraft)
    return {
        **(_kraft_identity(node, settings) if kraft else _zookeeper_identity(node, servers, settings)),
        **({"broker.rack": settings["kafka_rack"]} if settings["kafka_rack"] else {}),
        **_listeners_and_security(node, nodes, settings, zookeeper=not kraft),
        **_broker_defaults(copies),
        **({} if kraft else _session(node["host"], settings)),
        **broker_bounds(
            node,
            {
                "heap_size": settings["kafka_heap_size"],
                "node_addresses": addresses,
                "request_bytes": own.get("socket.request.max.bytes", ""),
            },
        ),
        **own,
        **({FLAG: True} if stage_of(settings) == MIGRATING else {}),
    }


def controller_properties(
    node: Plain,
    nodes: Sequence[Plain],
    servers: Sequence[Plain],
    settings: Plain,
) -> dict[str, Any]:
    """Return those of a controller alone. Only nodes get beyond its handshake, and each holds a few connections.

    While its cluster migrates it has a session with ZooKeeper as brokers have, and reaches them by their listener.
    """
    return {
        **_kraft_identity(node, settings),
        **_listeners_and_security(node, nodes, settings),
        "max.connections.per.ip": ADDRESS_CONNECTIONS,
        **({} if stage_of(settings) == KRAFT else _migration(node, servers, settings)),
        **own_of_stage(node["roles"], settings, kraft=True),
    }


def _migration(node: Plain, servers: Sequence[Plain], settings: Plain) -> dict[str, Any]:
    """Return what a controller has until the migration is finalised (page "ZooKeeper to KRaft Migration" of 3.9)."""
    of_brokers = own_properties(("broker",), settings)
    return {
        **_connect(servers, settings),
        **_session(node["host"], settings),
        **{key: value for key, value in of_brokers.items() if key.startswith(OF_SESSIONS)},
        "inter.broker.listener.name": listener_for(node, "brokers")["name"],
        FLAG: True,
    }


def own_of_stage(roles: Sequence[str], settings: Plain, kraft: bool) -> dict[str, Any]:
    """Return what the inventory gives a node, on the way to KRaft without what a process of KRaft must not have.

    kraft -- whether the process is one of KRaft: a controller, or a broker that has moved
    """
    own = own_properties(roles, settings)
    if not kraft or settings["kafka_mode"] != ZOOKEEPER_MODE:
        return own
    banned = OF_ZOOKEEPER_MODE if stage_of(settings) != KRAFT else (*OF_ZOOKEEPER_MODE, *OF_SESSIONS)
    kept = {key: value for key, value in own.items() if not key.startswith(banned)}
    if kept.get("authorizer.class.name") == ZOOKEEPER_AUTHORIZER:
        kept["authorizer.class.name"] = AUTHORIZER
    return kept


def zookeeper_properties(node: Plain, members: Sequence[Plain], settings: Plain) -> dict[str, Any]:
    """Return the properties of a server of ZooKeeper (zoo.cfg); members -- the servers of its ensemble."""
    return {
        "dataDir": data_dir(node["host"], settings["zookeeper_data_dir"], settings["kafka_data_dir"]),
        "dataLogDir": settings["zookeeper_data_log_dir"],
        **server_properties(members),
        **zookeeper_security.server_properties(zookeeper_settings(node["host"], settings)),
        **ZOOKEEPER_DEFAULTS,
        "standaloneEnabled": len(members) == 1,
        **own_properties(node["roles"], settings),
    }


def zookeeper_settings(host: str, settings: Plain) -> dict[str, Any]:
    """Return what render/zookeeper_security.py needs to know of the servers and of the node that knows them."""
    return {
        "tls": settings["zookeeper_tls"],
        "sasl": bool(settings["zookeeper_password"]),
        "port": settings["zookeeper_client_port"],
        "host": plain_host(settings["zookeeper_host"]),
        "tls_dir": tls_dir(host, settings),
        "tls_protocols": settings["kafka_tls_protocols"],
    }


def tls_dir(host: str, settings: Plain) -> str:
    """Return where the stores of a node are, on the node."""
    return f"{settings['kafka_config_dir']}/{host}/tls"


def keytab(host: str, settings: Plain) -> str:
    """Return where the keytab of a node is, on the node."""
    said = Kerberos.of(settings["kafka_kerberos"])
    return said.keytab_path or copied_keytab(host, settings)


def copied_keytab(host: str, settings: Plain) -> str:
    """Return where the keytab of a node is copied to, on the node."""
    return f"{settings['kafka_config_dir']}/{host}/kafka.keytab"


def _zookeeper_identity(node: Plain, servers: Sequence[Plain], settings: Plain) -> dict[str, Any]:
    """Return who a broker of ZooKeeper is. With the migration flag it keeps a copy of the metadata log, and writes the
    meta.properties that KRaft asks for, also where that log is (KafkaServer)."""
    return {
        "log.dirs": settings["kafka_log_dirs"],
        "broker.id": node["node_id"],
        **_connect(servers, settings),
        **(_metadata_dir(settings) if stage_of(settings) == MIGRATING else {}),
    }


def _kraft_identity(node: Plain, settings: Plain) -> dict[str, Any]:
    return {
        "log.dirs": settings["kafka_log_dirs"],
        "node.id": node["node_id"],
        "process.roles": node["roles"],
        **_metadata_dir(settings),
    }


def _metadata_dir(settings: Plain) -> dict[str, Any]:
    directory = settings["kafka_metadata_log_dir"]
    return {"metadata.log.dir": directory} if directory else {}


def _connect(servers: Sequence[Plain], settings: Plain) -> dict[str, Any]:
    return {"zookeeper.connect": connect_string(servers, settings["zookeeper_chroot"])}


def _session(host: str, settings: Plain) -> dict[str, Any]:
    """Return how a node of Kafka makes its session with ZooKeeper secure."""
    return zookeeper_security.broker_properties(zookeeper_settings(host, settings))


def _listeners_and_security(
    node: Plain, nodes: Sequence[Plain], settings: Plain, zookeeper: bool = False
) -> dict[str, Any]:
    """Return where a node listens and how; zookeeper -- whether it is a broker that keeps its ACLs in ZooKeeper."""
    admin = {"name": settings["kafka_admin_user"], "password": settings["kafka_admin_password"]}
    return {
        **listener_properties(node, endpoints(nodes, "controllers")),
        **security_properties(
            node,
            {
                "tls_dir": tls_dir(node["host"], settings),
                "tls_source": settings["kafka_tls_source"],
                "tls_protocols": settings["kafka_tls_protocols"],
                "principal_rules": settings["kafka_tls_principal_rules"],
                "mechanisms": settings["kafka_sasl_mechanisms"],
                "super_users": super_users(nodes, settings),
                "authorizer": settings["kafka_authorizer"],
                "plain_users": [admin, *settings["kafka_plain_users"]],
                "oauth": settings["kafka_oauth"],
                "version": settings["kafka_version"],
                "kerberos": settings["kafka_kerberos"],
                "keytab": keytab(node["host"], settings),
                "zookeeper": zookeeper,
            },
        ),
    }


def _broker_defaults(copies: Plain) -> dict[str, Any]:
    """Return where we differ from Kafka's own defaults.

    Three copies of everything, two of them in sync before an acknowledgement, no topic by accident; as many copies as
    there are brokers where those are fewer. Followers that were refused ask again soon.
    """
    return {
        **copies,
        "auto.create.topics.enable": False,
        "replica.fetch.backoff.ms": FETCH_BACKOFF_MS,
        "unclean.leader.election.enable": False,
    }
