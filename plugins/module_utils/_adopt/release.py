# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which release a process runs: by the names of its jars, and by their digests against the locks of the collection.

A name says what somebody calls a build, digests what it is. A lock has the jars of one release that its nodes need,
as Apache published them; Apache's archive has more of them (Kafka Streams, tools), and so has a node with connectors.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .._node.installed import APACHE, ZOOKEEPER
from .._release.lock import Lock

#: Jars that tell the version, by what is looked for: Kafka's core, for workers without it the runtime, the clients.
_CORES = {
    "kafka": re.compile(r"(?:kafka_2\.\d+|connect-runtime|connect-mirror|kafka-clients)-(?P<version>\d[^/]*)\.jar"),
    "zookeeper": re.compile(r"zookeeper-(?P<version>\d[^/]*)\.jar"),
}
#: Jars beside those that hold no code that runs, or only that of tests.
_BESIDE = re.compile(r"-(sources|javadoc|scaladoc|site|tests?|test-sources)\.jar$")
#: Builds of others by the end of their version: Confluent (7.6.0-ccs, 7.6.0-ce), Cloudera (3.4.1.7.1.9.0-387, and
#: 2.2.1-cdh6.3.2), Hortonworks (2.0.0.3.1.4.0-315), Red Hat (3.7.0.redhat-00007).
_VENDORS = (
    ("confluent", re.compile(r"-(ccs|ce|cp\d+)(-\w+)?$")),
    ("redhat", re.compile(r"[.-]redhat-\d+$")),
    ("cloudera", re.compile(r"-cdh\d|^\d+\.\d+\.\d+\.7\.\d+\.\d+\.\d+-\d+$")),
    ("hortonworks", re.compile(r"^\d+\.\d+\.\d+\.[23]\.\d+\.\d+\.\d+-\d+$")),
)
_PLAIN = re.compile(r"\d+\.\d+\.\d+")


@dataclass(frozen=True)
class Release:
    """A release as it is on a machine.

    version -- as its jars say; "" where none does. vendor -- apache, one of _VENDORS, or "unknown". dir -- where it
    lies. compared -- whether a lock of this version is known. differing, missing -- names of jars of that lock that
    have another digest here, and that are not here. added -- how many jars there are besides.
    """

    version: str = ""
    vendor: str = ""
    dir: str = ""
    compared: bool = False
    differing: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    added: int = 0

    @property
    def summary(self) -> str:
        """Say in words what it is."""
        if not self.version:
            return "no jar on the class path tells a version"
        if self.vendor != APACHE:
            by = "an unknown build" if self.vendor == "unknown" else f"a build of {self.vendor}"
            return f"{self.version}, {by}"
        if not self.compared:
            return f"{self.version} by its name; no lock of this version was given to compare its jars with"
        but = [f"{len(self.differing)} of its jars differ from what Apache published"] if self.differing else []
        but += [f"{len(self.missing)} of Apache's jars are not there"] if self.missing else []
        return f"{self.version}, but {' and '.join(but)}" if but else f"{self.version} as Apache published it"


def jars(class_path: Sequence[str], listings: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the jars of a class path by their paths, in its order; DIR/* stands for the jars of a directory.

    listings -- by directory the names of what is in it.
    """
    paths: list[str] = []
    for entry in class_path:
        directory, _slash, name = entry.rpartition("/")
        if name == "*":
            names = sorted(name for name in listings.get(posixpath.normpath(directory), ()) if name.endswith(".jar"))
            paths += [posixpath.normpath(posixpath.join(directory, name)) for name in names]
        elif name.endswith(".jar"):
            paths.append(posixpath.normpath(entry))
    return list(dict.fromkeys(paths))


def directories(class_path: Sequence[str]) -> list[str]:
    """Return the directories whose jars a class path takes as a whole (DIR/*)."""
    return list(dict.fromkeys(posixpath.normpath(entry[:-2]) for entry in class_path if entry.endswith("/*")))


def core(product: str, paths: Sequence[str]) -> tuple[str, str]:
    """Return (path, version) of the jar that tells the version of a product; empty texts where none does.

    Of several the first on the class path counts, as it does for Java; Kafka's core comes before what uses it.
    """
    pattern = _CORES["zookeeper" if product == ZOOKEEPER else "kafka"]
    named = [path for path in paths if not _BESIDE.search(path)]
    matches = [(path, match["version"]) for path in named if (match := pattern.fullmatch(posixpath.basename(path)))]
    matches.sort(key=lambda pair: not posixpath.basename(pair[0]).startswith("kafka_2."))
    return matches[0] if matches else ("", "")


def vendor(version: str) -> str:
    """Return whose build a version is, by its form; "unknown" where no form is its, "" without a version."""
    if not version or _PLAIN.fullmatch(version):
        return APACHE if version else ""
    return next((name for name, pattern in _VENDORS if pattern.search(version)), "unknown")


def lock_of(product: str, version: str, locks: Sequence[Lock]) -> Lock | None:
    """Return the lock that the jars of a product are compared with, None without one of its version."""
    name = "zookeeper" if product == ZOOKEEPER else "kafka"
    return next((lock for lock in locks if (lock.name, lock.version) == (name, version)), None)


def release(product: str, paths: Sequence[str], digests: Mapping[str, str], locks: Sequence[Lock]) -> Release:
    """Tell which release the jars are of.

    paths -- of the jars, in the order of the class path. digests -- by path their SHA-256, as far as they were read.
    A jar that could not be read counts neither as the same nor as missing.
    """
    path, version = core(product, paths)
    whose = vendor(version)
    where = posixpath.dirname(path)
    place = posixpath.dirname(where) if posixpath.basename(where) in ("libs", "lib") else where
    lock = lock_of(product, version, locks)
    if lock is None or whose != APACHE:
        return Release(version, whose, place)
    first: dict[str, str] = {}
    for jar in paths:
        first.setdefault(posixpath.basename(jar), jar)
    here = {file: digests.get(jar) for file, jar in first.items()}
    return Release(
        version,
        whose,
        place,
        compared=any(here.values()),
        differing=tuple(sorted(file for file, sha256 in lock.digests.items() if here.get(file) not in (None, sha256))),
        missing=tuple(sorted(lock.digests.keys() - here.keys())),
        added=len(here.keys() - lock.digests.keys()),
    )
