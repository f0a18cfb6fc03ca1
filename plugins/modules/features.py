#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Raise the features of a cluster, or take them back."""

from __future__ import annotations

DOCUMENTATION = r"""
module: features
short_description: Raise the features of a Kafka cluster, or take them back
version_added: "0.1.0"
author: The streamops engineers (@streamops)
description:
  - Finalizes levels of features (KIP-584, KIP-1022) after all nodes have a new release, one feature after the other,
    metadata.version first, each seen by every live broker before the next.
  - Changes only the features that are named. kraft.version in particular is never raised along with others.
  - Everything is refused, and nothing is changed, while a node or a registration does not support a level; the nodes
    are named.
  - Takes a feature back only where Kafka loses nothing by that. An unsafe downgrade is never asked for.
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
  state:
    description:
      - V(present) brings O(features) to their levels.
      - V(at_least) raises O(features) to their levels and leaves those that are higher, as after another tool has
        raised them.
      - V(newest) raises O(names) to the highest level that all nodes support.
    type: str
    choices: [present, at_least, newest]
    default: present
  features:
    description:
      - Levels by the name of the feature.
      - For metadata.version also a name (C(4.3-IV0)) or a release (C("4.3"), whose last level is meant), in quotes.
    type: dict
  names:
    description: The features that O(state=newest) raises.
    type: list
    elements: str
  upgrade_type:
    description:
      - V(upgrade) only raises levels, V(safe_downgrade) only takes them back.
      - metadata.version cannot be taken back over a level that changes what the metadata log holds, kraft.version
        never.
    type: str
    choices: [upgrade, safe_downgrade]
    default: upgrade
  controller_protocol:
    description:
      - The security protocol of the listener of controllers that are no brokers, when it is not O(security_protocol).
      - They are asked there what they support, before any login, with the TLS files of the connection.
    type: str
    choices: [PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL]
  timeout:
    description: Longest time in seconds to wait, for each feature, until every live broker knows its level.
    type: int
    default: 60
seealso:
  - module: streamops.kafka.features_info
"""

EXAMPLES = r"""
- name: What raising two features would do
  streamops.kafka.features:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    features:
      metadata.version: "4.3"
      group.version: 1
  delegate_to: localhost
  check_mode: true
  register: plan

- name: Raise metadata.version to what all nodes support
  streamops.kafka.features:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    state: newest
    names: [metadata.version]
  delegate_to: localhost

- name: Do without eligible leader replicas again
  streamops.kafka.features:
    bootstrap_servers: [kafka1.example.com:9092, kafka2.example.com:9092]
    features: {eligible.leader.replicas.version: 0}
    upgrade_type: safe_downgrade
  delegate_to: localhost
"""

RETURN = r"""
changes:
  description: >-
    What was changed, in check mode what would be, in this order; each with feature, from, to, from_name and to_name (of
    metadata.version), can_be_taken_back, way_back (how, or why not) and brings (what it is for).
  type: list
  elements: dict
  returned: success
  sample:
    - {feature: metadata.version, from: 25, to: 30, from_name: 4.0-IV3, to_name: 4.3-IV0, can_be_taken_back: false,
       way_back: "It cannot be taken back below 4.3-IV0, which changes what the metadata log holds.",
       brings: "It brings cordoned log directories (4.3, KIP-1066)."}
unchanged:
  description: The features that have their level already.
  type: list
  elements: str
  returned: success
  sample: [group.version]
"""

from ..module_utils._client.module import run_on_cluster
from ..module_utils._core.applied import asked_again
from ..module_utils._features.apply import ensure_features

ARGUMENT_SPEC = {
    "state": {"type": "str", "choices": ["present", "at_least", "newest"], "default": "present"},
    "features": {"type": "dict"},
    "names": {"type": "list", "elements": "str"},
    "upgrade_type": {"type": "str", "choices": ["upgrade", "safe_downgrade"], "default": "upgrade"},
    "controller_protocol": {"type": "str", "choices": ["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]},
    "timeout": {"type": "int", "default": 60},
}


def main() -> None:
    """Run the module."""
    run_on_cluster(
        ARGUMENT_SPEC,
        ensure_features,
        again=asked_again,
        required_if=[
            *(("state", state, ["features"]) for state in ("present", "at_least")),
            ("state", "newest", ["names"]),
        ],
        mutually_exclusive=[("features", "names")],
    )


if __name__ == "__main__":
    main()
