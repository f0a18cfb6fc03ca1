#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare what each broker and each controller believes of the metadata."""

from __future__ import annotations

DOCUMENTATION = r"""
module: metadata_compare
short_description: Compare what each broker and each controller believes of the metadata
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Asks every broker at its listener for clients, and every controller at its own listener, what it believes of the
    metadata of a KRaft cluster, and compares the answers. Waits, bounded, until all agree. It changes nothing.
  - A difference counts only when one node says otherwise than most in every look of O(settle) seconds, and in three
    looks at least, since metadata reaches each node in its own time.
  - A node that is behind in the metadata log is named with the records that it lacks. Its values are not compared.
  - A node that does not answer is named. Then the nodes do not agree, as nothing is known of it.
  - Controllers take fewer requests than brokers do (KIP-919). What a node cannot answer is never taken for the same; it
    stands in C(unanswered) of RV(nodes) with the reason.
options:
  subjects:
    description:
      - What is compared; all of it without this option. A kind of node that answers to none of it is not asked.
      - V(leader) and V(epoch) of the quorum. A broker tells them as the active controller does that it reaches; of the
        controllers only the active one tells the epoch.
      - V(features) are the finalized levels. V(brokers) are registrations with address, rack and whether they are
        fenced, V(controllers) the addresses of the controllers. No request tells the epochs of brokers.
      - V(topics) are names with ids. V(partitions) have leader, epoch, replicas and ISR.
      - V(topic_configs) are what topics set, V(broker_configs) the defaults set for all brokers. A value that Kafka
        hides is compared as hidden. What one broker sets for itself, only that broker tells, so it is not compared.
      - V(acls), V(quotas), and V(users) with their SCRAM mechanisms, never their secrets.
    type: list
    elements: str
    choices: [leader, epoch, features, brokers, controllers, topics, partitions, topic_configs, broker_configs, acls,
      users, quotas]
  controller_protocol:
    description:
      - The security protocol of the controllers' listener, when it is not O(security_protocol). They are asked with the
        user and the TLS files of the connection.
    type: str
    choices: [PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL]
  settle:
    description: Seconds for which a difference or a lag must be seen.
    type: float
    default: 5.0
  node_timeout:
    description: >-
      Seconds that one node has to answer all questions of a look. All nodes are asked at once. One that hangs is asked
      once in each comparison.
    type: float
    default: 5.0
  names:
    description: How many names RV(differences) shows for each subject, at least one. The counts are always complete.
    type: int
    default: 5
  must_agree:
    description: Whether it fails when the nodes do not agree within O(timeout). Else RV(agree) says so.
    type: bool
    default: true
  timeout:
    description: >-
      Seconds without progress after which the wait ends: it counts anew whenever fewer nodes are silent or behind, or
      fewer subjects differ, than ever before, up to 60 times. The comparison that has begun is finished; V(0) compares
      once.
    type: int
    default: 60
  interval:
    description: Seconds between two comparisons.
    type: float
    default: 5.0
  start_timeout:
    description: >-
      Seconds that the cluster may be unreachable at the beginning. Once it has answered, an unreachable cluster is
      shown and tolerated until O(timeout), since brokers may be restarting.
    type: int
    default: 8
extends_documentation_fragment:
  - streamops.kafka._attributes
  - streamops.kafka._connection
attributes:
  check_mode:
    support: full
    details: >-
      Compares once and reports; it does not fail because nodes do not agree, and fails when the cluster cannot be
      reached.
  diff_mode:
    support: none
    details: It changes nothing.
  idempotent:
    support: full
seealso:
  - module: streamops.kafka.cluster_info
  - module: streamops.kafka.features_info
"""

