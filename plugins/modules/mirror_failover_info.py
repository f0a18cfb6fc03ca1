#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Say what a planned failover of a mirrored site would cost now."""

from __future__ import annotations

DOCUMENTATION = r"""
module: mirror_failover_info
short_description: Say what a planned failover of a mirrored site would cost now
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Reads both ends of a flow of MirrorMaker 2, and says what a move of all clients from its source to its target would
    cost now. It changes nothing.
  - Names what is not in the target yet, topics that are still written to, transactions that stay open, and known gaps.
  - For each consumer group of the source that reads topics of the flow it says where the group would begin in the
    target, and how many records it would read again or skip for each partition.
  - Offsets of both clusters are compared by the offset syncs and the checkpoints of MirrorMaker 2. They do not tell
    each offset, so figures of groups have two bounds. Offsets are counted, so markers of transactions and what
    compaction removed count too.
  - With O(source_lost) it says what is lost with the source, by what the target knows of it, which is what the last
    M(streamops.kafka.mirror_gaps) left there, and what MirrorMaker 2 has written down.
  - The engine legacy writes neither, so its flows have no such figures.
extends_documentation_fragment:
  - streamops.kafka._attributes.look
  - streamops.kafka._connection
  - streamops.kafka._connection.source
  - streamops.kafka._mirror_flow
  - streamops.kafka._mirror_flow.failover
  - streamops.kafka._mirror_flow.gaps
  - streamops.kafka._mirror_flow.lost
"""

EXAMPLES = r"""
- name: What would a failover to dc_b cost now?
  streamops.kafka.mirror_failover_info:
    bootstrap_servers: [b1.example.com:9092]
    source_connection:
      bootstrap_servers: [a1.example.com:9092]
    source: dc_a
    target: dc_b
    topics: [orders, 'audit[.].*']
  delegate_to: localhost
  register: failover

- name: Show it
  ansible.builtin.debug:
    msg: "{{ failover.lines }}"
"""

