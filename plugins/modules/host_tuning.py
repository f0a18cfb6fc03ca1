#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: host_tuning
short_description: kernel settings for Kafka, set now and at every boot
description:
  - Compares kernel settings with what is wanted, sets what differs, and keeps it in a file of C(sysctl.d) and one of
    C(tmpfiles.d) for the next boot.
  - What the host forbids (containers share the kernel of their host) is reported with its reason, as a warning and in
    RV(settings); it is no failure and no change.
  - Sizes and counts of which the host has more than what is wanted are left as they are.
author: The streamops engineers (@streamops)
extends_documentation_fragment: [streamops.kafka._attributes]
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
options:
  sysctl:
    description: Names and values of L(sysctl, https://www.kernel.org/doc/Documentation/sysctl/).
    type: dict
    default: {}
  transparent_hugepage:
    description: The mode of transparent huge pages; empty leaves them alone.
    type: str
    choices: ["", always, madvise, never]
    default: ""
  open_files:
    description: Open files that a service of this host should be able to have; 0 does not look.
    type: int
    default: 0
  sysctl_file:
    description: The file that keeps O(sysctl).
    type: path
    default: /etc/sysctl.d/60-kafka.conf
  tmpfiles_file:
    description: The file that keeps O(transparent_hugepage).
    type: path
    default: /etc/tmpfiles.d/kafka.conf
"""

EXAMPLES = r"""
- name: Keep the page cache in memory
  streamops.kafka.host_tuning:
    sysctl: {vm.swappiness: 1, vm.max_map_count: 262144}
    transparent_hugepage: madvise
"""

RETURN = r"""
settings:
  description: Each setting as it was found.
  returned: success
  type: list
  elements: dict
  contains:
    name:
      description: Its name.
      type: str
    wanted:
      description: The value that is wanted.
      type: str
    found:
      description: The value before this run; null when the kernel has no such setting.
      type: str
    state:
      description: C(as_wanted), C(set) (in check mode, to be set) or C(forbidden).
      type: str
    reason:
      description: Why it is forbidden.
      type: str
"""

from typing import Any

from ..module_utils._core.module import run_module
from ..module_utils._node import tuning

SPEC = {
    "sysctl": {"type": "dict", "default": {}},
    "transparent_hugepage": {"type": "str", "choices": ["", "always", "madvise", "never"], "default": ""},
    "open_files": {"type": "int", "default": 0},
    "sysctl_file": {"type": "path", "default": "/etc/sysctl.d/60-kafka.conf"},
    "tmpfiles_file": {"type": "path", "default": "/etc/tmpfiles.d/kafka.conf"},
}


def tune(module: Any) -> dict[str, Any]:
    """Set what differs, and warn of what this machine does not take."""
    result = tuning.tune(module)
    complaint = tuning.complaint(result.pop("judged"))
    if complaint:
        module.warn(complaint)
    return result


def main() -> None:
    """Run the module."""
    run_module(SPEC, tune)


if __name__ == "__main__":
    main()
