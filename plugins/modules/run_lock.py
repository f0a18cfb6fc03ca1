#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: run_lock
short_description: let one run at a time change a cluster
description:
  - A lock in a file on a machine of the cluster, so that it holds for every control node. A run holds it from before
    its first change to its end, and takes it anew on its way.
  - A run that finds it held by another fails at once and names that run and its playbook. The lock of a run that died
    ends at once when the next run comes from the same control node, else by its age, or when O(ended) names it.
author: The streamops engineers (@streamops)
extends_documentation_fragment: [streamops.kafka._attributes]
attributes:
  check_mode:
    support: full
    details: Takes and gives back nothing, and only warns of another run.
  diff_mode:
    support: N/A
  idempotent:
    support: full
options:
  cluster:
    description: The name of the cluster, for messages.
    type: str
    required: true
  path:
    description: The file. Its directory is made when it is missing.
    type: path
    required: true
  state:
    description:
      - V(held) takes the lock, V(free) gives it back if it is this run's.
      - V(unheld) takes nothing, and fails when another run has it.
    type: str
    choices: [held, free, unheld]
    default: held
  max_age:
    description:
      - Seconds after which the lock of this run ends unless it takes it anew, and that of a run that said no time of
        its own. Longer than the restart of a node may take.
    type: int
    required: true
  run:
    description: What this run is told by; the action plugin gives it.
    type: str
    default: ""
  dead:
    description: The O(run) of one that is known to have died; the action plugin gives it.
    type: str
    default: ""
  ended:
    description:
      - The owner of a run that was killed, exactly as the message that refuses this run names it. Only the lock of that
        run is taken over; a value that stays set does no harm to a later run.
    type: str
    default: ""
  owner:
    description: What this run is named by to people; the action plugin gives it.
    type: str
    default: ""
  purpose:
    description: The playbook of this run; the action plugin gives it.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Keep other runs from changing the cluster
  streamops.kafka.run_lock:
    cluster: orders
    path: /etc/kafka/orders.lock
    max_age: 1200
"""

RETURN = r"""
ended:
  description: The owner of a lock that had ended and was taken over; empty when there was none.
  returned: success
  type: str
holder:
  description: The run that holds the lock, as place, process number and start; empty where no other one does.
  returned: success
  type: str
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core.errors import errors_reported
from ..module_utils._node.lock import Held, LockHeldError, LockUnusableError, look, release, take

SPEC = {
    "cluster": {"type": "str", "required": True},
    "path": {"type": "path", "required": True},
    "state": {"type": "str", "choices": ["held", "free", "unheld"], "default": "held"},
    "max_age": {"type": "int", "required": True},
    "run": {"type": "str", "default": ""},
    "dead": {"type": "str", "default": ""},
    "ended": {"type": "str", "default": ""},
    "owner": {"type": "str", "default": ""},
    "purpose": {"type": "str", "default": ""},
}


def main() -> None:
    """Run the module. Nothing of what it does is a change of the node, so it never reports one."""
    module = AnsibleModule(argument_spec=SPEC, supports_check_mode=True)
    options = module.params
    path, run, max_age = (options[name] for name in ("path", "run", "max_age"))
    dead, ended_run = options["dead"], options["ended"].strip()
    other: Held | None = None
    ended: Held | None = None
    with errors_reported(module):
        try:
            if options["state"] == "free":
                if not module.check_mode:
                    release(path, run)
            elif options["state"] == "held" and not module.check_mode:
                mine, found = take(path, run, options["owner"], max_age, dead, ended_run, options["purpose"])
                other, ended = (None, found) if mine else (found, None)
            else:
                other = look(path, run, max_age, dead, ended_run)
        except OSError as error:
            raise LockUnusableError(path, error) from error
        if other is not None:
            problem = LockHeldError(options["cluster"], path, other, max_age)
            if not module.check_mode:
                raise problem
            module.warn(problem.message)
    if ended is not None:
        module.warn(f"cluster {options['cluster']}: the lock of {ended.owner}, {ended.age:.0f} s old, was taken over.")
    module.exit_json(changed=False, ended=ended.owner if ended else "", holder=other.run if other else "")


if __name__ == "__main__":
    main()
