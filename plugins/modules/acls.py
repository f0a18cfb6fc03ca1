#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module: the ACLs of a cluster as a list."""

from __future__ import annotations

DOCUMENTATION = r"""
module: acls
short_description: Add and remove the ACLs of a Kafka cluster
version_added: 0.1.0
description:
  - Makes the ACL bindings of a list what the list says. An entry names operations on one resource, or a role that
    expands to the least operations that it needs.
  - Bindings that the list does not name are left alone, unless O(authoritative=true).
  - Everything is judged before anything is changed. One look at the cluster serves a list of any length.
  - Kafka allows everything to the users in C(super.users), whatever the ACLs say.
options:
  acls:
    description: The bindings to look after.
    type: list
    elements: dict
    required: true
    suboptions:
      principal:
        description: Who, for example V(User:alice), or V(User:*) for everybody. Kafka compares it letter by letter.
        type: str
        required: true
      role:
        description: Expands to the operations that this kind of client needs on what the three lists name.
        type: str
        choices: [producer, consumer, transactional, spark, mirror, mirror_source, mirror_target]
      topics:
        description: Topics of the role.
        type: list
        elements: str
      groups:
        description: Groups of the role.
        type: list
        elements: str
      transactional_ids:
        description: Transactional ids of the role.
        type: list
        elements: str
      operations:
        description: Operations, where there is no role. Only those that have a meaning on the kind of resource.
        type: list
        elements: str
        aliases: [operation]
        choices:
          - all
          - read
          - write
          - create
          - delete
          - alter
          - describe
          - cluster_action
          - describe_configs
          - alter_configs
          - idempotent_write
          - create_tokens
          - describe_tokens
          - two_phase_commit
      permission:
        description:
          - What denies wins over what allows.
          - A new V(deny) of V(alter), V(describe) or V(all) on the cluster is refused for the principal of this run,
            for V(User:*) if this run may change ACLs by an ACL, and, with a client certificate, for every principal
            that may change ACLs by an ACL.
        type: str
        choices: [allow, deny]
        default: allow
      resource_type:
        description: Kind of the resource, where there is no role.
        type: str
        choices: [topic, group, cluster, transactional_id, delegation_token, user]
      resource:
        description: Name of the resource, V(*) for all of its kind. The cluster needs none.
        type: str
      pattern_type:
        description: Whether names are whole (V(literal)) or beginnings of names (V(prefixed)).
        type: str
        choices: [literal, prefixed]
        default: literal
      host:
        description:
          - Address that the client comes from, V(*) for all. Kafka compares no host names.
          - A network such as V(10.0.0.0/8) or V(2001:db8::/32) needs C(metadata.version) 4.4-IV1 (level 32, KIP-1276)
            and is refused below it. It is compared with networks in Kafka bit by bit, so V(10.1.2.3/8) is the same.
        type: str
        default: '*'
      state:
        description: Whether the bindings have to exist.
        type: str
        choices: [present, absent]
        default: present
  authoritative:
    description:
      - Consent to remove every binding of the cluster that the list does not name.
      - By this alone neither the right to replicate (C(CLUSTER_ACTION) on the cluster) nor the right of this run itself
        to change ACLs (C(ALTER) on the cluster, of its principal or of V(User:*)) is removed, and an empty list removes
        nothing; such a run is refused.
      - The denials of a failover that is under way stay, and the module warns of them. The cluster keeps a list of
        them in the topic C(_streamops_state), which the principal of this run must be able to read.
      - Of a run that shows a client certificate only the brokers know the principal. So it is refused where it would
        remove C(ALTER) on the cluster of any principal, unless O(authoritative_for) names it. List that right, or
        remove it by an entry with O(acls[].state=absent).
    type: bool
    default: false
  authoritative_for:
    description: Limits O(authoritative) to the bindings of these principals.
    type: list
    elements: str
    default: []
  timeout:
    description: Longest time in seconds to wait until every live broker knows what was changed.
    type: int
    default: 60
extends_documentation_fragment:
  - streamops.kafka._connection
  - streamops.kafka._attributes.full
seealso:
  - module: streamops.kafka.users
  - module: streamops.kafka.quotas
author: The streamops engineers (@streamops)
"""

