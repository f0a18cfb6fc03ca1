#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan the fewest moves of replicas, and carry them out."""

from __future__ import annotations

DOCUMENTATION = r"""
module: reassignment
short_description: Plan the fewest moves of replicas, and carry them out
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Plans the fewest moves of replicas that rebalance a cluster, add, drain or replace brokers, change replication
    factors or fix racks. Each plan comes with its lower bound, the reasons and a schedule.
  - Plans from a running cluster, or without one from the file O(snapshot).
  - Carries a plan out in batches, under throttles that are restored afterwards. The cluster's topic
    C(_streamops_state) keeps what the next run needs to continue or end a run that was cut.
  - Never cancels what another tool moves.
extends_documentation_fragment:
  - streamops.kafka._attributes
  - streamops.kafka._connection
attributes:
  check_mode: {support: full}
  diff_mode: {support: full}
  idempotent: {support: full}
options:
  bootstrap_servers:
    description: Brokers to ask first, each as V(host:port). They name the others. Either this or O(snapshot).
    type: list
    elements: str
    required: false
  snapshot:
    description: JSON file with the result of M(streamops.kafka.cluster_info), to plan without a cluster.
    type: path
  state:
    description:
      - V(planned) changes nothing. C(kafka-reassign-partitions) accepts RV(reassignment) as it is.
      - V(applied) carries the plan out. Run it again with the same options to continue after a cut.
      - V(cancelled) reverts moves that an earlier run has under way, as far as enough of the old replicas are in sync,
        and restores throttles. Moves that have ended stay.
      - V(finished) begins nothing. It waits for moves of an earlier run, restores throttles, elects preferred leaders
        and reports what is left to do.
    type: str
    choices: [planned, applied, cancelled, finished]
    default: planned
  rebalance:
    description: Give every broker its share of the replicas, as evenly as racks allow.
    type: bool
    default: false
  add:
    description: Brokers that get their share. With O(snapshot) they need not exist yet; otherwise start them first.
    type: list
    elements: dict
    suboptions:
      id: {description: Node id of the broker., type: int, required: true}
      rack: {description: Its rack if the snapshot does not know the broker., type: str}
  coming:
    description:
      - Brokers that will have been started before the plan is carried out. In check mode of O(state=applied) it counts
        those that the cluster does not know as present; without check mode they are not looked at.
      - What their disks have room for is not known.
    type: list
    elements: dict
    default: []
    suboptions:
      id: {description: Node id of the broker., type: int, required: true}
      rack: {description: Its rack., type: str}
  drain:
    description: Node ids of brokers that give all replicas away.
    type: list
    elements: int
  replace:
    description: Node ids of brokers (keys) and of those that take their places (values). Not with O(rebalance), O(add).
    type: dict
  replication_factor: {description: Replication factors (values) of topics (keys)., type: dict}
  fix_racks:
    description: Move only what the rack rule asks for. Refused where no broker has a rack, if nothing else is asked.
    type: bool
    default: false
  assignment:
    description: An assignment in Kafka's own form, with version and partitions. Excludes all other changes.
    type: dict
  rack_rule:
    description: >-
      V(strict) and V(even) give each rack equal parts of the replicas of a partition, floor or ceil of
      replicas / racks. V(strict) also refuses to leave a partition in fewer racks than before. V(none) ignores racks.
    type: str
    choices: [strict, even, none]
    default: strict
  leaders:
    description: >-
      V(balance) spreads preferred leaders, V(keep) keeps each leader that keeps its replica, V(auto) balances leaders
      where replicas are balanced.
    type: str
    choices: [auto, keep, balance]
    default: auto
  topic_spread:
    description: >-
      With O(rebalance) or O(add), spread each topic by itself as evenly as possible, by the fewest moves. Otherwise
      topics are spread only where it costs no further move.
    type: bool
    default: false
  balance_by:
    description: >-
      What O(rebalance) and O(add) share out. V(bytes) needs the sizes of partitions: brokers above their share plus
      O(bytes_tolerance) give replicas away, with bytes moved near RV(bytes_bound). See RV(bytes_above) for the rest.
    type: str
    choices: [replicas, bytes]
    default: replicas
  bytes_tolerance: {description: By what fraction a broker may exceed its share of bytes., type: float, default: 0.1}
  topics:
    description: Topics whose partitions may change. Without it, all topics.
    type: list
    elements: str
  concurrency:
    description: How many replicas a broker sends, and receives, at a time.
    type: int
    default: 5
  throttle:
    description: >-
      Bytes per second at which each broker sends, and receives, copies. V(0) is no limit and takes disks and network
      from clients. Writes to moving partitions count too: fewer move together where writes exceed half of the throttle,
      and a throttle not above the writes to one partition is refused.
    type: int
    default: 50000000
  disk_reserve:
    description:
      - Fraction of each log directory's file system that moves leave free; up to V(0.15) at most 75 GB of a disk. Old
        and new replicas are on disk together. A plan that needs more is refused before it begins. Before each batch
        disks are checked again, with moves under way counted, and moves without room wait.
      - A disk that is fuller already still takes a thousandth of its limit in all, as far as it fits.
      - With several log directories, the one with the fewest partitions must have room, since Kafka puts new replicas
        there. What leaves such a broker is not counted as room.
      - Where numbers ask for more than a disk has room for, room decides who gets which replica; with O(rebalance) or
        O(add) a broker without room for its share gets none. See RV(no_room). A plan is refused where these have no
        room either.
      - A broker of a O(snapshot) with disk_limit_bytes keeps that limit.
    type: float
    default: 0.15
  sample_seconds:
    description: >-
      How many seconds to measure writes to the partitions that move, with a O(throttle) above 0. V(0) measures nothing,
      so that a throttle below the writes is not noticed.
    type: int
    default: 10
  expected_digest:
    description:
      - RV(plan_digest) of the plan that was approved, with O(state=applied). A plan with another digest is refused
        before anything is touched; one that changes nothing is not. Commas or blanks part the digests of several
        clusters. Empty text carries out whatever is planned.
      - A run that goes on with an earlier one compares the digest of the plan that the earlier one began.
    type: str
    default: ""
  foreign:
    description: V(refuse) to run while another tool moves partitions, or V(wait) for its end, within O(timeout).
    type: str
    choices: [refuse, wait]
    default: refuse
  timeout:
    description: >-
      Most seconds until all has ended. Moves under way go on after it. A plan predicted to take longer is not begun; a
      run that was cut continues with any timeout.
    type: int
    default: 3600
  interval: {description: Seconds between two lines of progress., type: int, default: 5}
"""

