#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Show the groups of a cluster with their members, offsets and lag."""

from __future__ import annotations

DOCUMENTATION = r"""
module: group_info
short_description: Show the groups of a cluster with their members, offsets and lag
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Shows groups of all types, classic ones, consumer groups of the new protocol (KIP-848), share groups (KIP-932) and
    streams groups (KIP-1071), with state, members, assignment, committed offsets and lag. It changes nothing.
  - The number of requests follows the number of brokers, not the number of groups.
  - Lag is counted in offsets, as Kafka's own tools do, so records that compaction removed and markers of transactions
    count too. That of a share group is what its coordinator counts.
options:
  groups:
    description: Names of the groups to show. Without it all that the user may see.
    type: list
    elements: str
  types:
    description: Show only groups of these types. Before Kafka 3.8 all groups are classic.
    type: list
    elements: str
    choices: [classic, consumer, share, streams]
    default: []
  states:
    description: Show only groups in these states, for example V(Empty) or V(Stable).
    type: list
    elements: str
    default: []
  topics:
    description: Show offsets and lag of these topics only.
    type: list
    elements: str
  members:
    description: Whether to list the members; their number is shown in any case.
    type: bool
    default: true
  offsets:
    description: Whether to show offsets and lag.
    type: bool
    default: true
  lag_time:
    description: >-
      Whether to show the lag as time too, C(lag_seconds): since when the oldest record that the group has not read is
      there, by the time in the record. Costs some ten requests to each leader.
    type: bool
    default: false
extends_documentation_fragment:
  - streamops.kafka._attributes
  - streamops.kafka._connection
attributes:
  check_mode:
    support: full
  diff_mode:
    support: N/A
  idempotent:
    support: full
seealso:
  - module: streamops.kafka.cluster_info
  - module: streamops.kafka.group_offsets
"""

EXAMPLES = r"""
- name: Show the lag of all groups
  streamops.kafka.group_info:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    members: false
  delegate_to: localhost
  register: seen

- name: Stop here while a group has members
  streamops.kafka.group_info:
    bootstrap_servers: kafka1.example.com:9092
    groups: [billing]
    offsets: false
  delegate_to: localhost
  register: billing
  failed_when: billing.groups | map(attribute='member_count') | sum > 0

- name: Show groups that are more than a thousand records behind (the filter needs jmespath, see requirements.txt)
  ansible.builtin.debug:
    msg: "{{ seen | community.general.json_query('groups[?lag > `1000`].{group: name, lag: lag}') }}"
"""

RETURN = r"""
groups:
  description: The groups by name.
  type: list
  elements: dict
  returned: success
  contains:
    name:
      description: Name of the group.
      type: str
    type:
      description: V(classic), V(consumer), V(share) or V(streams).
      type: str
    protocol_type:
      description: What its members call their protocol, V(consumer) or V(connect) for example; empty without any.
      type: str
    state:
      description: State in Kafka's words.
      type: str
    coordinator:
      description: Node id of the broker that coordinates the group.
      type: int
    member_count:
      description: Number of members.
      type: int
    members:
      description: >-
        The members (O(members)) with id, client_id, host, instance_id and assignment. The assignment is empty for
        streams groups, whose members get tasks, and for protocols other than consumer.
      type: list
      elements: dict
    error:
      description: Why something of the group is unknown, for example a coordinator that did not answer; else null.
      type: str
    lag:
      description: Records that the group has not read, as far as known (O(offsets)); null with RV(groups[].error).
      type: int
    behind:
      description: >-
        Records that the group has before it (O(offsets)), where partitions without a commit count from their start;
        null where a part is unknown.
      type: int
    lag_unknown:
      description: Number of partitions whose lag is unknown (O(offsets)).
      type: int
    lag_seconds:
      description: >-
        Age of the oldest record that the group has not read (O(lag_time)), at least 1 and at most 2 % or 1 s too much;
        0 without lag; null where no age is known. Topics and partitions have it too, and a partition in state
        V(no_offset) has lag_seconds_from_earliest.
      type: int
    topics:
      description: >-
        By topic (O(offsets)) name, lag, lag_unknown and partitions. A topic is shown with all its partitions when the
        group has an offset in one of them, or a member is assigned to one. Each has partition, committed, start and
        end of the log, lag and state. V(known). V(no_offset), the group has not committed anything, so
        C(auto.offset.reset) of its clients decides, and lag_from_earliest is what they read with V(earliest).
        V(before_start), retention removed records that the group had not read; lost is their number. V(beyond_end),
        the log is shorter than what was read (beyond), as after an unclean election or a topic made anew.
        V(topic_deleted). V(not_allowed), the user may not see the topic. V(no_answer), its leader did not answer, or
        it has none.
      type: list
      elements: dict
missing:
  description: Names in O(groups) that no broker knows.
  type: list
  elements: str
  returned: success
vanished:
  description: Groups that were deleted between two requests.
  type: list
  elements: str
  returned: success
silent_brokers:
  description: Brokers that did not tell their groups, each with id and why. Groups that they coordinate are not shown.
  type: list
  elements: dict
  returned: success
complete:
  description: Whether every broker told its groups and no group has an error.
  type: bool
  returned: success
lag:
  description: Lag of all groups together, in records, as far as known.
  type: int
  returned: success
lag_unknown:
  description: Number of partitions with an unknown lag, over all groups.
  type: int
  returned: success
"""

from ..module_utils._client.module import run_on_cluster
from ..module_utils._groups.look import group_info
from ..module_utils._groups.model import TYPES

ARGUMENT_SPEC = {
    "groups": {"type": "list", "elements": "str"},
    "types": {"type": "list", "elements": "str", "choices": list(TYPES), "default": []},
    "states": {"type": "list", "elements": "str", "default": []},
    "topics": {"type": "list", "elements": "str"},
    "members": {"type": "bool", "default": True},
    "offsets": {"type": "bool", "default": True},
    "lag_time": {"type": "bool", "default": False},
}


def main() -> None:
    """Run the module."""
    run_on_cluster(ARGUMENT_SPEC, group_info)


if __name__ == "__main__":
    main()
