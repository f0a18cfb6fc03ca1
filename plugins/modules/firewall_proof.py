#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module: which ports of other machines this one can connect to."""

from __future__ import annotations

DOCUMENTATION = r"""
module: firewall_proof
short_description: Try whether this machine can connect to ports of others
version_added: 0.1.0
description:
  - Opens a TCP connection to each port, sends nothing and closes it. All are tried at once, each for 5 seconds.
  - The role uses it to prove a changed firewall from the machines that it has to let in. A port that takes no
    connection is a result, no failure.
options:
  tries:
    description: What to connect to.
    type: list
    elements: dict
    required: true
    suboptions:
      host:
        description: The host of the inventory that has the port; comes back with the result.
        type: str
        default: ""
      address:
        description: Address or name to connect to.
        type: str
        required: true
      port:
        description: TCP port.
        type: int
        required: true
      purpose:
        description: What the port serves; comes back with the result.
        type: str
        default: ""
extends_documentation_fragment: [streamops.kafka._attributes.look]
author: The streamops engineers (@streamops)
"""

EXAMPLES = r"""
- name: Try a port of another broker
  streamops.kafka.firewall_proof:
    tries: [{host: kafka2, address: 10.0.0.2, port: 9094, purpose: brokers}]
"""

RETURN = r"""
unreached:
  description: >-
    Entries of O(tries) that took no connection, in their order, each with C(host), C(address), C(port), C(purpose) and
    C(error), why there was no connection.
  returned: success
  type: list
  elements: dict
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._firewall.look import unreached

TRY = {
    "host": {"type": "str", "default": ""},
    "address": {"type": "str", "required": True},
    "port": {"type": "int", "required": True},
    "purpose": {"type": "str", "default": ""},
}
SPEC = {"tries": {"type": "list", "elements": "dict", "required": True, "options": TRY}}


def main() -> None:
    """Run the module."""
    module = AnsibleModule(argument_spec=SPEC, supports_check_mode=True)
    module.exit_json(changed=False, unreached=unreached(module.params["tries"]))


if __name__ == "__main__":
    main()
