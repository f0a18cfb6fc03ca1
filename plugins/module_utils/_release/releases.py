# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The releases of Kafka that this collection supports: one row of facts for each, which all else reads.

Vulnerabilities come with ranges of versions, so they stand by themselves (_core/cves.py); what a release says of its
properties is too much for modules, so it stands on the control node (plugin_utils/preflight/definitions.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .._core.cves import numbers
from .._core.errors import StreamopsError
from .rows import METADATA_VERSIONS, ROWS

#: What a release may run, as Release.runs names it.
WITH_ZOOKEEPER, MIRROR, LEGACY_MIRROR, SHELL = "zookeeper mode", "mirror", "legacy mirror", "shell"


class UnknownRelease(StreamopsError):
    """A version that this collection does not support."""

    def __init__(self, version: str) -> None:
        known = ", ".join(ROWS)
        super().__init__(
            f"Kafka {version!r}: this collection does not support this release. Nothing was changed. "
            f"Set kafka_version to one of {known}.",
            version=version,
        )


@dataclass(frozen=True)
class Release:
    """What we know of one release.

    java -- the Java versions that it runs on, the least one first; what is newer mostly does too
    least_heap -- by role the MiB with which it starts
    runs -- what its jars from Maven can run; the archive that Apache publishes has a mirror and a shell always
    logging -- the library that it logs through: log4j2 or reload4j
    options -- those that not all releases know: guards of Java, properties of a mirror
    metadata_versions -- the lowest and the highest level of metadata.version that it takes
    features -- by feature the highest level that it takes, and the one that a new cluster gets; that of kraft.version
        only where its voters are dynamic
    """

    version: str
    java: tuple[int, ...]
    least_heap: Mapping[str, int]
    runs: tuple[str, ...]
    logging: str
    options: tuple[str, ...]
    metadata_versions: tuple[int, int]
    features: Mapping[str, tuple[int, int]]

    @property
    def numbers(self) -> tuple[int, ...]:
        """Its version as numbers that compare."""
        return numbers(self.version)

    @property
    def highest(self) -> dict[str, int]:
        """The highest level of each feature that it takes; of any other feature it takes none."""
        return {name: highest for name, (highest, _new) in self.features.items()}

    @property
    def new_cluster(self) -> dict[str, int]:
        """The level of each feature that a cluster gets which it forms."""
        return {name: new for name, (_highest, new) in self.features.items()}


_RELEASES = {version: Release(version, **row) for version, row in ROWS.items()}


def releases() -> tuple[Release, ...]:
    """All supported releases, the newest first."""
    return tuple(_RELEASES.values())


def release(version: str) -> Release:
    """The release of this version; UnknownRelease, which names the supported ones, where it is none of them."""
    if version not in _RELEASES:
        raise UnknownRelease(version)
    return _RELEASES[version]


def like(version: str) -> Release | None:
    """The newest supported release of the same minor release, whose features are the same; None without one."""
    minor = numbers(version)[:2]
    return next((one for one in releases() if one.numbers[:2] == minor), None)


def newest_that_runs(what: str) -> Release:
    """The newest release that can run this (a word of Release.runs); one of them always can."""
    return next(one for one in releases() if what in one.runs)


def metadata_changes_between(from_level: int, to_level: int) -> list[str]:
    """The metadata versions between two levels that change what is written, lowest first, in either direction.

    Kafka takes metadata.version back only where there is none; the lower level itself does not count, as in
    MetadataVersion.checkIfMetadataChanged. A level that no supported release knows counts as a change: it is named by
    its number.
    """
    low, high = sorted((from_level, to_level))
    between = ((level, METADATA_VERSIONS.get(level, (str(level), True))) for level in range(low + 1, high + 1))
    return [name for _level, (name, changes) in between if changes]
