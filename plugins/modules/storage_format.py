#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: storage_format
short_description: format the empty directories of a KRaft node
description:
  - Runs C(kafka-storage format) for one node. Every directory is looked at right before, and must be absent, empty, or
    carry these very ids from a first format that was cut. C(--ignore-formatted) is never used, since formatting a node
    anew that others rely on can destroy a cluster.
  - Which nodes may be formatted at all is decided for the whole cluster by P(streamops.kafka.format_plan#filter).
  - Run it as the user that runs Kafka, or as root with O(owner) and O(group); files are made for that user and its
    group alone (umask 027).
author: The streamops engineers (@streamops)
extends_documentation_fragment: [streamops.kafka._attributes]
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
options:
  java:
    description: The path of C(java); when empty, the one of E(JAVA_HOME), else of the search path.
    type: str
    default: ""
  owner:
    description: The user that new directories and all in them are given to; left alone when not given.
    type: str
  group:
    description: The group that they are given to; left alone when not given.
    type: str
  release_dir:
    description: The directory of the installed release; its C(libs) is the class path.
    type: path
  class_path:
    description: The class path, instead of O(release_dir).
    type: str
  config:
    description:
      - The properties file of the node. C(log.dirs) and C(metadata.log.dir) are replaced by O(log_dirs) and
        O(metadata_dir), so that what is formatted is what was looked at.
    type: path
    required: true
  cluster_id:
    description: The cluster id.
    type: str
    required: true
  node_id:
    description: The node id; it must be the C(node.id) of O(config).
    type: int
    required: true
  log_dirs:
    description:
      - The data directories of the node. Those that are absent or empty are formatted; one that carries these very ids
        and was never started stays as it is; anything else is refused.
    type: list
    elements: path
    required: true
  metadata_dir:
    description: The one that holds the metadata log, among O(log_dirs) or beside them; the first of them when empty.
    type: str
    default: ""
  initial_controllers:
    description:
      - The first voters of a dynamic quorum, each V(id@host:port:directory-id), joined by commas. Excludes
        O(standalone) and O(no_initial_controllers).
    type: str
  standalone:
    description: Whether this node is the only voter of a dynamic quorum.
    type: bool
    default: false
  no_initial_controllers:
    description: Whether the node joins a dynamic quorum that exists or is formatted elsewhere.
    type: bool
    default: false
  features:
    description: Feature levels to start with, name to level.
    type: dict
  release_version:
    description: The metadata version to start with; the newest of the installed release when not given.
    type: str
  scram:
    description: SCRAM credentials to start with, in the words of C(--add-scram). Never in argv, output or logs.
    type: list
    elements: str
"""

EXAMPLES = r"""
- name: Format the first node of a cluster
  streamops.kafka.storage_format:
    release_dir: /opt/kafka/releases/kafka-4.3.1-0123456789ab
    config: /etc/kafka/kafka1/server.properties
    cluster_id: QAbcdEFGhijkLMNopqRSTg
    node_id: 1
    log_dirs: [/var/lib/kafka/kafka1]
    initial_controllers: "1@kafka1:9093:{{ 'QAbcdEFGhijkLMNopqRSTg' | streamops.kafka.directory_id(1) }}"
"""

RETURN = r"""
formatted:
  description: The directories that were formatted, or would be in check mode.
  returned: success
  type: list
  elements: str
meta_properties:
  description: For each directory its C(meta.properties), null when it has none (check mode).
  returned: success
  type: dict
"""

from ..module_utils._core.module import run_module
from ..module_utils._node.format import storage_format

SPEC = {
    "java": {"type": "str", "default": ""},
    "owner": {"type": "str"},
    "group": {"type": "str"},
    "release_dir": {"type": "path"},
    "class_path": {"type": "str"},
    "config": {"type": "path", "required": True},
    "cluster_id": {"type": "str", "required": True},
    "node_id": {"type": "int", "required": True},
    "log_dirs": {"type": "list", "elements": "path", "required": True},
    "metadata_dir": {"type": "str", "default": ""},
    "initial_controllers": {"type": "str"},
    "standalone": {"type": "bool", "default": False},
    "no_initial_controllers": {"type": "bool", "default": False},
    "features": {"type": "dict"},
    "release_version": {"type": "str"},
    "scram": {"type": "list", "elements": "str", "no_log": True},
}


def main() -> None:
    """Run the module."""
    run_module(
        SPEC,
        lambda module: storage_format(module.params, module.check_mode),
        required_one_of=[("release_dir", "class_path")],
    )


if __name__ == "__main__":
    main()
