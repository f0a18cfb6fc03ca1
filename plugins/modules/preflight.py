#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: preflight
short_description: check inventory and hosts before the first change
description:
  - Belongs to the role C(preflight), which calls it; use that role.
  - With C(of=inventory) applies every rule that the inventory alone decides to all hosts of all clusters in it. Sees
    all clusters, since two clusters may meet on one machine; with C(--limit) too.
  - With C(of=hosts) applies the rules that only the hosts can decide (disks, ports, Java, clocks) to what
    M(streamops.kafka.node_info) found on all hosts of the play. Run it before, with C(clock) and C(ignore_unreachable),
    so that hosts without an answer are named too.
  - Fails with one message that names every violation, with what, where, found, allowed and the fix. The rules are
    listed in C(docs/preflight.md).
  - Runs on the control node only and connects to no host. Run it once for the play.
author: The streamops engineers (@streamops)
extends_documentation_fragment: [streamops.kafka._attributes.look]
options:
  of:
    description: Whether to check the inventory, or the answers of the hosts.
    type: str
    choices: [inventory, hosts]
    default: inventory
notes:
  - A violation of a rule of prudence becomes a warning when the cluster's variable C(preflight_accept) names the rule.
  - A value made from facts of a host is not judged, since facts are not gathered yet.
"""

EXAMPLES = r"""
- name: Check the inventory
  streamops.kafka.preflight:
  run_once: true
"""

RETURN = r"""
violations:
  description: >-
    All violations, errors before warnings. Each has C(name) of the rule, such as V(even_quorum), C(level) (V(error) or
    V(warning)), C(hosts) and C(variable) that it concerns (empty for none), both as text in C(where), C(what) is wrong,
    what was C(found) (never a secret), what is C(allowed), the C(fix), whether C(preflight_accept) may name the rule
    (C(acceptable)), and whether it does, so that an error became a warning (C(accepted)).
  returned: success, and failure when the task registers its result
  type: list
  elements: dict
"""

from ansible.module_utils.basic import AnsibleModule

ARGUMENT_SPEC = {
    "of": {"type": "str", "choices": ["inventory", "hosts"], "default": "inventory"},
}


def main() -> None:
    """Say that the work is the action plugin's, which runs on the control node."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    module.fail_json(msg="preflight: only the action plugin of this name can see the inventory; call it from a play.")


if __name__ == "__main__":
    main()
