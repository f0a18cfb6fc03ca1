# Private to this collection.
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation that the modules which judge the health of a cluster share."""

from __future__ import annotations


class ModuleDocFragment:
    """What the health of a cluster is judged by."""

    DOCUMENTATION = r"""
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
