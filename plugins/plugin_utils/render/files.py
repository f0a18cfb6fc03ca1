# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The directories and files of a node that no template of a role makes, as the module node_files takes them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from os.path import expanduser
from pathlib import Path
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.pem_files import stored

#: By what is in them, the variables that name the files of a node on the control node.
CERTIFICATES = {
    "key": "kafka_tls_key_file",
    "certificate": "kafka_tls_certificate_file",
    "truststore": "kafka_tls_ca_file",
}
NOTE = """\
# Written by Ansible when this node had started.
# This node has had data. If its data directories are empty, a disk is not mounted or lost, and nothing is
# installed in its place. Remove this file only when the whole cluster shall begin anew, without its data.
# {identity}
"""


def certificates(settings: Mapping[str, Any]) -> dict[str, str]:
    """What a node gets of its key, its certificate and its CAs, without an end of line behind it.

    Empty where the node has no TLS, or a file is not there: in check mode they may not be issued yet.
    """
    if not settings["kafka_tls_source"]:
        return {}
    files = {name: Path(expanduser(settings[variable])) for name, variable in CERTIFICATES.items()}
    if not all(file.is_file() for file in files.values()):
        return {}
    return stored({name: file.read_bytes() for name, file in files.items()})


def keystore(certificate: Mapping[str, str]) -> str:
    """The store of key and certificate: Kafka reads both from one file."""
    return f"{certificate['key']}\n{certificate['certificate']}\n"


def truststore(certificate: Mapping[str, str]) -> str:
    """The store of the CAs; Kafka finds no certificate in it without the end of the last line."""
    return f"{certificate['truststore']}\n"


def stores(certificate: Mapping[str, str]) -> dict[str, str]:
    """Return {digest, password} of the stores that Java's own TLS reads, which no PEM can be given to.

    A store is salted anew each time that it is made, so it is named by a digest of what is in it. No person has to know
    its password, and who can read the key can make it.
    """
    content = "\n".join((certificate["key"], certificate["certificate"], f"{certificate['truststore']}\n"))
    return {
        "digest": hashlib.sha256(content.encode()).hexdigest()[:16],
        "password": hashlib.sha256(f"stores of {certificate['key']}".encode()).hexdigest(),
    }


def node_files(
    paths: Mapping[str, Any],
    owners: Mapping[str, str | None],
    certificate: Mapping[str, str],
    jaas: str,
    identity: str,
    has_state_logs: bool,
) -> dict[str, list[Any]]:
    """The directories of a node, its plain and secret files, and its note and traces of data.

    paths, owners -- as render/paths.py makes them; certificate -- as `certificates`; jaas -- empty without one;
    identity -- who the node is (render/process.py), for its note;
    has_state_logs -- whether it is a process of Kafka: logs of a controller and of changes of partitions are empty
    until a node of Kafka has found or made its meta.properties.

    Returns lists by name: directories, plain and secret (what a restart takes up), note (the file that says that the
    node has had data) and traces (paths that say it, outside of the data disks).
    """
    reads = {"owner": owners["root"], "group": owners["group"]}
    writes = {"owner": owners["node"], "group": owners["group"]}
    plain, secret = [], []
    if certificate:
        plain.append({"path": paths["truststore"], "content": truststore(certificate), "mode": "0440", **reads})
        secret.append({"path": paths["keystore"], "content": keystore(certificate), "mode": "0440", **reads})
    if jaas:
        secret.append({"path": paths["jaas"], "content": jaas, "mode": "0440", **reads})
    state_logs = [f"{paths['log']}/controller.log", f"{paths['log']}/state-change.log"]
    return {
        "directories": [
            {"path": paths["config"], "mode": "0750", **reads},
            {"path": paths["log"], "mode": "0750", **writes},
            # A heap holds what clients sent, so nobody else may look at it.
            {"path": paths["heap_dumps"], "mode": "0700", **writes},
            {"path": paths["state"], "mode": "0750", **writes},
            *([{"path": paths["tls"], "mode": "0750", **reads}] if certificate else []),
        ],
        "plain": plain,
        "secret": secret,
        "note": [{"path": paths["has_data"], "content": NOTE.format(identity=identity), "mode": "0644", **reads}],
        "traces": [paths["has_data"], *(state_logs if has_state_logs else [])],
    }
