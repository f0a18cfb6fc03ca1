#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: host_preflight
short_description: judge what all hosts answered before the first change
description:
  - Applies the rules that only the hosts can decide (disks, ports, Java, clocks) to what M(streamops.kafka.node_info)
    and M(streamops.kafka.clock_info) found on all hosts of the play, and fails with one message that names every
    violation. The rules are listed in C(docs/preflight.md).
  - Runs on the control node only and connects to no host. Run it once for the play, after both ran on all hosts, with
    C(ignore_unreachable), so that hosts without an answer are named too.
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
  controllers_group:
    description: The group of the controllers of all clusters.
    type: str
    default: kraft_controllers
  brokers_group:
    description: The group of the brokers of all clusters.
    type: str
    default: kafka_brokers
  zookeeper_group:
    description: The group of the servers of ZooKeeper.
    type: str
    default: zookeeper
  mirror_makers_group:
    description: The group of the mirrors (MirrorMaker) of all clusters.
    type: str
    default: mirror_makers
  node_info_variable:
    description: The variable that the result of node_info was registered as on each host.
    type: str
    default: __common_node_info
  clock_info_variable:
    description: The variable that the result of clock_info was registered as on each host.
    type: str
    default: __preflight_clock
"""

EXAMPLES = r"""
- name: Read every clock
  streamops.kafka.clock_info:
  register: __preflight_clock
  ignore_unreachable: true

- name: Look at every node
  streamops.kafka.node_info:
    log_dirs: "{{ kafka_log_dirs }}"
    ports: [9092, 9093]
  register: __common_node_info
  ignore_unreachable: true

- name: Judge all hosts
  streamops.kafka.host_preflight:
  run_once: true
"""

RETURN = r"""
violations:
  description: All violations as M(streamops.kafka.preflight) returns them, errors before warnings.
  returned: success, and failure when the task registers its result
  type: list
  elements: dict
"""

from ansible.module_utils.basic import AnsibleModule

SPEC = {
    "controllers_group": {"type": "str", "default": "kraft_controllers"},
    "brokers_group": {"type": "str", "default": "kafka_brokers"},
    "zookeeper_group": {"type": "str", "default": "zookeeper"},
    "mirror_makers_group": {"type": "str", "default": "mirror_makers"},
    "node_info_variable": {"type": "str", "default": "__common_node_info"},
    "clock_info_variable": {"type": "str", "default": "__preflight_clock"},
}


def main() -> None:
    """Say that the work is the action plugin's, which runs on the control node."""
    module = AnsibleModule(argument_spec=SPEC, supports_check_mode=True)
    module.fail_json(msg="host_preflight: only the action plugin of this name can see all hosts; call it from a play.")


if __name__ == "__main__":
    main()
