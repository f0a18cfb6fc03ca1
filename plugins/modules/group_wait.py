#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait until groups have read what there is."""

from __future__ import annotations

DOCUMENTATION = r"""
module: group_wait
short_description: Wait until groups have read what there is
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Waits, bounded, until the lag of all named groups together is at most O(max_lag) records, or the oldest record that
    they have not read at most O(max_lag_seconds) old. It changes nothing.
  - Shows one line per interval with the records that are left, rate and time left.
  - Where a group has never committed an offset, the whole log counts as not read. Of a deleted topic nothing is left to
    read. While a lag is unknown, as when a broker does not answer, the goal is not reached.
options:
  groups:
    description: Names of the groups. A name that no broker knows fails at once.
    type: list
    elements: str
    required: true
  topics:
    description: >-
      Wait for these topics only. While a group has neither an offset nor a member in one of them, the goal is not
      reached.
    type: list
    elements: str
  max_lag:
    description: >-
      Most records that may be left, over all groups and topics. The default is 0, and no bound where
      O(max_lag_seconds) is given.
    type: int
  max_lag_seconds:
    description: >-
      Longest time since the oldest record that a group has not read was written, by the time in the record. Given
      together with O(max_lag), both must hold.
    type: int
  timeout:
    description: >-
      Seconds without progress after which the wait fails: it counts anew whenever fewer records are left or less is
      unknown than ever before, up to 60 times. The look that has begun is finished.
    type: int
    default: 300
  interval:
    description: Seconds between two looks.
    type: float
    default: 5.0
  start_timeout:
    description: >-
      Seconds that the cluster may be unreachable at the beginning. Once it has answered, an unreachable cluster is
      shown and tolerated until O(timeout), since brokers may be restarting.
    type: int
    default: 30
extends_documentation_fragment:
  - streamops.kafka._attributes
  - streamops.kafka._connection
attributes:
  check_mode:
    support: full
    details: >-
      Looks once and reports; it does not fail because of a lag, and fails when the cluster cannot be reached or a group
      does not exist.
  diff_mode:
    support: none
    details: It changes nothing.
  idempotent:
    support: full
seealso:
  - module: streamops.kafka.group_info
"""

EXAMPLES = r"""
- name: Wait until billing has read all orders
  streamops.kafka.group_wait:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    groups: [billing]
    topics: [orders]
    timeout: 900
  delegate_to: localhost

- name: Wait until billing is no more than a minute late, however much is written
  streamops.kafka.group_wait:
    bootstrap_servers: kafka1.example.com:9092
    groups: [billing]
    max_lag_seconds: 60
  delegate_to: localhost
"""

RETURN = r"""
reached:
  description: Whether the lag was within O(max_lag) and O(max_lag_seconds) in the last look.
  type: bool
  returned: success
lag:
  description: Records that are left, as far as known.
  type: int
  returned: success
lag_seconds:
  description: Age of the oldest record that is left, as far as known; 0 where O(max_lag_seconds) is not given.
  type: int
  returned: success
unknown:
  description: What keeps the lag from being known, a sentence each.
  type: list
  elements: str
  returned: success
missing:
  description: Groups that no broker knows.
  type: list
  elements: str
  returned: success
groups:
  description: The groups with name, state, member_count and lag.
  type: list
  elements: dict
  returned: success
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
  description: Number of looks.
  type: int
  returned: always
"""

from ..module_utils._client.module import run_on_cluster
from ..module_utils._groups.look import group_lag
from ..module_utils._groups.wait import WAIT_OPTIONS


def main() -> None:
    """Look once; the action plugin repeats this and judges."""
    run_on_cluster(WAIT_OPTIONS, group_lag, repeated=True)


if __name__ == "__main__":
    main()
