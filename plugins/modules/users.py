#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module: the SCRAM users of a cluster as a list."""

from __future__ import annotations

DOCUMENTATION = r"""
module: users
short_description: Create, change and delete the SCRAM users of a Kafka cluster
version_added: 0.1.0
description:
  - Makes the SCRAM users of a list what the list says. Users that it does not name are left alone.
  - Whether a password is already the wanted one is found out by logging in with it, so that a second run changes
    nothing and a password changed by hand is noticed. Kafka shows no password and no hash to compare with.
  - A user of the list has exactly the credentials of the list. One by another mechanism is deleted, so that no old
    password stays valid; name the user twice to keep both.
  - Everything is judged before anything is changed, and no secret is in a result, a diff or a log.
  - A request that fails half way leaves done what was done; C(changed) and the diff then say what that is.
options:
  users:
    description: The users to look after, each name once for a mechanism.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the user, which is the principal C(User:name) in ACLs.
        type: str
        required: true
      password:
        description: Its password. Required unless O(users[].state=absent); never sent to Kafka but salted and hashed.
        type: str
      mechanism:
        description: The SCRAM mechanism of this credential.
        type: str
        choices: [SCRAM-SHA-256, SCRAM-SHA-512]
        default: SCRAM-SHA-512
      iterations:
        description: Rounds of hashing, 8192 to 16384.
        type: int
        default: 8192
      state:
        description: Whether the user has to exist. V(absent) deletes its credentials by every mechanism.
        type: str
        choices: [present, absent]
        default: present
      update_password:
        description:
          - When the password of this credential is set, where it exists. By default as O(update_password) says.
          - With V(on_create) the password is never tried. Brokers count trials as logins by SCRAM, which hide whether
            clients of the user have moved to another mechanism.
        type: str
        choices: [when_different, always, on_create]
  update_password:
    description:
      - When the password of an existing user is set, unless O(users[].update_password) says it.
      - V(when_different) tries a login with it, and sets it where that is refused. Where no login can be tried, the
        password is left as it is, and RV(unproven) and a warning say so.
      - V(always) sets it in every run, which is then always changed. V(on_create) leaves existing credentials alone,
        their iterations included.
    type: str
    choices: [when_different, always, on_create]
    default: when_different
  login_bootstrap_servers:
    description: Where to try logins, each as V(host:port). By default O(bootstrap_servers).
    type: list
    elements: str
  login_security_protocol:
    description:
      - Protocol of the listener where logins are tried. By default O(security_protocol), if that is one with SASL.
      - TLS uses the files of the connection.
    type: str
    choices: [SASL_PLAINTEXT, SASL_SSL]
  login_timeout:
    description: Longest time in seconds that one login may take at a server.
    type: int
    default: 10
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
    support: partial
    details: V(always) of an C(update_password) sets passwords in every run.
seealso:
  - module: streamops.kafka.acls
  - module: streamops.kafka.quotas
author: The streamops engineers (@streamops)
"""

EXAMPLES = r"""
- name: Users with passwords from a vault, one of them set only when it has none
  streamops.kafka.users:
    bootstrap_servers: kafka1.example.com:9092
    security_protocol: SASL_SSL
    sasl_mechanism: SCRAM-SHA-512
    sasl_username: admin
    sasl_password: "{{ kafka_admin_password }}"
    ssl_ca_location: /etc/ssl/kafka-ca.pem
    users:
      - name: orders
        password: "{{ vault_orders_password }}"
      - name: billing
        password: "{{ vault_billing_password }}"
        iterations: 16384
      - name: reports
        password: "{{ vault_reports_password }}"
        update_password: on_create

- name: Delete a user
  streamops.kafka.users:
    bootstrap_servers: kafka1.example.com:9092
    users:
      - name: intern
        state: absent
"""

RETURN = r"""
created:
  description: Names of the users that were created (in check mode here and below, that would be).
  returned: success
  type: list
  elements: str
  sample: [orders, billing]
updated:
  description: Names of the users of which a credential was set or taken away.
  returned: success
  type: list
  elements: str
deleted:
  description: Names of the users that were deleted.
  returned: success
  type: list
  elements: str
unchanged:
  description: Number of users that were left as they are.
  returned: success
  type: int
unproven:
  description: Names of the users whose password could not be tried.
  returned: success
  type: list
  elements: str
unproven_because:
  description: Why it could not be tried, by mechanism.
  returned: success
  type: dict
failure:
  description: Why it failed, for programs; C(kind) and the fields of that kind, for example C(violations).
  returned: failure
  type: dict
"""

from ..module_utils._client.module import run_on_cluster
from ..module_utils._core.applied import asked_again
from ..module_utils._core.module import SecretModule
from ..module_utils._users.apply import ensure_users

UPDATE_PASSWORD = {"type": "str", "choices": ["when_different", "always", "on_create"], "no_log": False}
USER_SPEC = {
    "name": {"type": "str", "required": True},
    "password": {"type": "str", "no_log": True},
    "mechanism": {"type": "str", "choices": ["SCRAM-SHA-256", "SCRAM-SHA-512"], "default": "SCRAM-SHA-512"},
    "iterations": {"type": "int", "default": 8192},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "update_password": UPDATE_PASSWORD,
}
ARGUMENT_SPEC = {
    "users": {"type": "list", "elements": "dict", "required": True, "options": USER_SPEC},
    "update_password": {**UPDATE_PASSWORD, "default": "when_different"},
    "login_bootstrap_servers": {"type": "list", "elements": "str"},
    "login_security_protocol": {"type": "str", "choices": ["SASL_PLAINTEXT", "SASL_SSL"]},
    "login_timeout": {"type": "int", "default": 10},
    "timeout": {"type": "int", "default": 60},
}


def main() -> None:
    """Run the module."""
    run_on_cluster(ARGUMENT_SPEC, ensure_users, again=asked_again, kind=SecretModule)


if __name__ == "__main__":
    main()
