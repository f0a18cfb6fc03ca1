#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decide whether nodes may be stopped now."""

from __future__ import annotations

DOCUMENTATION = r"""
module: restart_gate
short_description: Decide whether nodes may be stopped now
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Allows the stop of one or several nodes when, judged on one snapshot of the cluster, every partition keeps
    min.insync.replicas in-sync replicas on live brokers and a leader, the metadata quorum keeps a caught-up majority,
    all other nodes of the inventory are up and know the metadata, and no reassignment touches the nodes. Otherwise it
    fails with every reason, and nothing has been stopped.
  - A cluster with ZooKeeper takes a dead broker for alive until its session ends, so there each registered broker that
    stays is asked too, and one that does not answer counts as down.
  - Waits a little for reasons that may pass by themselves, with a line of progress. What waiting cannot mend, as a
    refused login or a missing right, fails at once.
extends_documentation_fragment:
  - streamops.kafka._attributes
  - streamops.kafka._connection
attributes:
  check_mode:
    support: full
    details: Looks once and reports; never fails because of a refusal.
  diff_mode:
    support: none
    details: It leaves nothing changed.
  idempotent:
    support: full
options:
  node_ids:
    description: Ids of the nodes to be stopped at the same time.
    type: list
    elements: int
    required: true
    aliases: [node_id]
  roles:
    description: What the nodes are.
    type: list
    elements: str
    choices: [broker, controller]
    default: [broker, controller]
  expected_brokers:
    description: Ids of all brokers of the inventory. Those that are not to be stopped must be registered and serving.
    type: list
    elements: int
    default: []
  expected_controllers:
    description: >-
      Ids of all controllers of the inventory. Those that are not to be stopped must be caught up; without this option
      a caught-up majority is enough.
    type: list
    elements: int
    default: []
  allow_unavailable_topics:
    description:
      - Topics that may be unavailable while the nodes are down although they cannot lose a replica, because their
        replication factor is not above min.insync.replicas; V(*) means all of these.
      - It frees no topic that can lose a replica.
    type: list
    elements: str
    default: []
  controller_fetch_timeout_ms:
    description: >-
      The controllers' C(controller.quorum.fetch.timeout.ms). A voter counts as caught up when it was so within it.
    type: int
    default: 2000
  correcting:
    description:
      - The one node of O(node_ids) is to restart with other files than it runs with. Then partitions that are low only
        because of this node itself do not keep it from that, since nothing would ever change.
        C(docs/restarts.md#a-node-that-is-itself-the-cause) has the rules.
    type: bool
    default: false
  times_metadata:
    description:
      - Once the gate is open, times how long a change of metadata takes (RV(metadata_seconds)), for a later
        M(streamops.kafka.leader_election) to compare with. For that it sets a configuration of C(_streamops_state), how
        long deleted segments stay on disk, and sets it back. Not in check mode.
    type: bool
    default: false
  hold:
    description:
      - Seconds for which no look may be bad before the gate opens, and at least three are good, but those that an
        earlier wait saw (O(held_since)). A node that is corrected (O(correcting)) and sick is not waited for.
    type: float
    default: 0
  held_since:
    description:
      - The time, in seconds since 1970, since when an earlier wait saw the whole cluster well. It counts for O(hold) as
        long as no look is bad.
    type: float
    default: 0
  timeout:
    description: >-
      Longest time in seconds to wait for reasons that may pass by themselves. While the only reason is that replicas
      catch up, it counts anew whenever fewer bytes are behind than ever before, up to 60 times.
    type: int
    default: 60
  interval:
    description: Seconds between two looks.
    type: float
    default: 5.0
"""

EXAMPLES = r"""
- name: Ask whether broker 3 may be stopped
  streamops.kafka.restart_gate:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    node_ids: [3]
    expected_brokers: [1, 2, 3]
    allow_unavailable_topics: [scratch]
  delegate_to: localhost
"""

RETURN = r"""
allowed:
  description: Whether the nodes may be stopped.
  type: bool
  returned: always
refusals:
  description: >-
    Every reason against it, each with kind, what, found, allowed, fix and transient (it may pass by itself). When the
    last look failed, those of the last look that did not.
  type: list
  elements: dict
  returned: always
  sample:
    - kind: broker_down
      what: another broker than node 3 is down
      found: broker 2 is fenced
      allowed: all other brokers of the inventory registered and not fenced
      fix: Start that broker first.
      transient: true
is_active_controller:
  description: Whether the active controller is among the nodes. A roll leaves it for last.
  type: bool
  returned: always
notes:
  description: What does not forbid the stop but a person should know; also shown as warnings.
  type: list
  elements: str
  returned: always
corrects:
  description: Whether the node is sick, and is allowed to stop because it restarts with other files (O(correcting)).
  type: bool
  returned: always
serves_nothing:
  description: Whether the node that is corrected is fenced, so that its stop is not waited for.
  type: bool
  returned: always
copied_bytes:
  description: >-
    What followers have of partitions that they are said not to be able to copy from the node that is corrected. While
    it grows, they can, and the gate stays shut.
  type: int
  returned: always
sick:
  description: >-
    By node id why a broker is sick: it is fenced, another node answers at its address, several others do not copy from
    it and none is seen to, or it does not copy from those from which others copy.
  type: dict
  returned: always
attributions:
  description: >-
    Who is at fault for live replicas that are not in sync, each with C(kind) (V(leader), V(follower), V(pair),
    V(catching_up), V(starting), V(unknown)), C(at_fault), C(followers), C(leaders), C(partitions), C(bytes_behind),
    C(throttles) and a C(phrase).
  type: list
  elements: dict
  returned: always
metadata_seconds:
  description: >-
    Seconds that a change of metadata takes, null where it was not timed: O(times_metadata) was not given, the gate is
    shut, or RV(not_timed) says why.
  type: float
  returned: always
not_timed:
  description: Why no change of metadata could be timed, empty where one was or none was asked for.
  type: str
  returned: always
  sample: topic _streamops_state does not exist
settled_since:
  description: >-
    The time, in seconds since 1970, since when no look was bad, as M(streamops.kafka.isr_wait) returns it.
  type: float
  returned: always
settled_until:
  description: The time of the last look.
  type: float
  returned: always
history:
  description: >-
    What was seen look by look, at most the last 500, and the last 3 of a wait that failed; C(elapsed) is in
    seconds.
  type: list
  elements: dict
  returned: always
elapsed:
  description: Seconds that were waited.
  type: float
  returned: always
looks:
  description: Number of looks.
  type: int
  returned: always
"""

from ..module_utils._client.module import run_on_cluster
from ..module_utils._gate.pace_look import judge_and_time
from ..module_utils._gate.stop import GATE_OPTIONS, GATE_WAIT_OPTIONS

ARGUMENT_SPEC = {**GATE_OPTIONS, **GATE_WAIT_OPTIONS}


def main() -> None:
    """Judge once. The action plugin repeats this while waiting makes sense."""
    run_on_cluster(ARGUMENT_SPEC, judge_and_time, repeated=True)


if __name__ == "__main__":
    main()
