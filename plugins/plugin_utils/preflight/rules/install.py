# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on what is installed and how: version, archive, heap, directories."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ....module_utils._release.releases import MIRROR, WITH_ZOOKEEPER, newest_that_runs, release, releases
from ...guards.versions import goes_back, too_new
from ...inventory.heap import heap_bytes
from ...inventory.mirror_release import VARIABLE as MIRROR_VERSION
from ...inventory.model import Inventory, Node
from ...inventory.variables import as_int
from ..host import Host
from ..rule import WARNING, Problem, host_rule, rule

SUPPORTED = tuple(one.version for one in releases())
#: The last line with ZooKeeper, to which a cluster of any older release can go.
BRIDGE = newest_that_runs(WITH_ZOOKEEPER).version
ZOOKEEPER_DIRECTORIES = ("zookeeper_data_dir", "zookeeper_data_log_dir")
DIRECTORIES = ("kafka_install_dir", "kafka_config_dir", "kafka_data_dir", "kafka_log_dir", "kafka_run_dir")
# Below this a broker with a few hundred partitions spends its time collecting garbage.
MIN_HEAP_MIB = 256
#: MiB that Java itself needs for a server of ZooKeeper or a mirror: with 2 it ends before it has loaded a class.
LEAST_JAVA_HEAP = 3
#: The options of Java for the largest and the first heap; the long ones are the same by another name.
MAXIMUM = re.compile(r"(?:-Xmx|-XX:MaxHeapSize=)(.*)")
INITIAL = re.compile(r"(?:-Xms|-XX:InitialHeapSize=)(.*)")


@rule(
    variable="kafka_version",
    allowed=f"one of {', '.join(SUPPORTED)}",
    fix=f"choose a supported version; older clusters go to {BRIDGE} first",
)
def unsupported_version(inventory: Inventory) -> Iterator[Problem]:
    """This collection does not support the `kafka_version`; the message names the legal path."""
    for node in (*inventory.kafka, *inventory.mirrors):
        value = node.text("kafka_version")
        if value and value not in SUPPORTED:
            variable = MIRROR_VERSION if node.only_mirrors and node.text(MIRROR_VERSION) else "kafka_version"
            what = "this Kafka version is not supported"
            yield Problem(node, what, repr(value), fix=_path(value), variable=variable)


@rule(
    variable=MIRROR_VERSION,
    allowed="a release whose MirrorMaker Maven has",
    fix=f"set it to {newest_that_runs(MIRROR).version}, or install from Apache's archive",
)
def release_without_mirror_maker(inventory: Inventory) -> Iterator[Problem]:
    """A mirror is to run a release that cannot be had with MirrorMaker from Maven; Apache's archive always has it."""
    for node in inventory.mirrors:
        version = node.text("kafka_version")
        from_maven = node.get("kafka_install_source", "maven") == "maven"
        if from_maven and version in SUPPORTED and MIRROR not in release(version).runs:
            yield Problem(node, "Maven has no MirrorMaker of this release", version)


@host_rule(
    variable="kafka_version",
    allowed="the version that runs, a newer one, or one that takes what the cluster has finalised",
    fix="set kafka_version to the version that runs; features that are finalised cannot be taken back",
)
def version_behind(hosts: Sequence[Host]) -> Iterator[Problem]:
    """`kafka_version` is an older minor release than the one that runs, and does not take the features that the cluster
    has finalised (`metadata.version` above all), or the cluster could not be asked for them."""
    for host in hosts:
        runs = str(host.info.get("version") or "") if host.info else ""
        if not {"broker", "controller"} & set(host.roles) or not goes_back(runs, host.version):
            continue
        what = f"the node runs Kafka {runs}, and {host.version} would not start on what its cluster has written"
        if host.features is None:
            what = (
                f"the node runs Kafka {runs}, and its cluster could not be asked whether {host.version} takes its data"
            )
            yield Problem(host, what, host.unasked or "no answer", fix=_START)
        elif found := too_new(host.features, host.version):
            yield Problem(host, what, f"{host.version}, where the cluster has finalised {', '.join(found)}")


