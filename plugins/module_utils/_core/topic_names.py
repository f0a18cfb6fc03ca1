# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which names Kafka takes for topics (org.apache.kafka.common.internals.Topic)."""

from __future__ import annotations

import re

LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+")
#: The directory of a partition gets "-<partition>" added, and 255 bytes are the most that a file system takes.
MAX_NAME_LENGTH = 249
#: Those that a broker tells as internal (Topic.INTERNAL_TOPICS). A user's own topic may begin with two underscores too.
INTERNAL = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
#: Those that Kafka keeps for itself: the metadata log and the index of tiered storage are not told as internal.
KAFKAS_OWN = INTERNAL | {"__cluster_metadata", "__remote_log_metadata"}


def allowed_instead(name: str) -> str | None:
    """What a name that Kafka refuses would have to be; None for one that it takes."""
    if name in (".", ".."):
        return "a name other than '.' and '..'"
    if not LEGAL_NAME.fullmatch(name):
        return "letters, digits, '.', '_' and '-' of ASCII"
    if len(name) > MAX_NAME_LENGTH:
        return f"at most {MAX_NAME_LENGTH} characters (this one has {len(name)})"
    return None


def is_part_of_name(text: str) -> bool:
    """Whether a topic can have this name, or a name that begins with it: the prefix of a pattern may be a dot."""
    return text in (".", "..") or allowed_instead(text) is None
