# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The log of a partition as plain data."""

from __future__ import annotations

from dataclasses import dataclass

#: Why the ends of a log are unknown: also states of the position of a group in it.
TOPIC_DELETED, NO_ANSWER, NOT_ALLOWED = "topic_deleted", "no_answer", "not_allowed"
#: Why the time of the newest record is unknown: a broker before Kafka 3.0 is not asked for it.
TOO_OLD = "too_old"


@dataclass(frozen=True)
class Log:
    """The first offset that a log holds and the next one it will write; C(missing) says why they are unknown."""

    start: int = -1
    end: int = -1
    missing: str = ""
