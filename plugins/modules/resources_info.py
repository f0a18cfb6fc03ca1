#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module: what a cluster holds, as the lists of other modules."""

from __future__ import annotations

DOCUMENTATION = r"""
module: resources_info
short_description: List topics, users, ACLs, quotas and live settings of a Kafka cluster
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Returns what a cluster holds as the lists that M(streamops.kafka.topics), M(streamops.kafka.users),
    M(streamops.kafka.acls) and M(streamops.kafka.quotas) take. These modules change nothing by them; users lack their
    passwords, which Kafka does not keep.
  - Topics that Kafka or this collection keeps for itself are left out.
  - Returns the settings of each live broker too, and those that were set in the cluster itself.
  - Names and values may have the form of templates, which Ansible evaluates in a file of variables. The playbook
    C(streamops.kafka.adopt) writes such a file in which it does not; the filter C(to_yaml) does
    not mark them.
  - Changes nothing. What it may not read is named in RV(unread), and the rest is returned.
extends_documentation_fragment:
  - streamops.kafka._attributes.look
  - streamops.kafka._connection
seealso:
  - module: streamops.kafka.cluster_info
"""

EXAMPLES = r"""
- name: Look at what the cluster holds
  streamops.kafka.resources_info:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
  delegate_to: localhost
  register: held
"""

RETURN = r"""
topics:
  description: >-
    The topics as M(streamops.kafka.topics) takes them, with name, partitions, replication_factor and as config what
    each sets itself. One whose partitions have different numbers of replicas has no replication_factor, and none has
    one where RV(unread) names moves.
  type: list
  elements: dict
  returned: success
  sample: [{name: orders, partitions: 12, replication_factor: 3, config: {retention.ms: "604800000"}}]
users:
  description: The SCRAM credentials with name, mechanism and iterations.
  type: list
  elements: dict
  returned: success
  sample: [{name: orders, mechanism: SCRAM-SHA-512, iterations: 8192}]
acls:
  description: The ACLs as M(streamops.kafka.acls) takes them; none where no authorizer keeps any.
  type: list
  elements: dict
  returned: success
  sample: [{principal: "User:orders", operations: [write], resource_type: topic, resource: orders}]
quotas:
  description: The limits as M(streamops.kafka.quotas) takes them.
  type: list
  elements: dict
  returned: success
  sample: [{user: orders, producer_byte_rate: 10485760}]
settings:
  description: >-
    By the id of each live broker C(effective), what holds there, and C(live), what was set for it in the cluster
    itself, which wins over its file. The same of all brokers by default under the name C(default), where C(effective)
    is what holds without any file. A secret is not in C(effective), and null in C(live).
  type: dict
  returned: success
  sample: {"1": {effective: {num.io.threads: "16"}, live: {num.io.threads: "16"}},
           default: {effective: {num.io.threads: "8"}, live: {}}}
left:
  description: What these lists cannot say, a sentence each. The modules leave it as it is.
  type: list
  elements: str
  returned: success
unread:
  description: >-
    Why something could not be read, by topics, users, acls, quotas, settings, and moves (the topics that are moved
    now).
  type: dict
  returned: success
"""

from ..module_utils._client.module import run_on_cluster
from ..module_utils._resources.resources_look import resources_info


def main() -> None:
    """Run the module."""
    run_on_cluster({}, resources_info)


if __name__ == "__main__":
    main()
