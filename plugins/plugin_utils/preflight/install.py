# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on what is installed and how: version, profile, source, service manager, heap, directories."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory, Node, as_int
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.keys import BROKER_KEYS
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.violation import ERROR, WARNING, Violation

SUPPORTED_VERSIONS = tuple(sorted(BROKER_KEYS, reverse=True))
WORDS = {
    "kafka_profile": ("production", "development"),
    "kafka_service_manager": ("systemd", "supervisor"),
    "kafka_install_source": ("maven", "archive"),
}
DIRECTORIES = ("kafka_install_dir", "kafka_config_dir", "kafka_data_dir", "kafka_log_dir", "kafka_run_dir")
# Below this a broker with a few hundred partitions spends its time collecting garbage.
MIN_HEAP_MIB = 256
_MIB = {"k": 1 / 1024, "m": 1, "g": 1024, "": 1 / 1024 / 1024}


def version(inventory: Inventory) -> Iterator[Violation]:
    """B30: a version this collection supports, with the legal path from or to the others."""
    for node in (*inventory.kafka, *inventory.mirrors):
        value = node.text("kafka_version")
        if value and value not in SUPPORTED_VERSIONS:
            yield Violation(
                "B30", ERROR, (node.name,), "kafka_version", "this Kafka version is not supported", repr(value),
                f"one of {', '.join(SUPPORTED_VERSIONS)}", _path(value),
            )  # fmt: skip


def _path(value: str) -> str:
    parts = [as_int(part) for part in value.split(".")]
    if None in parts:
        return f"write a full version such as {SUPPORTED_VERSIONS[0]}"
    numbers = tuple(part or 0 for part in parts)
    if numbers < (3, 9):
        return "a cluster older than 3.9 goes to 3.9.2 first (the bridge to 4.x), and no cluster goes back below it"
    newest = SUPPORTED_VERSIONS[0]
    return f"choose a supported version; one not newer than a running cluster's is a downgrade, so mind {newest}"


def words(inventory: Inventory) -> Iterator[Violation]:
    """C4: variables that take one of a few words."""
    for node in inventory.processes:
        for variable, allowed in WORDS.items():
            value = node.get(variable)
            if value is not None and value not in allowed:
                yield Violation(
                    "C4", ERROR, (node.name,), variable, "the word is not known", repr(str(value)),
                    f"one of {', '.join(allowed)}", f"set it to {' or '.join(allowed)}",
                )  # fmt: skip


def archive(inventory: Inventory) -> Iterator[Violation]:
    """C6: an archive comes with its place and its SHA-512; nothing is unpacked unchecked."""
    for node in inventory.processes:
        if node.get("kafka_install_source") != "archive":
            continue
        prefix = "zookeeper_archive" if node.zookeeper else "kafka_archive"
        if not node.text(f"{prefix}_src"):
            yield Violation(
                "C6", ERROR, (node.name,), f"{prefix}_src", "install source archive has no archive", "nothing",
                "a local file or a URL", f"set {prefix}_src, or kafka_install_source to maven",
            )  # fmt: skip
        digest = node.text(f"{prefix}_sha512")
        if not re.fullmatch(r"[0-9a-fA-F]{128}", digest):
            yield Violation(
                "C6", ERROR, (node.name,), f"{prefix}_sha512", "the archive has no usable SHA-512",
                f"{len(digest)} characters" if digest else "nothing", "128 hexadecimal digits",
                "copy the digest from where the archive is published, without spaces and file name",
            )  # fmt: skip


def heap(inventory: Inventory) -> Iterator[Violation]:
    """C7: kafka_heap_size, and of a mirror mirror_maker_heap_size, as Java reads it."""
    for node in inventory.processes:
        variable = "mirror_maker_heap_size" if node in inventory.mirrors else "kafka_heap_size"
        value = node.text(variable)
        match = re.fullmatch(r"([1-9]\d*)([kKmMgG]?)", value)
        if value and not match:
            yield _heap(
                node, variable, ERROR, "Java cannot read this heap size", value, "digits and k, m or g, such as 4g"
            )
        elif match and int(match[1]) * _MIB[match[2].lower()] < MIN_HEAP_MIB:
            yield _heap(node, variable, WARNING, "the heap is too small", value, f"{MIN_HEAP_MIB}m or more")


def _heap(node: Node, variable: str, level: str, what: str, value: str, allowed: str) -> Violation:
    return Violation(
        "C7", level, (node.name,), variable, what, repr(value), allowed, "set it to such as 1g"
    )  # fmt: skip


def directories(inventory: Inventory) -> Iterator[Violation]:
    """C8: directories are absolute and more than the root."""
    for node in inventory.processes:
        paths = [(variable, node.text(variable)) for variable in DIRECTORIES]
        listed = node.get("kafka_log_dirs") or node.zookeeper
        paths += [("kafka_log_dirs", path) for path in node.log_dirs() if listed]
        for variable, path in paths:
            if path and (not path.startswith("/") or _plain(path) == "/"):
                yield _directory((node.name,), variable, "the directory is no absolute path of its own", path)


def directories_shared(inventory: Inventory) -> Iterator[Violation]:
    """C8: no data directory twice, in a node or between the nodes of one machine, and none inside another."""
    by_machine: dict[str, list[tuple[str, str]]] = {}
    for node in inventory.nodes:
        by_machine.setdefault(node.machine, []).extend((node.name, _plain(path)) for path in node.log_dirs())
    for owned in by_machine.values():
        for index, (owner, path) in enumerate(owned):
            for other, other_path in owned[:index]:
                if path == other_path or path.startswith(f"{other_path}/") or other_path.startswith(f"{path}/"):
                    hosts = tuple(dict.fromkeys((other, owner)))
                    shown = path if path == other_path else f"{other_path} and {path}"
                    yield _directory(hosts, "kafka_log_dirs", "a data directory is used twice on one machine", shown)


def _directory(hosts: tuple[str, ...], variable: str, what: str, found: str) -> Violation:
    return Violation(
        "C8", ERROR, hosts, variable, what, found, "absolute directories, each for one node alone",
        "give each node its own directory",
    )  # fmt: skip


def _plain(path: str) -> str:
    """The path without doubled and closing slashes."""
    return re.sub(r"/+", "/", path).rstrip("/") or "/"


RULES = (version, words, archive, heap, directories, directories_shared)
