# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The manifest of each kind of node: broker, controller, both in one, server of ZooKeeper, mirror, legacy mirror.

C(model) is the model of the node (docs/development/house.md). What no template makes comes first (`unwritten`), since
the start script names the files that it has to record; `written` adds the texts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from posixpath import basename
from typing import Any

from ...module_utils._core.properties import hold_secret
from . import mirror
from .manifest import KEYS, LIVE, START, Directory, File, Manifest, readable, writable
from .texts import nice_json

NOTE = """\
# Written by Ansible when this node had started.
# This node has had data. If its data directories are empty, a disk is not mounted or lost, and nothing is
# installed in its place. Remove this file only when the whole cluster shall begin anew, without its data.
# {identity}
"""
#: The class of brokers and controllers, the only nodes whose properties Kafka itself judges.
KAFKA = "kafka.Kafka"


def unwritten(model: Mapping[str, Any]) -> Manifest:
    """Return the manifest of a node without the files that templates make."""
    is_mirror = "mirror" in model["node"]["roles"]
    return Manifest(
        config=model["paths"]["config"],
        properties=mirror.properties(model) if is_mirror else model["properties"],
        jvm=tuple(model["jvm_arguments"]),
        limits=_limits(model["settings"]),
        directories=(*directories(model), *(mirror.directories(model) if is_mirror else ())),
        files=(*_stores(model), *(mirror.files(model) if is_mirror else ()), *_metrics_access(model)),
    )


def written(model: Mapping[str, Any], bare: Manifest, text: Callable[[str], str]) -> Manifest:
    """Return the whole manifest of a node.

    bare -- as `unwritten` makes it; text -- returns what a template, by its name, makes of the model of the node.
    """
    process, paths = model["process"], model["paths"]
    config, reads = paths["config"], readable(model, "0640")
    files = [
        File(f"{config}/jvm.options", text("jvm.options.j2"), reads, needs=KEYS),
        # log4j2 alone reads its file again.
        File(
            f"{config}/{process['logging_file']}",
            text(f"{process['logging_file']}.j2"),
            reads,
            needs=LIVE if process["logging_file"] == "log4j2.yaml" else START,
        ),
        File(f"{config}/start", text("start.j2"), readable(model, "0750"), needs=START),
        # The unit or program belongs to the start files, since it names the disks and limits that they need.
        File(f"{config}/{basename(process['service_file'])}", text(process["template"]), reads, needs=START),
        File(
            f"{config}/{process['config_file']}",
            text("server.properties.j2"),
            reads,
            secret=hold_secret(bare.properties),
            needs=KEYS,
        ),
    ]
    if model["metrics"]:
        # The agent reads its rules again at a scrape, and who may read them at its start alone (`_metrics_access`).
        access = readable(model, "0440")
        secret = bool(model["metrics"]["access"])
        files.append(File(paths["metrics"], text("metrics.yml.j2"), access, secret=secret, needs=LIVE))
    return bare.after(files)


def trial(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return which files Java and Kafka judge before anything is written, as the module node_generation takes it."""
    config, paths = model["paths"]["config"], model["paths"]
    found: dict[str, Any] = {
        "name": model["node"]["host"],
        "java": paths["java"],
        "user": model["owners"]["node"] or "",
        "jvm_options": f"{config}/jvm.options",
        "start": f"{config}/start",
    }
    if model["process"]["main_class"] == KAFKA:
        found["properties"] = f"{config}/{model['process']['config_file']}"
        if model["certificate"]:
            found["stores"] = {store: paths[store] for store in ("keystore", "truststore")}
    return found


def directories(model: Mapping[str, Any]) -> list[Directory]:
    """Return the directories that every node has."""
    paths = model["paths"]
    return [
        Directory(paths["config"], readable(model, "0750")),
        Directory(paths["log"], writable(model, "0750")),
        # A heap holds what clients sent, so nobody else may look at it.
        Directory(paths["heap_dumps"], writable(model, "0700")),
        Directory(paths["state"], writable(model, "0750")),
        *([Directory(paths["tls"], readable(model, "0750"))] if model["certificate"] else []),
    ]


def note(model: Mapping[str, Any]) -> File:
    """Return the file that says that the node has had data."""
    content = NOTE.format(identity=model["process"]["identity"])
    return File(model["paths"]["has_data"], content, readable(model, "0644"))


def identity(model: Mapping[str, Any]) -> tuple[list[Directory], File]:
    """Return the data directories of a server of ZooKeeper, and the file that says which server's they are."""
    log_dirs = model["paths"]["log_dirs"]
    own = File(f"{log_dirs[0]}/myid", str(model["node"]["node_id"]), writable(model, "0600"))
    return [Directory(path, writable(model, "0700")) for path in log_dirs], own


def _limits(settings: Mapping[str, Any]) -> dict[str, Any]:
    if settings["kafka_service_manager"] != "systemd":
        return {}
    return {"kafka_limit_nofile": settings["kafka_limit_nofile"]}


def _stores(model: Mapping[str, Any]) -> list[File]:
    """Return the stores of a node, how it logs in at ZooKeeper, and where its KDCs are."""
    paths, access = model["paths"], readable(model, "0440")
    found = []
    if model["certificate"]:
        found.append(File(paths["truststore"], model["truststore"], access))
        found.append(File(paths["keystore"], model["keystore"], access, secret=True))
    if model["jaas"]:
        found.append(File(paths["jaas"], model["jaas"], access, secret=True))
    if model["krb5"]:
        found.append(File(paths["krb5"], model["krb5"], access))
    return found


def _metrics_access(model: Mapping[str, Any]) -> list[File]:
    """Return the file by which another login or certificate of the metrics is a reason to restart; nothing reads it."""
    access = model["metrics"].get("access")
    if not access:
        return []
    return [File(model["paths"]["metrics_access"], nice_json(access), readable(model, "0440"), secret=True)]
