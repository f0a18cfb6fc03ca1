#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: migration_wait
short_description: wait until a step of the migration to KRaft has ended
version_added: "0.1.0"
description:
  - Belongs to the playbook C(migrate_to_kraft), which has M(streamops.kafka.migration_info) read each node before; use
    that playbook.
  - Reads the metadata log of the controller on this host again and again until it has the end of the step, with a line
    of progress, and changes nothing. It waits for no other controller; M(streamops.kafka.migration_plan) judges all.
  - Behind a half step back that stopped the controllers (O(way=back)) it asks the ensemble again and again instead,
    until brokers of ZooKeeper are in charge. Then it runs on one host of the cluster alone.
author: The streamops engineers (@streamops)
extends_documentation_fragment: [streamops.kafka._attributes]
attributes:
  check_mode:
    support: full
    details: Looks once and reports; never fails because the end is not reached.
  diff_mode:
    support: N/A
  idempotent:
    support: full
options:
  state_dir:
    description: Directory of the node's start record (its state directory).
    type: str
    required: true
  config_file:
    description: Configuration file as given to C(java).
    type: str
    default: ""
  metadata_dir:
    description: Directory that holds the metadata log.
    type: str
    required: true
  before:
    description: The phase that the step began in.
    type: str
    required: true
  way:
    description: >-
      The direction of the step that began in O(before): V(forward), or V(back) for a half step of the way back.
    type: str
    choices: [forward, back]
    default: forward
  timeout:
    description: Longest time in seconds to wait; it counts anew whenever one more node is done.
    type: int
    default: 120
  interval:
    description: Seconds between two looks.
    type: float
    default: 3.0
seealso:
  - module: streamops.kafka.migration_info
  - module: streamops.kafka.migration_plan
"""

EXAMPLES = r"""
- name: Wait until the controllers have copied the metadata
  streamops.kafka.migration_wait:
    state_dir: /run/kafka/controller101
    metadata_dir: /var/lib/kafka/controller101
    before: controllers_ready
    timeout: 900
"""

RETURN = r"""
reached:
  description: Whether the step has ended, as this controller or the ensemble knows it.
  returned: always
  type: bool
progress:
  description: RV(reached), how many nodes are done and of how many (C(done), C(total)), and both as C(text).
  returned: always
  type: dict
elapsed:
  description: Seconds that the wait took.
  returned: always
  type: float
looks:
  description: How often it looked.
  returned: always
  type: int
history:
  description: What each look found, with elapsed seconds; the last 500, of a wait that failed the last 3.
  returned: always
  type: list
  elements: dict
"""

from ansible.module_utils.basic import AnsibleModule


def main() -> None:
    """Say that the work is the action plugin's, which runs on the control node."""
    module = AnsibleModule(
        argument_spec={
            "state_dir": {"type": "str", "required": True},
            "config_file": {"type": "str", "default": ""},
            "metadata_dir": {"type": "str", "required": True},
            "before": {"type": "str", "required": True},
            "way": {"type": "str", "default": "forward", "choices": ["forward", "back"]},
            "timeout": {"type": "int", "default": 120},
            "interval": {"type": "float", "default": 3.0},
        },
        supports_check_mode=True,
    )
    module.fail_json(
        msg="migration_wait: only the action plugin of this name can see the inventory; call it from a play."
    )


if __name__ == "__main__":
    main()
