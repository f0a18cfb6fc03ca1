# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Where everything of a node is on its machine, and who owns it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils._node.adopted import FILE as ADOPTED
from .kafka import tls_dir

SYSTEMD = "systemd"
#: A Unix socket's path holds 107 bytes at most (sun_path in unix(7)); supervisord binds to one with more behind it.
SOCKET_LENGTH = 96


def paths(node: Mapping[str, Any], log_dirs: Sequence[str], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The directories and files of a node; each is a path but for the lists log_dirs, data, writable and traces.

    log_dirs -- its data directories (`Node.log_dirs`); a mirror has none.

    metadata is the directory that the node cannot start without (empty for a mirror), data all directories that hold
    data, writable what the process writes to. runtime is the state directory below /run, which systemd makes at every
    start since /run is empty after a boot; empty where state is elsewhere. java is empty where it is found on the path.
    traces say outside of the data disks that the node has had data: its note, and of a node of Kafka the logs of a
    controller and of changes of partitions, which are empty until it has found or made its meta.properties.
    """
    host = node["host"]
    config, log, state = (f"{settings[f'kafka_{name}_dir']}/{host}" for name in ("config", "log", "run"))
    tls = tls_dir(host, settings)
    metadata = _metadata(node, log_dirs, settings)
    data = list(dict.fromkeys(path for path in (*log_dirs, metadata) if path))
    runtime = re.sub("^(/var)?/run/", "", state) if re.match("(/var)?/run/", state) else ""
    has_data = f"{config}/has-data"
    state_logs = [] if "zookeeper" in node["roles"] else [f"{log}/controller.log", f"{log}/state-change.log"]
    return {
        "config": config,
        "log": log,
        "heap_dumps": f"{log}/heap-dumps",
        # By which mechanisms clients of a broker log in, where it offers several.
        "logins": f"{log}/logins.log",
        "state": state,
        "runtime": runtime,
        "log_dirs": list(log_dirs),
        "metadata": metadata,
        "data": data,
        "writable": list(dict.fromkeys([*data, log, *([] if runtime else [state])])),
        "tls": tls,
        "truststore": f"{tls}/truststore.pem",
        "keystore": f"{tls}/keystore.pem",
        "jaas": f"{config}/zookeeper_jaas.conf",
        "krb5": f"{config}/krb5.conf",
        # Who ran the node before it was taken over.
        "adopted": f"{config}/{ADOPTED}",
        "metrics": f"{config}/metrics.yml",
        "metrics_access": f"{config}/metrics-access.json",
        # Outside of the data directories: with all disks unmounted a node would look new.
        "has_data": has_data,
        "traces": [has_data, *state_logs],
        "java": f"{settings['kafka_java_home']}/bin/java" if settings["kafka_java_home"] else "",
        **shared(settings),
    }


def shared(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return where the supervisord of a machine is, which the processes of several hosts share."""
    return {
        "supervisor": f"{settings['kafka_config_dir']}/supervisor",
        "supervisor_socket": socket_near(f"{settings['kafka_run_dir']}/supervisor.sock"),
    }


def service_file(service: str, settings: Mapping[str, Any]) -> str:
    """Return where the service manager reads the file of a service: a unit of systemd, or a program of supervisor."""
    if settings["kafka_service_manager"] == SYSTEMD:
        return f"/etc/systemd/system/{service}.service"
    return f"{shared(settings)['supervisor']}/conf.d/{service}.conf"


def owners(settings: Mapping[str, Any]) -> dict[str, str | None]:
    """Return who owns what the node only reads (root), what it writes (node), and the group of both.

    Only systemd runs as root and changes owners: None under the supervisor, where all belongs to whoever runs the play.
    """
    if settings["kafka_service_manager"] != SYSTEMD:
        return {"root": None, "node": None, "group": None}
    return {"root": "root", "node": settings["kafka_user"], "group": settings["kafka_group"]}


def _metadata(node: Mapping[str, Any], log_dirs: Sequence[str], settings: Mapping[str, Any]) -> str:
    if not log_dirs:
        return ""
    named = "" if "zookeeper" in node["roles"] else settings["kafka_metadata_log_dir"]
    return str(named or log_dirs[0])


def socket_near(near: str) -> str:
    """Return the path of supervisord's socket: deep checkouts need a short one elsewhere."""
    if len(near) < SOCKET_LENGTH:
        return near
    return f"/tmp/streamops-{hashlib.sha256(near.encode()).hexdigest()[:16]}.sock"
