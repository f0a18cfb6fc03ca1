#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait until replicas are back in sync."""

from __future__ import annotations

DOCUMENTATION = r"""
module: isr_wait
short_description: Wait until replicas are back in sync
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Waits, bounded, until the replicas of a broker, of some topics or of the whole cluster are in the ISR, seen in
    several observations in a row.
  - Shows one line per interval with partitions done, what is missing and why, rate and time left.
  - Tells replicas that catch up from a broker that is away and from a wait that is stuck.
  - On timeout it fails with the number of partitions, the first 20 by reason, the missing replicas, and what to check.
  - A login that is refused, a certificate that is not trusted and a missing right fail at once, a login after two more
    tries within 2 seconds, if no other server may come back. The user needs the operation C(describe) on the cluster,
    with O(scope=topics) only on these topics. Kafka hides topics from those who may not describe them, and a cluster
    whose topics are hidden looks in sync.
  - The bytes that replicas are behind are the sizes of the leaders' logs less those of the replicas. Compaction and
    retention run on each broker on its own, so rate and time left are estimates.
extends_documentation_fragment:
  - streamops.kafka._attributes
  - streamops.kafka._connection
attributes:
  check_mode:
    support: full
    details: >-
      Observes once and reports; it never fails because something is not in sync, and fails when the cluster cannot be
      reached.
  diff_mode:
    support: none
    details: It changes nothing.
  idempotent:
    support: full
options:
  scope:
    description:
      - V(own) waits for the replicas that O(broker) holds.
      - V(topics) waits for all replicas of O(topics).
      - V(cluster) waits for all replicas of all topics.
    type: str
    choices: [own, topics, cluster]
    default: cluster
  broker:
    description: Node id of the broker. Required with O(scope=own).
    type: int
  topics:
    description: Topics to wait for; one that does not exist is waited for too. Required with O(scope=topics).
    type: list
    elements: str
  leaders:
    description: >-
      Wait also until each partition is led by its preferred replica, with O(scope=own) those that prefer O(broker).
      M(streamops.kafka.leader_election) makes them.
    type: bool
    default: false
  leave_unled:
    description: >-
      Leave partitions out that have no leader, and no live broker that may lead them, as after a broker was replaced
      whose data was the last; the progress counts them.
    type: bool
    default: false
  led_only:
    description: Wait only until each partition in scope has a leader, whether its replicas are in sync or not.
    type: bool
    default: false
  serves:
    description:
      - With O(scope=own), wait also until others can use what O(broker) leads. Its live followers are in the ISR,
        or copy and catch up. What is written to its
        partitions is committed, it answers at the address that it advertises, and it leads at least one of the
        partitions that prefer it.
      - A broker from which no other one can copy has all replicas of its own in sync.
    type: bool
    default: false
  behind:
    description:
      - With O(serves), ids of brokers whose replicas are not waited for, because they were out of sync with others
        before O(broker) led anything, as RV(behind) of an earlier wait tells.
    type: list
    elements: int
    default: []
  hold:
    description:
      - Seconds for which no observation may be bad. A bad one starts them anew. A broker whose heartbeats come too late
        looks well until its session ends, so this is longer than C(broker.session.timeout.ms).
      - A broker that was seen away three times after it was well is flapping, which fails at once.
    type: float
    default: 0
  held_since:
    description:
      - The time, in seconds since 1970, since when an earlier wait saw the same goal reached. It counts for O(hold) as
        long as no observation is bad.
    type: float
    default: 0
  timeout:
    description: >-
      Seconds without progress after which the wait fails: it counts anew whenever more partitions are done, fewer
      replicas or leaders miss or fewer bytes are behind than ever before, up to 60 times. The interval that has begun
      is finished.
    type: int
    default: 300
  interval:
    description: Seconds between two lines of progress.
    type: float
    default: 5.0
  sample_interval:
    description: Seconds between two observations within an interval.
    type: float
    default: 1.0
  consecutive:
    description: Number of good observations in a row that end the wait.
    type: int
    default: 3
  stuck_after:
    description: Seconds without any progress after which the wait is called stuck. It goes on until O(timeout).
    type: int
    default: 60
  start_timeout:
    description: >-
      Seconds that the cluster may be unreachable at the beginning. Once it has answered, an unreachable cluster is
      shown and tolerated until O(timeout), since brokers may be restarting.
    type: int
    default: 8
"""

