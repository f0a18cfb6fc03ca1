#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: deprecated_requests
short_description: read which clients use versions of the protocol that Kafka 4.0 removed
version_added: "0.1.0"
description:
  - Reads what a broker of Kafka 3.7 to 3.9 has counted since it started - requests in versions of the protocol that
    Kafka 4.0 does not answer any more (KIP-896), by client. Runs on the node, as root or as the user of the broker.
  - Needs no metrics and no JMX port. It attaches to the process as C(jconsole) does. From then on until it stops, the
    process listens on a port of its own choice, which takes connections from its own machine only, and only of those
    who may attach to it.
  - It never fails for what it cannot read, and changes nothing else.
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
  state_dir:
    description: The directory that holds the start record of the broker, C(started/).
    type: str
    required: true
  java:
    description: The path of C(java); when empty, the one of E(JAVA_HOME), else of the search path.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Read which clients are too old for Kafka 4
  streamops.kafka.deprecated_requests:
    state_dir: /run/kafka/kafka1
  register: old
"""

RETURN = r"""
requests:
  description:
    - Each has C(software) and C(software_version) of the client (C(unknown) where it tells none), C(api),
      C(api_version), and C(count), how many such requests came.
  returned: always
  type: list
  elements: dict
  sample: [{software: unknown, software_version: unknown, api: Fetch, api_version: 2, count: 1200}]
since:
  description: Seconds since 1970 at which the process started, and from which it counted; null where none runs.
  returned: always
  type: float
unread:
  description: Why its counters could not be read; empty where they were.
  returned: always
  type: str
"""

from ..module_utils._core.module import run_module
from ..module_utils._node.deprecated_requests import deprecated_requests

SPEC = {
    "state_dir": {"type": "str", "required": True},
    "java": {"type": "str", "default": ""},
}


def main() -> None:
    """Run the module."""
    run_module(SPEC, lambda module: {"changed": False, **deprecated_requests(module.params)})


if __name__ == "__main__":
    main()
