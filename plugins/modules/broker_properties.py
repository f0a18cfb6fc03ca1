#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what a broker runs with, and compare it with what it ran with before."""

from __future__ import annotations

DOCUMENTATION = r"""
module: broker_properties
short_description: Read what a broker runs with, and compare it with before
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Asks a broker for all properties that it runs with, Kafka's defaults and what was set live among them
    (DescribeConfigs), and returns them, or with O(before) compares them with an earlier answer.
  - It fails where a property differs that O(planned) does not name. The values of secrets are never read or shown; of
    them, and of properties that Kafka does not know, it compares whether they are set.
  - A live setting of the broker counts as gone with O(before) where the file of the broker says the property too, as
    C(site.yml) takes it away then.
extends_documentation_fragment:
  - streamops.kafka._attributes.look
  - streamops.kafka._connection
options:
  broker:
    description: Node id of the broker, which has to run.
    type: int
    required: true
  before:
    description: RV(properties) of an earlier run of this module. Without it nothing is compared.
    type: dict
  planned:
    description: Names of properties that were to change.
    type: list
    elements: str
    default: []
seealso:
  - module: streamops.kafka.broker_configs
"""

EXAMPLES = r"""
- name: Read what broker 1 runs with
  streamops.kafka.broker_properties:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    broker: 1
  delegate_to: localhost
  register: before

# Here the broker is started by another service.

- name: Compare what it runs with now
  streamops.kafka.broker_properties:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    broker: 1
    before: "{{ before.properties }}"
    planned: [num.io.threads]
  delegate_to: localhost
"""

RETURN = r"""
properties:
  description: >-
    By name C(value) (null where it has none, and of a secret), C(kind) (Kafka's type), C(is_set) (whether anything but
    Kafka's default says it) and C(is_secret).
  type: dict
  returned: without O(before)
  sample: {num.io.threads: {value: "8", kind: INT, is_set: false, is_secret: false}}
identical:
  description: How many properties it runs with as before.
  type: int
  returned: with O(before)
  sample: 301
planned:
  description: Those of O(planned) that differ.
  type: list
  elements: str
  returned: with O(before)
  sample: [num.io.threads]
line:
  description: The same for people.
  type: str
  returned: with O(before)
  sample: "broker 1: 301 properties identical, 1 differ as planned (num.io.threads)"
"""

from ..module_utils._brokers.properties_look import broker_properties
from ..module_utils._client.module import run_on_cluster

ARGUMENT_SPEC = {
    "broker": {"type": "int", "required": True},
    "before": {"type": "dict"},
    "planned": {"type": "list", "elements": "str", "default": []},
}


def main() -> None:
    """Run the module."""
    run_on_cluster(ARGUMENT_SPEC, broker_properties)


if __name__ == "__main__":
    main()
