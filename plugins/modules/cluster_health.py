#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge the health of a cluster."""

from __future__ import annotations

DOCUMENTATION = r"""
module: cluster_health
short_description: Judge the health of a Kafka cluster
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Says whether a cluster is OK, DEGRADED or DOWN, and lists what is not as it should be, each finding with its
    figures, the threshold and the next step.
  - A cluster that does not answer is DOWN, which is a result; a refused login or a missing right is an error.
  - A broker that does not answer is looked at again after 5 seconds, with a warning, before it counts as down; the
    controller of a cluster in ZooKeeper mode after 20 seconds, and a quorum without an answer after 32 seconds, since
    brokers ask a frozen leader for 30 seconds while the quorum has another one.
  - Everything is asked, and nothing is changed but what O(acknowledge) says. C(docs/health.md) explains each finding.
extends_documentation_fragment:
  - streamops.kafka._attributes
  - streamops.kafka._connection
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
    details: It changes nothing but what O(acknowledge) says.
  idempotent:
    support: full
options:
  nodes:
    description: >-
      The nodes that the cluster shall have. Without them nothing is compared with an inventory, so a broker that is
      gone and one that nothing manages are not found.
    type: list
    elements: dict
    default: []
    suboptions:
      host:
        description: What the node is called in findings.
        type: str
        required: true
      node_id:
        description: Its node id.
        type: int
        required: true
      roles:
        description: What it is.
        type: list
        elements: str
        choices: [broker, controller]
        required: true
      replication:
        description: The host:port at which other brokers reach it, for findings; empty where that is unknown.
        type: str
        default: ""
  versions:
    description: >-
      The version of Kafka that each host runs, by name, to look for known vulnerabilities; null where it is not known.
      Brokers do not tell.
    type: dict
    default: {}
  start_files:
    description: >-
      What M(streamops.kafka.node_info) returned as start_files of each host, by name. Brokers do not tell.
    type: dict
    default: {}
  unsteady_quorum:
    description: >-
      What the controllers themselves see of a quorum whose leader does not last: C(controllers), C(epochs) and what
      C(changed) there last, as phrases; empty of any other. The quorum is not asked then, and no request lasts longer
      than 4 seconds.
    type: dict
    default: {}
  ensemble_problems:
    description: What M(streamops.kafka.zookeeper_info) returned as problems, in ZooKeeper mode.
    type: list
    elements: str
    default: []
  ensemble_lost:
    description: >-
      What M(streamops.kafka.zookeeper_info) returned as lost, in ZooKeeper mode; empty of an ensemble that has a
      quorum.
    type: str
    default: ""
  unclean_elections:
    description: >-
      What M(streamops.kafka.node_info) returned as unclean_elections of all controllers. Brokers do not tell.
    type: list
    elements: dict
    default: []
    suboptions:
      partition:
        description: Topic and number of the partition, as orders-0.
        type: str
        required: true
      at:
        description: When it was, in seconds since 1970.
        type: float
        required: true
      when:
        description: The same as text, in UTC.
        type: str
        required: true
      leader:
        description: The id of the broker that leads since.
        type: int
        required: true
      epoch:
        description: The epoch of that leader.
        type: int
        required: true
  acknowledge:
    description: >-
      Who has looked at the O(unclean_elections), and what they say. It is kept in the topic C(_streamops_state) with
      the time, and the finding on all of them until now is a note from then on. Empty text acknowledges nothing; where
      nothing is left to acknowledge, nothing is written. In check mode nothing is written.
    type: str
    default: ""
  survive_rack_loss:
    description: >-
      Whether the loss of any one rack must leave a majority of the voters, and enough replicas in sync of each
      partition for C(acks=all). A rack whose loss does not is a finding then; C(racks) says it in any case.
    type: bool
    default: false
  voter_racks:
    description: >-
      The rack of each controller by node id, of which Kafka knows none. Those of brokers are read from the cluster.
    type: dict
    default: {}
  watched_groups:
    description: >-
      Names of groups that must be there and read: C(kafka_groups_watched). Other groups are not looked at.
    type: list
    elements: str
    default: []
  fail_on:
    description: >-
      The status from which the module fails; its result is the same then. V(degraded) includes DOWN.
    type: str
    choices: [never, down, degraded]
    default: never
  max_imbalance_percent:
    description: Most percent of the partitions that a broker prefers to lead that others may lead.
    type: float
    default: 10.0
  min_disk_free:
    description: The part of each disk of log directories that must be free, up to O(enough_disk_free_bytes).
    type: float
    default: 0.15
  enough_disk_free_bytes:
    description: Free bytes that are enough on a disk of any size.
    type: int
    default: 75000000000
  max_quorum_lag:
    description: Seconds after which a voter or a broker that has not caught up with the metadata log is behind.
    type: int
    default: 30
  min_certificate_days:
    description: >-
      Days that the certificate must still hold which each broker shows at the listener of this connection.
    type: int
    default: 30
"""

