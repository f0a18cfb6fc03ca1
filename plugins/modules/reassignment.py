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
  - Plans which replicas must move, and no more, to rebalance a cluster, to add, drain or replace brokers, to change
    replication factors or to fix racks. With every plan come its lower bound, the reasons, and a schedule.
  - Plans from the cluster as it is now, or with no cluster in reach from a file that O(snapshot) names.
  - Carries a plan out in batches, under throttles that are restored afterwards. What a run needs to go on, and what
    throttles were before it, is kept with the cluster in the topic C(_streamops_state), so a run that was cut at any
    point is gone on with, or ended, by the next one.
  - What somebody else moves is never cancelled.
extends_documentation_fragment:
  - streamops.kafka._attributes
  - streamops.kafka._connection
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
options:
  bootstrap_servers:
    description: >-
      Brokers to ask first, each as V(host:port); the others are found through them. Either this or O(snapshot).
    type: list
    elements: str
    required: false
  snapshot:
    description: File with what M(streamops.kafka.cluster_info) returned, as JSON, to plan with no cluster in reach.
    type: path
  state:
    description:
      - V(planned) plans and changes nothing. What it says can be given to C(kafka-reassign-partitions) as it is.
      - V(applied) carries the plan out. After a cut the same wish goes on towards the same placement.
      - V(cancelled) sends back what an earlier run has under way, as far as enough replicas of before are in sync, and
        restores throttles. What has arrived stays.
      - V(finished) begins nothing, waits for what an earlier run has under way, restores throttles, elects preferred
        leaders and tells what is left to do.
    type: str
    choices: [planned, applied, cancelled, finished]
    default: planned
  rebalance:
    description: Every broker gets its share of the replicas, as even as racks allow.
    type: bool
    default: false
  add:
    description: >-
      Brokers that get their share. With O(snapshot) they need not exist yet; a cluster must know them.
    type: list
    elements: dict
    suboptions:
      id:
        description: Node id of the broker.
        type: int
        required: true
      rack:
        description: Its rack, where the snapshot does not know the broker.
        type: str
  drain:
    description: Node ids of brokers from which every replica moves away.
    type: list
    elements: int
  replace:
    description: Brokers (keys) whose places others (values) take, by node id. Not together with O(rebalance) or O(add).
    type: dict
  replication_factor:
    description: Replication factors (values) of topics (keys).
    type: dict
  fix_racks:
    description: >-
      Move only what the rack rule asks for. Where no broker has a rack it is refused, or does nothing beside another
      wish.
    type: bool
    default: false
  assignment:
    description: An explicit assignment in Kafka's own form, with version and partitions. Excludes all other wishes.
    type: dict
  rack_rule:
    description: >-
      V(strict) keeps replicas of a partition in as many racks as there can be, V(even) at most their number divided by
      the racks, rounded up, in one rack, V(none) does not look at racks.
    type: str
    choices: [strict, even, none]
    default: strict
  leaders:
    description: >-
      V(balance) spreads the preferred leaders of all partitions, V(keep) lets those lead that lead and stay, V(auto)
      balances them where replicas are balanced.
    type: str
    choices: [auto, keep, balance]
    default: auto
  topic_spread:
    description: >-
      With O(rebalance) or O(add), every topic by itself is as even over the brokers as it can be, and the moves are
      the fewest for that too. Otherwise topics are spread only as far as it costs no further move.
    type: bool
    default: false
  balance_by:
    description:
      - What O(rebalance) and O(add) give every broker its share of, replicas or bytes. Only with one of them.
      - With V(bytes) sizes must be known. No broker shall hold more than its share and O(bytes_tolerance); who does
        gives, and the bytes that move stay near their lower bound RV(bytes_bound). RV(bytes_above) tells who cannot be
        brought below, and why.
    type: str
    choices: [replicas, bytes]
    default: replicas
  bytes_tolerance:
    description: How much more than its share of bytes a broker may hold, as a fraction of it.
    type: float
    default: 0.1
  topics:
    description: >-
      Names of topics. Only their partitions change, all others stay as they are. Without it, those of all topics.
    type: list
    elements: str
  concurrency:
    description: For the schedule, how many replicas a broker sends, and receives, at a time.
    type: int
    default: 5
  throttle:
    description: >-
      Bytes a second at which each broker sends, and receives, copies. Writes to the partitions that move take from it,
      so fewer move at a time where these are more than half of it; not above those to one alone, it is refused. V(0)
      lets copies go as fast as they can, which takes disks and network from clients.
    type: int
    default: 50000000
  disk_reserve:
    description:
      - The part of each log directory's file system that moves leave free, as a fraction. Old and new replicas are
        there together while they move. A plan that would take more is refused before anything is touched; before each
        batch brokers are asked again, what is still on its way counts, and what has no room waits.
      - Up to V(0.15) it means at most 75 GB of each disk; a greater fraction is taken as it is. A disk that is fuller
        already still takes a thousandth of its limit in all, as far as it fits.
      - Of several log directories the one with the fewest partitions must have room, since there Kafka puts a new
        replica, however full it is. What leaves such a broker is not counted as room in the plan.
      - A broker that has no room for what a plan would give it keeps what it has and gets nothing, and the plan is made
        with the others; RV(no_room) names it. Where these have no room either, it is refused.
      - A broker of a O(snapshot) that has disk_limit_bytes keeps that limit instead.
    type: float
    default: 0.15
  sample_seconds:
    description: >-
      With a O(throttle) above 0 and a cluster, how many seconds to measure what is written to the partitions that
      move, where any move. 0 measures nothing, and then a throttle below that is not noticed.
    type: int
    default: 10
  foreign:
    description: >-
      What to do while somebody else moves partitions, V(refuse) or V(wait) until that has ended (within O(timeout)).
    type: str
    choices: [refuse, wait]
    default: refuse
  timeout:
    description: >-
      Longest time in seconds until all has ended. What is under way then goes on. A plan that is predicted to take
      longer is not begun. A run that was cut is gone on with whatever its timeout.
    type: int
    default: 3600
  interval:
    description: Seconds between two lines of progress.
    type: int
    default: 5
