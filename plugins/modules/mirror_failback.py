#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lead back to a source that was lost and answers again: say what it has alone, keep it, begin the flow back."""

from __future__ import annotations

DOCUMENTATION = r"""
module: mirror_failback
short_description: Lead back to a mirrored site that was lost and answers again
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Goes on from the record that M(streamops.kafka.mirror_failover) made in the target when the source was lost and the
    target was opened. Says what the source has that the target lacks (the surplus), and takes the next step.
  - The steps are C(fenced) (no topic of the source is written, and it is noted where the surplus begins), C(kept) (the
    surplus is in topics of its own in the target, and was read back) and C(begun) (it is set where the flow back
    begins). Then the flow back is enabled, and M(streamops.kafka.mirror_failover) fails over by it. The step C(turned)
    of that failover allows O(writers) to write again.
  - The surplus begins behind the record of the source that equals the last one of the copy by key, value, headers and
    timestamp. Where none is found, all is kept that stands above the offset below which all is known to be copied.
  - The surplus of C(orders) stands in C(_streamops_surplus.DATE-TIME.orders), with date and time of the
    loss in UTC, in the same partitions. Nothing in it expires. A topic of that name with other records is refused.
  - Nothing is deleted in the source.
extends_documentation_fragment:
  - streamops.kafka._attributes
  - streamops.kafka._connection
  - streamops.kafka._connection.source
  - streamops.kafka._mirror_flow
  - streamops.kafka._mirror_flow.failover
  - streamops.kafka._mirror_flow.gaps
  - streamops.kafka._mirror_flow.fence
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
    details: It returns lines for people.
  idempotent:
    support: none
    details: Each run takes one step.
options:
  step:
    description:
      - V(next) takes the next step. Empty only says what the source has alone, and how far the failback is.
      - V(back) allows again what the failback has denied, so that only the record of the loss is left. It needs
        O(writers_stopped), because the target stays open. Once the step C(kept) has made a topic, or is reached, it is
        refused.
    type: str
    choices: ['', next, back]
    default: ''
  operator:
    description: Who takes the steps; required with O(step). A failback that somebody else has begun is refused.
    type: str
    default: ''
  flow_enabled:
    description: Whether C(mirror_flows) enables the flow, which would copy the surplus. Each step needs it disabled.
    type: bool
    default: false
  timeout:
    description: Seconds without any progress after which a step fails.
    type: int
    default: 600
  interval:
    description: Seconds between two calls of a step that copies.
    type: float
    default: 0.5
"""

EXAMPLES = r"""
- name: What does dc_a have alone?
  streamops.kafka.mirror_failback:
    bootstrap_servers: [b1.example.com:9092]
    source_connection:
      bootstrap_servers: [a1.example.com:9092]
    source: dc_a
    target: dc_b
    topics: [orders, 'audit[.].*']
  delegate_to: localhost
  register: failback

- name: Show it
  ansible.builtin.debug:
    msg: "{{ failback.lines }}"
"""

RETURN = r"""
flow:
  description: Source and target as MirrorMaker writes them.
  type: str
  returned: success
  sample: dc_a->dc_b
stage:
  description: The stage that was reached; in check mode the one that would be. Empty for a plan.
  type: str
  returned: success
  sample: kept
next_step:
  description: The stage that the next step leads to; empty where none is left.
  type: str
  returned: success
  sample: begun
is_over:
  description: Whether this call ends the step; if not, the surplus of more partitions is to be kept.
  type: bool
  returned: success
  sample: true
partitions_kept:
  description: How many partitions have their surplus kept.
  type: int
  returned: success
  sample: 3
partitions_to_keep:
  description: How many partitions have a surplus, in the step C(kept); else 0.
  type: int
  returned: success
  sample: 3
kept:
  description: >-
    By topic of the source the topic of the target that keeps its surplus (kept_in), and how many records it has.
  type: list
  elements: dict
  returned: success
  sample: [{topic: orders, kept_in: _streamops_surplus.2026-11-30-032000.orders, records: 120}]
lines:
  description: The plan, or what was done and what to do next, for people.
  type: list
  elements: str
  returned: success
  sample: ["Surplus      120 records are in dc_a and not in dc_b (orders 120)"]
"""

from ..module_utils._client.module import run_with_connection
from ..module_utils._core.module import SecretModule
from ..module_utils._mirror_failover.failback_apply import mirror_failback
from ..module_utils._mirror_failover.look import FAILOVER_SPEC, FENCE_SPEC
from ..module_utils._mirror_failover.steps_apply import BACK, NEXT
from ..module_utils._mirror_failover.wait import WAIT_OPTIONS

ARGUMENT_SPEC = {
    **FAILOVER_SPEC,
    **FENCE_SPEC,
    **WAIT_OPTIONS,
    "operator": {"type": "str", "default": ""},
    "flow_enabled": {"type": "bool", "default": False},
}


def main() -> None:
    """Look, or take the step."""
    run_with_connection(
        ARGUMENT_SPEC,
        mirror_failback,
        kind=SecretModule,
        required_if=[("step", step, ["operator"]) for step in (NEXT, BACK)],
    )


if __name__ == "__main__":
    main()
