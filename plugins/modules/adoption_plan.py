#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: adoption_plan
short_description: tell which clusters run on machines that others installed
description:
  - Belongs to the playbook C(adopt), which has M(streamops.kafka.adoption_info) read each machine before; use that
    playbook.
  - Groups the processes of Kafka, ZooKeeper and MirrorMaker into clusters, asks each cluster of Kafka where it answers,
    and returns a screen with what they are and what does not fit together.
  - A cluster is asked at a listener that needs no login, else with the login that the task gives. Where neither is
    there, RV(findings) says that it was not asked, and why.
  - With O(directory) it makes the files of an inventory of one cluster too. It does not write them.
  - Runs on the control node only, and changes nothing. It does not fail for what it finds.
author: The streamops engineers (@streamops)
extends_documentation_fragment: [streamops.kafka._attributes.look]
options:
  machines:
    description: >-
      By host what M(streamops.kafka.adoption_info) returned there; of a host that could not be reached the result of
      that task.
    type: dict
    required: true
  user:
    description: User to log in as at clusters whose listeners need a login.
    type: str
    default: ""
  password:
    description: Password of O(user); without one no cluster is logged in to.
    type: str
    default: ""
  ca_file:
    description: >-
      PEM file on the control node with the authorities to trust; the system's own where there is no such file.
    type: str
    default: ""
  certificate_file:
    description: PEM file on the control node with a client certificate; none is shown where there is no such file.
    type: str
    default: ""
  key_file:
    description: PEM file on the control node with the key of O(certificate_file).
    type: str
    default: ""
  directory:
    description: >-
      Directory on the control node for the inventory of a cluster; its name becomes the name of the cluster. Empty
      makes none.
    type: str
    default: ""
  cluster:
    description: Id of the cluster whose inventory is made; may be empty where there is one cluster of Kafka.
    type: str
    default: ""
seealso:
  - module: streamops.kafka.adoption_info
"""

EXAMPLES = r"""
- name: Read what runs on each machine
  streamops.kafka.adoption_info:
  register: installed

- name: Tell which clusters these are
  streamops.kafka.adoption_plan:
    machines: "{{ dict(ansible_play_hosts | zip(ansible_play_hosts | map('extract', hostvars, 'installed'))) }}"
  run_once: true
  register: plan

- name: Show them
  ansible.builtin.debug:
    msg: "{{ plan.lines }}"
  run_once: true
"""

RETURN = r"""
lines:
  description: All of it on one screen, for people.
  returned: always
  type: list
  elements: str
clusters:
  description: >-
    The clusters of Kafka, the ensembles of ZooKeeper and the mirrors, in this order. A process in a container belongs
    to none.
  returned: always
  type: list
  elements: dict
  contains:
    product:
      description: V(kafka), V(zookeeper) or V(mirror).
      type: str
    cluster_id:
      description: The id of the cluster by the directories of its nodes; empty where none could be read.
      type: str
    mode:
      description: Of Kafka who keeps the metadata, such as V(kraft, combined), V(kraft, isolated) or V(zookeeper).
      type: str
    quorum:
      description: Of KRaft V(static quorum) or V(dynamic quorum), by the properties of the nodes.
      type: str
    nodes:
      description: >-
        Its nodes with C(host), C(node_id) (null where nothing tells it), C(roles), C(pid), C(version) and C(vendor).
      type: list
      elements: dict
findings:
  description: >-
    What does not fit together, or keeps a node from being taken over, refusals first. C(level) is V(refuse) or
    V(note), C(what) says it, C(fix) what to do.
  returned: always
  type: list
  elements: dict
refused:
  description: Whether one of RV(findings) is a refusal.
  returned: always
  type: bool
inventory:
  description: >-
    The inventory as C(directories) and C(files) of M(streamops.kafka.node_files), both empty with C(is_refused), where
    one of RV(findings) keeps it from being true or another inventory is there. No file holds a secret.
  returned: with O(directory)
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule


def main() -> None:
    """Say that the work is the action plugin's, which runs on the control node."""
    module = AnsibleModule(
        argument_spec={
            "machines": {"type": "dict", "required": True},
            "user": {"type": "str", "default": ""},
            "password": {"type": "str", "default": "", "no_log": True},
            "ca_file": {"type": "str", "default": ""},
            "certificate_file": {"type": "str", "default": ""},
            "key_file": {"type": "str", "default": "", "no_log": False},
            "directory": {"type": "str", "default": ""},
            "cluster": {"type": "str", "default": ""},
        },
        supports_check_mode=True,
    )
    module.fail_json(
        msg="adoption_plan: only the action plugin of this name can ask clusters; call it from a play."
        " This task changed nothing."
    )


if __name__ == "__main__":
    main()
