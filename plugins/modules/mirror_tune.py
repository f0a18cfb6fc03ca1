#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure how fast a mirror copies a load of its own."""

from __future__ import annotations

DOCUMENTATION = r"""
module: mirror_tune
short_description: Measure how fast a mirror copies a load of its own
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - What the tuning of a mirror (playbook C(mirror_tune.yml)) does in both clusters. It writes a bounded load into a
    topic of its own in the source, watches how fast a mirror copies it into the target, and deletes it again.
  - All its topics begin with C(_streamops_tune_) or hold that name behind C(mm2-); no flow of this collection mirrors
    them. Topics of the flow itself are only counted.
  - The mirror is started and stopped by M(streamops.kafka.mirror_tune_process).
extends_documentation_fragment:
  - streamops.kafka._attributes
  - streamops.kafka._connection
  - streamops.kafka._connection.source
  - streamops.kafka._mirror_flow
attributes:
  check_mode:
    support: full
    details: Looks and refuses as always; writes and deletes nothing, and does not wait.
  diff_mode:
    support: none
    details: Its topics are gone in the end.
  idempotent:
    support: partial
    details: With O(state=loaded) the load is written anew each time.
options:
  state:
    description:
      - V(planned) looks at both clusters and tells what a tuning will do, how long and with how many bytes at most.
      - V(loaded) deletes what an earlier tuning left, and writes the load.
      - V(measured) watches the copy of O(run) until all of it is there, or O(run_seconds) are over.
      - V(absent) deletes the topics of O(run), or without it everything that a tuning made.
    type: str
    choices: [planned, loaded, measured, absent]
    required: true
  load_bytes:
    description: Bytes of the values of the load, without replicas; one million to one trillion.
    type: int
    required: true
  record_bytes:
    description: Bytes of the value of a record.
    type: int
    default: 1000
  run_seconds:
    description: Longest time in seconds that writing the load takes, and that each run is watched once it copies.
    type: int
    default: 120
  partitions:
    description: Partitions of the load; V(0) takes as many as the topics of the flow have, at most 64.
    type: int
    default: 0
  tasks:
    description: Numbers of tasks that the tuning tries.
    type: list
    elements: int
    default: [1, 2, 4, 8, 16, 32]
  options:
    description: Settings that the tuning tries at the knee; V(none) tries nothing else.
    type: list
    elements: str
    default: [batch, linger, fetch, buffers, compression]
  rounds:
    description: How often each setting is tried.
    type: int
    default: 3
  run:
    description: Number of the run, from 1 on; V(0) is all.
    type: int
    default: 0
  records:
    description: Records of the load, with O(state=measured).
    type: int
    default: 0
"""

EXAMPLES = r"""
- name: What would a tuning with 2 GB do?
  streamops.kafka.mirror_tune:
    bootstrap_servers: [b1.example.com:9092]
    source_connection:
      bootstrap_servers: [a1.example.com:9092]
    source: dc_a
    target: dc_b
    topics: [orders]
    load_bytes: 2000000000
    state: planned
  delegate_to: localhost

- name: Delete everything that a tuning left
  streamops.kafka.mirror_tune:
    bootstrap_servers: [b1.example.com:9092]
    source_connection:
      bootstrap_servers: [a1.example.com:9092]
    source: dc_a
    target: dc_b
    topics: [orders]
    load_bytes: 2000000000
    state: absent
  delegate_to: localhost
"""

RETURN = r"""
asked:
  description: >-
    What was asked for: load_bytes, record_bytes, run_seconds, partitions, tasks (sorted), options, rounds.
  type: dict
  returned: with O(state=planned) and O(state=loaded)
plan:
  description: >-
    What the tuning does at most: partitions and records of the load, runs, seconds in all, bytes by end (source,
    target) of all replicas, broker_bytes of them on one broker, and how many brokers each end has.
  type: dict
  returned: with O(state=planned) and O(state=loaded)
lines:
  description: The plan in lines for people.
  type: list
  elements: str
  returned: with O(state=planned) and O(state=loaded)
records:
  description: Records of the load that were written, or that have arrived.
  type: int
  returned: with O(state=loaded) and O(state=measured)
load_seconds:
  description: Seconds that it took to write the load.
  type: float
  returned: with O(state=loaded)
seconds:
  description: Seconds from RV(first_at) to RV(last_at).
  type: float
  returned: with O(state=measured)
first_at:
  description: When the first record was seen, in seconds since 1970; null when none came.
  type: float
  returned: with O(state=measured)
last_at:
  description: >-
    When the last record was seen first; while some of O(records) are missing, when the copy was looked at last.
  type: float
  returned: with O(state=measured)
bytes_per_second:
  description: Bytes of values a second; null when the run copied for less than two seconds.
  type: int
  returned: with O(state=measured)
removed:
  description: Names of the topics that were deleted, by end (source, target).
  type: dict
  returned: with O(state=absent)
"""

from ..module_utils._client.module import run_with_connection
from ..module_utils._core.module import SecretModule
from ..module_utils._mirror.look import FLOW_SPEC
from ..module_utils._mirror_tune.apply import STATES, mirror_tune
from ..module_utils._mirror_tune.grid import OPTIONS, TASKS

ARGUMENT_SPEC = {
    **FLOW_SPEC,
    "source": {"type": "str", "required": True},
    "target": {"type": "str", "required": True},
    "state": {"type": "str", "choices": list(STATES), "required": True},
    "load_bytes": {"type": "int", "required": True},
    "record_bytes": {"type": "int", "default": 1000},
    "run_seconds": {"type": "int", "default": 120},
    "partitions": {"type": "int", "default": 0},
    "tasks": {"type": "list", "elements": "int", "default": list(TASKS)},
    "options": {"type": "list", "elements": "str", "default": list(OPTIONS)},
    "rounds": {"type": "int", "default": 3},
    "run": {"type": "int", "default": 0},
    "records": {"type": "int", "default": 0},
}


def main() -> None:
    """Do one step of a tuning."""
    run_with_connection(ARGUMENT_SPEC, mirror_tune, kind=SecretModule)


if __name__ == "__main__":
    main()