EXAMPLES = r"""
- name: Show what a rebalance would move
  streamops.kafka.reassignment:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    rebalance: true
  delegate_to: localhost

- name: Rebalance, at most 50 MB/s for each broker
  streamops.kafka.reassignment:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    rebalance: true
    throttle: 50000000
    state: applied
    timeout: 14400
  delegate_to: localhost

- name: Balance disks instead, no broker more than 5 percent above its share of bytes
  streamops.kafka.reassignment:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    rebalance: true
    balance_by: bytes
    bytes_tolerance: 0.05
    state: applied
    timeout: 14400
  delegate_to: localhost

- name: Revert what that run has under way
  streamops.kafka.reassignment:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    state: cancelled
  delegate_to: localhost

- name: Plan two more brokers without a cluster
  streamops.kafka.reassignment:
    snapshot: snapshot.json
    add:
      - {id: 4, rack: a}
      - {id: 5, rack: b}
  delegate_to: localhost
"""

RETURN = r"""
moves: {description: Replicas that get a new broker., type: int, returned: when planned}
bound:
  description: Fewest moves that any plan needs; equal to RV(moves). By bytes, the moves that partitions need alone.
  type: int
  returned: when planned
proof:
  description: >-
    How the bound is known. partition, the sum over partitions alone; count, the counts of brokers; flow, a minimum-cost
    flow; in_sync, such a flow without what a lower replication factor dropped because it was behind; bytes, see
    RV(bytes_bound).
  type: str
  returned: when planned
in_flight:
  description: >-
    Partitions that were being moved when a O(snapshot) was taken. They are planned on as they are when that has ended.
  type: list
  elements: str
  returned: when planned
no_room:
  description: Brokers that get nothing, since their disks have no room for it.
  type: list
  elements: int
  returned: when planned
deletions: {description: Replicas that are deleted., type: int, returned: when planned}
bytes:
  description: Bytes to copy. Null, here and in all figures below, where a needed size is not known.
  type: int
  returned: when planned
bytes_spread:
  description: From and to, the bytes of the fullest broker that may get replicas over its share; 1 is level.
  type: dict
  returned: when planned
  sample: {from: 1.62, to: 1.0994}
bytes_bound:
  description: By bytes, the fewest bytes that must move until each broker is within its limit. Otherwise null.
  type: int
  returned: when planned
bytes_above:
  description: >-
    By bytes, brokers that stay above their limit, each with broker, bytes, limit_bytes and why. stays, replicas that
    may not move hold more; partition, the named partition alone is greater; racks, the rack rule forbids it; room, no
    other broker has room.
  type: list
  elements: dict
  returned: when planned
  sample: [{broker: 3, bytes: 900, limit_bytes: 800, why: partition, partition: orders-0}]
leader_changes: {description: Partitions whose preferred leader changes., type: int, returned: when planned}
leader_bound:
  description: Fewest leader changes that make leaders as even as these replicas allow; equal to RV(leader_changes).
  type: int
  returned: when planned
leader_witness:
  description: Null, or the brokers because of which leaders cannot be within one of each other.
  type: dict
  returned: when planned
spread:
  description: >-
    From and to, the gap between the most and the least loaded broker in replicas, in leaders, and in the worst topic;
    of the brokers that may get replicas.
  type: dict
  returned: when planned
  sample: {from: {replicas: 12, leaders: 4, topic: 3}, to: {replicas: 1, leaders: 1, topic: 1}}
topic_bound:
  description: With O(topic_spread), the most that two brokers may differ in one topic. Otherwise null.
  type: int
  returned: when planned
racks_per_partition:
  description: From and to, how many partitions are in how many racks.
  type: dict
  returned: when planned
brokers:
  description: >-
    Each broker with id, rack, state, its replicas, leaders and bytes from and to, moves_in, moves_out, bytes_in,
    peak_bytes (old and new copies together) and disk_limit_bytes.
  type: list
  elements: dict
  returned: when planned
changes:
  description: Each partition that changes, with from, to, bytes and reasons.
  type: list
  elements: dict
  returned: when planned
  sample: [{topic: orders, partition: 0, from: [1, 2, 3], to: [1, 2, 4], bytes: 1024, reasons: [broker 3 is drained]}]
plan_digest:
  description: >-
    The digest of what the plan does, the cluster id and each partition with its replicas from and to, as
    PARTITIONS-MOVES-SHA256. Sizes, rates and the schedule are not in it. See O(expected_digest).
  type: str
  returned: when planned, and for what an earlier run began
schedule:
  description: >-
    The batches in order, each with partitions, moves, bytes and seconds; seconds in all (null without throttle);
    peak_bytes by broker; rounds_bound, the fewest batches possible.
  type: dict
  returned: when planned
reassignment: {description: The plan as Kafka's reassignment file., type: dict, returned: when planned}
rollback: {description: The file that undoes it., type: dict, returned: when planned}
stage:
  description: >-
    V(planned) in check mode, V(done), or V(stopped) when the cluster refused partitions. After O(timeout), V(moving),
    V(waiting) for moves of another tool, or V(unanswered) when brokers do not answer.
  type: str
  returned: unless O(state=planned)
progress:
  description: >-
    Batches, partitions, moves and bytes, done and total; what is in_flight, not_begun, held (partitions that must not
    begin yet, and why), the slowest partition, and who is behind, with whether that broker is alive.
  type: dict
  returned: when something was moved
unanswered:
  description: Brokers that do not answer although the cluster takes them for alive, and why.
  type: dict
  returned: when brokers do not answer
stands:
  description: What an earlier run left, in_flight_total and throttled (brokers). Null where it cannot be read.
  type: dict
  returned: with RV(unanswered)
refused:
  description: Partitions that the cluster refused, and why. Nothing more was begun after that.
  type: dict
  returned: when something was moved
elected:
  description: Partitions that got their preferred leader back at the end.
  type: list
  elements: dict
  returned: at the end of a reassignment
throttles_left:
  description: Brokers that are down, whose throttles the next run restores.
  type: list
  elements: int
  returned: at the end of a reassignment
leftover_throttles:
  description: >-
    Throttles that no record explains, with kind, name, key and value. They slow replicas that fall behind. This module
    never deletes them.
  type: list
  elements: dict
  returned: when planned for O(state=applied), and with O(state=finished)
foreign:
  description: The first 20 partitions that another tool moves.
  type: list
  elements: str
  returned: with O(state=cancelled) and O(state=finished), and while waiting
foreign_total:
  description: How many partitions another tool moves.
  type: int
  returned: with O(state=cancelled) and O(state=finished), and while waiting
cancelled:
  description: Partitions whose moves were reverted.
  type: list
  elements: str
  returned: with O(state=cancelled)
not_cancelled:
  description: Partitions whose moves were not reverted, and why. They go on under their throttles.
  type: dict
  returned: with O(state=cancelled)
verified:
  description: >-
    Whether all is where it was planned. C(under_replicated), how many partitions lack replicas in sync; C(misplaced),
    the first 20 partitions that are not where the plan put them, with C(misplaced_total). C(moves_left) and
    C(partitions_left), what a new plan for the same goal would still move and change; they are null where none can be
    made. A new plan starts from the disks, replicas in sync and topics of now, so it may find more to do after a
    reassignment that succeeded.
  type: dict
  returned: when a reassignment has ended, and with O(state=finished)
history:
  description: >-
    What was seen interval by interval, the last 500 at most, and the last 3 of a wait that failed. C(elapsed) is in
    seconds.
  type: list
  elements: dict
  returned: unless O(state=planned)
elapsed: {description: Seconds that it took., type: float, returned: unless O(state=planned)}
looks: {description: Number of intervals., type: int, returned: unless O(state=planned)}
"""

