#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: upgrade_plan
short_description: plan and judge the upgrade of a cluster
version_added: "0.1.0"
description:
  - Belongs to the playbook C(upgrade), which asks all that it judges; use that playbook.
  - Compares what each node of the cluster of this host runs with what the inventory names, and returns which node goes
    from which release to which in which order, and all reasons against it, each with its fix.
  - Runs on the control node only, connects to no host and changes nothing. It never fails for what it finds.
author: The streamops engineers (@streamops)
extends_documentation_fragment: [streamops.kafka._attributes.look]
options:
  before:
    description: The release that the cluster had before the upgrade, named as the way back in RV(left).
    type: str
    default: ""
  of:
    description: Judge the way of the nodes to their release, or the step to its features.
    type: str
    choices: [nodes, features]
    default: nodes
  levels:
    description: >-
      Levels of features by hand (kafka_upgrade_features), for O(of=features), as a dict or as text, JSON or
      C(NAME=LEVEL). Text that is neither is a reason against the step.
    type: raw
    default: {}
  raising:
    description: >-
      What M(streamops.kafka.features) returned for these levels, in check mode for RV(plan), or after they were raised
      for RV(left).
    type: dict
    default: {}
"""

EXAMPLES = r"""
- name: Plan the upgrade
  streamops.kafka.upgrade_plan:
  register: plan
"""

RETURN = r"""
plan:
  description: The plan on one screen, a line for each node, check and finding.
  returned: always
  type: list
  elements: str
refusal:
  description: All reasons why the upgrade cannot begin, each with its fix; empty where it can.
  returned: always
  type: str
before:
  description: The oldest release of the nodes that are to change; empty where none is.
  returned: of nodes
  type: str
  sample: 3.9.2
left:
  description: What is left to do once all nodes have their release; of features what was raised.
  returned: always
  type: list
  elements: str
state:
  description: The state that M(streamops.kafka.features) brings RV(levels) to.
  returned: of features
  type: str
  sample: at_least
levels:
  description: The levels that features get.
  returned: of features
  type: dict
  sample: {metadata.version: 30, group.version: 1}
"""

from ansible.module_utils.basic import AnsibleModule

ARGUMENT_SPEC = {
    "before": {"type": "str", "default": ""},
    "of": {"type": "str", "choices": ["nodes", "features"], "default": "nodes"},
    "levels": {"type": "raw", "default": {}},
    "raising": {"type": "dict", "default": {}},
}


def main() -> None:
    """Say that the work is the action plugin's, which runs on the control node."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    module.fail_json(
        msg="upgrade_plan: only the action plugin of this name can see the inventory; call it from a play."
    )


if __name__ == "__main__":
    main()