RETURN = r"""
flow:
  description: Source and target as MirrorMaker writes them.
  type: str
  returned: success
  sample: dc_a->dc_b
target:
  description: Alias of the target.
  type: str
  returned: success
  sample: dc_b
stage:
  description: >-
    The last stage that the failover has reached (M(streamops.kafka.mirror_failover)); empty where none is under way.
  type: str
  returned: success
  sample: fenced
next_step:
  description: The stage that its next step leads to; empty where none is left.
  type: str
  returned: success
  sample: drained
lines:
  description: All of it for people.
  type: list
  elements: str
  returned: success
  sample: ["Failover     dc_a->dc_b, what it would cost now"]
against:
  description: Reasons why a failover must not begin, one sentence each.
  type: list
  elements: str
  returned: success
  sample: ["not in dc_b: dc_a.orders"]
notes:
  description: What else an operator must know, one sentence each.
  type: list
  elements: str
  returned: success
  sample: ["MirrorMaker does not translate the offsets of connect-sink (groups, groups_exclude)"]
to_copy:
  description: >-
    Records that are not in the target yet. With O(source_lost) those at most that the source is known to have had;
    null where no look is known.
  type: int
  returned: success
  sample: 1200
seconds:
  description: For how many seconds the ends of the source were watched.
  type: float
  returned: not with O(source_lost)
  sample: 5.2
partitions:
  description: >-
    Each partition of the source with topic, partition, source_end (without open transactions), target_end (null for an
    end that no broker tells), lag (records that are not in the target), grown (offsets that were written while it was
    watched; topics of canaries are not watched), is_open (whether a transaction was open all that time) and grown_there
    (offsets by which the copy grew meanwhile, whoever wrote them). With O(source_lost) they have topic, partition,
    source_end (the end that the source is known to have had, null where nothing tells it), copied (the offset of the
    source below which all is in the target), target_end and missing (records between these two, at_least and at_most,
    null where they are not known).
  type: list
  elements: dict
  returned: success
  sample:
    - topic: orders
      partition: 0
      source_end: 120
      target_end: 100
      lag: 20
      grown: 3
      is_open: false
      grown_there: 2
groups:
  description: >-
    The groups of the source that read topics of the flow. Each has name, type, members, members_there (in the target),
    is_translated (whether MirrorMaker translates its offsets), elsewhere (topics that it reads and the flow does not
    copy), error (why it is not known how far it has read) and readings. A reading is a partition of the source with
    topic, partition, committed (the next offset there), there (the next offset of the group in the target, null
    without any), checkpoint (null, or upstream and downstream as MirrorMaker translated last), low and high (bounds of
    the offset of the target at which the first record stands that the group has not read), state, repeats and skips.
    These two have at_least and at_most. With state known they are what the group would read again and skip. With
    no_offset and out_of_range C(auto.offset.reset) of its clients decides, and repeats are those of earliest, skips
    those of latest. With no_copy the target has no such partition. A group that begins at low skips nothing, and reads
    at most high - low again. With O(source_lost) they are the groups of the target with name, type, members, error
    and landings. A landing has topic, partition, state (also ahead, where a client has committed in the target), there,
    checkpoint, begin (where the group begins once the step moved is taken, null where auto.offset.reset decides) and
    repeats.
  type: list
  elements: dict
  returned: success
  sample: [{name: billing, type: classic, members: 2, members_there: 0, is_translated: true, elsewhere: [], error: "",
            readings: [{topic: orders, partition: 0, state: known, committed: 90, there: 80,
                        checkpoint: {upstream: 82, downstream: 80}, low: 88, high: 88,
                        repeats: {at_least: 8, at_most: 8}, skips: {at_least: 0, at_most: 0}}]}]
looked:
  description: >-
    When the source was last looked at (at, in UTC) and the machine whose clock said so (clock); null where it is not
    known.
  type: dict
  returned: with O(source_lost)
  sample: {at: "2026-11-30T03:12:40Z", clock: mirror1}
now:
  description: When the target was read, in the same form.
  type: dict
  returned: with O(source_lost)
  sample: {at: "2026-11-30T03:20:01Z", clock: mirror1}
age:
  description: Seconds between these two; null where they are of two clocks, or one is not known.
  type: int
  returned: with O(source_lost)
  sample: 441
newest:
  description: By topic of the source the latest time of the records of its copy, by the clocks of their writers.
  type: dict
  returned: with O(source_lost)
  sample: {orders: "2026-11-30T03:12:31.402Z"}
checkpoint_at:
  description: When MirrorMaker wrote its last checkpoint, by its clock; empty where it has written none.
  type: str
  returned: with O(source_lost)
  sample: "2026-11-30T03:12:02.117Z"
workers:
  description: How many mirrors run the flow.
  type: int
  returned: with O(source_lost)
  sample: 0
offsets_there:
  description: >-
    For each group the offsets of the target (low) from which it skips nothing, in the form of the groups of
    M(streamops.kafka.group_info), so that M(streamops.kafka.group_offsets) takes them from a file. Groups of which it
    is not known how far they have read are left out, and places beyond the end of the source. With O(source_lost) only
    offsets that groups lack in the target.
  type: list
  elements: dict
  returned: success
  sample: [{name: billing, topics: [{name: dc_a.orders, partitions: [{partition: 0, committed: 88}]}]}]
"""

from ..module_utils._client.module import run_with_connection
from ..module_utils._core.module import SecretModule
from ..module_utils._mirror_failover.apply import mirror_failover_info
from ..module_utils._mirror_failover.look import FAILOVER_SPEC, LOST_SPEC


def main() -> None:
    """Look once."""
    run_with_connection({**FAILOVER_SPEC, **LOST_SPEC}, mirror_failover_info, kind=SecretModule)


if __name__ == "__main__":
    main()
