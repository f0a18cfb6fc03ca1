# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What an upgrade must know of a release, in one place: what stands elsewhere today is read from there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ansible_collections.streamops.kafka.plugins.module_utils._core.cves import numbers
from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.versions import HIGHEST

#: MiB that an unpacked release takes at most (4.3.1: 57 MB of jars), with room for its archive beside it.
RELEASE_MIB = 200


@dataclass(frozen=True)
class ReleaseFacts:
    """What a release of Kafka needs and knows.

    java -- the oldest Java that its nodes start with; levels -- the highest level of each feature that it takes, None
    where it is not known, as of the newest release
    """

    java: int
    levels: Mapping[str, int] | None


def release_facts(version: str) -> ReleaseFacts:
    """Return the facts of a release."""
    # KIP-1013 for 4.x; 3.9 still runs on 8, which KIP-750 deprecated.
    return ReleaseFacts(17 if numbers(version)[:1] >= (4,) else 11, HIGHEST.get(numbers(version)[:2]))
