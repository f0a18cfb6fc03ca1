# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What an upgrade must know of a release, in one place: what stands elsewhere today is read from there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ansible_collections.streamops.kafka.plugins.module_utils._core.cves import numbers
from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.versions import HIGHEST
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.definitions import (
    BROKER_KEYS,
    TOPIC_KEYS,
    Definition,
)

#: MiB that an unpacked release takes at most, with room for its archive beside it.
RELEASE_MIB = 300


@dataclass(frozen=True)
class ReleaseFacts:
    """What a release of Kafka needs and knows.

    java -- the oldest Java that its nodes start with; levels -- the highest level of each feature that it takes, None
    where it is not known, as of the newest release; broker_keys, topic_keys -- its definitions by key
    """

    version: str
    java: int
    levels: Mapping[str, int] | None
    broker_keys: Mapping[str, Definition]
    topic_keys: Mapping[str, Definition]


def release_facts(version: str) -> ReleaseFacts:
    """Return the facts of a release; of one that this collection does not have, no definitions."""
    major = numbers(version)[:1]
    return ReleaseFacts(
        version=version,
        # KIP-1013 for 4.x; 3.9 still runs on 8, which KIP-750 deprecated.
        java=17 if major >= (4,) else 11,
        levels=HIGHEST.get(numbers(version)[:2]),
        broker_keys=BROKER_KEYS.get(version, {}),
        topic_keys=TOPIC_KEYS.get(version, {}),
    )


def known_releases() -> tuple[str, ...]:
    """Return the releases that this collection installs, the newest first."""
    return tuple(sorted(BROKER_KEYS, key=numbers, reverse=True))
