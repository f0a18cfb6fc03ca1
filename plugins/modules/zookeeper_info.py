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
  - With O(chroot) also reads, over a session, what the Kafka cluster there has registered, and who is in charge of its
    metadata.
  - It changes nothing, and finding an ensemble in a bad state is no failure of the module.
requirements:
  - kazoo and, with O(sasl_username), pure-sasl, where the module runs and O(chroot) is given.
extends_documentation_fragment:
  - streamops.kafka._attributes.look
  - streamops.kafka._zookeeper
  - streamops.kafka._zookeeper.goal
options:
  chroot:
    description: Path below which a Kafka cluster keeps its data; C(/) for the root.
    type: str
  acl_paths:
    description: Paths below O(chroot) whose access rights are read.
    type: list
    elements: str
    default: []
  rights:
    description:
      - Whether it also tries, with O(chroot), if this login may read and change what controllers of KRaft read and
        write in a migration, for RV(denied). Reads each of these znodes.
      - Changes that are tried name a version that no znode has, so ZooKeeper refuses each of them.
    type: bool
    default: false
  settle:
    description: >-
      Seconds for which the servers are asked again while none of them leads: an ensemble that has lost its leader may
      elect another one within them.
    type: float
    default: 0
seealso:
  - module: streamops.kafka.zookeeper_wait
"""

EXAMPLES = r"""
- name: Look at an ensemble and its cluster
  streamops.kafka.zookeeper_info:
    servers: [{id: 1, host: zk1.example.com}]
    chroot: /blue
  delegate_to: localhost
"""

RETURN = r"""
servers:
  description: >-
    What each server said, by C(id) and C(address) where it was asked. C(state) is V(leader), V(follower),
    V(standalone), V(observer), V(read-only), V(not serving) or V(unreachable). C(version), C(epoch) (the election that
    its last transaction belongs to), C(zxid) (that transaction), C(synced_followers) (of a leader, how many followers
    have all it has), C(members) (the ids it was started with), and C(error), why it did not answer.
  returned: success
  type: list
  elements: dict
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
lost:
  description: Why the ensemble has no quorum, in no look of O(settle); empty where a server leads.
  returned: success
  type: str
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
znodes:
  description:
    - Who is in charge of the metadata, by the znodes C(/controller), C(/controller_epoch) and C(/migration), each with
      the JSON that Kafka wrote; null where a znode does not exist, or is one of RV(unread).
  returned: with O(chroot)
  type: dict
  sample:
    /controller: {version: 2, brokerid: 101, timestamp: "1764400000000", kraftControllerEpoch: 4}
    /controller_epoch: 9
    /migration: null
unread:
  description: For each of these znodes that could not be read why; empty where all could.
  returned: with O(chroot)
  type: dict
denied:
  description: The znodes that this login may not read or change, each by its path; empty where it may all.
  returned: with O(rights)
  type: list
  elements: str
acls:
  description: For each of O(acl_paths) that exists, who may do what, as scheme:id:rights.
  returned: with O(chroot)
  type: dict
"""

import time
from typing import Any

from ..module_utils._core.module import run_module
from ..module_utils._zookeeper.connection import GOAL_SPEC, ZOOKEEPER_REQUIRED_TOGETHER, ZOOKEEPER_SPEC, Access
from ..module_utils._zookeeper.ensemble import Goal, settled, view
from ..module_utils._zookeeper.look import ask
from ..module_utils._zookeeper.session import Zookeeper

SPEC = {
    **ZOOKEEPER_SPEC,
    **GOAL_SPEC,
    "chroot": {"type": "str"},
    "acl_paths": {"type": "list", "elements": "str", "default": []},
    "rights": {"type": "bool", "default": False},
    "settle": {"type": "float", "default": 0},
}


def look(module: Any) -> dict[str, Any]:
    """Ask the servers, and with a chroot read the cluster."""
    params = module.params
    goal, access = Goal.from_params(params), Access.from_params(params)
    found = settled(lambda: view(ask(goal.members, access), goal), params["settle"], time.monotonic, time.sleep)
    if params["chroot"] is not None:
        with Zookeeper(goal.members, access, params["chroot"]) as session:
            acls = session.acls(params["acl_paths"])
            tried = {"denied": session.denied()} if params["rights"] else {}
            found.update(cluster=session.cluster(), acls=acls, **session.in_charge(), **tried)
    return {"changed": False, **found}


def main() -> None:
    """Run the module."""
    run_module(SPEC, look, required_together=ZOOKEEPER_REQUIRED_TOGETHER)


if __name__ == "__main__":
    main()
