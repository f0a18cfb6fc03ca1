#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at a cluster."""

from __future__ import annotations

DOCUMENTATION = r"""
module: cluster_info
short_description: Look at a Kafka cluster
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Returns the nodes, the metadata quorum, the topics with their partitions, and what is not as it should be
    (under-replicated, under or at min.insync.replicas, offline, not led by the preferred replica).
  - Everything is of one moment, and nothing is changed.
extends_documentation_fragment:
  - streamops.kafka._attributes
  - streamops.kafka._connection
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
    details: It changes nothing.
  idempotent:
    support: full
options:
  topics:
    description: >-
      Names of the topics to return and to look for findings in, all by default; names that do not exist are left
      out. An empty list gives nodes and quorum only.
    type: list
    elements: str
  include_partitions:
    description: Whether each topic carries its partitions. The lists of findings always do.
    type: bool
    default: true
  include_quorum:
    description: >-
      Whether the metadata quorum is asked for, which needs the operation describe on the cluster. Without it RV(quorum)
      is null, and RV(controller_id) is any broker.
    type: bool
    default: true
  topic_configs:
    description: Keys of the topics' configuration that each topic carries as config, with their effective values.
    type: list
    elements: str
    default: []
  sizes:
    description: >-
      Whether partitions carry size_bytes, topics their largest_partition, and nodes disk_total_bytes,
      disk_used_bytes and log_dirs; one request more for each broker.
    type: bool
    default: false
  overrides:
    description: >-
      Whether RV(overrides) is returned, what topics and brokers set in the cluster itself; one request more for each
      broker and each thousand topics.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Look at the cluster
  streamops.kafka.cluster_info:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    include_partitions: false
  delegate_to: localhost
  register: cluster

- name: Every replica must be in sync
  ansible.builtin.assert:
    that: cluster.counts.under_replicated == 0

- name: Look at everything that plans of moves are made from
  streamops.kafka.cluster_info:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    sizes: true
  delegate_to: localhost
  register: cluster

- name: Keep it for plans with no cluster in reach
  ansible.builtin.copy:
    content: "{{ cluster | to_json }}"
    dest: snapshot.json
    mode: "0600"
  delegate_to: localhost

- name: Show topics of which a partition has fewer than three replicas (the filter needs jmespath, see requirements.txt)
  ansible.builtin.debug:
    msg: "{{ cluster | community.general.json_query('topics[?replication_factor < `3`].name') }}"
"""

RETURN = r"""
cluster_id:
  description: Id of the cluster.
  type: str
  returned: success
controller_id:
  description: Id of the active controller, null while there is none or C(quorum.error) says that it is not known.
  type: int
  returned: success
nodes:
  description: >-
    The registered brokers, each with id, host, port, rack, fenced (registered, but down or not ready), and its numbers
    of replicas, leaders and preferred_leaders; imbalance_percent is the share of its preferred partitions that others
    lead. Kafka before 4.0 does not list brokers that are down; those that hold replicas are shown as fenced. With
    O(sizes) also disk_total_bytes and disk_used_bytes of the file systems of its log directories (null for a broker
    that is down, and before Kafka 3.3), cordoned (whether it gets no new replicas, since all of its log directories are
    in C(cordoned.log.dirs); null for a broker that is down), and as log_dirs each of them with path, total_bytes,
    usable_bytes, replica_count, replica_bytes and cordoned; a log directory that has failed is left out.
  type: list
  elements: dict
  returned: success
  sample: [{id: 1, host: kafka1, port: 9092, rack: a, fenced: false, replicas: 12, leaders: 4, preferred_leaders: 4,
            imbalance_percent: 0.0}]
quorum:
  description: >-
    The metadata quorum with leader_id (null while there is none), leader_epoch, high_watermark, voters and observers;
    each member with id, directory_id, log_end_offset, lag in records and last_caught_up_ms_ago. Its error is null, or
    says why the quorum could not be asked; then nothing else is known of it, and both lists are empty. Null in
    ZooKeeper mode.
  type: dict
  returned: success
features:
  description: >-
    The levels of the finalised features by name, such as 30 for metadata.version 4.3-IV0; null where there are none
    (ZooKeeper mode).
  type: dict
  returned: success
  sample: {group.version: 1, metadata.version: 30}
topics:
  description: >-
    The topics, each with name, partition_count, replication_factor (the fewest replicas of a partition),
    replication_factors (all numbers of replicas that its partitions have; with O(sizes) without those that a move
    adds), min_insync_replicas (its own or the cluster's), internal, with O(topic_configs) its config, and with
    O(include_partitions) its partitions, these with O(sizes) with size_bytes, the size of the leader's log (null
    while no broker tells), and, of a partition that is being moved, with adding_replicas and removing_replicas,
    which are both among its replicas.
  type: list
  elements: dict
  returned: success
under_replicated:
  description: Partitions with fewer in-sync replicas than replicas; topic, partition, leader, replicas, isr.
  type: list
  elements: dict
  returned: success
under_min_isr:
  description: >-
    Partitions with fewer in-sync replicas than min.insync.replicas, at most as many as they have replicas; they refuse
    acks=all.
  type: list
  elements: dict
  returned: success
at_min_isr:
  description: Partitions that would refuse acks=all if one more in-sync replica were lost.
  type: list
  elements: dict
  returned: success
offline:
  description: >-
    Partitions without a leader; also with eligible_leaders, who may lead besides the ISR, and last_known_leaders, who
    was the last that might (KIP-966). Both are null where the cluster does not tell (before Kafka 3.7, ZooKeeper mode).
  type: list
  elements: dict
  returned: success
not_preferred_leader:
  description: Partitions that their preferred (first) replica does not lead.
  type: list
  elements: dict
  returned: success
overrides:
  description: >-
    With O(overrides) what topics, brokers, and all brokers by default set in the cluster itself, each with kind (topic
    or broker), name (empty for all brokers by default), key and value (null for a secret).
  type: list
  elements: dict
  returned: with O(overrides)
  sample: [{kind: topic, name: orders, key: retention.ms, value: "3600000"}]
counts:
  description: The sizes of these lists, and of nodes, fenced_nodes, topics and partitions.
  type: dict
  returned: success
  sample: {nodes: 3, fenced_nodes: 0, topics: 5, partitions: 30, under_replicated: 0, under_min_isr: 0, at_min_isr: 0,
           offline: 0, not_preferred_leader: 0}
"""

from ..module_utils._client.module import run_on_cluster
from ..module_utils._cluster.look import cluster_info

ARGUMENT_SPEC = {
    "topics": {"type": "list", "elements": "str"},
    "include_partitions": {"type": "bool", "default": True},
    "include_quorum": {"type": "bool", "default": True},
    "topic_configs": {"type": "list", "elements": "str", "default": []},
    "sizes": {"type": "bool", "default": False},
    "overrides": {"type": "bool", "default": False},
}


def main() -> None:
    """Run the module."""
    run_on_cluster(ARGUMENT_SPEC, cluster_info)


if __name__ == "__main__":
    main()
