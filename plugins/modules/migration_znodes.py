#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module: the znodes that give a cluster back to ZooKeeper on the way back of a migration."""

from __future__ import annotations

DOCUMENTATION = r"""
module: migration_znodes
short_description: Give a cluster that migrates to KRaft back to ZooKeeper
version_added: 0.1.0
author: The streamops engineers (@streamops)
description:
  - Part of the way back of a migration from ZooKeeper to KRaft (KIP-866), behind the stop of all controllers. It raises
    C(/controller_epoch) above the epoch of the KRaft quorum where it is not (KAFKA-20488), deletes C(/controller) where
    a controller of KRaft wrote it, and deletes C(/migration).
  - All of it is one transaction, tied to what was read before it, so that all of it is done or nothing. What is done
    already is not done again, so it may be run anew after any failure.
  - It never deletes C(/controller) of a broker, and changes no epoch below a broker that is in charge.
requirements:
  - kazoo and, with O(sasl_username), pure-sasl, where the module runs.
extends_documentation_fragment: [streamops.kafka._attributes.full, streamops.kafka._zookeeper]
options:
  chroot:
    description: Path below which the cluster keeps its data; C(/) for the root.
    type: str
    required: true
  quorum_epoch:
    description: >-
      The epoch of the KRaft quorum where it was in charge of the metadata (state MIGRATION); 0 where it never was.
    type: int
    required: true
  controllers_stopped:
    description: >-
      Whether every controller of KRaft was seen stopped on its machine. Without that nothing is done, since one that
      runs takes the controllership again.
    type: bool
    required: true
seealso:
  - module: streamops.kafka.migration_info
  - module: streamops.kafka.zookeeper_info
"""

EXAMPLES = r"""
- name: Give the cluster back to the brokers of ZooKeeper
  streamops.kafka.migration_znodes:
    servers:
      - {id: 1, host: zk1.example.com}
    chroot: /blue
    quorum_epoch: 4
    controllers_stopped: true
  delegate_to: localhost
"""

RETURN = r"""
acts:
  description: What was done, or would be in check mode, in its order; empty where nothing is left to do.
  returned: success, and after a failure behind the change
  type: list
  elements: str
  sample: [set /controller_epoch 5 if its version is 8, delete /controller if its version is 0]
znodes:
  description: >-
    The content of C(/controller), C(/controller_epoch) and C(/migration) before; null for one that does not exist.
  returned: success
  type: dict
"""

from typing import Any

from ..module_utils._core.module import run_module
from ..module_utils._migration.apply import hand_over_znodes
from ..module_utils._migration.hand_over import HandOverError
from ..module_utils._zookeeper.connection import ZOOKEEPER_REQUIRED_TOGETHER, ZOOKEEPER_SPEC, Access
from ..module_utils._zookeeper.ensemble import members_of
from ..module_utils._zookeeper.session import Zookeeper

SPEC = {
    **ZOOKEEPER_SPEC,
    "chroot": {"type": "str", "required": True},
    "quorum_epoch": {"type": "int", "required": True},
    "controllers_stopped": {"type": "bool", "required": True},
}


def give_back(module: Any) -> dict[str, Any]:
    """Change the znodes."""
    params = module.params
    if not params["controllers_stopped"]:
        raise HandOverError(
            "not every controller of KRaft was seen stopped, and one that runs takes the controllership again. Nothing "
            "was changed. fix: stop them, look at their machines, and run again"
        )
    with Zookeeper(members_of(params["servers"]), Access.from_params(params), params["chroot"]) as session:
        return hand_over_znodes(session, params["quorum_epoch"], module.check_mode)


def main() -> None:
    """Run the module."""
    run_module(SPEC, give_back, required_together=ZOOKEEPER_REQUIRED_TOGETHER)


if __name__ == "__main__":
    main()
