#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: node_wait
short_description: wait until a Kafka node is up or gone
description:
  - Waits, for a bounded time and with a live line for each interval, until the process of a node (as its start record
    names it) lives and listens on its ports, or until it is gone.
  - When the process ends meanwhile, or another one takes its place since the service manager starts it again, the wait
    fails at once with the last error lines of the node's own logs since that start.
author: The streamops engineers (@streamops)
extends_documentation_fragment: [streamops.kafka._attributes.look]
attributes:
  check_mode:
    details: Looks once and fails nothing.
options:
  node:
    description: The name of the node, for messages.
    type: str
    required: true
  state:
    description: What to wait for.
    type: str
    choices: [started, stopped]
    default: started
  state_dir:
    description: The directory that holds the start record, C(started/).
    type: path
    required: true
  adopted_file:
    description:
      - The file that says who ran the node before it was taken over (M(streamops.kafka.adopted_node)). With it, the
        process of the old service is waited for, and its start record counts for nothing.
    type: str
    default: ""
  ports:
    description:
      - The TCP ports that the process must listen on. Where the properties in its start record name other ones, as
        those of a node that went back to older files do, these count instead. Empty asks for none.
    type: list
    elements: int
    default: []
  ready_line:
    description:
      - A regular expression that a line of its logs since its start must have, before it counts as started. For a
        process that listens nowhere, whose life alone says little. Empty asks for nothing.
    type: str
    default: ""
  flows:
    description:
      - Flows of a mirror, C(source->target). Then started also means that its connectors have the configuration of
        each, as far as this mirror is the one that gives it to them. Where Kafka Connect refuses it, the wait fails at
        once; the connectors go on with the configuration from before, which no heartbeat tells.
    type: list
    elements: str
    default: []
  metadata_dir:
    description:
      - The directory of the metadata log of a controller. Then started also means that its quorum has a leader, as far
        as its own C(quorum-state) says, unless the log of this start says that nothing was heard of a leader yet; a
        wait that fails says what its log tells about the cause. Empty asks for nothing.
    type: str
    default: ""
  log_files:
    description: The logs to look for errors in, C(server.log) and the captured output.
    type: list
    elements: path
    default: []
  unit:
    description: The systemd unit of the node, in whose journal errors are looked for too when the process is gone.
    type: str
    default: ""
  timeout:
    description:
      - Seconds without progress after which the wait fails. They count anew, up to 60 times, whenever O(log_files) have
        a line of a form that they did not have since this start (lines that differ in numbers, ids and quoted parts
        only have one form, errors do not count), or another log or offset is loaded.
      - A process that has logged nothing yet makes progress while it uses processor time, up to 20 s of that.
      - With O(state=stopped) lines since the beginning of the wait count.
    type: int
    default: 120
  fail_on_timeout:
    description: Fail when the time is over; without it the wait only reports C(reached) as false.
    type: bool
    default: true
  interval:
    description: Seconds between two lines of progress; each look watches for that long.
    type: float
    default: 2.0
  steady:
    description:
      - Seconds for which the quorum of a controller (O(metadata_dir)) must have had its leader, as far as the node
        itself has seen. It writes C(quorum-state) whenever leader, epoch or its vote change. 0 asks for nothing.
    type: float
    default: 0
  start_timeout:
    description: Seconds after which the wait fails when no process was seen at all.
    type: float
    default: 10.0
  seen:
    description: What earlier looks of this wait found; set by the wait itself.
    type: dict
    suboptions:
      pid:
        description: The process that was seen.
        type: int
      start_time:
        description: Its start time in clock ticks since boot.
        type: int
      first_look:
        description: When the wait began, in seconds since 1970 on the host.
        type: float
"""

EXAMPLES = r"""
- name: Wait until the node serves its clients
  streamops.kafka.node_wait:
    node: kafka1
    state_dir: /run/kafka/kafka1
    ports: [9092, 9093, 9094]
"""

RETURN = r"""
process:
  description: The process as M(streamops.kafka.node_info) returns it.
  returned: always
  type: dict
ports:
  description: Who listens on each port, as M(streamops.kafka.node_info) returns it.
  returned: always
  type: dict
reached:
  description: Whether the state was reached.
  returned: always
  type: bool
elapsed:
  description: Seconds that the wait took.
  returned: always
  type: float
history:
  description: >-
    What was seen look by look, at most the last 500, and the last 3 of a wait that failed; C(elapsed) is in
    seconds.
  returned: always
  type: list
  elements: dict
failure:
  description:
    - C(kind) (NodeDied or NodeWaitTimeout), C(node), C(standing), C(log_lines), the last error line of each kind, and
      C(cause), what they say ended the node or keeps it from others; empty when they do not. C(why) is the message
      without what is left.
  returned: failure
  type: dict
"""

import time
from typing import Any

from ..module_utils._core.commands import CommandTimeoutError, run
from ..module_utils._core.module import run_module
from ..module_utils._node.wait import WAIT_OPTIONS
from ..module_utils._node.wait_look import look

#: Longest time for the lines of the journal, which only explain a failure.
JOURNAL_SECONDS = 20.0
SEEN = {"pid": {"type": "int"}, "start_time": {"type": "int"}, "first_look": {"type": "float"}}

SPEC = dict(
    WAIT_OPTIONS,
    state_dir={"type": "path", "required": True},
    adopted_file={"type": "str", "default": ""},
    ports={"type": "list", "elements": "int", "default": []},
    ready_line={"type": "str", "default": ""},
    flows={"type": "list", "elements": "str", "default": []},
    metadata_dir={"type": "str", "default": ""},
    log_files={"type": "list", "elements": "path", "default": []},
    unit={"type": "str", "default": ""},
    seen={"type": "dict", "options": SEEN},
)


def look_once(module: Any) -> dict[str, Any]:
    """One look of the wait; the action plugin repeats it."""

    def journal(unit: str) -> str:
        """The last lines that a unit printed; nothing where there is no journal."""
        command = ["journalctl", f"--unit={unit}", "--lines=300", "--output=cat", "--no-pager", "--quiet"]
        try:
            return run(command, JOURNAL_SECONDS)[1]
        except (OSError, CommandTimeoutError):
            return ""

    return {"changed": False, **look(module.params, time.time, time.sleep, journal)}


def main() -> None:
    """Run the module."""
    run_module(SPEC, look_once)


if __name__ == "__main__":
    main()
