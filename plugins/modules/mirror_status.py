#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Say how far a mirror is behind, or wait until it runs or has caught up."""

from __future__ import annotations

DOCUMENTATION = r"""
module: mirror_status
short_description: Say how far a mirror is behind, or wait until it runs or has caught up
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Compares the logs of the source with the positions that MirrorMaker 2 has written down in the target, or with the
    offsets that the legacy MirrorMaker has committed in the source, and tells records behind for each partition.
  - Markers of transactions and records of aborted ones are never mirrored, so they do not count.
  - Tells also how old the latest heartbeat is that came through the mirror, and the latest checkpoint.
  - With O(state=caught_up) waits, bounded, and shows one line per interval with records behind, partitions done, rate
    and time left. A flow that covers no topic, or not one that it names, is refused and never called caught up.
extends_documentation_fragment:
  - streamops.kafka._attributes
  - streamops.kafka._connection
  - streamops.kafka._connection.source
  - streamops.kafka._mirror_flow
attributes:
  check_mode:
    support: full
    details: Looks once and reports; never fails because a mirror is behind.
  diff_mode:
    support: none
    details: It changes nothing.
  idempotent:
    support: full
options:
  engine:
    description: What mirrors. The legacy MirrorMaker always keeps names.
    type: str
    choices: [mirror_maker_2, legacy]
    default: mirror_maker_2
  state:
    description:
      - V(observed) looks once.
      - V(alive) waits until a heartbeat has come through as young as O(max_heartbeat_age) and O(heartbeat_since) say,
        which is what tells that a flow runs. Records and topics are not looked at, and the source is not asked.
      - V(caught_up) waits until no more than O(max_lag) records are behind, every topic with all its partitions is in
        the target, and heartbeats are as young as O(max_heartbeat_age) and O(heartbeat_since) say.
    type: str
    choices: [observed, alive, caught_up]
    default: observed
  max_lag:
    description: Records that the flow as a whole may be behind.
    type: int
    default: 0
  max_heartbeat_age:
    description: >-
      Longest time in seconds since the latest heartbeat that came through was written into the source; V(0) does not
      judge it. The legacy engine has none.
    type: int
    default: 0
  heartbeat_since:
    description: >-
      Time in seconds since 1970 after which the latest heartbeat that came through must have been written into the
      source, as that of a restart, by the clocks of the mirror and of the machine that asks; V(0) does not judge it.
    type: float
    default: 0
  timeout:
    description: >-
      Seconds without progress after which the wait with O(state=alive) and O(state=caught_up) fails: it counts anew
      whenever fewer records are left, more partitions are done or fewer problems are found than ever before, up to 60
      times.
    type: int
    default: 300
  interval:
    description: Seconds between two looks, each with its line of progress.
    type: float
    default: 5.0
  start_timeout:
    description: >-
      Seconds at the beginning of a wait that a cluster may be unreachable and MirrorMaker's topic missing. Once both
      have been seen that is tolerated until O(timeout), since brokers may be restarting.
    type: int
    default: 30
"""

EXAMPLES = r"""
- name: How far is the mirror?
  streamops.kafka.mirror_status:
    bootstrap_servers: [b1.example.com:9092]
    source_connection:
      bootstrap_servers: [a1.example.com:9092]
    source: dc_a
    target: dc_b
    topics: [orders, 'audit[.].*']
  delegate_to: localhost
  register: mirror

- name: Producers are stopped, so wait until everything is in dc_b
  streamops.kafka.mirror_status:
    bootstrap_servers: [b1.example.com:9092]
    security_protocol: SASL_SSL
    sasl_mechanism: SCRAM-SHA-512
    sasl_username: admin
    sasl_password: "{{ dc_b_admin_password }}"
    ssl_ca_location: /etc/ssl/dc_b.pem
    source_connection:
      bootstrap_servers: [a1.example.com:9092]
      security_protocol: SASL_SSL
      sasl_mechanism: SCRAM-SHA-512
      sasl_username: admin
      sasl_password: "{{ dc_a_admin_password }}"
      ssl_ca_location: /etc/ssl/dc_a.pem
    source: dc_a
    target: dc_b
    topics: [orders, 'audit[.].*']
    state: caught_up
    max_heartbeat_age: 30
    timeout: 900
  delegate_to: localhost
"""

