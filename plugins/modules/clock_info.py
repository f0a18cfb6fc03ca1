#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: clock_info
short_description: read how far a host's clock is from the control node's, and whether something keeps it right
description:
  - Asks the host three times for its time (C(date)) and keeps the answer that took shortest. How far the offset can be
    wrong is half of the time that the question took.
  - Asks the kernel whether the clock follows a source (adjtimex(2), what C(timedatectl) shows), whatever the service is
    that keeps it, and looks for one.
  - Changes nothing; needs no right on the host.
author: The streamops engineers (@streamops)
extends_documentation_fragment: [streamops.kafka._attributes]
attributes:
  check_mode:
    support: full
  diff_mode:
    support: N/A
  idempotent:
    support: full
options: {}
"""

EXAMPLES = r"""
- name: Read every clock
  streamops.kafka.clock_info:
  register: clock

- name: Show how far each is off
  ansible.builtin.debug:
    msg: "{{ clock.offset }} s, at most {{ clock.uncertainty }} s wrong"
"""

RETURN = r"""
offset:
  description: Seconds that the host is ahead of the control node; negative when behind; null when it could not be read.
  returned: always
  type: float
uncertainty:
  description: Seconds that the offset may be wrong in either direction; null when it could not be read.
  returned: always
  type: float
synchronized:
  description: Whether the kernel knows that its clock follows a source; null when it does not tell.
  returned: always
  type: bool
service:
  description: The first time service that runs there; empty when none is seen (in a container the host may have one).
  returned: always
  type: str
problem:
  description: Why something is not known; empty when all is.
  returned: always
  type: str
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._node.clock import synchronization


def main() -> None:
    """Ask the kernel of the host; the offset is added by the action plugin, which knows when it asked."""
    module = AnsibleModule(argument_spec={}, supports_check_mode=True)
    module.exit_json(changed=False, **synchronization())


if __name__ == "__main__":
    main()
