#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

DOCUMENTATION = r"""
module: preflight
short_description: check the whole inventory before any host is touched
description:
  - Applies every rule that the inventory alone decides to all hosts of all clusters in it, and fails with one message
    that names every violation, with what, where, found, allowed and the way out. The rules are listed in
    C(docs/preflight.md).
  - Runs on the control node only and connects to no host. Run it once for the play.
  - Sees all clusters, since two clusters may meet on one machine; with C(--limit) too.
author: The streamops engineers (@streamops)
extends_documentation_fragment: [streamops.kafka._attributes]
attributes:
  check_mode:
    support: full
  diff_mode:
    support: N/A
  idempotent:
    support: full
options:
  controllers_group:
    description: The group of the controllers of all clusters.
    type: str
    default: kraft_controllers
  brokers_group:
    description: The group of the brokers of all clusters.
    type: str
    default: kafka_brokers
  zookeeper_group:
    description: The group of the servers of ZooKeeper.
    type: str
    default: zookeeper
  mirror_makers_group:
    description: The group of the mirrors (MirrorMaker) of all clusters.
    type: str
    default: mirror_makers
notes:
  - A row of prudence (see the table) becomes a warning when the cluster's variable C(preflight_accept) names it.
  - A value made from facts of a host is not judged, since facts are not gathered yet.
"""

EXAMPLES = r"""
- name: Check the inventory
  streamops.kafka.preflight:
  run_once: true
"""

RETURN = r"""
violations:
  description: All violations, errors before warnings.
  returned: success, and failure when the task registers its result
  type: list
  elements: dict
  contains:
    rule:
      description: The row of the table, such as V(B1).
      type: str
    level:
      description: V(error) or V(warning).
      type: str
    hosts:
      description: The hosts it concerns.
      type: list
      elements: str
    variable:
      description: The variable it concerns; empty when it is none.
      type: str
    where:
      description: Hosts and variable as text.
      type: str
    what:
      description: What is wrong.
      type: str
    found:
      description: What was found; never a secret.
      type: str
    allowed:
      description: What is allowed.
      type: str
    way_out:
      description: What to do.
      type: str
    policy:
      description: Whether C(preflight_accept) may turn it into a warning.
      type: bool
"""

from ansible.module_utils.basic import AnsibleModule

SPEC = {
    "controllers_group": {"type": "str", "default": "kraft_controllers"},
    "brokers_group": {"type": "str", "default": "kafka_brokers"},
    "zookeeper_group": {"type": "str", "default": "zookeeper"},
    "mirror_makers_group": {"type": "str", "default": "mirror_makers"},
}


def main() -> None:
    """Say that the work is the action plugin's, which runs on the control node."""
    module = AnsibleModule(argument_spec=SPEC, supports_check_mode=True)
    module.fail_json(msg="preflight: only the action plugin of this name can see the inventory; call it from a play.")


if __name__ == "__main__":
    main()
