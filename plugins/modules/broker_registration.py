#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at and change the registration of a broker."""

from __future__ import annotations

DOCUMENTATION = r"""
module: broker_registration
short_description: Look at and change the registration of a broker
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Tells which brokers a cluster has registered, fenced (they are down, or not yet up) and cordoned (they get no new
    replicas, KIP-1066), cordons a broker before it is drained, and takes away the registration of one that is gone.
  - A stopped KRaft broker stays registered until it is unregistered. Until then it gets replicas of new topics and
    keeps metadata.version from being raised.
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
  broker:
    description: Node id of the broker. Without it O(state=present) tells of all.
    type: int
  state:
    description:
      - V(present) tells and changes nothing.
      - V(cordoned) keeps new replicas away from all log directories of the broker, V(uncordoned) lets them come again.
        Both need Kafka 4.3 with metadata.version 4.3, and a broker that runs.
      - V(unregistered) takes the registration away. Refused while the broker is alive or has a replica; KRaft only.
    type: str
    choices: [present, cordoned, uncordoned, unregistered]
    default: present
  timeout:
    description: Longest time in seconds to wait until the cluster shows the change.
    type: int
    default: 60
"""

EXAMPLES = r"""
- name: Which brokers are registered, fenced, cordoned
  streamops.kafka.broker_registration:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
  delegate_to: localhost
  register: registrations

- name: Keep new replicas away from broker 3
  streamops.kafka.broker_registration:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    broker: 3
    state: cordoned
  delegate_to: localhost

- name: Forget broker 3, which is drained and stopped
  streamops.kafka.broker_registration:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    broker: 3
    state: unregistered
  delegate_to: localhost
"""

RETURN = r"""
brokers:
  description: >-
    The brokers, or the one asked for, with id, registered, fenced, cordoned, cordoned_log_dirs, host, port and rack.
    cordoned is null for a broker that is not alive, and where the version does not have it.
  type: list
  elements: dict
  returned: success
  sample:
    - {id: 3, registered: true, fenced: false, cordoned: true, cordoned_log_dirs: ["*"], host: h, port: 9092, rack: a}
"""

from ..module_utils._brokers.registration_apply import ensure_registration
from ..module_utils._client.module import run_on_cluster
from ..module_utils._core.applied import asked_again

STATES = ["present", "cordoned", "uncordoned", "unregistered"]
ARGUMENT_SPEC = {
    "broker": {"type": "int"},
    "state": {"type": "str", "choices": STATES, "default": "present"},
    "timeout": {"type": "int", "default": 60},
}


def main() -> None:
    """Run the module."""
    run_on_cluster(
        ARGUMENT_SPEC,
        ensure_registration,
        again=asked_again,
        required_if=[("state", state, ["broker"]) for state in STATES[1:]],
    )


if __name__ == "__main__":
    main()
