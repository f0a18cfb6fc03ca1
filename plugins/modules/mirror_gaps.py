#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Name the records of the source that a mirror can no longer copy."""

from __future__ import annotations

DOCUMENTATION = r"""
module: mirror_gaps
short_description: Name the records of the source that a mirror can no longer copy
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Compares the position of a mirror in each partition with the first offset that the source still holds, with the end
    of its log and with the id of its topic, now and at the last look.
  - MirrorMaker goes on at the first record that is left and reports nothing when the source deleted records before they
    were mirrored. This module names their offsets.
  - What the next look must know, and the gaps so far, it keeps in the topic C(_streamops_state) of the target.
  - Offsets that compaction or transactions emptied inside of a log are no gaps.
extends_documentation_fragment:
  - streamops.kafka._attributes
  - streamops.kafka._connection
  - streamops.kafka._connection.source
  - streamops.kafka._mirror_flow
  - streamops.kafka._mirror_flow.gaps
attributes:
  check_mode:
    support: full
    details: Looks, and keeps nothing for the next look; forgets nothing.
  diff_mode:
    support: none
    details: It changes nothing in the topics of a flow.
  idempotent:
    support: full
options:
  engine:
    description: What mirrors. Of the legacy MirrorMaker a gap is seen only while it has not passed it.
    type: str
    choices: [mirror_maker_2, legacy]
    default: mirror_maker_2
  state:
    description:
      - V(observed) looks once, and returns the gaps of this look and of those before.
      - V(forgotten) says nothing more of the gaps so far, because they have been dealt with. It does not look, and the
        source is not asked.
    type: str
    choices: [observed, forgotten]
    default: observed
"""

EXAMPLES = r"""
- name: Has the source deleted what was not mirrored?
  streamops.kafka.mirror_gaps:
    bootstrap_servers: [b1.example.com:9092]
    source_connection:
      bootstrap_servers: [a1.example.com:9092]
    source: dc_a
    target: dc_b
    topics: [orders, 'audit[.].*']
  delegate_to: localhost
  register: mirror
  failed_when: mirror.gaps | default([]) | selectattr('certain') | list | length > 0

- name: The missing records were loaded in another way
  streamops.kafka.mirror_gaps:
    bootstrap_servers: [b1.example.com:9092]
    source_connection:
      bootstrap_servers: [a1.example.com:9092]
    source: dc_a
    target: dc_b
    topics: [orders, 'audit[.].*']
    state: forgotten
  delegate_to: localhost

- name: Show where how many records are missing for certain (the filter needs jmespath, see requirements.txt)
  ansible.builtin.debug:
    msg: "{{ mirror | community.general.json_query('gaps[?certain].[topic, partition, records]') }}"
"""

RETURN = r"""
flow:
  description: Source and target as MirrorMaker writes them.
  type: str
  returned: success
  sample: dc_a->dc_b
gaps:
  description: >-
    The gaps that are known, the oldest first, at most the latest 1,000. Each has kind (purged, truncated,
    truncated_unmirrored, recreated, deleted), topic, partition, first, last (offsets of the source), records (how many
    of these offsets are missing; how many at most where it is not certain),
    certain and seen_at (time of the look that found it). Partition, first and last are null for a topic that was
    created again and lost nothing that is known. It is certain when an earlier look read committed records there that
    were not mirrored, and then records is how many it read, up to 1,000 and the last one. It is not certain when no
    look did, since markers and aborted records of transactions have offsets too; when the topic is compacted, or
    nobody told whether it is; when a mirror has gone on since its topic was created again or its log was cut; or when
    offset syncs do not tell whether it left out these or others near them. Which it is says doubt (unseen, compacted,
    no_policy, moved_on, read_again, unplaced; still_there where the source still has them, so that the audit of mirrors
    compares them; empty where it is certain).
  type: list
  elements: dict
  returned: success
  sample: [{kind: purged, topic: orders, partition: 0, first: 60, last: 79, records: 20, certain: true,
            doubt: "", seen_at: "2026-01-31T03:30:00Z"}]
lines:
  description: The same gaps, one sentence each.
  type: list
  elements: str
  returned: success
  sample: ["orders-0: offsets 60 to 79 (20 records) are missing: the source deleted them before they were mirrored"]
records:
  description: How many records are missing for certain.
  type: int
  returned: success
forgotten:
  description: The gaps of which nothing more is said, one sentence each; in check mode those of which nothing would be.
  type: list
  elements: str
  returned: with O(state=forgotten)
  sample: ["orders-0: offsets 60 to 79 (20 records) are missing: the source deleted them before they were mirrored"]
since_look:
  description: Whether there was an earlier look, without which no topic is known to have been created again.
  type: bool
  returned: with O(state=observed)
"""

from ..module_utils._client.module import run_with_connection
from ..module_utils._core.module import SecretModule
from ..module_utils._mirror.gaps_apply import FORGOTTEN, mirror_gaps
from ..module_utils._mirror.look import FLOW_SPEC, GAPS_SPEC

ARGUMENT_SPEC = {
    **FLOW_SPEC,
    **GAPS_SPEC,
    "source": {"type": "str", "required": True},
    "target": {"type": "str", "required": True},
    "engine": {"type": "str", "choices": ["mirror_maker_2", "legacy"], "default": "mirror_maker_2"},
    "state": {"type": "str", "choices": ["observed", FORGOTTEN], "default": "observed"},
}


def main() -> None:
    """Look once."""
    run_with_connection(ARGUMENT_SPEC, mirror_gaps, kind=SecretModule)


if __name__ == "__main__":
    main()