"""

EXAMPLES = r"""
- name: See what a rebalance would move
  streamops.kafka.reassignment:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    rebalance: true
    throttle: 50000000
  delegate_to: localhost
  register: plan

- name: Rebalance, at most 50 MB/s for each broker
  streamops.kafka.reassignment:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    rebalance: true
    throttle: 50000000
    state: applied
    timeout: 14400
  delegate_to: localhost

- name: Level what is on the disks, no broker with more than 5 percent above its share
  streamops.kafka.reassignment:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    rebalance: true
    balance_by: bytes
    bytes_tolerance: 0.05
    throttle: 50000000
    state: applied
    timeout: 14400
  delegate_to: localhost

- name: Send back what that run has under way
  streamops.kafka.reassignment:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    state: cancelled
  delegate_to: localhost

- name: Say it in a line
  ansible.builtin.debug:
    msg: "{{ plan.moves }} moves ({{ plan.bytes }} bytes), the fewest possible; {{ plan.schedule.seconds }} s"

- name: What would two more brokers mean, with no cluster in reach
  streamops.kafka.reassignment:
    snapshot: snapshot.json
    add:
      - {id: 4, rack: a}
      - {id: 5, rack: b}
  delegate_to: localhost

- name: Plan the drain of broker 3, for kafka-reassign-partitions
  streamops.kafka.reassignment:
    bootstrap_servers: [kafka1.example.com:9092]
    drain: [3]
  delegate_to: localhost
  register: plan
"""

RETURN = r"""
moves:
  description: Replicas that get a new broker.
  type: int
  returned: when planned
bound:
  description: >-
    The fewest moves that any plan needs; equal to RV(moves). With O(balance_by=bytes) the moves that partitions need by
    themselves.
  type: int
  returned: when planned
proof:
  description: >-
    How that is known. partition means that each partition alone needs as many, count that the counts of the brokers
    do, flow that a minimum-cost flow does; bytes that bytes were levelled, where RV(bytes_bound) is the bound.
  type: str
  returned: when planned
no_room:
  description: Brokers that keep what they have and get nothing, since their disks have no room for what they would get.
  type: list
  elements: int
  returned: when planned
deletions:
  description: Replicas that go.
  type: int
  returned: when planned
bytes:
  description: Bytes to copy. Null, here and in all figures below, where a size that it takes is not known.
  type: int
  returned: when planned
bytes_spread:
  description: >-
    From and to, the bytes of the broker that has most of its share, over that share, of the brokers that may get
    replicas; 1 is level. Null where sizes are not known.
  type: dict
  returned: when planned
  sample: {from: 1.62, to: 1.0994}
