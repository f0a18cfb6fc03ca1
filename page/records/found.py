"""What a read found, as plain data. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ansible_collections.streamops.kafka.plugins.module_utils._logs.model import Log
from page.records.batches import Record, Skipped


@dataclass
class Found:
    """Records in the order in which they are shown, and what must be known beside them.

    C(logs) are the partitions that were asked for, C(partitions) is how many the topic has, C(fetched) is in bytes.
    """

    partitions: int = 0
    logs: Mapping[int, Log] = field(default_factory=dict)
    records: Sequence[Record] = ()
    skipped: list[Skipped] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    fetched: int = 0
