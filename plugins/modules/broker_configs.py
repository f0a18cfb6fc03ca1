#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module: configurations that brokers take while they run."""

from __future__ import annotations

DOCUMENTATION = r"""
module: broker_configs
short_description: Set what brokers take while they run, for one broker or for the whole cluster
version_added: 0.1.0
description:
  - Compares the values that live brokers use with the wanted ones and sets live what differs, without a restart.
    Keys that are not named are left alone.
  - Everything is judged by the cluster before anything is changed. A key that Kafka only reads at the start is
    refused with Kafka's own reason.
  - A number that Kafka takes and that a cluster cannot live with, such as C(log.segment.bytes) 1, is refused with the
    reason before anything is changed, and one that makes it slower or less safe is warned of. These are the bounds that
    the preflight has for the file of a node. What is set already is not judged.
  - After a change it waits until every live broker shows it.
options:
  brokers:
    description:
      - By broker id the keys and values of that broker, by Kafka's own names.
      - V(null) takes the dynamic value of that broker away, so that the cluster's default or its file holds again.
    type: dict
    default: {}
  default:
    description:
      - Keys and values of the cluster-wide default, which every broker uses that has no dynamic value of its own.
        This is where V(min.insync.replicas) belongs on clusters with eligible leader replicas (KIP-966), which
        ignore it in server.properties.
      - Nothing is set when every live broker already uses the value, wherever it has it from.
      - V(null) takes the cluster-wide value away.
    type: dict
    default: {}
  timeout:
    description: Longest time in seconds to wait until every live broker shows what was changed.
    type: int
    default: 60
extends_documentation_fragment:
  - streamops.kafka._connection
  - streamops.kafka._attributes
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
  idempotent:
    support: full
seealso:
  - module: streamops.kafka.topics
author: The streamops engineers (@streamops)
"""

EXAMPLES = r"""
- name: Two replicas must have a record before it is acknowledged, in the whole cluster
  streamops.kafka.broker_configs:
    bootstrap_servers: kafka1.example.com:9092
    default:
      min.insync.replicas: 2

- name: More threads for one broker, and its own cleaner setting away
  streamops.kafka.broker_configs:
    bootstrap_servers: kafka1.example.com:9092
    brokers:
      1:
        num.io.threads: 16
        log.cleaner.threads:
"""

RETURN = r"""
settings:
  description: >-
    What was set (in check mode, would be), by C(broker <id>) or C(cluster default); a null took the dynamic value away.
  returned: success
  type: dict
  sample: {"cluster default": {"min.insync.replicas": "2"}}
hidden:
  description: Brokers whose own dynamic value hides the cluster-wide default that is wanted; also warned about.
  returned: success
  type: list
  elements: str
failure:
  description: Why it failed, for programs; C(kind) and the fields of that kind, for example C(violations).
  returned: failure
  type: dict
"""

from ..module_utils._brokers.configs_apply import ensure_broker_configs
from ..module_utils._client.module import run_on_cluster
from ..module_utils._core.applied import asked_again

ARGUMENT_SPEC = {
    "brokers": {"type": "dict", "default": {}},
    "default": {"type": "dict", "default": {}},
    "timeout": {"type": "int", "default": 60},
}


def main() -> None:
    """Run the module."""
    run_on_cluster(ARGUMENT_SPEC, ensure_broker_configs, again=asked_again)


if __name__ == "__main__":
    main()
