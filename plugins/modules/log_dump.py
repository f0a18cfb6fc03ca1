#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Show decoded records from the files of a node."""

from __future__ import annotations

DOCUMENTATION = r"""
module: log_dump
short_description: Show decoded records from the files of a node
description:
  - Reads records of a partition, of the metadata log or of Kafka's own topics from the files of a node, and decodes
    them with the tool of the release that is installed there (C(DumpLogSegments)). A snapshot of the metadata is shown
    as a tree where the release has the metadata shell, else as its records.
  - Runs on the node, also while Kafka is stopped. Nothing is changed there. The batches that are asked for are copied
    into a directory of the user that runs it, which is removed in the end; so a log that is written to can be read, and
    a large one is not read whole.
  - Salts and keys of SCRAM users, proofs of delegation tokens and values of settings that hold secrets are replaced by
    C(***).
author: The streamops engineers (@streamops)
extends_documentation_fragment: [streamops.kafka._attributes]
attributes:
  check_mode:
    support: full
  diff_mode:
    support: N/A
  idempotent:
    support: full
options:
  what:
    description: >-
      A partition as V(orders-3), or V(metadata) (the metadata log), V(offsets), V(transactions), V(shares) (all
      partitions of such a topic that the node has), or V(snapshot) (the newest one of the metadata).
    type: str
    required: true
  log_dirs:
    description: The data directories of the node (C(log.dirs)).
    type: list
    elements: str
    required: true
  metadata_dir:
    description: The directory of the metadata log (C(metadata.log.dir)); the first of O(log_dirs) when empty.
    type: str
    default: ""
  release_dir:
    description: The directory of the installed release; its C(libs) is the class path.
    type: path
    required: true
  java:
    description: The path of C(java); when empty, the one of E(JAVA_HOME), else of the search path.
    type: str
    default: ""
  offset_from:
    description: The first offset that is shown; a negative number counts from the end. Empty for the begin of the log.
    type: str
    default: ""
  offset_to:
    description: The last offset that is shown. Empty for the end of the log.
    type: str
    default: ""
  time_from:
    description: >-
      The time from which on records are shown, as V(2026-11-24T06:00:00+01:00) or in milliseconds since 1970.
    type: str
    default: ""
  time_to:
    description: The time of the last records that are shown. Batches whose first record is younger are left out.
    type: str
    default: ""
  key:
    description: >-
      Show only records with this key; with C(regex:) before it those in whose key the pattern is found. In decoded keys
      each field counts, such as the name of a group; records of metadata have no key, so each of their fields does.
    type: str
    default: ""
  payload:
    description: Whether to show the values of records of users. Those of Kafka's own records are always shown.
    type: bool
    default: false
  records:
    description: The most records that are shown, from 1 to 100,000.
    type: int
    default: 1000
  bytes:
    description: The most bytes of the log that are copied and decoded, up to 1 GiB.
    type: int
    default: 16777216
  seconds:
    description: The most seconds that it takes, up to 600.
    type: int
    default: 60
"""

EXAMPLES = r"""
- name: Show the last records of a partition
  streamops.kafka.log_dump:
    what: orders-3
    offset_from: -100
    log_dirs: [/var/lib/kafka/kafka1]
    release_dir: /opt/kafka/releases/kafka-4.3.1-0123456789ab
  register: dumped

- name: Show what the metadata log says of a topic
  streamops.kafka.log_dump:
    what: metadata
    key: orders
    log_dirs: [/var/lib/kafka/kafka1]
    release_dir: /opt/kafka/releases/kafka-4.3.1-0123456789ab
"""

RETURN = r"""
what:
  description: What was dumped.
  type: str
  returned: success
partitions:
  description: What was read, with partition, directory, start (the first offset of the log), segments and bytes.
  type: list
  elements: dict
  returned: success
records:
  description: >-
    The records, with partition, offset, timestamp (ms since 1970), time, timestamp_type, key, key_size, value_size,
    headers (their names), transactional, and where it is shown value; markers have control.
  type: list
  elements: dict
  returned: success
tree:
  description: The lines of the tree of a snapshot.
  type: list
  elements: str
  returned: success
notes:
  description: What a reader must know, such as the bound at which the dump stopped. Empty when all is shown.
  type: list
  elements: str
  returned: success
"""

from ..module_utils._core.module import run_module
from ..module_utils._dump.look import log_dump

TEXTS = ("offset_from", "offset_to", "time_from", "time_to")
SPEC = {
    "what": {"type": "str", "required": True},
    "log_dirs": {"type": "list", "elements": "str", "required": True},
    "metadata_dir": {"type": "str", "default": ""},
    "release_dir": {"type": "path", "required": True},
    "java": {"type": "str", "default": ""},
    **{name: {"type": "str", "default": ""} for name in TEXTS},
    "key": {"type": "str", "default": "", "no_log": False},
    "payload": {"type": "bool", "default": False},
    "records": {"type": "int", "default": 1000},
    "bytes": {"type": "int", "default": 16777216},
    "seconds": {"type": "int", "default": 60},
}


def main() -> None:
    """Run the module."""
    run_module(SPEC, lambda module: log_dump(module.params))


if __name__ == "__main__":
    main()
