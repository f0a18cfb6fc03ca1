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
  - streamops.kafka._health
options:
  fail_on:
    description: >-
      The status from which the module fails; its result is the same then. V(degraded) includes DOWN.
    type: str
    choices: [never, down, degraded]
    default: never
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

from ..module_utils._client.module import run_with_connection
from ..module_utils._health.look import HEALTH_OPTIONS, cluster_health

ARGUMENT_SPEC = {
    **HEALTH_OPTIONS,
    "fail_on": {"type": "str", "choices": ["never", "down", "degraded"], "default": "never"},
}


def main() -> None:
    """Run the module."""
    run_with_connection(ARGUMENT_SPEC, lambda module: cluster_health(module.params, module.check_mode))


if __name__ == "__main__":
    main()
