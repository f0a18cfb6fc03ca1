#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rehearse a planned failover on topics of its own, and tell what it would cost."""

from __future__ import annotations

DOCUMENTATION = r"""
module: mirror_drill
short_description: Rehearse a failover of a mirrored site on topics of its own
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Makes topics of its own in the source of a flow of MirrorMaker 2, takes the steps of a planned failover for them as
    M(streamops.kafka.mirror_failover) does, and counts each record at the target. It also counts what the target would
    lack if the source were lost without notice.
  - It changes no other topic, group, offset or ACL. With O(drill_topics) it reads the last records of these topics.
  - The names of what it makes stand in the topic C(_streamops_state) of the target before it is made. All of it is
    deleted at its end, also after a failure; what a killed run left is deleted by the next one.
  - The target keeps how the last drill of each flow ended.
  - In check mode it asks both clusters what hinders a failover of the flow now, and says what a drill would do.
  - Run one drill of a flow at a time, as the playbook C(mirror_drill.yml) does by the locks of both clusters.
extends_documentation_fragment:
  - streamops.kafka._attributes
  - streamops.kafka._connection
  - streamops.kafka._connection.source
  - streamops.kafka._mirror_flow
  - streamops.kafka._mirror_flow.failover
  - streamops.kafka._mirror_flow.gaps
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
    details: It returns lines for people.
  idempotent:
    support: none
    details: Each run is a drill.
options:
  state:
    description:
      - V(run) runs a drill. It fails where the drill fails.
      - V(last) tells how the last one ended. It asks only the target, and changes nothing.
    type: str
    choices: [run, last]
    default: run
  drill_topics:
    description: >-
      Topics of the flow whose last records are copied into the topics of the drill, 20 at most, and of each at most
      1,000 records and 10 MiB, without records above 64 KiB. Without this option the drill has one topic with records
      of its own.
    type: list
    elements: str
    default: []
  operator:
    description: Who runs the drill. It is kept with the result.
    type: str
    default: ''
  timeout:
    description: Seconds without any progress after which the mirror counts as stopped.
    type: int
    default: 300
"""

EXAMPLES = r"""
- name: Rehearse the failover from dc_a to dc_b
  streamops.kafka.mirror_drill:
    bootstrap_servers: [b1.example.com:9092]
    source_connection:
      bootstrap_servers: [a1.example.com:9092]
    source: dc_a
    target: dc_b
    topics: [orders, 'audit[.].*']
    drill_topics: [orders]
    operator: alice
  delegate_to: localhost
"""

RETURN = r"""
flow:
  description: Source and target as MirrorMaker writes them.
  type: str
  returned: success
  sample: dc_a->dc_b
drill:
  description: >-
    How the drill ended; of a failed one in C(failure.drill). Null in check mode, and where there was none yet.
  type: dict
  returned: success
  contains:
    at:
      description: When it ended, in UTC.
      type: str
      sample: "2026-01-31T02:10:00Z"
    by:
      description: Who ran it; empty where nobody was named.
      type: str
    passed:
      description: Whether a failover would have gone as planned.
      type: bool
    why:
      description: Why it failed, a sentence each.
      type: list
      elements: str
    rto:
      description: The longer one of C(rto_read) and C(rto_written), in seconds.
      type: float
      sample: 21.4
    rto_read:
      description: Seconds from the last acknowledged record of the source to the first record read in the target.
      type: float
    rto_written:
      description: Seconds from the last acknowledged record of the source to the first record written in the target.
      type: float
    seconds:
      description: Seconds of each part, C(copied), C(written), C(fenced), C(drained), C(moved), C(turned), C(counted).
      type: dict
    counts:
      description: >-
        Records that were C(acknowledged) by the source, are C(missing) in the target, were read C(again) by the group
        and may be by the plan (C(again_at_most)), were C(skipped) by it, and were copied C(twice).
      type: dict
    loss:
      description: >-
        As after a loss of the source, the records that were C(acknowledged) when the writer was cut, those that were
        C(missing) in the target at that moment, the age of the oldest of these in C(seconds), and C(look_seconds) that
        the look at the target took.
      type: dict
days:
  description: Whole days since the last drill ended. Null where there was none.
  type: int
  returned: with O(state=last)
  sample: 12
lines:
  description: The drill for people, its verdict first; in check mode what it would do.
  type: list
  elements: str
  returned: success
  sample: ["Drill        dc_a->dc_b, passed", "RPO          0 of 200 acknowledged records are not in dc_b"]
"""

from ..module_utils._client.module import run_with_connection
from ..module_utils._core.module import SecretModule
from ..module_utils._mirror_drill.apply import LAST, RUN, mirror_drill
from ..module_utils._mirror_failover.look import FAILOVER_SPEC

ARGUMENT_SPEC = {
    **FAILOVER_SPEC,
    "state": {"type": "str", "choices": [RUN, LAST], "default": RUN},
    "drill_topics": {"type": "list", "elements": "str", "default": []},
    "operator": {"type": "str", "default": ""},
    "timeout": {"type": "int", "default": 300},
}


def main() -> None:
    """Run the drill."""
    run_with_connection(ARGUMENT_SPEC, mirror_drill, kind=SecretModule)


if __name__ == "__main__":
    main()