EXAMPLES = r"""
- name: Wait until all replicas of broker 3 are back in the ISR
  streamops.kafka.isr_wait:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    scope: own
    broker: 3
    timeout: 600
  delegate_to: localhost

- name: Wait until two topics are fully replicated and led by their preferred replicas
  streamops.kafka.isr_wait:
    bootstrap_servers: [kafka1.example.com:9092]
    scope: topics
    topics: [orders, payments]
    leaders: true
  delegate_to: localhost
"""

RETURN = r"""
in_sync:
  description: Whether the goal was reached in the last observation.
  type: bool
  returned: always
wait_state:
  description:
    - V(in_sync) when the goal is reached in the last observation.
    - V(catching_up) while brokers are there, and partitions, replicas, leaders or bytes moved in the last
      O(stuck_after) seconds.
    - V(waiting) while a broker is fenced or not registered, or a topic does not exist, for less than O(stuck_after).
    - V(flapping) when the goal was reached and lost again at least twice.
    - V(stuck) when nothing moved for O(stuck_after) seconds; the wait goes on, and the message gives the reason.
    - V(unreachable) while the cluster does not answer.
  type: str
  returned: always
  sample: in_sync
why:
  description: Why the goal is not reached, empty when it is.
  type: str
  returned: always
  sample: broker 3 is registered and misses 19 replicas
partitions_total:
  description: Partitions in scope.
  type: int
  returned: always
partitions_done:
  description: Partitions in scope that fulfil the goal.
  type: int
  returned: always
partitions_not_done:
  description: Partitions in scope that do not.
  type: int
  returned: always
partitions:
  description: >-
    The first 20 partitions that do not fulfil the goal (with O(led_only) 1000), with leader, replicas, isr, missing and
    why.
  type: list
  elements: dict
  returned: always
partitions_left_out:
  description: Partitions in scope without a leader that were not waited for (O(leave_unled)).
  type: int
  returned: always
brokers:
  description: >-
    Per broker that misses replicas V(registered), V(fenced) or V(not registered). Kafka 4.0 and later shows a stopped
    broker as fenced, older clusters do not list it.
  type: dict
  returned: always
leads_none:
  description: >-
    Whether partitions prefer O(broker) and it leads none; with O(serves) that ends the wait after some looks.
  type: bool
  returned: always
attributions:
  description: >-
    Who is at fault for live replicas of the goal that are not in sync, each with C(kind) (V(leader), V(follower),
    V(pair), V(catching_up), V(starting), V(unknown)), C(at_fault), C(followers), C(leaders), C(served)
    (other brokers that copy from these leaders), C(partitions), C(bytes_behind), C(throttles) and a C(phrase).
  type: list
  elements: dict
  returned: always
behind:
  description: Ids of the live brokers that are out of the ISR of what other brokers than O(broker) lead.
  type: list
  elements: int
  returned: always
held_since:
  description: The time, in seconds since 1970, since when no observation was bad.
  type: float
  returned: always
settled_since:
  description: >-
    The time since when every observation saw each replica of the whole cluster in sync and no broker fenced; 0 where
    the last one did not.
  type: float
  returned: always
settled_until:
  description: The time of the last observation.
  type: float
  returned: always
history:
  description: >-
    What was seen interval by interval, at most the last 500, and the last 3 of a wait that failed; C(elapsed) is in
    seconds.
  type: list
  elements: dict
  returned: always
elapsed:
  description: Seconds that were waited.
  type: float
  returned: always
looks:
  description: Number of intervals.
  type: int
  returned: always
"""

from ..module_utils._client.module import run_with_connection
from ..module_utils._gate.isr import REQUIRED_IF, WAIT_OPTIONS
from ..module_utils._gate.look import observations


def main() -> None:
    """Observe for one interval, in check mode once; the action plugin repeats this and judges."""
    run_with_connection(WAIT_OPTIONS, observations, required_if=REQUIRED_IF)


if __name__ == "__main__":
    main()
