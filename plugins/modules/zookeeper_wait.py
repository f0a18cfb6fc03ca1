#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module: one look of the wait for an ensemble of ZooKeeper; the action plugin repeats it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: zookeeper_wait
short_description: Wait until an ensemble of ZooKeeper is whole, or could spare some servers
version_added: 0.1.0
author: The streamops engineers (@streamops)
description:
  - Waits, for a bounded time and with a live line for each interval, until every server but those of O(away) serves,
    one leads, all others follow it in the same epoch, and each was started with the members of O(servers).
  - With O(stopping) also until the ensemble keeps its majority without those servers; the gate before a restart.
  - Of a leader that does not answer the word C(mntr), which ZooKeeper allows only by C(4lw.commands.whitelist), nobody
    learns how many followers have its epoch until something is written. There a session is opened and closed.
extends_documentation_fragment:
  - streamops.kafka._attributes.look
  - streamops.kafka._zookeeper
  - streamops.kafka._zookeeper.goal
attributes:
  check_mode:
    details: Looks once and fails nothing; opens no session.
options:
  timeout:
    description: >-
      Seconds without progress after which the wait fails: it counts anew whenever more servers serve or fewer problems
      are found than ever before, up to 60 times.
    type: int
    default: 60
  interval:
    description: Seconds between two looks.
    type: float
    default: 2.0
seealso:
  - module: streamops.kafka.zookeeper_info
"""

EXAMPLES = r"""
- name: Wait until server 2 may be stopped
  streamops.kafka.zookeeper_wait:
    servers: [{id: 1, host: zk1.example.com}, {id: 2, host: zk2.example.com}, {id: 3, host: zk3.example.com}]
    stopping: [2]
  delegate_to: localhost
"""

RETURN = r"""
reached:
  description: Whether the ensemble is as it was waited for.
  returned: always
  type: bool
servers:
  description: What each server said last, see M(streamops.kafka.zookeeper_info).
  returned: always
  type: list
  elements: dict
leader_id:
  description: The server that leads.
  returned: always
  type: int
epoch:
  description: The epoch of the leader.
  returned: always
  type: int
problems:
  description: What was not as it should be at last.
  returned: always
  type: list
  elements: str
refusals:
  description: Why O(stopping) may not be stopped, with the arithmetic.
  returned: always
  type: list
  elements: str
healthy:
  description: Whether there were no problems at last.
  returned: always
  type: bool
stopping_leader:
  description: Whether the leader is among O(stopping).
  returned: always
  type: bool
elapsed:
  description: Seconds that the wait took.
  returned: always
  type: float
"""

import contextlib
from typing import Any

from ..module_utils._core.errors import StreamopsError
from ..module_utils._core.module import run_module
from ..module_utils._zookeeper.connection import GOAL_SPEC, ZOOKEEPER_REQUIRED_TOGETHER, ZOOKEEPER_SPEC, Access
from ..module_utils._zookeeper.ensemble import Goal, needs_transaction, view
from ..module_utils._zookeeper.look import ask
from ..module_utils._zookeeper.session import Zookeeper
from ..module_utils._zookeeper.wait import WAIT_OPTIONS

SPEC = {**ZOOKEEPER_SPEC, **GOAL_SPEC, **WAIT_OPTIONS}


def look(module: Any) -> dict[str, Any]:
    """Ask the servers once; the action plugin repeats this and judges."""
    goal, access = Goal.from_params(module.params), Access.from_params(module.params)
    servers = ask(goal.members, access)
    if needs_transaction(servers) and not module.check_mode:
        # To open a session is a transaction (ZooDefs.OpCode.createSession); the next look sees it. Without one the
        # problem stays, and is told.
        with contextlib.suppress(StreamopsError), Zookeeper(goal.members, access):
            pass
    return {"changed": False, **view(servers, goal)}


def main() -> None:
    """Run the module."""
    run_module(SPEC, look, required_together=ZOOKEEPER_REQUIRED_TOGETHER)


if __name__ == "__main__":
    main()
