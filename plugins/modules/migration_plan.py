#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: migration_plan
short_description: tell where a cluster stands between ZooKeeper and KRaft
version_added: "0.1.0"
description:
  - Belongs to the playbook C(migrate_to_kraft), which has M(streamops.kafka.migration_info) read each node before; use
    that playbook.
  - Asks the ensemble of the cluster of this host who is in charge of the metadata, and returns the phase of the
    migration (KIP-866), what hinders it, the next step, how long the cluster may stay, and the way back.
  - Runs on the control node only, asks no node but the servers of ZooKeeper, and changes nothing. It does not fail for
    what it finds, unless it is asked for stages that do not follow from it (O(wish)); what it could not learn is one
    of RV(troubles), with what to do.
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
  wish:
    description: >-
      What a run wants of the cluster, whose RV(step) is returned then; V(stay) keeps each node in the stage that it is
      in, V(next) takes the next step, V(back) the half step back; for both of these the brokers are asked too.
    type: str
    choices: ["", stay, next, back]
    default: ""
  confirmed:
    description: The phase that the operator has confirmed, for a step by which something is lost.
    type: str
    default: ""
  before:
    description: The phase that a step began in, whose RV(progress) is returned then.
    type: str
    default: ""
  way:
    description: >-
      The direction of the step that began in O(before): V(forward), or V(back) for a half step of the way back.
    type: str
    choices: [forward, back]
    default: forward
seealso:
  - module: streamops.kafka.migration_info
  - module: streamops.kafka.zookeeper_info
"""

EXAMPLES = r"""
- name: Tell where the cluster stands
  streamops.kafka.migration_plan:
  register: plan

- name: Judge the next step
  streamops.kafka.migration_plan:
    wish: next
  register: plan
"""

RETURN = r"""
lines:
  description: All of it on one screen, for people.
  returned: always
  type: list
  elements: str
cluster:
  description: The name of the cluster.
  returned: always
  type: str
phase:
  description:
    - The phase by its name - V(not_begun), V(controllers_ready), V(brokers_migrating), V(copied), V(brokers_moving),
      V(dual_write_kraft), V(finalised), V(zookeeper_gone); outside of a migration V(created_in_kraft),
      V(cannot_migrate) or V(unknown).
  returned: always
  type: str
  sample: brokers_moving
means:
  description: What the phase means.
  returned: always
  type: str
brokers_done:
  description: Of a phase that counts brokers how many are done; 0 of any other.
  returned: always
  type: int
brokers_total:
  description: Of a phase that counts brokers how many there are; 0 of any other.
  returned: always
  type: int
state:
  description: The ZkMigrationState of the cluster; empty where no controller has written one.
  returned: always
  type: str
  sample: MIGRATION
states:
  description: >-
    The ZkMigrationState in the metadata log of each controller by its host; null where it has none, or could not be
    read.
  returned: always
  type: dict
modes:
  description: The mode of each broker by its id - V(zookeeper), V(migrating) or V(kraft), empty where nothing tells.
  returned: always
  type: dict
quorum_epoch:
  description: The epoch of the KRaft quorum; 0 where it had no election.
  returned: always
  type: int
zookeeper_epoch:
  description: The content of C(/controller_epoch); null where it does not exist or was not read.
  returned: always
  type: int
controller:
  description: The node that C(/controller) names; null where it does not exist or was not read.
  returned: always
  type: int
led_by_kraft:
  description: Whether a controller of KRaft wrote C(/controller); null where it was not read.
  returned: always
  type: bool
troubles:
  description: >-
    What hinders the next step or the way back, and what is only told: C(name), C(what), C(fix), and C(blocks), a list
    of V(forward) and V(back).
  returned: always
  type: list
  elements: dict
next:
  description: The next step by a short name; empty where none follows.
  returned: always
  type: str
does:
  description: What the next step does.
  returned: always
  type: str
confirmation:
  description: What has to be sure before the next step; empty where nothing is lost by it.
  returned: always
  type: str
stay:
  description: How long the cluster may stay in this phase.
  returned: always
  type: str
back:
  description: The way back from here; empty where there is none.
  returned: always
  type: str
cost:
  description: What the way back costs.
  returned: always
  type: str
may_go_on:
  description: Whether nothing hinders the next step now.
  returned: always
  type: bool
may_go_back:
  description: Whether nothing hinders the way back now.
  returned: always
  type: bool
step:
  description:
    - What the run does. C(stages) of all nodes by host (V(zookeeper), V(migrating), V(kraft), V(left_alone)), the hosts
      that it restarts or starts (C(restarts), in their order) and leaves alone (C(idle)), its C(phase), and what
      forbids it (C(troubles), each with its C(text)). A step that is forbidden has no stages.
    - Of a step also the phase that ends it (C(goal)), how many C(seconds) that may take, whether it is C(irreversible),
      and all of it as C(lines).
    - Of a half step back, in place of C(irreversible), whether it C(hands_over) to ZooKeeper. Then C(stop) names the
      controllers that are not stopped for certain, C(controllers_stopped) is true where there are none, and
      C(quorum_epoch) is that for M(streamops.kafka.migration_znodes). C(aside) has the C(path) of the metadata log
      that a host sets aside and its new C(name).
  returned: with O(wish)
  type: dict
progress:
  description: Whether the step has ended (C(reached)), how many nodes are done (C(done), C(total)), and C(text).
  returned: with O(before)
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule


def main() -> None:
    """Say that the work is the action plugin's, which runs on the control node."""
    module = AnsibleModule(
        argument_spec={
            "wish": {"type": "str", "default": "", "choices": ["", "stay", "next", "back"]},
            "confirmed": {"type": "str", "default": ""},
            "before": {"type": "str", "default": ""},
            "way": {"type": "str", "default": "forward", "choices": ["forward", "back"]},
        },
        supports_check_mode=True,
    )
    module.fail_json(
        msg="migration_plan: only the action plugin of this name can see the inventory; call it from a play."
    )


if __name__ == "__main__":
    main()
