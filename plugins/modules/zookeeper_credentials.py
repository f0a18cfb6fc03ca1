#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module: the first SCRAM credentials of a cluster of ZooKeeper mode."""

from __future__ import annotations

DOCUMENTATION = r"""
module: zookeeper_credentials
short_description: Give a cluster of ZooKeeper mode its first SCRAM user before its first broker starts
version_added: 0.1.0
author: The streamops engineers (@streamops)
description:
  - Writes a SCRAM credential into ZooKeeper for each mechanism that the user has none for, and never changes one that
    is there. Without it no login could create the first user.
  - All other users, and every later change, are for M(streamops.kafka.users), which asks the brokers.
requirements:
  - kazoo and, with O(sasl_username), pure-sasl, where the module runs.
extends_documentation_fragment: [streamops.kafka._attributes, streamops.kafka._zookeeper]
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
options:
  chroot:
    description: Path below which the cluster keeps its data; C(/) for the root.
    type: str
    required: true
  user:
    description: The user.
    type: str
    required: true
  password:
    description: Its password.
    type: str
    required: true
  mechanisms:
    description: The SCRAM mechanisms to log in by; others are passed over.
    type: list
    elements: str
    default: [SCRAM-SHA-512]
"""

EXAMPLES = r"""
- name: Let the administrator log in from the first start on
  streamops.kafka.zookeeper_credentials:
    servers:
      - {id: 1, host: zk1.example.com}
    chroot: /blue
    user: admin
    password: "{{ vault_kafka_admin_password }}"
  delegate_to: localhost
"""

RETURN = r"""
added:
  description: The mechanisms that the user got a credential for.
  returned: success
  type: list
  elements: str
"""

import os
from typing import Any

from ..module_utils._core.module import run_module
from ..module_utils._zookeeper import credentials
from ..module_utils._zookeeper.connection import ZOOKEEPER_REQUIRED_TOGETHER, ZOOKEEPER_SPEC, Access
from ..module_utils._zookeeper.ensemble import members_of
from ..module_utils._zookeeper.session import Zookeeper

SPEC = {
    **ZOOKEEPER_SPEC,
    "chroot": {"type": "str", "required": True},
    "user": {"type": "str", "required": True},
    "password": {"type": "str", "required": True, "no_log": True},
    "mechanisms": {"type": "list", "elements": "str", "default": ["SCRAM-SHA-512"]},
}


def ensure(module: Any) -> dict[str, Any]:
    """Write what is missing."""
    params = module.params
    path = credentials.path_of(params["user"])
    with Zookeeper(members_of(params["servers"]), Access.from_params(params), params["chroot"]) as session:
        kept = session.read(path)
        added = credentials.missing(kept, params["mechanisms"])
        if added and not module.check_mode:
            new = {one: credentials.credential(one, params["password"], os.urandom(16)) for one in added}
            session.write(path, credentials.content(kept, new))
    after = "".join(f"{params['user']} {mechanism}\n" for mechanism in added)
    return {"changed": bool(added), "added": added, "diff": {"before": "", "after": after}}


def main() -> None:
    """Run the module."""
    run_module(SPEC, ensure, required_together=ZOOKEEPER_REQUIRED_TOGETHER)


if __name__ == "__main__":
    main()
