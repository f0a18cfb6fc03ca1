#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tell what brokers hold in their log directories."""

from __future__ import annotations

DOCUMENTATION = r"""
module: log_dirs
short_description: Tell what brokers hold in their log directories
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Tells for each broker its log directories, how full their file systems are, and which replicas of which size are in
    them, those on their way in from another directory (future replicas) included. It changes nothing.
extends_documentation_fragment:
  - streamops.kafka._attributes
  - streamops.kafka._connection
attributes:
  check_mode:
    support: full
  diff_mode:
    support: N/A
  idempotent:
    support: full
options:
  brokers:
    description: Node ids of the brokers to ask. Without it all that are alive.
    type: list
    elements: int
  topics:
    description: Count and list only replicas of these topics.
    type: list
    elements: str
  replicas:
    description: Whether to list the replicas; their number and bytes are told in any case.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: What is left on broker 3
  streamops.kafka.log_dirs:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    brokers: [3]
  delegate_to: localhost
  register: held

- name: Stop here while it has anything
  ansible.builtin.assert:
    that: held.brokers[0].replica_count == 0 and held.brokers[0].future_count == 0
"""

RETURN = r"""
brokers:
  description: >-
    Each broker that was asked, with replica_count, future_count, replica_bytes and its directories. Each of these has
    path, online, total_bytes and usable_bytes of its file system, the same counts, and replicas.
  type: list
  elements: dict
  returned: success
  sample:
    - id: 3
      replica_count: 1
      future_count: 0
      replica_bytes: 1024
      directories:
        - path: /var/lib/kafka
          online: true
          total_bytes: 100000000
          usable_bytes: 50000000
          replica_count: 1
          future_count: 0
          replica_bytes: 1024
          replicas: [{topic: orders, partition: 0, bytes: 1024, lag: 0, future: false}]
"""

from ..module_utils._client.module import run_on_cluster
from ..module_utils._cluster.look import log_dirs

ARGUMENT_SPEC = {
    "brokers": {"type": "list", "elements": "int"},
    "topics": {"type": "list", "elements": "str"},
    "replicas": {"type": "bool", "default": True},
}


def main() -> None:
    """Run the module."""
    run_on_cluster(ARGUMENT_SPEC, log_dirs)


if __name__ == "__main__":
    main()
