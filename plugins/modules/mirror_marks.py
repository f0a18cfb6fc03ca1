#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep up to where audits of a mirror found its partitions equal."""

from __future__ import annotations

DOCUMENTATION = r"""
module: mirror_marks
short_description: Keep up to where audits of a mirror found its partitions equal
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Returns the marks that the last audit of a flow left in the topic C(_streamops_state) of the target. The Spark job
    C(mirror_audit) begins at them where C(mirror_audit_incremental) is set.
  - With O(result) it keeps the marks of that audit instead of those before it, and returns how many. At most 100,000
    are kept, those of the partitions with most records; the next audit compares the other partitions whole. A mark that
    another audit has taken away since this one began stays away, unless this one compared its partition whole.
extends_documentation_fragment:
  - streamops.kafka._attributes
  - streamops.kafka._connection
attributes:
  check_mode:
    support: full
    details: Keeps nothing.
  diff_mode:
    support: none
    details: It changes nothing in the topics of a flow.
  idempotent:
    support: full
options:
  source:
    description: Alias of the source, in this collection its C(kafka_cluster_name).
    type: str
    required: true
  target:
    description: Alias of the target, which is the cluster that O(bootstrap_servers) name.
    type: str
    required: true
  result:
    description: >-
      The file C(result.json) of an audit of this flow, on the control node. Nothing is kept of a result without marks
      or of another flow.
    type: path
"""

EXAMPLES = r"""
- name: Up to where is the mirror proven?
  streamops.kafka.mirror_marks:
    bootstrap_servers: [b1.example.com:9092]
    source: dc_a
    target: dc_b
  delegate_to: localhost
  register: proven
"""

RETURN = r"""
marks:
  description: >-
    The marks that are kept, one for each partition that the last audit found equal:
    topic and partition of the source, source_id and target_id (ids of both topics), offset and copy (of the last proven
    record in source and target), its fingerprint, records (how many have been proven), whole_ms (when the partition was
    last compared whole, in milliseconds since 1970).
  type: list
  elements: dict
  returned: without O(result)
partitions:
  description: How many partitions have a mark that is kept; in check mode would have.
  type: int
  returned: success
left_out:
  description: How many clean partitions of O(result) have no mark, because more had one than are kept.
  type: int
  returned: success
taken_away:
  description: >-
    How many clean partitions of O(result) have no mark, because another audit has taken it away since this one began.
  type: int
  returned: success
lines:
  description: The two figures for people, and what they mean; empty where both are 0.
  type: list
  elements: str
  returned: success
  sample:
    - "Marks        clean partitions without one: 12; another audit has taken it away since this one began"
    - "Note         the next audit compares partitions without a mark whole"
"""

from ..module_utils._client.module import run_with_connection
from ..module_utils._mirror.marks_apply import mirror_marks

ARGUMENT_SPEC = {
    "source": {"type": "str", "required": True},
    "target": {"type": "str", "required": True},
    "result": {"type": "path"},
}


def main() -> None:
    """Read or keep marks once."""
    run_with_connection(ARGUMENT_SPEC, mirror_marks)


if __name__ == "__main__":
    main()
