#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Take one step of a planned failover of a mirrored site, or take the failover back."""

from __future__ import annotations

DOCUMENTATION = r"""
module: mirror_failover
short_description: Take one step of a planned failover of a mirrored site
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Takes the next step of a failover by a flow of MirrorMaker 2, or takes the failover back.
    M(streamops.kafka.mirror_failover_info) says what it would cost, and how far it is.
  - The steps are C(fenced) (no topic of the source is written), C(drained) (the target has all records), C(moved) (the
    offsets of all groups are in the target), C(turned) (clients may start at the target) and C(done) (what was denied
    is allowed again).
  - With O(source_lost) the steps are C(moved) (groups that lack an offset in the target have that of their last
    checkpoint) and C(turned). Then no step is left, and the record waits for the failover back, whose step C(done)
    takes it away.
  - The target keeps how far the failover is, in its topic C(_streamops_state). A step that was cut is repeated by the
    next run.
  - With O(policy=identity) the step C(turned) also writes into the source where a flow back begins, at the ends that
    the target has then. So the flow back copies only what is written later. It sets no position back.
  - Each step looks at both clusters, and fails with each reason where its stage is not reached. Then the stage stays
    as it was.
extends_documentation_fragment:
  - streamops.kafka._attributes
  - streamops.kafka._connection
  - streamops.kafka._connection.source
  - streamops.kafka._mirror_flow
  - streamops.kafka._mirror_flow.failover
  - streamops.kafka._mirror_flow.gaps
  - streamops.kafka._mirror_flow.fence
  - streamops.kafka._mirror_flow.lost
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
      - V(next) takes the next step.
      - V(back) allows again what the failover has denied, and forgets it. Once clients may start at the target it is
        refused.
    type: str
    choices: [next, back]
    required: true
  operator:
    description: Who takes the steps. A failover that somebody else has begun is refused.
    type: str
    required: true
  stage:
    description: >-
      The stage that the next step must lead to, as RV(stage) of an earlier run in check mode has it. Where another run
      has taken a step since, this one is refused, and nothing is changed. Empty takes any. It is not looked at with
      V(back).
    type: str
    default: ""
  flow_enabled:
    description: >-
      Whether C(mirror_flows) enables the flow. The last step needs it disabled, all others enabled. With
      O(source_lost) the step C(turned) needs it disabled.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: Stop the writers of the source
  streamops.kafka.mirror_failover:
    bootstrap_servers: [b1.example.com:9092]
    source_connection:
      bootstrap_servers: [a1.example.com:9092]
    source: dc_a
    target: dc_b
    topics: [orders, 'audit[.].*']
    step: next
    operator: alice
    writers: ["User:orders"]
  delegate_to: localhost
"""

RETURN = r"""
flow:
  description: Source and target as MirrorMaker writes them.
  type: str
  returned: success
  sample: dc_a->dc_b
stage:
  description: >-
    The stage that was reached: fenced, drained, moved, turned or done; in check mode the one that would be. Empty once
    it was taken back.
  type: str
  returned: success
  sample: fenced
denied:
  description: What the failover has denied, principal and topic of the source each. Empty once it is allowed again.
  type: list
  elements: dict
  returned: success
  sample: [{principal: "User:orders", topic: orders}]
lines:
  description: What was done, what groups read again, and what to do next, for people.
  type: list
  elements: str
  returned: success
  sample: ["Failover     dc_a->dc_b, fenced", "Denied       User:orders may not write orders"]
"""

from ..module_utils._client.module import run_with_connection
from ..module_utils._core.module import SecretModule
from ..module_utils._mirror_failover.look import FAILOVER_SPEC, FENCE_SPEC, LOST_SPEC
from ..module_utils._mirror_failover.loss_apply import failover_step
from ..module_utils._mirror_failover.steps_apply import BACK, NEXT

ARGUMENT_SPEC = {
    **FAILOVER_SPEC,
    **FENCE_SPEC,
    **LOST_SPEC,
    "step": {"type": "str", "choices": [NEXT, BACK], "required": True},
    "operator": {"type": "str", "required": True},
    "stage": {"type": "str", "default": ""},
    "flow_enabled": {"type": "bool", "default": True},
}


def main() -> None:
    """Take the step."""
    run_with_connection(ARGUMENT_SPEC, failover_step, kind=SecretModule)


if __name__ == "__main__":
    main()