bytes_bound:
  description: >-
    With O(balance_by=bytes), bytes that must move at least for every broker to be within its limit. Null otherwise.
  type: int
  returned: when planned
bytes_above:
  description: >-
    With O(balance_by=bytes), brokers that stay above their limit, each with broker, bytes, limit_bytes and why. stays
    means that partitions with a replica on a dead broker, which stay, hold more; partition that the partition named
    beside it alone is greater; racks that the rack rule is in the way; room that no other broker has room for any of
    its replicas.
  type: list
  elements: dict
  returned: when planned
  sample: [{broker: 3, bytes: 900, limit_bytes: 800, why: partition, partition: orders-0}]
leader_changes:
  description: Partitions whose preferred leader changes.
  type: int
  returned: when planned
leader_bound:
  description: >-
    The fewest changes with which preferred leaders are as even as the replicas after the plan allow, found by a
    minimum-cost flow; equal to RV(leader_changes). Other places for the replicas might need fewer.
  type: int
  returned: when planned
leader_witness:
  description: Null, or the brokers because of which leaders cannot be within one of each other.
  type: dict
  returned: when planned
spread:
  description: >-
    From and to, the most less the least that one broker has in replicas, in leaders, and of the worst topic; of the
    brokers that may get replicas.
  type: dict
  returned: when planned
  sample: {from: {replicas: 12, leaders: 4, topic: 3}, to: {replicas: 1, leaders: 1, topic: 1}}
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
schedule:
  description: >-
    The batches in order, each with partitions, moves, bytes and seconds; seconds in all (null without throttle);
    peak_bytes by broker; rounds_bound, the fewest batches possible.
  type: dict
  returned: when planned
reassignment:
  description: The plan as Kafka's reassignment file.
  type: dict
  returned: when planned
rollback:
  description: What undoes it, in the same form.
  type: dict
  returned: when planned
stage:
  description: >-
    V(planned) in check mode, V(done), V(stopped) when the cluster refused partitions, V(moving) or V(waiting) (for
    reassignments of somebody else) when O(timeout) has passed, V(unanswered) when brokers kept it from looking.
  type: str
  returned: unless O(state=planned)
progress:
  description: >-
    Batches, partitions, moves and bytes, done and total; what is in_flight, not_begun, the slowest partition, and who
    is behind, with whether that broker is alive. held are partitions that must not begin yet, and why (no room on a
    disk, too few replicas in sync).
  type: dict
  returned: when something was moved
unanswered:
  description: Brokers that the cluster takes for alive and that do not answer, and why.
  type: dict
  returned: when they kept a look from being taken
stands:
  description: >-
    What an earlier run has under way then (in_flight_total), and the brokers on which its throttles stand (throttled).
    Null where nobody can tell.
  type: dict
  returned: with RV(unanswered)
refused:
  description: Partitions that the cluster refused, and why. Then nothing more was begun.
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
    Throttles that are set and that no record tells of, with kind, name, key and value. They slow replicas that fall
    behind, and are never deleted from here.
  type: list
  elements: dict
  returned: when planned for O(state=applied), and with O(state=finished)
foreign:
  description: The first 20 partitions that somebody else moves; RV(foreign_total) is how many.
  type: list
  elements: str
  returned: with O(state=cancelled) and O(state=finished), and while waiting
foreign_total:
  description: How many partitions somebody else moves.
  type: int
  returned: with O(state=cancelled) and O(state=finished), and while waiting
cancelled:
  description: Partitions that were sent back.
  type: list
  elements: str
  returned: with O(state=cancelled)
not_cancelled:
  description: Partitions that were not, and why. They go on under their throttles.
  type: dict
  returned: with O(state=cancelled)
verified:
  description: >-
    How many partitions are under_replicated, and moves_left, what the wish of the ended reassignment still asks for by
    a new plan.
  type: dict
  returned: with O(state=finished)
history:
  description: What was seen interval by interval, at most the last 500; C(elapsed) is in seconds.
  type: list
  elements: dict
  returned: unless O(state=planned)
elapsed:
  description: Seconds that it took.
  type: float
  returned: unless O(state=planned)
attempts:
  description: Number of intervals.
  type: int
  returned: unless O(state=planned)
"""

from ansible_collections.streamops.kafka.plugins.module_utils._client.module import run_with_connection
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.disk_room import RESERVE
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.model import BALANCED_BY, LEADERS, RACK_RULES
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.states import reassignment

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
