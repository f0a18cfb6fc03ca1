# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The lookup by which roles read the model of the inventory."""

from __future__ import annotations

DOCUMENTATION = r"""
name: model
short_description: "PRIVATE: what the inventory says about the cluster of this host, typed"
description:
  - Returns one dictionary about the host that the task runs for and about its cluster. The roles of this collection
    read the inventory by it; its keys may change with any release.
  - Every boolean and number is converted as the argument specs of the roles say; a value that is none is an error.
  - Each key is made when it is first asked for.
options:
  _terms:
    description: Nothing; the host is that of the task.
    # With an option Ansible parses this text once in a run, without one at each call.
author: The streamops engineers (@streamops)
"""

EXAMPLES = r"""
- name: Show the ids of the nodes of this cluster
  ansible.builtin.debug:
    msg: "{{ lookup('streamops.kafka.model').nodes | map(attribute='node_id') }}"
"""

RETURN = r"""
_raw:
  description:
    - One dictionary. Among its keys are C(settings) (the variables of the host, typed), C(node) (its own node),
      C(nodes) (the nodes of Kafka of its cluster, controllers first), C(zookeepers) (the servers of ZooKeeper beside
      it) and C(mirrors) (the mirrors next to it).
    - A node has C(host), C(node_id), C(roles), C(rack), C(machine) and C(listeners).
  type: list
  elements: dict
"""

from typing import Any

import ansible.context
from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase

from ..plugin_utils.guards.run_tasks import passed_by
from ..plugin_utils.inventory.task import TaskReader, is_worker
from ..plugin_utils.render.view import View

_KEPT: dict[str, View] = {}


class LookupModule(LookupBase):  # type: ignore[misc]  # Ansible ships no types
    """What Ansible asks for the lookup of this file."""

    def run(self, terms: list[Any], variables: Any = None, **kwargs: Any) -> list[View]:
        """The model as the host of the task sees it."""
        # Here, since the checks are what such a run passes by; no task of a role works without the model.
        refused = passed_by(ansible.context.CLIARGS)
        if refused:
            raise AnsibleError(" ".join([*refused, "Nothing was changed."]))
        host = str(variables["inventory_hostname"])
        if not is_worker():
            return [View(TaskReader(self._templar, variables))]
        if host not in _KEPT:
            _KEPT[host] = View(TaskReader(self._templar, variables))
        return [_KEPT[host]]
