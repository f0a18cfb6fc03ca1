#!/usr/bin/python
# Copyright: the streamops engineers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ansible module: which listeners answer this machine at the addresses that they advertise."""

from __future__ import annotations

DOCUMENTATION = r"""
module: listener_check
short_description: Check that listeners of Kafka answer at their advertised addresses
version_added: 0.1.0
description:
  - Connects to listeners as brokers, controllers and clients do - at the advertised address, with TLS where the
    listener has it - and asks each what it can do (the request ApiVersions). A port that only takes connections does
    not count.
  - Any broker answers that. With O(listeners[].node_id) the node must also be this one (DescribeConfigs), of this
    cluster (DescribeCluster); it is asked by at least three connections, some after each other, since a load balancer
    leads to the right node at times. What who asks may not know is in RV(answered).
  - All listeners are asked at once. O(listeners[].connections) are opened to each and held until all of them have
    their answer, so a limit such as C(max.connections) that is too small for the peers of a node shows.
  - A listener that does not answer is a result, no failure. The module changes nothing, and needs no Kafka library.
options:
  listeners:
    description: What to ask.
    type: list
    elements: dict
    required: true
    suboptions:
      node:
        description: The node that has the listener; comes back with the result.
        type: str
        default: ""
      name:
        description: Kafka's name of the listener; comes back with the result.
        type: str
        required: true
      host:
        description: The advertised name or address. With TLS the certificate must name it.
        type: str
        required: true
      port:
        description: The advertised port.
        type: int
        required: true
      protocol:
        description: Kafka's security protocol of the listener.
        type: str
        choices: [PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL]
        default: PLAINTEXT
      connections:
        description: Connections that ask at the same time, 1 to 100.
        type: int
        default: 1
      node_id:
        description: Id of the node that must answer. Without it any node may.
        type: int
      cluster_id:
        description: Id of the cluster that must answer. Goes with O(listeners[].node_id); empty is not compared.
        type: str
        default: ""
      role:
        description: What the listener is for. Goes with O(listeners[].node_id).
        type: str
        choices: [broker, controller]
        default: broker
  sasl_mechanism:
    description: How to log in at listeners with SASL. Without it these are asked without a login.
    type: str
    choices: [PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, GSSAPI]
  sasl_username:
    description: User to log in as, with V(OAUTHBEARER) the id of a client at the issuer. Goes with O(sasl_mechanism).
    type: str
  sasl_password:
    description: Password of O(sasl_username), with V(OAUTHBEARER) the secret of the client.
    type: str
  sasl_oauthbearer_endpoint_url:
    description: >-
      Where the issuer gives tokens, its C(token_endpoint), by https; by http from a loopback address alone. Required
      with V(OAUTHBEARER).
    type: str
  sasl_oauthbearer_scope:
    description: Scope that is asked for, where the issuer wants one. Goes with V(OAUTHBEARER).
    type: str
  sasl_oauthbearer_ca_location:
    description: >-
      PEM file, where the module runs, with the authorities of O(sasl_oauthbearer_endpoint_url); the system's own by
      default. Goes with V(OAUTHBEARER).
    type: path
  sasl_kerberos_keytab:
    description: >-
      Keytab, where the module runs, with the keys of O(sasl_kerberos_principal). Tickets stay in the memory of the
      module. Required with V(GSSAPI).
    type: path
  sasl_kerberos_principal:
    description: Principal to log in as, V(NAME@REALM). Required with V(GSSAPI).
    type: str
  sasl_kerberos_service_name:
    description: First part of the principals of the brokers, whose second part is the host that clients name.
    type: str
    default: kafka
  ssl_ca_location:
    description: PEM file, where the module runs, with the authorities to trust; the system's own by default.
    type: path
  ssl_certificate_location:
    description: >-
      PEM file, where the module runs, with the client certificate for listeners that ask for one. Goes with
      O(ssl_key_location); a file with both, as nodes have it, is named in both.
    type: path
  ssl_key_location:
    description: PEM file, where the module runs, with the key of the client certificate.
    type: path
  ssl_key_password:
    description: Password of the file O(ssl_key_location).
    type: str
  ssl_check_hostname:
    description: >-
      Whether a certificate must name the advertised host, as it must for Kafka's clients unless their
      C(ssl.endpoint.identification.algorithm) is empty.
    type: bool
    default: true
  timeout:
    description: Seconds for all listeners together, from the look-up of their names to their last answer.
    type: float
    default: 5.0
  wait:
    description:
      - Seconds for which the task asks again while a listener does not answer, with a line of progress. V(0) asks once.
      - Each further listener that answers gives the others that time anew, up to 60 times in all.
      - It ends at once where another node answers.
      - Whoever calls the module without its action plugin, as with C(ansible -m) or asynchronously, asks once.
    type: float
    default: 0.0
  interval:
    description: Seconds from one question of O(wait) to the next.
    type: float
    default: 2.0
extends_documentation_fragment: [streamops.kafka._attributes.look]
author: The streamops engineers (@streamops)
"""

EXAMPLES = r"""
- name: Ask a listener of kafka1 from kafka2
  streamops.kafka.listener_check:
    listeners: [{node: kafka1, name: BROKER, host: kafka1.example.com, port: 9094, protocol: SSL, node_id: 1}]
    ssl_ca_location: /etc/kafka/kafka2/tls/truststore.pem
  delegate_to: kafka2
"""

RETURN = r"""
answered:
  description: >-
    The listeners that answered all connections, in the order of O(listeners). Each has C(node), C(listener) (its name),
    C(address) (C(host:port)), C(connections) (how many were open at the same time) and C(unidentified), why it is not
    known which node answered, empty where that is known or was not asked.
  returned: success
  type: list
  elements: dict
unreached:
  description: >-
    The listeners that did not, in the order of O(listeners). Each has C(node), C(listener), C(address), C(stage) (what
    went wrong, V(resolve), V(connect), V(tls), V(login) or V(answer), or V(identity) where another node answers), and
    C(why), a sentence without an end.
  returned: success
  type: list
  elements: dict
elapsed:
  description: Seconds that the questions took.
  returned: when the action plugin ran
  type: float
looks:
  description: How often the listeners were asked.
  returned: when the action plugin ran
  type: int
history:
  description: What each time found.
  returned: when the action plugin ran
  type: list
  elements: dict
"""

from typing import Any

from ..module_utils._client.listener_options import CHECK_BY, CHECK_IF, CHECK_SPEC, CHECK_TOGETHER
from ..module_utils._client.listener_targets import targets
from ..module_utils._client.listeners import check_listeners
from ..module_utils._core.module import run_module


def check(module: Any) -> dict[str, Any]:
    """Ask the listeners."""
    options = module.params
    answered, unreached = check_listeners(targets(options), options["timeout"], options["ssl_check_hostname"])
    return {"changed": False, "answered": answered, "unreached": unreached}


def main() -> None:
    """Run the module."""
    run_module(CHECK_SPEC, check, required_together=CHECK_TOGETHER, required_if=CHECK_IF, required_by=CHECK_BY)


if __name__ == "__main__":
    main()
