#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: run_check
short_description: Check how a run was started
description:
  - Fails when the strategy of the play lets hosts go on by themselves (C(free), C(host_pinned)), when the run has only
    a part of a cluster (by C(--limit), by C(hosts) of the play or by C(serial)), when a host is in no group of this
    collection, when it begins in the middle (C(--start-at-task)) or asks for each task (C(--step)), when no task has a
    tag that is given, when a plan is asked for where
    there is none, or when what the user named belongs to one cluster and the run has several. What such a run does
    would be wrong, or nothing at all.
  - Runs on the control node only and connects to no host. The roles and playbooks of this collection begin with it.
author: The streamops engineers (@streamops)
extends_documentation_fragment: [streamops.kafka._attributes.look]
options:
  one_of:
    description: Groups of which one at least must have a host, and one of which each host of the play must be in;
      otherwise the run would do nothing.
    type: list
    elements: str
    default: []
  groups:
    description:
      - Groups of the inventory. Of every cluster (by the host variable C(kafka_cluster_name)) that the play works on,
        all hosts in these groups must take part.
      - Hosts with the variable C(preflight_allow_limit) set are not counted.
    type: list
    elements: str
    default: []
  alone:
    description:
      - Groups whose hosts may be in the play without the cluster that they have the name of, as mirrors may where
        only their processes are stopped.
    type: list
    elements: str
    default: []
  known_by:
    description: Hosts that have this variable were looked at by a play before, and need not take part.
    type: str
    default: ""
  named:
    description:
      - What the user named that only one cluster can mean, such as C(kafka_grow_topic=orders); empty for nothing. It is
        refused when the play works on hosts of O(groups) of several clusters.
    type: str
    default: ""
  plans:
    description: Whether the play can show a plan.
    type: bool
    default: true
  opens:
    description: Whether each sealed value (ansible-vault) of the variables that the roles read has to open.
    type: bool
    default: false
  plan_only:
    description: Whether the user asks for a plan only.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Refuse a part of a cluster
  streamops.kafka.run_check:
    groups: [kraft_controllers, kafka_brokers]
  run_once: true
"""

RETURN = r"""
refusals:
  description: What is wrong with the start of the run, a sentence each.
  type: list
  elements: str
  returned: failure
"""

from ansible.module_utils.basic import AnsibleModule


def main() -> None:
    """Refuse to run: the work is done by the action plugin of the same name, on the control node."""
    module = AnsibleModule(
        argument_spec={
            "one_of": {"type": "list", "elements": "str", "default": []},
            "groups": {"type": "list", "elements": "str", "default": []},
            "alone": {"type": "list", "elements": "str", "default": []},
            "known_by": {"type": "str", "default": ""},
            "named": {"type": "str", "default": ""},
            "plans": {"type": "bool", "default": True},
            "plan_only": {"type": "bool", "default": False},
            "opens": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    module.fail_json(msg="run_check is an action; this module cannot run without it")


if __name__ == "__main__":
    main()