EXAMPLES = r"""
- name: A producer, a consumer, and a denial
  streamops.kafka.acls:
    bootstrap_servers: kafka1.example.com:9092
    acls:
      - principal: User:orders
        role: producer
        topics: [orders]
      - principal: User:billing
        role: consumer
        topics: [orders]
        groups: [billing]
      - principal: User:*
        permission: deny
        operations: [delete]
        resource_type: topic
        resource: audit-
        pattern_type: prefixed

- name: A consumer that may come from one network only (Kafka 4.4)
  streamops.kafka.acls:
    bootstrap_servers: kafka1.example.com:9092
    acls:
      - principal: User:reports
        role: consumer
        topics: [orders]
        groups: [reports]
        host: 10.20.0.0/16

- name: These and no others, shown before it is done
  streamops.kafka.acls:
    bootstrap_servers: kafka1.example.com:9092
    authoritative: true
    acls: "{{ kafka_acls }}"
  check_mode: true
  diff: true

- name: All that one user may do
  streamops.kafka.acls:
    bootstrap_servers: kafka1.example.com:9092
    authoritative: true
    authoritative_for: [User:intern]
    acls: []
"""

RETURN = r"""
added:
  description: Number of bindings that were added (in check mode here and below, that would be).
  returned: success
  type: int
removed:
  description: Number of bindings that were removed.
  returned: success
  type: int
unchanged:
  description: Number of wanted bindings that were there before.
  returned: success
  type: int
added_first:
  description: The first hundred of those added; in diff mode the diff has all of them.
  returned: success
  type: list
  elements: str
  sample: ["User:orders allow write on topic literal orders from *"]
removed_first:
  description: The first hundred of those removed.
  returned: success
  type: list
  elements: str
failure:
  description: Why it failed, for programs; C(kind) and the fields of that kind, for example C(violations).
  returned: failure
  type: dict
"""

from ..module_utils._acls.apply import ensure_acls
from ..module_utils._client.module import run_on_cluster
from ..module_utils._core.applied import asked_again

OPERATIONS = [
    *["all", "read", "write", "create", "delete", "alter", "describe", "cluster_action", "describe_configs"],
    *["alter_configs", "idempotent_write", "create_tokens", "describe_tokens", "two_phase_commit"],
]
ROLES = ["producer", "consumer", "transactional", "spark", "mirror", "mirror_source", "mirror_target"]
NAMES = {"type": "list", "elements": "str"}
ACL_SPEC = {
    "principal": {"type": "str", "required": True},
    "role": {"type": "str", "choices": ROLES},
    "topics": NAMES,
    "groups": NAMES,
    "transactional_ids": NAMES,
    "operations": {"type": "list", "elements": "str", "aliases": ["operation"], "choices": OPERATIONS},
    "permission": {"type": "str", "choices": ["allow", "deny"], "default": "allow"},
    "resource_type": {
        "type": "str",
        "choices": ["topic", "group", "cluster", "transactional_id", "delegation_token", "user"],
    },
    "resource": {"type": "str"},
    "pattern_type": {"type": "str", "choices": ["literal", "prefixed"], "default": "literal"},
    "host": {"type": "str", "default": "*"},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
}
ARGUMENT_SPEC = {
    "acls": {"type": "list", "elements": "dict", "required": True, "options": ACL_SPEC},
    "authoritative": {"type": "bool", "default": False},
    "authoritative_for": {"type": "list", "elements": "str", "default": []},
    "timeout": {"type": "int", "default": 60},
}


def main() -> None:
    """Run the module."""
    run_on_cluster(ARGUMENT_SPEC, ensure_acls, again=asked_again)


if __name__ == "__main__":
    main()