EXAMPLES = r"""
- name: Judge the cluster
  streamops.kafka.cluster_health:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    nodes:
      - {host: kafka1, node_id: 1, roles: [broker, controller]}
      - {host: kafka2, node_id: 2, roles: [broker, controller]}
      - {host: kafka3, node_id: 3, roles: [broker, controller]}
  delegate_to: localhost
  register: health

- name: Show what to do
  ansible.builtin.debug:
    msg: "{{ item.what }} -> {{ item.next_step }}"
  loop: "{{ health.findings }}"

- name: Fail for a cluster that is not as it should be
  streamops.kafka.cluster_health:
    bootstrap_servers: [kafka1.example.com:9092]
    min_certificate_days: 14
    fail_on: degraded
  delegate_to: localhost
"""

RETURN = r"""
status:
  description: >-
    V(OK), V(DEGRADED) or V(DOWN). DOWN is a cluster that does not answer, has no active controller that works, none
    that lasts, or an ensemble of ZooKeeper without a quorum, or has partitions without a leader.
  type: str
  returned: when the cluster answered or was out of reach, also with O(fail_on)
  sample: DEGRADED
findings:
  description: >-
    What is not as it should be, causes before what follows from them, each with its kind, its severity (down, degraded,
    or note, which leaves the status as it is), what it is, the figure found, the one allowed, and the next_step.
  type: list
  elements: dict
  returned: as status
  sample:
    - kind: broker_down
      severity: degraded
      what: broker kafka3 (id 3) is down
      found: fenced
      allowed: registered and not fenced
      next_step: >-
        look at the log of this broker, then: ansible-playbook streamops.kafka.site -i INVENTORY
cluster:
  description: >-
    What M(streamops.kafka.cluster_info) returns with sizes and without partitions, but for features; null for a cluster
    that does not answer. Each of C(nodes) has C(no_answer), what happened at the address of a broker that did not
    answer twice, else empty.
  type: dict
  returned: as status
racks:
  description: >-
    What the loss of each rack would take from the cluster as it is now, with C(rack), the ids of C(brokers) and
    C(voters) in it, C(voters_left) and C(voters_needed) (null without a known quorum), how many partitions would start
    to refuse acks=all (C(refusing)), how many of these would have no leader (C(leaderless)), some C(names), and whether
    the cluster C(survives). Empty with fewer than two racks.
  type: list
  elements: dict
  returned: as status
  sample:
    - {rack: a, brokers: [1], voters: [1], voters_left: 2, voters_needed: 2, refusing: 0, leaderless: 0, names: [],
       survives: true}
"""

from dataclasses import fields

from ..module_utils._client.module import run_with_connection
from ..module_utils._health.look import cluster_health
from ..module_utils._health.model import Limits

ARGUMENT_SPEC = {
    "nodes": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "host": {"type": "str", "required": True},
            "node_id": {"type": "int", "required": True},
            "roles": {"type": "list", "elements": "str", "choices": ["broker", "controller"], "required": True},
            "replication": {"type": "str", "default": ""},
        },
    },
    "versions": {"type": "dict", "default": {}},
    "start_files": {"type": "dict", "default": {}},
    "unsteady_quorum": {"type": "dict", "default": {}},
    "ensemble_problems": {"type": "list", "elements": "str", "default": []},
    "unclean_elections": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "partition": {"type": "str", "required": True},
            "at": {"type": "float", "required": True},
            "when": {"type": "str", "required": True},
            "leader": {"type": "int", "required": True},
            "epoch": {"type": "int", "required": True},
        },
    },
    "acknowledge": {"type": "str", "default": ""},
    "ensemble_lost": {"type": "str", "default": ""},
    "survive_rack_loss": {"type": "bool", "default": False},
    "voter_racks": {"type": "dict", "default": {}},
    "watched_groups": {"type": "list", "elements": "str", "default": []},
    "fail_on": {"type": "str", "choices": ["never", "down", "degraded"], "default": "never"},
    **{limit.name: {"type": limit.type, "default": limit.default} for limit in fields(Limits)},
}


def main() -> None:
    """Run the module."""
    run_with_connection(ARGUMENT_SPEC, lambda module: cluster_health(module.params, module.check_mode))


if __name__ == "__main__":
    main()
