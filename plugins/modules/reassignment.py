#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan the fewest moves of replicas."""

from __future__ import annotations

DOCUMENTATION = r"""
module: reassignment
short_description: Plan the fewest moves of replicas
version_added: "0.1.0"
author: streamops engineers (@streamops)
description:
  - Plans which replicas must move, and no more, to rebalance a cluster, to add, drain or replace brokers, to change
    replication factors or to fix racks. With every plan come its lower bound, the reasons, and a schedule.
  - It changes nothing. What the plan says can be given to C(kafka-reassign-partitions) as it is.
  - Plans from the cluster as it is now, or with no cluster in reach from a file that O(snapshot) names.
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
options:
  bootstrap_servers:
    description: >-
      Brokers to ask first, each as V(host:port); the others are found through them. Either this or O(snapshot).
    type: list
    elements: str
  snapshot:
    description: File with what M(streamops.kafka.cluster_info) returned, as JSON, to plan with no cluster in reach.
    type: path
  state:
    description: What to do. V(planned) plans and changes nothing.
    type: str
    choices: [planned]
    default: planned
  rebalance:
    description: Every broker gets its share of the replicas, as even as racks allow.
    type: bool
    default: false
  add:
    description: >-
      Brokers that get their share. With O(snapshot) they need not exist yet; a cluster must know them.
    type: list
    elements: dict
    suboptions:
      id:
        description: Node id of the broker.
        type: int
        required: true
      rack:
        description: Its rack, where the snapshot does not know the broker.
        type: str
  drain:
    description: Node ids of brokers from which every replica moves away.
    type: list
    elements: int
  replace:
    description: Brokers (keys) whose places others (values) take, by node id. Not together with O(rebalance) or O(add).
    type: dict
  replication_factor:
    description: Replication factors (values) of topics (keys).
    type: dict
  fix_racks:
    description: Move only what the rack rule asks for.
    type: bool
    default: false
  assignment:
    description: An explicit assignment in Kafka's own form, with version and partitions. Excludes all other wishes.
    type: dict
  rack_rule:
    description: >-
      V(strict) keeps replicas of a partition in as many racks as there can be, V(even) at most their number divided by
      the racks, rounded up, in one rack, V(none) does not look at racks.
    type: str
    choices: [strict, even, none]
    default: strict
  leaders:
    description: >-
      V(balance) spreads the preferred leaders of all partitions, V(keep) lets those lead that lead and stay, V(auto)
      balances them where replicas are balanced.
    type: str
    choices: [auto, keep, balance]
    default: auto
  concurrency:
    description: For the schedule, how many replicas a broker sends, and receives, at a time.
    type: int
    default: 5
  throttle:
    description: For the duration, the bytes a second at which each broker sends and receives.
    type: int
"""

EXAMPLES = r"""
- name: See what a rebalance would move
  streamops.kafka.reassignment:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    rebalance: true
    throttle: 50000000
  delegate_to: localhost
  register: plan

- name: Say it in a line
  ansible.builtin.debug:
    msg: "{{ plan.moves }} moves ({{ plan.bytes }} bytes), the fewest possible; {{ plan.schedule.seconds }} s"

- name: What would two more brokers mean, with no cluster in reach
  streamops.kafka.reassignment:
    snapshot: snapshot.json
    add:
      - {id: 4, rack: a}
      - {id: 5, rack: b}
  delegate_to: localhost

- name: Plan the drain of broker 3, for kafka-reassign-partitions
  streamops.kafka.reassignment:
    bootstrap_servers: [kafka1.example.com:9092]
    drain: [3]
  delegate_to: localhost
  register: plan
"""

