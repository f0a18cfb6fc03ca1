#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: migration_info
short_description: read on a node how far its cluster is between ZooKeeper and KRaft
version_added: "0.1.0"
description:
  - Reads on the host of a node in which mode it was last started, by its start record, and of a controller the state of
    the migration (KIP-866) and the registered brokers, by the metadata log on its disk.
  - Needs no metrics and no answer of Kafka, so that a node that is stopped tells it too. Runs as any user that may read
    these files, with nothing but Python's standard library.
  - M(streamops.kafka.migration_plan) judges what all nodes of a cluster told.
author: The streamops engineers (@streamops)
extends_documentation_fragment: [streamops.kafka._attributes]
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
    details: It changes nothing.
  idempotent:
    support: full
options:
  state_dir:
    description: Directory of the node's start record (its state directory).
    type: str
    required: true
  config_file:
    description: >-
      Configuration file as given to C(java), by which a node of Kafka is found that was started without a start record.
    type: str
    default: ""
  metadata_dir:
    description: Directory of a controller that holds the metadata log; empty for any other node.
    type: str
    default: ""
seealso:
  - module: streamops.kafka.node_info
"""

EXAMPLES = r"""
- name: Read what a controller knows of the migration
  streamops.kafka.migration_info:
    state_dir: /run/kafka/controller101
    config_file: /etc/kafka/controller101/server.properties
    metadata_dir: /var/lib/kafka/controller101
"""

RETURN = r"""
running:
  description: Whether the process of the node runs.
  returned: always
  type: bool
release:
  description: The version of the release that it was last started with; empty where it has no start record.
  returned: always
  type: str
  sample: 3.9.2
start_record:
  description:
    - The properties of its last start that tell its mode, empty where it was started without; null without a start
      record, and where the process that runs is not that of the record.
  returned: always
  type: dict
  sample: {process.roles: "", zookeeper.metadata.migration.enable: "true", inter.broker.protocol.version: "3.9"}
log:
  description: What the metadata log on the disk holds; null where it could not be read, or nobody was elected yet.
  returned: always
  type: dict
  contains:
    state:
      description: The last ZkMigrationState in it; empty where it holds none.
      type: str
      sample: PRE_MIGRATION
    brokers:
      description: The registered brokers by id, and whether each is still a broker of ZooKeeper.
      type: dict
    epoch:
      description: The epoch of the leader that wrote its last batch.
      type: int
    end:
      description: The offset behind its last record.
      type: int
unread:
  description: Why the metadata log could not be read; empty where it could, and without O(metadata_dir).
  returned: always
  type: str
record_unread:
  description: Why the start record could not be read; empty where it could, and where there is none.
  returned: always
  type: str
epoch:
  description: The epoch of the quorum as the controller knows it; 0 where it knows none.
  returned: always
  type: int
"""

from ..module_utils._core.module import run_module
from ..module_utils._migration.look import migration_info

SPEC = {
    "state_dir": {"type": "str", "required": True},
    "config_file": {"type": "str", "default": ""},
    "metadata_dir": {"type": "str", "default": ""},
}


def main() -> None:
    """Run the module."""
    run_module(SPEC, lambda module: migration_info(**module.params))


if __name__ == "__main__":
    main()
