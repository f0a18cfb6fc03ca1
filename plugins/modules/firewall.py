#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module: who may connect to the Kafka ports of a machine."""

from __future__ import annotations

DOCUMENTATION = r"""
module: firewall
short_description: Let only the named sources connect to the Kafka ports of a machine
version_added: 0.1.0
description:
  - Keeps one nftables table of our own, C(inet streamops_kafka), which looks at the ports of O(rules) and at nothing
    else. A port that no rule names, such as that of SSH, is never touched.
  - The table is replaced as a whole in one transaction. It is loaded anew only when the file or what the kernel really
    filters differs from what is wanted, hand-made changes included.
  - Refuses a table that would cut connections which are open now, in check mode too, unless O(accept_cuts) names their
    peers. The machine is looked at three times within a second, and only when its table has to change.
  - Finds other firewalls (ufw, firewalld, iptables, own tables) with a policy or a rule that refuses, since the table
    of this collection cannot overrule them. It names them in RV(foreign), and warns of those that O(checked) leaves
    out, with the ports to open there. It does not change them, and does not work out which connections they refuse.
  - A table may be loaded on trial, with O(state=trial). The machine itself puts the previous table back after
    O(trial_seconds), by a timer of systemd or else by a process of its own, unless O(state=confirmed) comes before.
    The file that loads at boot is written by O(state=confirmed) only.
  - Runs on the machine as root. What the rules are made from is described in C(docs/firewall.md).
options:
  rules:
    description: The ports and who may connect to them; an empty list takes table and file away.
    type: list
    elements: dict
    required: true
    suboptions:
      port:
        description: TCP port.
        type: int
        required: true
      address:
        description: Address of this machine, where two rules share a port; empty for all.
        type: str
        default: ""
      purpose:
        description: What the port serves, for people.
        type: str
        default: ""
      sources:
        description: Addresses and networks that may connect, none inside another. Loopback always may.
        type: list
        elements: str
        default: []
      comment:
        description: A few words that the table shows beside the rule.
        type: str
        default: ""
  checked:
    description:
      - Other firewalls that you have checked to let the ports of O(rules) through, so that nothing warns of them.
      - C(ufw), C(firewalld), C(iptables), or family and name of a table, such as C(inet f2b-table).
    type: list
    elements: str
    default: []
  accept_cuts:
    description: Addresses and networks whose open connections the table may cut, although O(rules) refuse them.
    type: list
    elements: str
    default: []
  state:
    description:
      - V(present) loads the table and writes its file.
      - V(trial) loads the table and leaves the file as it is, so that the previous table comes back by itself. A trial
        that an earlier run left is taken over together with the table that it would put back. Without O(rules) it does
        what V(present) does, since a machine without a table refuses nothing.
      - V(confirmed) keeps the table on trial and writes its file; it fails where the previous table is back.
      - V(reverted) puts the table of before the trial back at once.
    type: str
    choices: [present, trial, confirmed, reverted]
    default: present
  trial_seconds:
    description: Seconds until the machine puts the previous table back, with O(state=trial).
    type: int
    default: 60
  trial_directory:
    description: Where the machine keeps what it puts back, on a file system that a reboot empties.
    type: path
    default: /run/streamops-kafka-firewall
  path:
    description: The file that the table is loaded from at boot.
    type: path
    default: /etc/streamops-kafka/firewall.nft
extends_documentation_fragment: [streamops.kafka._attributes]
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
author: The streamops engineers (@streamops)
"""

EXAMPLES = r"""
- name: Let two brokers and a network of clients in
  streamops.kafka.firewall:
    rules:
      - {port: 9094, purpose: brokers, sources: [10.0.0.1, 10.0.0.2], comment: "kafka1 BROKER"}
      - {port: 9092, purpose: clients, sources: [10.0.0.1, 10.0.0.2, 10.1.0.0/16], comment: "kafka1 CLIENT"}
"""

RETURN = r"""
cuts:
  description: Open connections that the table cuts, or would in check mode, all of them accepted by O(accept_cuts).
  returned: success
  type: list
  elements: dict
  contains:
    peer:
      description: Address of the other end.
      type: str
    port:
      description: Port of this machine.
      type: int
    purpose:
      description: What the port serves.
      type: str
    connections:
      description: How many there are.
      type: int
foreign:
  description: Chains of other firewalls that can refuse what the rules allow, an entry for each port.
  returned: success
  type: list
  elements: dict
  contains:
    table:
      description: Family and name of the table.
      type: str
    chain:
      description: The base chain.
      type: str
    owner:
      description: Which program most likely wrote it.
      type: str
    by:
      description: The rule or policy that refuses.
      type: str
    port:
      description: The port.
      type: int
    sources:
      description: The sources that may connect to this port by O(rules).
      type: list
      elements: str
    checked:
      description: Whether O(checked) names it.
      type: bool
    message:
      description: The finding as a sentence, the same for all ports of a chain.
      type: str
differs:
  description:
    - Whether table or file had to change, or would in check mode; the same as C(changed) before a task's own
      C(changed_when).
  returned: success
  type: bool
listening:
  description: The ports of O(rules) that anything listens on.
  returned: success
  type: list
  elements: int
notes:
  description: Sentences on what could not be looked at.
  returned: success
  type: list
  elements: str
"""

from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core.errors import errors_reported
from ..module_utils._firewall import apply, trial_apply

RULE = {
    "port": {"type": "int", "required": True},
    "address": {"type": "str", "default": ""},
    "purpose": {"type": "str", "default": ""},
    "sources": {"type": "list", "elements": "str", "default": []},
    "comment": {"type": "str", "default": ""},
}
SPEC = {
    "rules": {"type": "list", "elements": "dict", "required": True, "options": RULE},
    "checked": {"type": "list", "elements": "str", "default": []},
    "accept_cuts": {"type": "list", "elements": "str", "default": []},
    "state": {"type": "str", "choices": ["present", "trial", "confirmed", "reverted"], "default": "present"},
    "trial_seconds": {"type": "int", "default": 60},
    "trial_directory": {"type": "path", "default": trial_apply.DIRECTORY},
    "path": {"type": "path", "default": "/etc/streamops-kafka/firewall.nft"},
}


def _bring(module: AnsibleModule) -> dict[str, Any]:
    given = module.params
    rules, path, directory = given["rules"], given["path"], given["trial_directory"]
    if given["state"] == "confirmed":
        return apply.confirm(module, rules, path, directory)
    if given["state"] == "reverted":
        return apply.revert(module, directory)
    seconds = given["trial_seconds"] if given["state"] == "trial" else None
    return apply.ensure(module, rules, path, given["checked"], given["accept_cuts"], seconds, directory)


def main() -> None:
    """Run the module."""
    module = AnsibleModule(argument_spec=SPEC, supports_check_mode=True)
    with errors_reported(module):
        result = _bring(module)
        unchecked = dict.fromkeys(one["message"] for one in result["foreign"] if not one["checked"])
        for line in (*unchecked, *result["notes"]):
            module.warn(f"firewall: {line}.")
        module.exit_json(**result)


if __name__ == "__main__":
    main()
