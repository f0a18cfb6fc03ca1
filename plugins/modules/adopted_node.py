#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: adopted_node
short_description: keep who ran a node before it was taken over, and run it by that service again
description:
  - Belongs to the playbook C(adopt), which takes over nodes that something else runs, and gives them back; use that
    playbook.
  - Keeps in a file beside the configuration of a node who ran it before. Only the user that runs the module may read
    that file. Of a process without a service (C(nohup), C(-daemon)) it has the command line and the environment, which
    may hold secrets; none of it is returned.
  - Stops and starts the node by its old service. No file of the old installation is changed, and no process is killed.
author: The streamops engineers (@streamops)
extends_documentation_fragment: [streamops.kafka._attributes]
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
  idempotent:
    support: partial
    details: >-
      With O(state=stopped) and O(state=started) a unit that started at boot is disabled or enabled each time, and
      counts as changed.
options:
  path:
    description: The file.
    type: path
    required: true
  state:
    description:
      - With V(claimed), the file says who runs the node, by O(claim), and that it is to be taken over. Without O(claim)
        what the file says of it stays.
      - With V(stopped), the old service stops the node, and does not start it at boot any more.
      - With V(taken), the node has been whole since it was taken over.
      - With V(returned), the old service is to run the node again.
      - With V(started), the old service starts the node, and starts it at boot if it did before.
      - With V(absent), the file goes, and the node cannot be given back any more.
    type: str
    choices: [claimed, stopped, taken, returned, started, absent]
    required: true
  claim:
    description: Who runs the node now, as M(streamops.kafka.adoption_info) tells it.
    type: dict
    suboptions:
      manager:
        description: What started the process.
        type: str
        choices: [systemd, supervisor, none]
        required: true
      name:
        description: The unit, or the program of supervisord.
        type: str
        default: ""
      enabled:
        description: Whether it starts at boot.
        type: bool
        default: false
      control:
        description: The file of the unit, or that of supervisord.
        type: str
        default: ""
      main_class:
        description: The main class of its process.
        type: str
        required: true
      properties_file:
        description: The file of properties that its process was started with.
        type: str
        required: true
      release_dir:
        description: Where its release is.
        type: str
        default: ""
      version:
        description: The version of its release.
        type: str
        default: ""
      user:
        description: The user that it runs as.
        type: str
        default: ""
      logs_dir:
        description: Where its logs go.
        type: str
        default: ""
      pid:
        description: The number of its process; needed without a service.
        type: int
  timeout:
    description: Seconds that the old process may take to end.
    type: int
    default: 330
  watch:
    description: Seconds for which nothing may start it again, once it has ended.
    type: float
    default: 3.0
  supervisorctl:
    description: The program supervisorctl.
    type: str
    default: supervisorctl
"""

EXAMPLES = r"""
- name: Stop a node by the service that runs it
  streamops.kafka.adopted_node:
    path: /etc/streamops-kafka/kafka1/adopted.json
    state: stopped
"""

RETURN = r"""
adopted:
  description:
    - What the file says, with C(phase) (V(claimed), V(taken) or V(returned)), C(service) (who ran the node, in words),
      C(manager), C(name), C(version) and C(logs_dir). C(runs) is V(old) where the old process runs, else V(nobody).
    - Null without the file.
  returned: always
  type: dict
"""

from typing import Any

from ..module_utils._core.module import run_module
from ..module_utils._node.adopted import CLAIM
from ..module_utils._node.adopted_service import Machine
from ..module_utils._node.adopted_state import Wish, bring

SPEC = {
    "path": {"type": "path", "required": True},
    "state": {
        "type": "str",
        "choices": ["claimed", "stopped", "taken", "returned", "started", "absent"],
        "required": True,
    },
    "claim": {"type": "dict", "options": CLAIM},
    "timeout": {"type": "int", "default": 330},
    "watch": {"type": "float", "default": 3.0},
    "supervisorctl": {"type": "str", "default": "supervisorctl"},
}


def work(module: Any) -> dict[str, Any]:
    """Bring the node to the wanted state."""
    options = dict(module.params)
    machine = Machine(supervisorctl=options.pop("supervisorctl"))
    return bring(Wish(**options), module.check_mode, machine)


def main() -> None:
    """Run the module."""
    run_module(SPEC, work)


if __name__ == "__main__":
    main()
