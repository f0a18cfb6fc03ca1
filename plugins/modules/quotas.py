#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module: the client quotas of a cluster as a list."""

from __future__ import annotations

DOCUMENTATION = r"""
module: quotas
short_description: Set and remove the client quotas of a Kafka cluster
version_added: 0.1.0
description:
  - Gives users, clients and addresses of a list the limits of the list. Those that it does not name are left alone.
  - An entry holds all limits of the user or client that it names; a limit that it leaves out is removed.
  - Everything is judged, also by the cluster itself, before anything is changed.
options:
  quotas:
    description: The limits to look after, each user, client, pair of them, or address once.
    type: list
    elements: dict
    required: true
    suboptions:
      user:
        description: Name of a user, V(<default>) for every user without limits of its own.
        type: str
      client_id:
        description: A client id, V(<default>) for every one without limits of its own. Goes with O(quotas[].user) too.
        type: str
      ip:
        description: An address, V(<default>) for every one without a limit of its own. Stands alone.
        type: str
      producer_byte_rate:
        description: Bytes a second that may be produced to each broker.
        type: int
      consumer_byte_rate:
        description: Bytes a second that may be fetched from each broker.
        type: int
      request_percentage:
        description: Share of one thread's time at each broker, in per cent; 200 is two threads.
        type: float
      controller_mutation_rate:
        description: Partitions a second that may be created or deleted (KIP-599).
        type: float
      connection_creation_rate:
        description: Connections a second from an address to each broker (KIP-612). Goes with O(quotas[].ip) only.
        type: int
      state:
        description: V(absent) takes every limit away.
        type: str
        choices: [present, absent]
        default: present
  timeout:
    description: Longest time in seconds to wait until every live broker knows what was changed.
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
  - module: streamops.kafka.users
  - module: streamops.kafka.acls
author: The streamops engineers (@streamops)
"""

EXAMPLES = r"""
- name: A limit for everybody, more for one user, and few connections from any address
  streamops.kafka.quotas:
    bootstrap_servers: kafka1.example.com:9092
    quotas:
      - user: <default>
        producer_byte_rate: 1048576
        consumer_byte_rate: 2097152
      - user: orders
        producer_byte_rate: 10485760
        request_percentage: 200
      - ip: <default>
        connection_creation_rate: 20

- name: No limits of its own for a client any more
  streamops.kafka.quotas:
    bootstrap_servers: kafka1.example.com:9092
    quotas:
      - client_id: batch
        state: absent
"""

RETURN = r"""
altered:
  description: Whose limits were altered (in check mode, would be).
  returned: success
  type: list
  elements: str
  sample: [user <default>, "user orders, client-id batch"]
unchanged:
  description: Number of entries that were as wanted before.
  returned: success
  type: int
failure:
  description: Why it failed, for programs; C(kind) and the fields of that kind, for example C(violations).
  returned: failure
  type: dict
"""

from ..module_utils._client.module import run_on_cluster
from ..module_utils._core.applied import asked_again
from ..module_utils._quotas.apply import ensure_quotas

QUOTA_SPEC = {
    "user": {"type": "str"},
    "client_id": {"type": "str"},
    "ip": {"type": "str"},
    "producer_byte_rate": {"type": "int"},
    "consumer_byte_rate": {"type": "int"},
    "request_percentage": {"type": "float"},
    "controller_mutation_rate": {"type": "float"},
    "connection_creation_rate": {"type": "int"},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
}
ARGUMENT_SPEC = {
    "quotas": {"type": "list", "elements": "dict", "required": True, "options": QUOTA_SPEC},
    "timeout": {"type": "int", "default": 60},
}


def main() -> None:
    """Run the module."""
    run_on_cluster(ARGUMENT_SPEC, ensure_quotas, again=asked_again)


if __name__ == "__main__":
    main()
