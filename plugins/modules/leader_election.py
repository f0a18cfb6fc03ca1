#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Elect leaders of partitions."""

from __future__ import annotations

DOCUMENTATION = r"""
module: leader_election
short_description: Elect leaders of partitions
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Makes the preferred (first) replica lead, for the partitions of one broker, for a list of partitions, or for the
    whole cluster, and waits until it does. It moves no data.
  - A partition whose preferred replica is not in sync is reported and left as it is.
  - With O(type=unclean) it elects, for each named partition that has no leader, a replica that is alive, whether it is
    in sync or not (KIP-460). What that replica does not have is lost for good. It shows one line while it repeats this
    until each of them is led, and fails with the name of each that is not.
  - A broker, topic or partition that does not exist is refused. So is a user without the operation describe on the
    cluster, from whom Kafka would hide topics.
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
  type:
    description:
      - V(preferred) elects the first replica, if it is in sync.
      - V(unclean) elects any replica that is alive, for O(partitions) that have no leader. Required with it are the
        O(partitions), each by its name and number. Others are never touched.
    type: str
    choices: [preferred, unclean]
    default: preferred
  broker:
    description: Only the partitions that prefer this broker, by its node id. Not together with O(partitions).
    type: int
  partitions:
    description: Only these partitions.
    type: list
    elements: dict
    suboptions:
      topic:
        description: Name of the topic.
        type: str
        required: true
      partition:
        description: Number of the partition.
        type: int
        required: true
  step_seconds:
    description:
      - Elects in steps of 1, 2, 4 and so on, at most 256 partitions, with so many seconds between them. So
        few clients at a time have to find a new leader.
      - With V(0) all are elected at once.
    type: float
    default: 0
  proves:
    description:
      - With O(broker), has it first lead one partition of C(_streamops_state) or of the topic of a proof, and writes
        one record of each compression codec there with C(acks=all). Where one is not acknowledged, the module fails,
        and the broker leads nothing more.
      - RV(not_proven), which is shown as a line too, says why no record was written.
    type: bool
    default: false
  metadata_before:
    description:
      - Seconds that a change of metadata took before, as M(streamops.kafka.restart_gate) times it. The module times it
        again before it elects anything, with a configuration of C(_streamops_state) that it sets and sets back, and
        times the first election, where that is of one partition alone. The module fails where one of them takes more
        than ten times as long and is slower by 0.5 s (the fastest of the changes in 20 s) or 5 s (the election).
      - RV(not_timed) says why no change could be timed. With V(0) nothing is timed.
    type: float
    default: 0
  timeout:
    description: Longest time in seconds to wait until the elected replicas lead, in each step.
    type: int
    default: 60
"""

EXAMPLES = r"""
- name: Give a broker that returned back what it prefers to lead
  streamops.kafka.leader_election:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    broker: 3
  delegate_to: localhost

- name: Elect the preferred leaders of two partitions
  streamops.kafka.leader_election:
    bootstrap_servers: [kafka1.example.com:9092]
    partitions:
      - topic: orders
        partition: 0
      - topic: orders
        partition: 1
  delegate_to: localhost

- name: Accept that data is lost, and have any replica that is alive lead this partition again
  streamops.kafka.leader_election:
    bootstrap_servers: [kafka1.example.com:9092]
    type: unclean
    partitions:
      - topic: orders
        partition: 4
  delegate_to: localhost
"""

RETURN = r"""
elected:
  description: Partitions that changed their leader; in check mode those that would.
  type: list
  elements: dict
  returned: success
  sample: [{topic: orders, partition: 0, leader: 1, preferred: 3, isr: [1, 2, 3]}]
codecs:
  description: The compression codecs of which the broker took a record (O(proves)).
  type: list
  elements: str
  returned: success
not_proven:
  description: Why no record was written to the broker, empty where one was or none was asked for.
  type: str
  returned: success
  sample: broker 3 prefers no partition of _streamops_state or of a proof
metadata_seconds:
  description: Seconds of the fastest change of metadata (O(metadata_before)), null where none was timed.
  type: float
  returned: success
not_timed:
  description: Why no change of metadata could be timed, empty where one was or none was asked for.
  type: str
  returned: success
  sample: topic _streamops_state does not exist
not_in_sync:
  description: Partitions that were left as they are because their preferred replica is not in sync.
  type: list
  elements: dict
  returned: success
not_elected:
  description: Partitions whose election the cluster refused, with why.
  type: list
  elements: dict
  returned: success
"""

from ..module_utils._brokers.election_apply import ensure_leaders
from ..module_utils._client.module import run_on_cluster

ARGUMENT_SPEC = {
    "type": {"type": "str", "choices": ["preferred", "unclean"], "default": "preferred"},
    "broker": {"type": "int"},
    "partitions": {
        "type": "list",
        "elements": "dict",
        "options": {"topic": {"type": "str", "required": True}, "partition": {"type": "int", "required": True}},
    },
    "step_seconds": {"type": "float", "default": 0},
    "proves": {"type": "bool", "default": False},
    "metadata_before": {"type": "float", "default": 0},
    "timeout": {"type": "int", "default": 60},
}


def main() -> None:
    """Run the module."""
    run_on_cluster(
        ARGUMENT_SPEC,
        ensure_leaders,
        mutually_exclusive=[("broker", "partitions")],
        required_if=[("type", "unclean", ["partitions"])],
    )


if __name__ == "__main__":
    main()
