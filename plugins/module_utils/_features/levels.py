# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Levels of features (KIP-584, KIP-1022): their names, and what they bring (org.apache.kafka.server.common.Feature).

Which of them a node supports, the node itself announces.
"""

from __future__ import annotations

from collections.abc import Mapping

from .._release.rows import METADATA_VERSIONS

METADATA, KRAFT = "metadata.version", "kraft.version"
#: In this order features are raised: others depend on metadata.version. kraft.version comes behind all others.
IN_ORDER = (
    METADATA,
    "group.version",
    "transaction.version",
    "eligible.leader.replicas.version",
    "share.version",
    "streams.version",
)
#: From this level of metadata.version on (3.7-IV0) controllers register what they support (KIP-919).
CONTROLLERS_REGISTER = 15
#: What a level of a feature brings, for people.
_BRINGS: Mapping[tuple[str, int], str] = {
    (METADATA, 11): "users with SCRAM in the metadata log (3.5)",
    (METADATA, 13): "transactions in the metadata log (3.6)",
    (METADATA, 14): "delegation tokens (3.6)",
    (METADATA, 15): "registrations of controllers (3.7, KIP-919)",
    (METADATA, 17): "replicas that move between log directories of a broker (3.7, KIP-858)",
    (METADATA, 23): "eligible leader replicas (4.0, KIP-966)",
    (METADATA, 30): "cordoned log directories (4.3, KIP-1066)",
    (METADATA, 32): "ACLs for networks of hosts (4.4)",
    (METADATA, 33): "controllers whose registration can be taken away (4.4, KIP-1312)",
    (KRAFT, 1): "voters of the metadata quorum that come and go while the cluster runs (KIP-853)",
    ("group.version", 1): "consumer groups whose members the broker assigns (KIP-848)",
    ("transaction.version", 1): "records of transactions in the flexible format (KIP-890)",
    ("transaction.version", 2): "transactions that are verified, with a new epoch for each (KIP-890)",
    ("eligible.leader.replicas.version", 1): "leaders among replicas that left the ISR without a loss (KIP-966)",
    ("share.version", 1): "share groups (KIP-932)",
    ("share.version", 2): "dead letter queues of share groups (4.4)",
    ("streams.version", 1): "groups of Kafka Streams whose tasks the broker assigns (KIP-1071)",
}


def level_name(feature: str, level: int) -> str | None:
    """Return Kafka's name of a level of metadata.version; None for others, and for a level that is not in the table."""
    found = METADATA_VERSIONS.get(level) if feature == METADATA else None
    return found[0] if found else None


def shown(feature: str, level: int) -> str:
    """Name a level for people: 4.3-IV0 (level 30) for metadata.version, else the number."""
    name = level_name(feature, level)
    return f"{name} (level {level})" if name else str(level)


def level_of(feature: str, value: object) -> int | None:
    """Return the level that a user means: a number, also as text, or a name or release of metadata.version.

    A release means its last level: 4.0 is 4.0-IV3. None where it is neither.
    """
    text = str(value).strip()
    if isinstance(value, bool) or not text:
        return None
    if text.isascii() and text.isdecimal():
        return int(text)
    if feature != METADATA:
        return None
    release = ".".join(text.split(".")[:2])
    wanted = text.upper()
    found = [
        level
        for level, (name, _changes) in METADATA_VERSIONS.items()
        if name == wanted or (_is_release(text) and name.partition("-")[0] == release)
    ]
    return max(found, default=None)


def _is_release(text: str) -> bool:
    """Return whether it is a release: 4.3 or 4.3.1."""
    parts = text.split(".")
    return len(parts) in (2, 3) and all(one.isascii() and one.isdecimal() for one in parts)


def brings(feature: str, low: int, high: int) -> str:
    """Say in one sentence what the levels above C(low), up to C(high), bring."""
    found = [_BRINGS[feature, level] for level in range(low + 1, high + 1) if (feature, level) in _BRINGS]
    return f"It brings {', '.join(found)}." if found else "It brings nothing that this collection knows by name."
