#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the MirrorMaker of a tuning on the machine of a mirror."""

from __future__ import annotations

DOCUMENTATION = r"""
module: mirror_tune_process
short_description: Run the MirrorMaker of a tuning on the machine of a mirror
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Starts and stops the MirrorMaker that a run of the playbook C(mirror_tune.yml) measures, beside the mirror of
    production, from a directory of its own.
  - The process ends by itself after O(seconds), also where the playbook was killed. The next call removes what is left.
extends_documentation_fragment: [streamops.kafka._attributes]
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
    details: Its files are gone in the end.
  idempotent:
    support: partial
    details: With O(state=started) a process that runs from O(directory) is ended, and another one is started.
options:
  state:
    description:
      - V(looked) tells what the machine has, and refuses one without memory for another mirror or without a connection
        to the source.
      - V(started) ends what runs from O(directory), and starts a mirror there.
      - V(stopped) ends it, returns what it used, and removes O(directory).
    type: str
    choices: [looked, started, stopped]
    required: true
  directory:
    description: The directory of the process, which is made and removed.
    type: path
    required: true
  addresses:
    description: Brokers of the source as host:port, to which the round trip is measured.
    type: list
    elements: str
    default: []
  heap_bytes:
    description: Heap of the process in bytes.
    type: int
    default: 0
  properties:
    description: All properties of MirrorMaker, as text.
    type: str
    default: ""
  release_dir:
    description: Directory of the release of Kafka.
    type: path
    default: ""
  java:
    description: Path of java; empty takes that of JAVA_HOME or of the search path.
    type: str
    default: ""
  user:
    description: User that the process runs as, where the module runs as root; empty for its own.
    type: str
    default: ""
  group:
    description: Group of that user.
    type: str
    default: ""
  seconds:
    description: After so many seconds the process is killed, whatever became of the playbook.
    type: int
    default: 300
"""

EXAMPLES = r"""
- name: Remove what a tuning that was killed has left on the mirror
  streamops.kafka.mirror_tune_process:
    state: stopped
    directory: /var/log/kafka/mirror1/tune
"""

RETURN = r"""
cores:
  description: Processors that the machine gives.
  type: int
  returned: with O(state=looked)
round_trip:
  description: Seconds of the quickest of five connections to the source.
  type: float
  returned: with O(state=looked)
receive_bytes:
  description: The largest receive buffer that the kernel gives a connection by itself.
  type: int
  returned: with O(state=looked)
left:
  description: Whether an earlier run left a directory.
  type: bool
  returned: with O(state=looked)
samples:
  description: >-
    Processor time, two samples a second: time in seconds since 1970, busy seconds of the machine, seconds of the
    process.
  type: list
  elements: list
  returned: with O(state=stopped)
complaints:
  description: The last errors in its log.
  type: list
  elements: str
  returned: with O(state=stopped)
ran:
  description: Whether it still ran.
  type: bool
  returned: with O(state=stopped)
"""

from collections.abc import Mapping
from typing import Any

from ..module_utils._core.module import run_module
from ..module_utils._mirror_tune.process_run import work

SPEC = {
    "state": {"type": "str", "choices": ["looked", "started", "stopped"], "required": True},
    "directory": {"type": "path", "required": True},
    "addresses": {"type": "list", "elements": "str", "default": []},
    "heap_bytes": {"type": "int", "default": 0},
    "properties": {"type": "str", "default": "", "no_log": True},
    "release_dir": {"type": "path", "default": ""},
    "java": {"type": "str", "default": ""},
    "user": {"type": "str", "default": ""},
    "group": {"type": "str", "default": ""},
    "seconds": {"type": "int", "default": 300},
}


def tune_process(module: Any) -> Mapping[str, Any]:
    """The result."""
    return work(module.params, module.check_mode)


def main() -> None:
    """Run the module."""
    run_module(SPEC, tune_process)


if __name__ == "__main__":
    main()
