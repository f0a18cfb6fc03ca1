# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The Prometheus agent (JMX exporter) in the process of a node: its jar, its Java argument, and its configuration."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ansible.module_utils.common.yaml import yaml_load

from ...module_utils._core.addresses import host_port
from ...module_utils._release import lock
from .release import FILES

#: 1.0.1 is the newest agent on Maven Central; later ones go to GitHub alone (jmx_exporter #1115).
LOCK = FILES / "jmx-exporter-1.0.1.lock.json"
TABLE = Path(__file__).resolve().parent.parent / "monitoring" / "metrics.yml"
ALGORITHM = "PBKDF2WithHmacSHA256"
#: What OWASP asks for with SHA-256 (Password Storage Cheat Sheet, 2023).
ROUNDS = 600_000
#: Bytes, whatever the documentation of the agent says of bits: 256 there answers 401 to everyone.
KEY_LENGTH = 32


@cache
def table() -> dict[str, Any]:
    """Read what the agent takes from each kind of process: {names, rules} by kind."""
    loaded: dict[str, Any] = yaml_load(TABLE.read_text(encoding="utf-8"))
    return loaded


def kind(roles: list[str]) -> str:
    """Return kafka, zookeeper or mirror."""
    return next((role for role in ("zookeeper", "mirror") if role in roles), "kafka")


def agent(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the jar: {path, sha256, src, url, lock, file}.

    path -- on the node; its name holds the digest, so that another jar is another argument of Java. src -- a file of
    the control node or a URL, empty for Maven; url -- the same as a URL; lock -- what pins Maven's; file -- its name in
    the cache of the control node.
    """
    pinned = lock.from_mapping(json.loads(LOCK.read_text(encoding="utf-8"))).jars[0]
    src = str(settings["kafka_metrics_agent_src"]).strip()
    sha256 = str(settings["kafka_metrics_agent_sha256"]).strip().lower() if src else pinned.sha256
    return {
        "path": f"{settings['kafka_install_dir']}/agents/jmx_prometheus_javaagent-{sha256[:12]}.jar",
        "sha256": sha256,
        "src": src,
        "url": src if "://" in src else Path(src).expanduser().absolute().as_uri() if src else "",
        "lock": str(LOCK),
        "file": f"{sha256}.jar" if src else pinned.file,
    }


def argument(jar: str, listener: Mapping[str, Any], config: str) -> str:
    """Write the argument of Java that loads the agent: -javaagent:JAR=HOST:PORT:FILE.

    A path with a blank is quoted, since jvm.options is an argument file of the java launcher.
    """
    word = f"-javaagent:{jar}={host_port(listener['host'], listener['port'])}:{config}"
    return f'"{word}"' if " " in word else word


def salt(host: str, user: str) -> str:
    """Return the salt of a login: its own for each host and user, and the same in every run."""
    return hashlib.sha256(f"streamops.kafka metrics {host} {user}".encode()).hexdigest()[:32]


def login(host: str, user: str, password: str) -> dict[str, Any]:
    """Return the agent's basic login, with a digest instead of the password."""
    own = salt(host, user)
    digest = hashlib.pbkdf2_hmac("sha256", password.encode(), own.encode(), ROUNDS, KEY_LENGTH)
    return {
        "username": user,
        "passwordHash": digest.hex(),
        "algorithm": ALGORITHM,
        "salt": own,
        "iterations": ROUNDS,
        "keyLength": KEY_LENGTH,
    }


def access(host: str, settings: Mapping[str, Any], store: Mapping[str, str]) -> dict[str, Any]:
    """Return who may read the metrics, and how they travel: the agent's httpServer; empty where it is open and plain.

    store -- the key store in Java's form: {path, password}; empty without certificates.
    """
    found: dict[str, Any] = {}
    if store:
        found["ssl"] = {
            "keyStore": {"filename": store["path"], "type": "PKCS12", "password": store["password"]},
            # The name that module_utils/_node/stores gives the key.
            "certificate": {"alias": "node"},
        }
    if settings["kafka_metrics_password"]:
        own = login(host, settings["kafka_metrics_user"], settings["kafka_metrics_password"])
        found["authentication"] = {"basic": own}
    return found


def configuration(roles: list[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the agent's configuration file as data; given -- its httpServer (`access`)."""
    return {
        **({"httpServer": dict(given)} if given else {}),
        "lowercaseOutputName": True,
        "includeObjectNames": table()[kind(roles)]["names"],
        "rules": table()[kind(roles)]["rules"],
    }
