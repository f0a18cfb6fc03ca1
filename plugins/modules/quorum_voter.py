#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make a controller a voter of the metadata quorum, or take it out."""

from __future__ import annotations

DOCUMENTATION = r"""
module: quorum_voter
short_description: Make a controller a voter of the metadata quorum, or take it out
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Changes the voters of a dynamic KRaft quorum (KIP-853, kraft.version 1) one at a time.
  - A controller whose disk was replaced comes back with another directory id, as an observer, while its former self
    stays a voter that never answers again. O(state=present) waits until the observer has caught up, takes the former
    self out, and makes it a voter.
  - A voter is taken out only while the voters that are left have a majority that is caught up.
  - A controller that runs with C(controller.quorum.auto.join.enable) joins again by itself. O(state=absent) is refused
    where the node is a broker too, which tells the property. Any other node that runs is watched for six seconds after
    it was taken out; where it is a voter again, the module fails and names the property.
extends_documentation_fragment:
  - streamops.kafka._attributes
  - streamops.kafka._connection
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
options:
  node_id:
    description: Node id of the controller.
    type: int
    required: true
  state:
    description: Whether it shall be a voter, with the directory that it runs with now.
    type: str
    choices: [present, absent]
    default: present
  listeners:
    description: Where other controllers reach it; required for O(state=present).
    type: list
    elements: dict
    suboptions:
      name:
        description: Name of the listener.
        type: str
        required: true
      host:
        description: Advertised name or address.
        type: str
        required: true
      port:
        description: Port.
        type: int
        required: true
  timeout:
    description: >-
      Seconds until it has caught up, with a line for what is waited for, and again until each change is seen.
      They count anew whenever fewer records of the metadata log are left than ever before, up to 60 times.
    type: int
    default: 120
"""

EXAMPLES = r"""
- name: Make controller 3, whose disk was replaced, a voter again
  streamops.kafka.quorum_voter:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    node_id: 3
    listeners:
      - {name: CONTROLLER, host: kafka3.example.com, port: 9093}
  delegate_to: localhost
"""

RETURN = r"""
voters:
  description: The voters, each as node id, @ and directory id.
  type: list
  elements: str
  returned: success
  sample: ["1@dBvCs1XVSSKNvFfcxvYVCg", "2@bZkgRT0sQyGEV-wZ0W2F5A", "3@2nCxO4wZQSS1hv4ExqZs8A"]
waiting:
  description: What has to be waited for first; null for nothing.
  type: str
  returned: success
lag:
  description: How many records of the metadata log the node lacks that is waited for; null where it does not fetch.
  type: int
  returned: when the node is waited for
"""

from ..module_utils._brokers.voter_apply import ensure_voter
from ..module_utils._client.module import run_on_cluster

LISTENER = {
    "name": {"type": "str", "required": True},
    "host": {"type": "str", "required": True},
    "port": {"type": "int", "required": True},
}
ARGUMENT_SPEC = {
    "node_id": {"type": "int", "required": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "listeners": {"type": "list", "elements": "dict", "options": LISTENER},
    "timeout": {"type": "int", "default": 120},
}


def main() -> None:
    """Run the module."""
    run_on_cluster(ARGUMENT_SPEC, ensure_voter, required_if=[("state", "present", ["listeners"])])


if __name__ == "__main__":
    main()
