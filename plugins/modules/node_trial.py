#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Have the Java and the Kafka of a node judge what it would be started with."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_trial
short_description: Have the Java and the Kafka of a node judge what it would be started with
version_added: 0.1.0
description:
  - Starts one short JVM on the node with the Java arguments that it would have, in which Kafka's own storage tool reads
    the properties that it would have. A value that either of them does not take fails the module, with their words.
  - Where Java, its arguments or the release of a broker or mirror differ, Kafka also reads a batch of records of each
    compression codec. That needs a temporary directory (C(java.io.tmpdir)) that is there, writable and not mounted
    noexec. A batch as large as the largest message needs direct memory. Java loads an authorizer that is not Kafka's
    own.
  - Nothing is written, no port is opened but one of the loopback address while stores are judged, and no process is
    touched. Arguments that would open ports, write files or take memory beside the running node (agents, remote JMX,
    logs, dumps, C(-Xms)) are left out, as are those that the login has in C(JDK_JAVA_OPTIONS) and its like. The data
    directories are not looked at.
  - Files that are on the node already are not judged again, nor is a node without Java or without its release. Where
    the machine has no room for a second JVM now, or it gives no answer, the module warns and goes on.
options:
  name:
    description: What the node is called in messages.
    type: str
    required: true
  java:
    description: Path of java; empty takes that of JAVA_HOME or of the search path.
    type: str
    default: ""
  user:
    description: The user of the node, who must be able to write to the temporary directory of its Java.
    type: str
    default: ""
  jvm_options:
    description: The file of Java arguments that the node would be started with.
    type: dict
    required: true
    suboptions: &file
      path:
        description: Where it would be.
        type: path
        required: true
      content:
        description: Its whole content.
        type: str
        required: true
  properties:
    description: The properties of a broker or controller; without them only Java judges.
    type: dict
    suboptions: *file
  start:
    description: The script that starts the node. Where it changes, its java may be another one, and all is judged.
    type: dict
    suboptions: *file
  stores:
    description:
      - Key and certificates, and the trusted CAs, as PEM stores. Where one of them is new, a tool of Kafka loads both
        as the node would, and connects to a server on the loopback address that shows the same certificates.
      - They are judged only where the properties name them.
    type: dict
    suboptions:
      keystore:
        description: The store of the key and its certificates.
        type: dict
        required: true
        suboptions: *file
      truststore:
        description: The store of the CAs.
        type: dict
        required: true
        suboptions: *file
extends_documentation_fragment: [streamops.kafka._attributes]
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
    details: It changes nothing.
  idempotent:
    support: full
author: The streamops engineers (@streamops)
"""

EXAMPLES = r"""
- name: Have the node judge what it would be started with
  streamops.kafka.node_trial:
    name: "{{ inventory_hostname }}"
    jvm_options:
      path: /etc/kafka/kafka1/jvm.options
      content: "{{ lookup('ansible.builtin.template', 'jvm.options.j2') }}"
    properties:
      path: /etc/kafka/kafka1/server.properties
      content: "{{ lookup('ansible.builtin.template', 'server.properties.j2') }}"
"""

RETURN = r"""
judged:
  description: Whether they were judged; false where the node has these files already, or cannot judge them now.
  returned: success
  type: bool
"""

from collections.abc import Mapping
from typing import Any

from ..module_utils._core.module import SecretModule, run_module
from ..module_utils._node.trial import trial

#: The content of each may hold secrets.
FILE = {"path": {"type": "path", "required": True}, "content": {"type": "str", "required": True, "no_log": True}}
#: A store itself is no secret: its path stays in results, its content does not.
STORE = {"type": "dict", "required": True, "no_log": False, "options": FILE}
SPEC = {
    "name": {"type": "str", "required": True},
    "java": {"type": "str", "default": ""},
    "user": {"type": "str", "default": ""},
    "jvm_options": {"type": "dict", "required": True, "options": FILE},
    "properties": {"type": "dict", "options": FILE},
    "start": {"type": "dict", "options": FILE},
    "stores": {
        "type": "dict",
        "options": {"keystore": STORE, "truststore": STORE},
    },
}


def work(module: Any) -> Mapping[str, Any]:
    """Try it; warn as ansible-core wants it, which deprecates warnings in a result with a page of its own."""
    result = trial(module.params)
    for one in result.pop("warnings"):
        module.warn(one)
    return result


def main() -> None:
    """Run the module."""
    run_module(SPEC, work, SecretModule)


if __name__ == "__main__":
    main()
