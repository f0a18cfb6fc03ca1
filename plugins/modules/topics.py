#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module: the topics of a cluster as a list."""

from __future__ import annotations

DOCUMENTATION = r"""
module: topics
short_description: Create, grow, configure and delete the topics of a Kafka cluster
version_added: 0.1.0
description:
  - Makes the topics of a list what the list says. Topics that it does not name are left alone, and so are
    configuration keys that an entry does not name.
  - Everything is judged before anything is changed, by rules of Kafka and by the cluster itself. If one entry cannot
    be done, nothing is, and all reasons are reported at once.
  - A list of a thousand topics costs a handful of requests.
  - After a change it waits until every live broker knows the topics and sees a leader for each partition.
  - The replication factor of an existing topic is compared and reported, never changed; that takes a reassignment.
  - Topics of Kafka itself (C(__consumer_offsets), C(__transaction_state), C(__share_group_state),
    C(__cluster_metadata) and C(__remote_log_metadata)) are refused, and so is C(_streamops_state), in which
    M(streamops.kafka.reassignment) keeps its record.
  - A request that fails half way leaves done what was done; C(changed) and the diff then say what that is.
options:
  topics:
    description: The topics to look after, each name once.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the topic.
        type: str
        required: true
      partitions:
        description:
          - Number of partitions. It can only grow; fewer than there are is refused.
          - Without it a new topic gets the cluster's default, and an existing one keeps what it has.
        type: int
      replication_factor:
        description: Replicas of each partition. Used at creation; without it the cluster's default.
        type: int
      config:
        description:
          - Configuration of the topic by Kafka's own names, for example V(retention.ms). Each value is set at the
            topic itself, also when it equals the cluster's default, which could change later.
          - V(null) takes a key back to the cluster's default.
        type: dict
        default: {}
      every_broker_leads:
        description:
          - New partitions are placed so that each live broker that is not cordoned is the preferred leader of at least
            one. Then
            O(topics[].partitions) is the least number; the topic gets one more for each broker that would lead none,
            and more partitions than that are no fault.
          - No replica moves. A topic that does not exist yet needs O(topics[].replication_factor) too.
        type: bool
        default: false
      state:
        description: Whether the topic has to exist. V(absent) deletes it with all its records; see O(allow_delete).
        type: str
        choices: [present, absent]
        default: present
  allow_delete:
    description: Consent to delete the topics whose state is V(absent). Without it such an entry is refused.
    type: bool
    default: false
  allow_create:
    description: Whether a topic that does not exist may be created. If not, such an entry is refused.
    type: bool
    default: true
    version_added: 0.1.0
  allow_compacted_growth:
    description:
      - Consent to give a compacted topic more partitions. Records of a key then go to another partition than its older
        ones, which compaction keeps for ever. Without it such an entry is refused.
    type: bool
    default: false
  max_new_replicas_per_broker:
    description:
      - Most replicas that the list may add to a live broker on average. A list that adds more is refused, since a
        number of partitions with a zero too many cannot be taken back.
      - The default is what is long advised as the most that one broker should hold.
    type: int
    default: 4000
  timeout:
    description: Longest time in seconds to wait until every live broker knows what was changed.
    type: int
    default: 120
extends_documentation_fragment:
  - streamops.kafka._connection
  - streamops.kafka._attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
seealso:
  - module: streamops.kafka.broker_configs
  - module: streamops.kafka.cluster_info
author: The streamops engineers (@streamops)
"""

EXAMPLES = r"""
- name: Create two topics
  streamops.kafka.topics:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    topics:
      - name: orders
        partitions: 12
        replication_factor: 3
        config:
          retention.ms: 604800000
          cleanup.policy: [compact, delete]
      - name: audit
        partitions: 3
        replication_factor: 3

- name: Take a key back to the cluster's default and say what would change
  streamops.kafka.topics:
    bootstrap_servers: kafka1.example.com:9092
    topics:
      - name: orders
        config:
          retention.ms:
  check_mode: true
  diff: true

- name: Delete a topic with all its records
  streamops.kafka.topics:
    bootstrap_servers: kafka1.example.com:9092
    allow_delete: true
    topics:
      - name: orders
        state: absent
"""

RETURN = r"""
created:
  description: Names of the topics that were created (in check mode here and below, that would be).
  returned: success
  type: list
  elements: str
  sample: [orders, audit]
grown:
  description: Names of the topics that got more partitions.
  returned: success
  type: list
  elements: str
configured:
  description: Names of the existing topics whose configuration was changed.
  returned: success
  type: list
  elements: str
deleted:
  description: Names of the topics that were deleted.
  returned: success
  type: list
  elements: str
unchanged:
  description: Number of entries that were as wanted before.
  returned: success
  type: int
replication_differs:
  description: >-
    Topics of which a partition has another number of replicas than wanted, which this module does not change.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Name of the topic.
      type: str
    found:
      description: Its replication factor, of partitions with different numbers of replicas the smallest.
      type: int
    wanted:
      description: The replication factor of the entry.
      type: int
    partitions:
      description: The partitions that differ; empty where all partitions have the same number of replicas.
      type: list
      elements: int
failure:
  description: Why it failed, for programs; C(kind) and the fields of that kind, for example C(violations).
  returned: failure
  type: dict
"""

from ..module_utils._client.module import run_on_cluster
from ..module_utils._core.applied import asked_again
from ..module_utils._topics.apply import ensure_topics

TOPIC_SPEC = {
    "name": {"type": "str", "required": True},
    "partitions": {"type": "int"},
    "replication_factor": {"type": "int"},
    "config": {"type": "dict", "default": {}},
    "every_broker_leads": {"type": "bool", "default": False},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
}
ARGUMENT_SPEC = {
    "topics": {"type": "list", "elements": "dict", "required": True, "options": TOPIC_SPEC},
    "allow_delete": {"type": "bool", "default": False},
    "allow_create": {"type": "bool", "default": True},
    "allow_compacted_growth": {"type": "bool", "default": False},
    "max_new_replicas_per_broker": {"type": "int", "default": 4000},
    "timeout": {"type": "int", "default": 120},
}


def main() -> None:
    """Run the module."""
    run_on_cluster(ARGUMENT_SPEC, ensure_topics, again=asked_again)


if __name__ == "__main__":
    main()
