#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Move the committed offsets of a group, or delete a group."""

from __future__ import annotations

DOCUMENTATION = r"""
module: group_offsets
short_description: Move the committed offsets of a group, or delete a group
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Moves the committed offsets of a group to an end of the log, to a time, to an offset, by a distance, or to what a
    file or another group has; takes them away; or deletes the whole group.
  - Check mode and diff mode show each partition's offset before and after, and how many records the group would not
    read at all (skipped) or read again.
  - Is refused while the group has members, which are named. They would go on from where they are and commit over it.
  - Refuses an offset that the log does not hold, and a time in the future. Kafka's own tool takes the nearest offset
    instead and goes on; O(clip) is the consent to that.
  - All partitions are judged before the first is changed, and Kafka's answer is looked at for each of them.
  - Share groups have their start offset moved (KIP-932).
  - Of a streams group only the offsets are moved. Its state stores and its internal topics stay as they are.
options:
  group:
    description: Name of the group.
    type: str
    required: true
  state:
    description: V(absent) deletes the group with all its offsets.
    type: str
    choices: [present, absent]
    default: present
  topics:
    description:
      - Topics to move, each V(name) for all its partitions or V(name:0,1) for some of them.
      - Without it all partitions for which the group, O(file) or O(from_group) has an offset.
    type: list
    elements: str
  to:
    description:
      - V(earliest) and V(latest) are the ends of the log.
      - V(timestamp) is the first record from O(timestamp) on, or the end of the log where no record is so young.
      - V(offset) is O(offset) in each partition, V(shift) the committed offset plus O(shift_by).
      - V(file) is what O(file) has, V(group) what O(from_group) has; partitions that they do not have are left alone.
      - V(none) takes the offsets away, so C(auto.offset.reset) of the clients decides.
      - Required with O(state=present).
    type: str
    choices: [earliest, latest, timestamp, offset, shift, file, group, none]
  timestamp:
    description: >-
      Time as V(2026-11-24T06:00:00+01:00), with a time zone, or in milliseconds since 1970. A number of 1973 or
      before is refused, since it is a time in seconds; write such a time as text.
    type: str
  offset:
    description: The offset for O(to=offset).
    type: int
  shift_by:
    description: Number of offsets for O(to=shift). A negative one goes back.
    type: int
  file:
    description: >-
      JSON file, where the module runs, with the result of M(streamops.kafka.group_info) or one group of it, for
      O(to=file).
    type: path
  from_group:
    description: Group to copy from, for O(to=group).
    type: str
  clip:
    description: >-
      Consent to take the nearest offset that the log holds where the wanted one is outside of it, and the end of the
      log for a time in the future.
    type: bool
    default: false
  allow_create:
    description: Consent to make a group that does not exist, by giving it offsets. Without it such a group is refused.
    type: bool
    default: false
extends_documentation_fragment:
  - streamops.kafka._attributes
  - streamops.kafka._connection
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: partial
    details: With O(to=shift) each run moves the offsets once more.
seealso:
  - module: streamops.kafka.group_info
"""

EXAMPLES = r"""
- name: Show what reading again from six o'clock on would mean
  streamops.kafka.group_offsets:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    group: billing
    topics: [orders]
    to: timestamp
    timestamp: "2026-11-24T06:00:00+01:00"
  delegate_to: localhost
  check_mode: true
  diff: true

- name: Go ten records back in one partition
  streamops.kafka.group_offsets:
    bootstrap_servers: kafka1.example.com:9092
    group: billing
    topics: ["orders:3"]
    to: shift
    shift_by: -10
  delegate_to: localhost

- name: Delete a group
  streamops.kafka.group_offsets:
    bootstrap_servers: kafka1.example.com:9092
    group: old-billing
    state: absent
  delegate_to: localhost
"""

RETURN = r"""
moves:
  description: >-
    The moves (in check mode, those that would be made) with topic, partition, from, to, records_skipped, read_again
    and clipped. C(from) and C(to) are null for none. C(records_skipped) and C(read_again) count offsets that the log
    still holds, and are null where the group had none or gets none. C(clipped) is the offset that was asked for, where
    O(clip) took another one.
  type: list
  elements: dict
  returned: success
  sample: [{topic: orders, partition: 3, from: 120, to: 110, records_skipped: 0, read_again: 10, clipped: null}]
records_skipped:
  description: Records that the group will not read, over all moves.
  type: int
  returned: success
read_again:
  description: Records that the group will read again, over all moves.
  type: int
  returned: success
unchanged:
  description: Number of partitions that were as wanted before; with O(state=absent) 1 when there was no group.
  type: int
  returned: success
deleted:
  description: Whether the group was deleted.
  type: bool
  returned: success
failure:
  description: Why it failed, for programs; C(kind) and the fields of that kind, for example C(violations).
  returned: failure
  type: dict
"""

from ..module_utils._client.module import run_on_cluster
from ..module_utils._core.applied import asked_again
from ..module_utils._groups.apply import ensure_offsets
from ..module_utils._groups.plan import GOALS, is_idempotent

ARGUMENT_SPEC = {
    "group": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "topics": {"type": "list", "elements": "str"},
    "to": {"type": "str", "choices": list(GOALS)},
    "timestamp": {"type": "str"},
    "offset": {"type": "int"},
    "shift_by": {"type": "int"},
    "file": {"type": "path"},
    "from_group": {"type": "str"},
    "clip": {"type": "bool", "default": False},
    "allow_create": {"type": "bool", "default": False},
}
REQUIRED_IF = [
    ("state", "present", ["to"]),
    ("to", "timestamp", ["timestamp"]),
    ("to", "offset", ["offset"]),
    ("to", "shift", ["shift_by"]),
    ("to", "file", ["file"]),
    ("to", "group", ["from_group"]),
]


def main() -> None:
    """Run the module."""
    run_on_cluster(ARGUMENT_SPEC, ensure_offsets, again=asked_again, idempotent=is_idempotent, required_if=REQUIRED_IF)


if __name__ == "__main__":
    main()