RETURN = r"""
moves:
  description: Replicas that get a new broker.
  type: int
  returned: success
bound:
  description: The fewest moves that any plan needs; equal to RV(moves).
  type: int
  returned: success
proof:
  description: >-
    How that is known. partition means that each partition alone needs as many, count that the counts of the brokers
    do, flow that a minimum-cost flow does.
  type: str
  returned: success
deletions:
  description: Replicas that go.
  type: int
  returned: success
bytes:
  description: Bytes to copy.
  type: int
  returned: success
leader_changes:
  description: Partitions whose preferred leader changes.
  type: int
  returned: success
leader_bound:
  description: >-
    The fewest changes with which preferred leaders are as even as the replicas after the plan allow, found by a
    minimum-cost flow; equal to RV(leader_changes). Other places for the replicas might need fewer.
  type: int
  returned: success
leader_witness:
  description: Null, or the brokers because of which leaders cannot be within one of each other.
  type: dict
  returned: success
spread:
  description: >-
    From and to, the most less the least that one broker has in replicas, in leaders, and of the worst topic; of the
    brokers that may get replicas.
  type: dict
  returned: success
  sample: {from: {replicas: 12, leaders: 4, topic: 3}, to: {replicas: 1, leaders: 1, topic: 1}}
racks_per_partition:
  description: From and to, how many partitions are in how many racks.
  type: dict
  returned: success
brokers:
  description: >-
    Each broker with id, rack, state, its replicas, leaders and bytes from and to, moves_in, moves_out, bytes_in,
    peak_bytes (old and new copies together) and disk_limit_bytes.
  type: list
  elements: dict
  returned: success
changes:
  description: Each partition that changes, with from, to, bytes and reasons.
  type: list
  elements: dict
  returned: success
  sample: [{topic: orders, partition: 0, from: [1, 2, 3], to: [1, 2, 4], bytes: 1024, reasons: [broker 3 is drained]}]
schedule:
  description: >-
    The batches in order, each with partitions, moves, bytes and seconds; seconds in all (null without throttle);
    peak_bytes by broker; rounds_bound, the fewest batches possible.
  type: dict
  returned: success
reassignment:
  description: The plan as Kafka's reassignment file.
  type: dict
  returned: success
rollback:
  description: What undoes it, in the same form.
  type: dict
  returned: success
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.streamops.kafka.plugins.module_utils._connection import (
    CONNECTION_REQUIRED_IF,
    CONNECTION_REQUIRED_TOGETHER,
    CONNECTION_SPEC,
    Connection,
)
from ansible_collections.streamops.kafka.plugins.module_utils._errors import errors_reported
from ansible_collections.streamops.kafka.plugins.module_utils._reassign_look import (
    snapshot_of_cluster,
    snapshot_of_file,
)
from ansible_collections.streamops.kafka.plugins.module_utils._reassign_model import LEADERS, RACK_RULES
from ansible_collections.streamops.kafka.plugins.module_utils._reassign_report import planned

ARGUMENT_SPEC = {
    **CONNECTION_SPEC,
    "bootstrap_servers": {"type": "list", "elements": "str"},
    "snapshot": {"type": "path"},
    "state": {"type": "str", "choices": ["planned"], "default": "planned"},
    "rebalance": {"type": "bool", "default": False},
    "add": {
        "type": "list",
        "elements": "dict",
        "options": {"id": {"type": "int", "required": True}, "rack": {"type": "str"}},
    },
    "drain": {"type": "list", "elements": "int"},
    "replace": {"type": "dict"},
    "replication_factor": {"type": "dict"},
    "fix_racks": {"type": "bool", "default": False},
    "assignment": {"type": "dict"},
    "rack_rule": {"type": "str", "choices": list(RACK_RULES), "default": "strict"},
    "leaders": {"type": "str", "choices": list(LEADERS), "default": "auto"},
    "concurrency": {"type": "int", "default": 5},
    "throttle": {"type": "int"},
}


def main() -> None:
    """Run the module."""
    module = AnsibleModule(
        argument_spec=ARGUMENT_SPEC,
        mutually_exclusive=[("bootstrap_servers", "snapshot")],
        required_one_of=[("bootstrap_servers", "snapshot")],
        required_if=CONNECTION_REQUIRED_IF,
        required_together=CONNECTION_REQUIRED_TOGETHER,
        supports_check_mode=True,
    )
    path = module.params["snapshot"]
    with errors_reported(module):
        found = snapshot_of_file(path) if path else snapshot_of_cluster(Connection.from_params(module.params))
        module.exit_json(changed=False, **planned(found, module.params, registered_only=not path))


if __name__ == "__main__":
    main()
