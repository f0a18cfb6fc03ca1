#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module: certificates in the stores that Java's own TLS reads."""

from __future__ import annotations

DOCUMENTATION = r"""
module: java_stores
short_description: Write a key store and a trust store for Java
version_added: 0.1.0
author: The streamops engineers (@streamops)
description:
  - Puts a key with its certificate, and the certificates of trusted CAs, into two PKCS 12 stores, as the REST server of
    Kafka Connect needs them, which reads no PEM.
  - A store that exists is left as it is, since each is salted anew; give every content a name of its own, for example
    by a digest of what goes in.
  - Needs C(cryptography) 45 or newer where it runs, which is meant to be the control node.
extends_documentation_fragment: [streamops.kafka._attributes]
attributes:
  check_mode:
    support: full
  diff_mode:
    support: none
  idempotent:
    support: full
options:
  key:
    description: The private key, PEM in PKCS 8 form without a password.
    type: path
    required: true
  certificate:
    description: Its certificate, PEM, with the chain behind it.
    type: path
    required: true
  ca:
    description: The certificates of trusted CAs, PEM.
    type: path
    required: true
  keystore:
    description: The store to write for key and certificate.
    type: path
    required: true
  truststore:
    description: The store to write for the CAs.
    type: path
    required: true
  password:
    description: The password of both stores.
    type: str
    required: true
"""

EXAMPLES = r"""
- name: Have the stores of a mirror
  streamops.kafka.java_stores:
    key: ca/mirror1.key
    certificate: ca/mirror1.pem
    ca: ca/ca.pem
    keystore: cache/mirror1-6f1c-keystore.p12
    truststore: cache/mirror1-6f1c-truststore.p12
    password: "{{ store_password }}"
  delegate_to: localhost
"""

RETURN = r"""
keystore:
  description: The store of key and certificate.
  returned: always
  type: str
truststore:
  description: The store of the CAs.
  returned: always
  type: str
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils._core.errors import errors_reported
from ..module_utils._node.stores import write_stores

FILES = ("key", "certificate", "ca", "keystore", "truststore")


def main() -> None:
    """Write what is missing."""
    spec: dict[str, dict[str, object]] = {name: {"type": "path", "required": True} for name in FILES}
    spec["password"] = {"type": "str", "required": True, "no_log": True}
    module = AnsibleModule(argument_spec=spec, supports_check_mode=True)
    with errors_reported(module):
        files = {name: module.params[name] for name in FILES}
        changed = write_stores(files, module.params["password"], module.check_mode)
        module.exit_json(changed=changed, keystore=files["keystore"], truststore=files["truststore"])


if __name__ == "__main__":
    main()