RETURN = r"""
flow:
  description: Source and target as MirrorMaker writes them.
  type: str
  returned: when the clusters were seen
  sample: dc_a->dc_b
lag:
  description: >-
    Records that the flow is behind. Offsets that compaction emptied count too; while much is behind so do the markers
    of transactions.
  type: int
  returned: when both clusters were seen, not with O(state=alive)
caught_up:
  description: Whether RV(lag) is at most O(max_lag) and there are no RV(problems).
  type: bool
  returned: when both clusters were seen, not with O(state=alive)
alive:
  description: Whether there are no RV(problems).
  type: bool
  returned: when the target was seen, with O(state=alive)
problems:
  description: What else is not as it should be, one sentence each.
  type: list
  elements: str
  returned: when the clusters were seen
  sample: ["not in dc_b: dc_a.orders"]
partitions_total:
  description: Partitions that the flow covers.
  type: int
  returned: when both clusters were seen, not with O(state=alive)
partitions_done:
  description: Partitions of which every record is in the target.
  type: int
  returned: when both clusters were seen, not with O(state=alive)
topics:
  description: >-
    The topics of the flow, each with its name in source and target, target_partitions (null when it is not there),
    lag and partitions; each of these with partition, source_end (the last stable offset; null when no broker tells),
    position (the next offset that will be mirrored; null when the mirror has written down none) and lag.
  type: list
  elements: dict
  returned: when both clusters were seen, not with O(state=alive)
  sample: [{source: orders, target: dc_a.orders, target_partitions: 1, lag: 2,
            partitions: [{partition: 0, source_end: 100, position: 98, lag: 2}]}]
heartbeat_age_ms:
  description: >-
    Milliseconds since the latest heartbeat that came through the mirror was written into the source, by the clocks of
    the mirror and of the machine that asks; null when there is none.
  type: int
  returned: when the clusters were seen
checkpoint_age_ms:
  description: >-
    Milliseconds since the latest translated offset of a consumer group was written; null when there is none.
    MirrorMaker writes none while no group moves.
  type: int
  returned: when both clusters were seen, not with O(state=alive)
tuning_topics:
  description: >-
    Topics that a tuning of a mirror made, by the name of the cluster that has them. While no tuning is under way, a
    killed one left them.
  type: dict
  returned: when both clusters were seen, not with O(state=alive)
  sample: {dc_a: [_streamops_tune_load]}
history:
  description: >-
    What was seen look by look, at most the last 500, and the last 3 of a wait that failed; C(elapsed) is in
    seconds.
  type: list
  elements: dict
  returned: when the clusters were seen
elapsed:
  description: Seconds that were waited.
  type: float
  returned: when the clusters were seen
looks:
  description: Number of looks.
  type: int
  returned: when the clusters were seen
"""

from ..module_utils._client.module import run_with_connection
from ..module_utils._core.module import SecretModule
from ..module_utils._mirror.apply import mirror_status
from ..module_utils._mirror.look import FLOW_SPEC
from ..module_utils._mirror.wait import WAIT_OPTIONS

ARGUMENT_SPEC = {
    **FLOW_SPEC,
    "max_lag": {"type": "int", "default": 0},
    "max_heartbeat_age": {"type": "int", "default": 0},
    "heartbeat_since": {"type": "float", "default": 0},
    **WAIT_OPTIONS,
}


def main() -> None:
    """Look once; the action plugin of the same name repeats this and waits."""
    run_with_connection(ARGUMENT_SPEC, mirror_status, kind=SecretModule)


if __name__ == "__main__":
    main()
