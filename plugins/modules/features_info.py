#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look at the features of a cluster."""

from __future__ import annotations

DOCUMENTATION = r"""
module: features_info
short_description: Look at the features of a Kafka cluster
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Tells for each feature (KIP-584, KIP-1022), such as metadata.version and group.version, which level is finalized and
    which levels every broker and controller supports, and which features are below what all nodes could run.
  - Names the nodes that keep a feature down, and registrations that count although their nodes do not answer.
  - A node that has a new release does not use its new features before their levels are raised with
    M(streamops.kafka.features).
  - The module validates the highest levels with the controller (a request that changes nothing), since the controller
    alone knows what nodes that are down registered with. That needs the right to alter the cluster; without it
    RV(unasked) says so. O(ask_controller=false) leaves the request out.
extends_documentation_fragment:
  - streamops.kafka._attributes.look
  - streamops.kafka._connection
options:
  controller_protocol:
    description:
      - The security protocol of the listener of controllers that are no brokers, when it is not O(security_protocol).
      - They are asked there what they support, before any login, with the TLS files of the connection.
    type: str
    choices: [PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL]
  ask_controller:
    description:
      - Whether the module validates the highest levels with the controller. A controller that does not answer costs
        up to the longest time of a request.
    type: bool
    default: true
"""

EXAMPLES = r"""
- name: Which features are below what all nodes could run
  streamops.kafka.features_info:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
  delegate_to: localhost
  register: found

- name: Show it
  ansible.builtin.debug:
    var: found.lines
"""

RETURN = r"""
epoch:
  description: >-
    The epoch of the finalized features, in KRaft an offset of the metadata log, which grows without a change of theirs;
    null where there are none (ZooKeeper mode).
  type: int
  returned: success
  sample: 412
features:
  description: >-
    The features with name, finalized (the level, 0 where none is), finalized_name (of metadata.version), min and max
    (what all nodes support that told), max_name, below (whether finalized is less than max), held_by (the nodes that
    support less than others), and refusal (why the controller would refuse max; null when it would not or was not
    asked).
  type: list
  elements: dict
  returned: success
  sample:
    - {name: metadata.version, finalized: 25, finalized_name: 4.0-IV3, min: 7, max: 30, max_name: 4.3-IV0, below: true,
       held_by: [], refusal: null}
below:
  description: The features that are below what all nodes could run.
  type: list
  elements: str
  returned: success
  sample: [metadata.version]
nodes:
  description: >-
    The nodes with id, kind (broker, also for one that is a controller too, or controller), fenced, supported (by
    feature its min and max, null where it did not tell) and why (it did not).
  type: list
  elements: dict
  returned: success
  sample:
    - {id: 1, kind: broker, fenced: false, supported: {metadata.version: {min: 7, max: 30}}, why: null}
ghosts:
  description: Brokers that are registered and fenced. They count when a feature is raised.
  type: list
  elements: str
  returned: success
  sample: [broker 7]
unknown:
  description: Nodes that did not tell what they support.
  type: list
  elements: str
  returned: success
  sample: [broker 7]
unasked:
  description: >-
    Why the controller could not be asked what it would refuse; null where it was, and with O(ask_controller=false).
  type: str
  returned: success
lines:
  description: The same for people.
  type: list
  elements: str
  returned: success
  sample: [metadata.version is 4.0-IV3 (level 25) although all nodes could run 4.3-IV0 (level 30)]
"""

from ..module_utils._client.module import run_on_cluster
from ..module_utils._features.look import features_info

ARGUMENT_SPEC = {
    "controller_protocol": {"type": "str", "choices": ["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]},
    "ask_controller": {"type": "bool", "default": True},
}


def main() -> None:
    """Run the module."""
    run_on_cluster(ARGUMENT_SPEC, features_info)


if __name__ == "__main__":
    main()
