# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Directory ids of controllers, derived from what never changes: the cluster id and the node id.

Every controller must be formatted with the same `--initial-controllers` list, which names each one's directory id
(KIP-853). Derived ids need no place to be remembered: a first installation that was cut goes on with the same ones.
"""

from __future__ import annotations

import base64
import hashlib

# org.apache.kafka.common.DirectoryId keeps the first 100 ids for meanings of its own (unassigned, lost, migrating).
_RESERVED_BELOW = 100


def directory_id(cluster_id: str, node_id: int) -> str:
    """Return the directory id, 22 characters of base64url, of this node's metadata directory in this cluster.

    It has the form of Kafka's own ids: a version 4 UUID as org.apache.kafka.common.Uuid prints it, never reserved,
    and never starting with "-" (which tools would take for an option; Uuid.randomUuid avoids it too).
    """
    if not str(cluster_id):
        raise ValueError("directory_id needs the cluster id; it is empty")
    for attempt in range(1000):
        seed = f"streamops.kafka directory\n{cluster_id}\n{int(node_id)}\n{attempt}"
        data = bytearray(hashlib.sha256(seed.encode("utf-8")).digest()[:16])
        data[6] = (data[6] & 0x0F) | 0x40
        data[8] = (data[8] & 0x3F) | 0x80
        text = base64.urlsafe_b64encode(bytes(data)).decode("ascii").rstrip("=")
        if not text.startswith("-") and int.from_bytes(bytes(data), "big") >= _RESERVED_BELOW:
            return text
    raise AssertionError("unreachable: one id in 64 starts with '-'")