EXAMPLES = r"""
- name: Wait until all nodes agree on the metadata
  streamops.kafka.metadata_compare:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
  delegate_to: localhost

- name: Tell who does not know the topics or the ACLs of the others
  streamops.kafka.metadata_compare:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    subjects: [topics, acls]
    timeout: 0
    must_agree: false
  delegate_to: localhost
  register: compared

- name: Show by subject who differs (the filter needs jmespath, see requirements.txt)
  ansible.builtin.debug:
    msg: "{{ compared | community.general.json_query('differences[].{subject: subject, apart: apart}') }}"
"""

RETURN = r"""
agree:
  description: >-
    Whether all nodes answered in the last comparison, up to the last question, none was behind, and none differed.
    False too where no node told more than its features, though more was asked for.
  type: bool
  returned: success
offset:
  description: >-
    The high watermark of the metadata log when the last look began, as the active controller told it; null where that
    did not answer.
  type: int
  returned: success
  sample: 512
nodes:
  description: >-
    Each broker and each controller with name, id, kind, server, why (it did not answer), applied (the offset up to
    which a broker has applied the log), log_end (of its log, as the active controller knows it), behind (records that
    it lacks), digests (by subject) and unanswered (by subject the reason).
  type: list
  elements: dict
  returned: success
  sample:
    - {name: broker 1, id: 1, kind: broker, server: "kafka1.example.com:9092", why: null, applied: 512, log_end: 513,
       behind: 0, digests: {topics: 41f0c8a2b3d7}, unanswered: {acls: the cluster has no authorizer}}
silent:
  description: Nodes that did not answer, or stopped to answer between two questions.
  type: list
  elements: str
  returned: success
  sample: [broker 3]
not_compared:
  description: >-
    Nodes that run, and told nothing, as when they do not let us in. Also controllers to whose port nothing leads from
    here, though the active controller heard of them within ten seconds.
  type: list
  elements: str
  returned: success
  sample: [controller 3]
subjects_not_compared:
  description: Subjects that no node could tell. That a cluster has no authorizer is no such thing.
  type: list
  elements: str
  returned: success
  sample: [users]
lagging:
  description: By node the records that it is behind the offset at which the comparison began.
  type: dict
  returned: success
  sample: {broker 3: 120}
differences:
  description: >-
    Each subject in which nodes differ, with agreeing and apart (names of nodes), groups (digest and nodes, the most
    nodes first), count (of the names that differ), total (of the names), names (the first of them with the values and
    the nodes that hold each, the most first), seen_since (seconds since 1970) and looks.
  type: list
  elements: dict
  returned: success
  sample:
    - {subject: topics, agreeing: [broker 1, broker 2], apart: [broker 3], count: 1, total: 14,
       groups: [{digest: 41f0c8a2b3d7, nodes: [broker 1, broker 2]}, {digest: 9d0b11e0c552, nodes: [broker 3]}],
       names: [{name: orders, values: [{value: 0a7c, nodes: [broker 1, broker 2]}, {value: absent,
       nodes: [broker 3]}]}], seen_since: 1795762800.5, looks: 6}
lines:
  description: The same for people; the first line says all in short.
  type: list
  elements: str
  returned: success
  sample: [all 3 nodes agree at offset 512]
looks_taken:
  description: Number of looks of the last comparison.
  type: int
  returned: success
seconds:
  description: Seconds between the first and the last look of the last comparison.
  type: float
  returned: success
history:
  description: >-
    What was seen comparison by comparison, at most the last 500, and the last 3 of a wait that failed; C(elapsed) is in
    seconds.
  type: list
  elements: dict
  returned: always
elapsed:
  description: Seconds that were waited.
  type: float
  returned: always
looks:
  description: Number of comparisons.
  type: int
  returned: always
"""

from ..module_utils._client.module import run_on_cluster
from ..module_utils._metadata.look import compare_metadata
from ..module_utils._metadata.wait import WAIT_OPTIONS


def main() -> None:
    """Compare once; the action plugin repeats this and judges."""
    run_on_cluster(WAIT_OPTIONS, compare_metadata, repeated=True)


if __name__ == "__main__":
    main()