@host_rule(
    variable="kafka_version",
    allowed="a release that the inventory names",
    fix="set kafka_version to the release that runs; to upgrade, name the new one and run upgrade.yml",
)
def upgrade_by_default(hosts: Sequence[Host]) -> Iterator[Problem]:
    """A node runs another release than the default of this collection, and the inventory names none: each run that
    restarts nodes would upgrade the cluster, without the checks of `upgrade.yml`."""
    for host in hosts:
        runs = str(host.info.get("version") or "") if host.info else ""
        if host.names_version or not {"broker", "controller"} & set(host.roles) or runs in ("", host.version):
            continue
        what = (
            f"the node runs Kafka {runs}, and the inventory names no release, so this run would make it {host.version}"
        )
        yield Problem(host, what, "nothing", fix=f"set kafka_version: {runs}; to upgrade, {_UPGRADE}")


_UPGRADE = "name the new release and run upgrade.yml"
_START = "set kafka_version to the version that runs; start the cluster with it first to have it asked"


def _path(value: str) -> str:
    parts = [as_int(part) for part in value.split(".")]
    if None in parts:
        return f"write a full version such as {SUPPORTED[0]}"
    if tuple(part or 0 for part in parts) < (3, 9):
        return f"upgrade a cluster older than 3.9 to {BRIDGE} first (the bridge to 4.x); no cluster goes back below it"
    return "choose a supported version that is not older than the one a running cluster has"


