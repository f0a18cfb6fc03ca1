#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module: how an ensemble of ZooKeeper stands."""

from __future__ import annotations

DOCUMENTATION = r"""
module: zookeeper_info
short_description: Look at an ensemble of ZooKeeper and at the cluster it keeps
version_added: 0.1.0
author: The streamops engineers (@streamops)
description:
  - Asks every server by the four-letter words C(srvr), C(conf) and C(mntr), and says whether one leads, all others
    follow it in the same epoch, none is read-only, and each was started with the members of O(servers).
  - With O(chroot) also reads, over a session, what the Kafka cluster there has registered.
  - It changes nothing, and finding an ensemble in a bad state is no failure of the module.
requirements:
  - kazoo and, with O(sasl_username), pure-sasl, where the module runs and O(chroot) is given.
extends_documentation_fragment:
  - streamops.kafka._attributes
  - streamops.kafka._zookeeper
  - streamops.kafka._zookeeper.goal
attributes:
  check_mode:
    support: full
  diff_mode:
    support: N/A
  idempotent:
    support: full
options:
  chroot:
    description: Path below which a Kafka cluster keeps its data; C(/) for the root.
    type: str
  acl_paths:
    description: Paths below O(chroot) whose access rights are read.
    type: list
    elements: str
    default: []
seealso:
  - module: streamops.kafka.zookeeper_wait
"""

EXAMPLES = r"""
- name: Look at an ensemble and its cluster
  streamops.kafka.zookeeper_info:
    servers:
      - {id: 1, host: zk1.example.com}
      - {id: 2, host: zk2.example.com}
      - {id: 3, host: zk3.example.com}
    chroot: /blue
  delegate_to: localhost
"""

RETURN = r"""
servers:
  description: What each server said.
  returned: success
  type: list
  elements: dict
  contains:
    id:
      description: Its id.
      type: int
    address:
      description: Where it was asked.
      type: str
    state:
      description: V(leader), V(follower), V(standalone), V(observer), V(read-only), V(not serving) or V(unreachable).
      type: str
    version:
      description: Its version.
      type: str
    epoch:
      description: The election that its last transaction belongs to.
      type: int
    zxid:
      description: Its last transaction.
      type: str
    synced_followers:
      description: Of a leader, how many followers have all it has.
      type: int
    members:
      description: The ids it was started with.
      type: list
    error:
      description: Why it did not answer.
      type: str
leader_id:
  description: The server that leads; null when none or several do.
  returned: success
  type: int
epoch:
  description: The epoch of the leader.
  returned: success
  type: int
healthy:
  description: Whether everything is as it should be.
  returned: success
  type: bool
problems:
  description: What is not, a sentence each.
  returned: success
  type: list
  elements: str
refusals:
  description: Why O(stopping) may not be stopped now, with the arithmetic.
  returned: success
  type: list
  elements: str
stopping_leader:
  description: Whether the leader is among O(stopping).
  returned: success
  type: bool
cluster:
  description: C(cluster_id), C(controller_id) and C(brokers) (C(id), C(endpoints), C(rack)) registered below O(chroot).
  returned: with O(chroot)
  type: dict
acls:
  description: For each of O(acl_paths) that exists, who may do what, as scheme:id:rights.
  returned: with O(chroot)
  type: dict
"""

from typing import Any

from ..module_utils._core.module import run_module
from ..module_utils._zookeeper.connection import GOAL_SPEC, ZOOKEEPER_REQUIRED_TOGETHER, ZOOKEEPER_SPEC, Access
from ..module_utils._zookeeper.ensemble import Goal, view
from ..module_utils._zookeeper.look import ask
from ..module_utils._zookeeper.session import Zookeeper

SPEC = {
    **ZOOKEEPER_SPEC,
    **GOAL_SPEC,
    "chroot": {"type": "str"},
    "acl_paths": {"type": "list", "elements": "str", "default": []},
}


def look(module: Any) -> dict[str, Any]:
    """Ask the servers, and with a chroot read the cluster."""
    params = module.params
    goal, access = Goal.from_params(params), Access.from_params(params)
    found = view(ask(goal.members, access), goal)
    if params["chroot"] is not None:
        with Zookeeper(goal.members, access, params["chroot"]) as session:
            found.update(cluster=session.cluster(), acls=session.acls(params["acl_paths"]))
    return {"changed": False, **found}


def main() -> None:
    """Run the module."""
    run_module(SPEC, look, required_together=ZOOKEEPER_REQUIRED_TOGETHER)


if __name__ == "__main__":
    main()
