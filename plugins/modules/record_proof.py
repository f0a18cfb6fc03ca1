#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module: a stream of records that goes on between tasks, and the verdict on it."""

from __future__ import annotations

DOCUMENTATION = r"""
module: record_proof
short_description: Prove that no acknowledged record is lost while a cluster changes
version_added: 0.1.0
author: The streamops engineers (@streamops)
description:
  - With O(state=started) it makes a topic with leaders on every broker, and starts a process beside the run, which
    writes records with C(acks=all) until it is told to end. One half are of an idempotent producer, the other half of a
    transactional one, of whose transactions each tenth is aborted on purpose.
  - With O(state=judged) it ends that process, reads the topic with another client library as a reader of committed
    records does, and compares. A record that was acknowledged must be there once, at its offset, in its order; one of
    an aborted transaction must not be there. A record without an answer may be there or not.
  - A stream begins and ends with a record and a transaction in each partition. With O(state=started) the module waits
    for the first ones, and fails when not all are acknowledged within 60 seconds; without the last ones there is no
    V(pass).
  - The process ends by itself after O(seconds), and within seconds when the run is gone. The action plugin names the
    run to the module. It has the login of the module, in memory only.
  - The topic is deleted after the verdict unless O(keep_topic) is set or records are wrong. Then its C(retention.ms)
    becomes C(-1), and no other proof begins with this topic until it is deleted.
extends_documentation_fragment:
  - streamops.kafka._attributes
  - streamops.kafka._connection
attributes:
  check_mode:
    support: full
    details: Nothing is started, written or read, and there is no verdict.
  diff_mode:
    support: N/A
  idempotent:
    support: none
    details: Each proof is a new one.
options:
  state:
    description: >-
      V(started) starts the stream, V(judged) ends it and judges what is there, V(stopped) ends it without a verdict and
      leaves the topic to the next proof, which makes it anew.
    type: str
    choices: [started, judged, stopped]
    required: true
  directory:
    description: >-
      Directory of the stream where the module runs, with its ledger. It holds no secret. One stream is in it at a time.
    type: path
    required: true
  topic:
    description: The topic. Its name begins with C(__streamops_prove), since it is deleted.
    type: str
    default: __streamops_prove
  seconds:
    description: Longest time of the stream, in seconds.
    type: int
    default: 3600
  rate:
    description: Records a second of both producers together. Over all O(seconds) 2,000,000 records are allowed.
    type: int
    default: 100
  run:
    description: >-
      The run with which the stream ends, as place, process number and start of the process; set by the action plugin.
    type: str
    default: ""
  proof:
    description: >-
      The proof to judge or to stop, as RV(proof_id) of its start names it. Required with O(state=judged); a stream of
      another proof is left as it is.
    type: str
  restarts:
    description: >-
      The restarts that were made meanwhile, whose nodes are named beside the gaps. Times are in seconds since 1970.
    type: list
    elements: dict
    default: []
    suboptions:
      host:
        description: The node.
        type: str
        required: true
      stopped:
        description: When its stop began.
        type: float
        required: true
      listening:
        description: When it listened again.
        type: float
        required: true
      in_sync:
        description: When it was in sync again.
        type: float
        required: true
  second_reader:
    description: >-
      What a second reader of the topic found, to be compared with what the module itself reads. C(found) is what job
      V(proof) of the module M(streamops.kafka.spark_job) returns as C(figures.proof); C(error) is why it did not
      read to the end. For it the stream is ended first, with O(state=stopped).
    type: dict
  keep_topic:
    description: Whether the topic is kept after a proof without a finding.
    type: bool
    default: false
seealso:
  - module: streamops.kafka.spark_job
  - module: streamops.kafka.topic_records
"""

EXAMPLES = r"""
- name: Start the stream
  streamops.kafka.record_proof:
    state: started
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    directory: /var/tmp/prove
  register: begun

- name: Judge it after the change
  streamops.kafka.record_proof:
    state: judged
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    directory: /var/tmp/prove
    proof: "{{ begun.proof_id }}"
  register: found
  failed_when: found.proof.verdict != 'pass'
"""

RETURN = r"""
proof_id:
  description: What tells the records of this proof from others.
  type: str
  returned: with O(state=started)
  sample: 5f0c2a91
partitions:
  description: Number of partitions of the topic.
  type: int
  returned: with O(state=started)
proof:
  description: >-
    What was found. C(verdict) is V(pass), V(fail), V(partial) where O(seconds) were over before the last restart,
    or V(inconclusive) where the stream failed, a partition fell silent, or it ended before the first restart; C(why)
    says it in one line. C(acknowledged) are the records by kind,
    C(read) those that the reader found, C(read_second) those of O(second_reader); C(lost), C(repeated),
    C(reordered), C(moved) and C(aborted_read) count records, C(wrong) has them by partition with their first and
    last offset. C(gaps) is the longest time of each partition without an acknowledged record, with the nodes that
    were restarting in it; C(commit_gap) the longest time between two committed transactions.
  type: dict
  returned: with O(state=judged)
failure:
  description: Why it failed, for programs; C(kind) and the fields of that kind.
  returned: failure
  type: dict
"""

from collections.abc import Mapping
from typing import Any

from ..module_utils._client.module import run_with_connection
from ..module_utils._prove.apply import begin, judge, stop

_TIMES = ("stopped", "listening", "in_sync")
ARGUMENT_SPEC: dict[str, dict[str, Any]] = {
    "state": {"type": "str", "choices": ["started", "judged", "stopped"], "required": True},
    "directory": {"type": "path", "required": True},
    "topic": {"type": "str", "default": "__streamops_prove"},
    "seconds": {"type": "int", "default": 3600},
    "rate": {"type": "int", "default": 100},
    "run": {"type": "str", "default": ""},
    "proof": {"type": "str"},
    "restarts": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {
            "host": {"type": "str", "required": True},
            **{name: {"type": "float", "required": True} for name in _TIMES},
        },
    },
    "second_reader": {"type": "dict"},
    "keep_topic": {"type": "bool", "default": False},
}
_WORK = {"started": begin, "judged": judge, "stopped": stop}


def work(module: Any) -> Mapping[str, Any]:
    """Do what the state asks for; in check mode nothing."""
    return {"changed": False} if module.check_mode else _WORK[module.params["state"]](module.params)


def main() -> None:
    """Run the module."""
    run_with_connection(ARGUMENT_SPEC, work, required_if=[("state", "judged", ["proof"])])


if __name__ == "__main__":
    main()