@rule(fix="set the variable, or kafka_install_source to maven")
def no_archive(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_install_source` is `archive`, but `kafka_archive_src` (`zookeeper_archive_src`) is not set."""
    for node, prefix in _archives(inventory):
        if not node.text(f"{prefix}_src"):
            yield Problem(node, "install source archive has no archive", "nothing", variable=f"{prefix}_src")


@rule(
    allowed="128 hexadecimal digits",
    fix="copy the digest from where the archive is published, without spaces and file name",
)
def no_archive_digest(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_install_source` is `archive`, but `kafka_archive_sha512` has no SHA-512 of 128 hexadecimal digits."""
    for node, prefix in _archives(inventory):
        digest = node.text(f"{prefix}_sha512")
        if not re.fullmatch(r"[0-9a-fA-F]{128}", digest):
            found = f"{len(digest)} characters" if digest else "nothing"
            yield Problem(node, "the archive has no usable SHA-512", found, variable=f"{prefix}_sha512")


def _archives(inventory: Inventory) -> Iterator[tuple[Node, str]]:
    """The nodes that are installed from an archive, with the prefix of its variables."""
    for node in inventory.processes:
        if node.get("kafka_install_source") == "archive":
            yield node, "zookeeper_archive" if node.zookeeper else "kafka_archive"


@rule(allowed="digits and k, m or g, such as 4g", fix="set it to a size such as 1g")
def bad_heap_size(inventory: Inventory) -> Iterator[Problem]:
    """Java cannot read `kafka_heap_size` (of a mirror `mirror_maker_heap_size`), or a heap in `kafka_jvm_options`."""
    for node in inventory.processes:
        for variable, text in dict.fromkeys((*_sizes(node, MAXIMUM), *_sizes(node, INITIAL))):
            if _mib(text) is None:
                yield Problem(node, "Java cannot read this heap size", repr(text), variable=variable)


@rule(fix="set it to a size such as 1g")
def heap_cannot_start(inventory: Inventory) -> Iterator[Problem]:
    """With so small a heap the process does not start; digits without `k`, `m` or `g` are bytes."""
    for node, variable, text, size in _heaps(inventory):
        least = _least_heap(node)
        if size < least:
            what = "the node does not start with so small a heap"
            yield Problem(node, what, f"{text!r}{_unit(text)}", allowed=f"{least}m or more", variable=variable)


@rule(variable="kafka_jvm_options", fix="set kafka_heap_size alone, which is both")
def initial_heap_above_maximum(inventory: Inventory) -> Iterator[Problem]:
    """The initial heap (`-Xms`) is above the largest one (`-Xmx`), as with `-Xmx` alone in `kafka_jvm_options`."""
    for node, _variable, text, size in _heaps(inventory):
        initial = _sizes(node, INITIAL)[-1:]
        if initial and (_mib(initial[0][1]) or 0) > size:
            what = "Java refuses an initial heap that is larger than the largest one"
            yield Problem(node, what, f"-Xms{initial[0][1]} -Xmx{text}")


@rule(level=WARNING, allowed=f"{MIN_HEAP_MIB}m or more", fix="set it to a size such as 1g")
def small_heap(inventory: Inventory) -> Iterator[Problem]:
    """The heap is so small that Java spends its time collecting garbage."""
    for node, variable, text, size in _heaps(inventory):
        if _least_heap(node) <= size < MIN_HEAP_MIB:
            yield Problem(node, "the heap is too small", repr(text), variable=variable)


def _heaps(inventory: Inventory) -> Iterator[tuple[Node, str, str, float]]:
    """The largest heap of each node that Java can read, with its variable, its text and its MiB."""
    for node in inventory.processes:
        for variable, text in _sizes(node, MAXIMUM)[-1:]:
            size = _mib(text)
            if size is not None:
                yield node, variable, text, size


def _sizes(node: Node, option: re.Pattern[str]) -> list[tuple[str, str]]:
    """Return what is given for a heap, with its variable; the last one holds (jvm_arguments of render/process)."""
    variable = "mirror_maker_heap_size" if node.only_mirrors else "kafka_heap_size"
    given = [(variable, node.text(variable))] if node.text(variable) else []
    words = " ".join(node.names("kafka_jvm_options")).split()
    return given + [("kafka_jvm_options", found[1]) for word in words if (found := option.fullmatch(word))]


def _mib(size: str) -> float | None:
    """The MiB of a heap as Java reads it; None for what it does not read."""
    try:
        return heap_bytes(size, "") / 2**20
    except ValueError:
        return None


def _unit(size: str) -> str:
    return ", which is bytes" if size.isdigit() else ""


def _least_heap(node: Node) -> int:
    """The MiB without which what the node runs does not start."""
    if not (node.broker or node.controller):
        return LEAST_JAVA_HEAP
    version, role = node.text("kafka_version"), "broker" if node.broker else "controller"
    known = [one for one in releases() if one.version == version]
    return min(one.least_heap[role] for one in known or releases())


@rule(fix="write the whole path of a directory")
def bad_directory(inventory: Inventory) -> Iterator[Problem]:
    """A directory is empty, not absolute, the root, or has characters outside of ASCII, which Java cannot open."""
    for node in inventory.processes:
        given = {variable: str(node.get(variable)) for variable in DIRECTORIES if node.get(variable) is not None}
        parent = given.get("kafka_data_dir", "")
        paths = list(given.items())
        below = [(name, node.text(name)) for name in ZOOKEEPER_DIRECTORIES] if node.zookeeper else []
        if node.get("kafka_log_dirs") and not node.zookeeper:
            below = [("kafka_log_dirs", path) for path in node.log_dirs()]
        # What follows from the directory above it is named by that one.
        paths += [(name, path) for name, path in below if path and not (parent and path.startswith(f"{parent}/"))]
        for variable, path in paths:
            if not path.strip().startswith("/") or _plain(path.strip()) == "/":
                shown = path if path.strip() else repr(path)
                yield Problem(node, "the directory is not absolute, or the root", shown, variable=variable)
            # Services have no locale, and then Java opens no other path (seen on Java 17: "unmappable characters").
            elif not path.isascii() or not path.isprintable():
                what = "Java cannot open this directory: services have no locale"
                yield Problem(node, what, repr(path), fix="name it in ASCII characters", variable=variable)


@rule(variable="kafka_log_dirs", fix="give each node its own directory")
def shared_directory(inventory: Inventory) -> Iterator[Problem]:
    """A data directory is used twice on one machine, or is inside another one. The two of one server of ZooKeeper may
    be one: snapshots and transaction log have names of their own."""
    servers = {node.name for node in inventory.nodes if node.zookeeper}
    by_machine: dict[str, list[tuple[str, str]]] = {}
    for node in inventory.nodes:
        by_machine.setdefault(node.machine, []).extend((node.name, _plain(path)) for path in node.log_dirs())
    for owned in by_machine.values():
        for index, (owner, path) in enumerate(owned):
            for other, other_path in owned[:index]:
                if owner == other and owner in servers:
                    continue
                if path == other_path or path.startswith(f"{other_path}/") or other_path.startswith(f"{path}/"):
                    shown = path if path == other_path else f"{other_path} and {path}"
                    yield Problem([other, owner], "a data directory is used twice on one machine", shown)


def _plain(path: str) -> str:
    """The path without doubled and closing slashes."""
    return re.sub(r"/+", "/", path).rstrip("/") or "/"
