#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at all that a status shows of a cluster."""

from __future__ import annotations

DOCUMENTATION = r"""
module: cluster_status
short_description: Look at all that a status shows of a Kafka cluster
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Returns in one session with the cluster what M(streamops.kafka.cluster_health), M(streamops.kafka.features_info) and
    M(streamops.kafka.metadata_compare) return. The playbooks of this collection use it; call these in your own.
  - The health comes first. What is asked after it and fails changes neither the verdict nor the rest.
extends_documentation_fragment:
  - streamops.kafka._attributes
  - streamops.kafka._connection
  - streamops.kafka._health
options:
  controller_protocol:
    description:
      - The security protocol of the controllers' listener, when it is not O(security_protocol).
    type: str
    choices: [PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL]
"""

EXAMPLES = r"""
- name: Look at the cluster
  streamops.kafka.cluster_status:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
  delegate_to: localhost
  register: seen
"""

RETURN = r"""
status:
  description: As M(streamops.kafka.cluster_health) returns it, as are RV(findings), RV(cluster) and RV(racks).
  type: str
  returned: when the cluster answered or was out of reach
  sample: OK
findings:
  description: What is not as it should be.
  type: list
  elements: dict
  returned: as status
cluster:
  description: The cluster; null for one that does not answer.
  type: dict
  returned: as status
racks:
  description: What the loss of each rack would take from the cluster.
  type: list
  elements: dict
  returned: as status
features:
  description: >-
    What M(streamops.kafka.features_info) returns without asking the controller what it would refuse; only C(msg) where
    that failed, and empty where the cluster or its controllers did not answer for RV(cluster).
  type: dict
  returned: as status
metadata:
  description: >-
    What M(streamops.kafka.metadata_compare) returns of one comparison of leader, features, brokers, controllers, topics
    and partitions; only C(msg) where that failed, and empty as RV(features) and in ZooKeeper mode.
  type: dict
  returned: as status
"""

from ..module_utils._client.module import run_with_connection
from ..module_utils._health.look import HEALTH_OPTIONS
from ..module_utils._health.status_look import cluster_status

ARGUMENT_SPEC = {
    **HEALTH_OPTIONS,
    "controller_protocol": {"type": "str", "choices": ["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]},
}


def main() -> None:
    """Run the module."""
    run_with_connection(ARGUMENT_SPEC, lambda module: cluster_status(module.params, module.check_mode))


if __name__ == "__main__":
    main()