from ..module_utils._client.module import run_with_connection
from ..module_utils._cluster.file_systems import RESERVE
from ..module_utils._reassign.model import BALANCED_BY, LEADERS, RACK_RULES
from ..module_utils._reassign.run.states import reassignment

ARGUMENT_SPEC = {
    "bootstrap_servers": {"type": "list", "elements": "str"},
    "snapshot": {"type": "path"},
    "state": {"type": "str", "choices": ["planned", "applied", "cancelled", "finished"], "default": "planned"},
    "rebalance": {"type": "bool", "default": False},
    "add": {
        "type": "list",
        "elements": "dict",
        "options": {"id": {"type": "int", "required": True}, "rack": {"type": "str"}},
    },
    "coming": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {"id": {"type": "int", "required": True}, "rack": {"type": "str"}},
    },
    "drain": {"type": "list", "elements": "int"},
    "replace": {"type": "dict"},
    "replication_factor": {"type": "dict"},
    "fix_racks": {"type": "bool", "default": False},
    "assignment": {"type": "dict"},
    "rack_rule": {"type": "str", "choices": list(RACK_RULES), "default": "strict"},
    "leaders": {"type": "str", "choices": list(LEADERS), "default": "auto"},
    "topic_spread": {"type": "bool", "default": False},
    "balance_by": {"type": "str", "choices": list(BALANCED_BY), "default": "replicas"},
    "bytes_tolerance": {"type": "float", "default": 0.1},
    "topics": {"type": "list", "elements": "str"},
    "concurrency": {"type": "int", "default": 5},
    "throttle": {"type": "int", "default": 50_000_000},
    "disk_reserve": {"type": "float", "default": RESERVE},
    "sample_seconds": {"type": "int", "default": 10},
    "expected_digest": {"type": "str", "default": ""},
    "foreign": {"type": "str", "choices": ["refuse", "wait"], "default": "refuse"},
    "timeout": {"type": "int", "default": 3600},
    "interval": {"type": "int", "default": 5},
}


def main() -> None:
    """Work for one interval; the action plugin repeats this until the goal is reached."""
    run_with_connection(
        ARGUMENT_SPEC,
        reassignment,
        mutually_exclusive=[("bootstrap_servers", "snapshot")],
        required_one_of=[("bootstrap_servers", "snapshot")],
    )


if __name__ == "__main__":
    main()
