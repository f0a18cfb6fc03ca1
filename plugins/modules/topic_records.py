#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Count the records of topics, and delete the older ones."""

from __future__ import annotations

DOCUMENTATION = r"""
module: topic_records
short_description: Count the records of topics, and delete the older ones
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Shows for each partition the first offset, the end, the number of records between them, and on request the first
    offset from a time on.
  - Deletes records before a point (O(delete_before)) with the consent of O(confirm). They cannot be brought back.
  - Records are counted by offsets, so those that compaction removed and markers of transactions count too.
options:
  topics:
    description: The topics, each V(name) for all its partitions or V(name:0,1) for some of them.
    type: list
    elements: str
    required: true
  timestamp:
    description: >-
      Time as V(2026-11-24T06:00:00+01:00), with a time zone, or in milliseconds since 1970. A number of 1973 or before
      is refused, since it is a time in seconds; write such a time as text. The first offset from it on is shown as
      offset_at.
    type: str
  delete_before:
    description:
      - Deletes the records before a point. V(end) deletes all that are there now, V(offset) those before O(offset).
      - V(timestamp) deletes those before the first one from O(timestamp) on, and all where none is so young.
      - Refused for topics of Kafka itself and for those that are compacted only, of which Kafka deletes none.
    type: str
    choices: [end, timestamp, offset]
  offset:
    description: The first offset that stays, for O(delete_before=offset).
    type: int
  confirm:
    description: >-
      Consent to delete records, by naming the topics. In check mode a missing one is a warning and is in
      RV(consent_missing).
    type: list
    elements: str
    default: []
extends_documentation_fragment:
  - streamops.kafka._attributes
  - streamops.kafka._connection
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
seealso:
  - module: streamops.kafka.topics
  - module: streamops.kafka.group_offsets
"""

EXAMPLES = r"""
- name: Count the records of two topics
  streamops.kafka.topic_records:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    topics: [orders, audit]
  delegate_to: localhost
  register: counted

- name: Delete the records of orders from before today
  streamops.kafka.topic_records:
    bootstrap_servers: kafka1.example.com:9092
    topics: [orders]
    delete_before: timestamp
    timestamp: "2026-11-24T00:00:00Z"
    confirm: [orders]
  delegate_to: localhost
"""

RETURN = r"""
topics:
  description: >-
    The topics as they were before anything was deleted, with name, records and partitions. Each of these has partition,
    start, end, records and state, with O(timestamp) also offset_at, which is null where no record is so young. C(state)
    is V(known), or V(no_answer) and V(not_allowed) where the ends are unknown.
  type: list
  elements: dict
  returned: success
  sample:
    - name: orders
      records: 20
      partitions: [{partition: 0, start: 100, end: 120, records: 20, state: known}]
records:
  description: Number of records of all topics together, as far as known.
  type: int
  returned: success
complete:
  description: Whether both ends of every partition are known.
  type: bool
  returned: success
deletions:
  description: >-
    What was deleted (in check mode, what would be) with topic, partition, records and before, the first offset that
    stays.
  type: list
  elements: dict
  returned: success
deleted:
  description: Number of records that were deleted (in check mode, that would be).
  type: int
  returned: success
consent_missing:
  description: Topics that O(confirm) does not name, in check mode.
  type: list
  elements: str
  returned: success
failure:
  description: Why it failed, for programs; C(kind) and the fields of that kind, for example C(violations).
  returned: failure
  type: dict
"""

from ..module_utils._client.module import run_on_cluster
from ..module_utils._groups.records_apply import topic_records

ARGUMENT_SPEC = {
    "topics": {"type": "list", "elements": "str", "required": True},
    "timestamp": {"type": "str"},
    "delete_before": {"type": "str", "choices": ["end", "timestamp", "offset"]},
    "offset": {"type": "int"},
    "confirm": {"type": "list", "elements": "str", "default": []},
}
REQUIRED_IF = [("delete_before", "timestamp", ["timestamp"]), ("delete_before", "offset", ["offset"])]


def main() -> None:
    """Run the module."""
    run_on_cluster(ARGUMENT_SPEC, topic_records, required_if=REQUIRED_IF)


if __name__ == "__main__":
    main()
