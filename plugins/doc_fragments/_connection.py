# Private to this collection.
# SPDX-License-Identifier: GPL-3.0-or-later
"""How to reach a cluster: the options shared by all modules that talk to one."""

from __future__ import annotations

import textwrap


class ModuleDocFragment:
    """Options of the connection to a Kafka cluster; equal to CONNECTION_SPEC, which a test checks.

    SOURCE is for modules that also look at another cluster, from which records come.
    """

    DOCUMENTATION = r"""
options:
  bootstrap_servers:
    description:
      - Brokers to ask first, each as V(host:port), an IPv6 address as V([fd00::1]:9092).
      - The others are found through them.
    type: list
    elements: str
    required: true
  security_protocol:
    description: Protocol of the listener that O(bootstrap_servers) name.
    type: str
    choices: [PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL]
    default: PLAINTEXT
  sasl_mechanism:
    description: >-
      How to log in. Required with the two SASL protocols. With V(OAUTHBEARER) the module asks an issuer for a token
      (client credentials) and shows that. With V(GSSAPI) it asks the KDC of krb5.conf for a ticket, where the module
      runs; modules that write records refuse it, since confluent-kafka has no Kerberos.
    type: str
    choices: [PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER, GSSAPI]
  sasl_username:
    description: >-
      User to log in as, with V(OAUTHBEARER) the id of the client at the issuer. Required by each O(sasl_mechanism) but
      V(GSSAPI), refused with protocols that do not log in.
    type: str
  sasl_password:
    description: >-
      Password of O(sasl_username), with V(OAUTHBEARER) the secret of the client. Required with O(sasl_username).
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
      default. confluent-kafka takes it from 2.11 on. Goes with V(OAUTHBEARER).
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
      PEM file, where the module runs, with the client certificate. Goes with O(ssl_key_location), and is refused with a
      protocol without TLS.
    type: path
  ssl_key_location:
    description: PEM file, where the module runs, with the key of the client certificate.
    type: path
  ssl_key_password:
    description: Password of the file O(ssl_key_location).
    type: str
  request_timeout:
    description:
      - Longest time in seconds that one request may take. A connection with its TLS handshake and its login gets at
        most 10 of them, so a broker that hangs is left out, and a warning names it. A value above 30 gives servers that
        are slow and well in the same proportion longer, as 20 seconds with V(60).
      - The address of a name in O(bootstrap_servers) is looked up before that, in at most 15 seconds.
      - A refused certificate fails at once. A refused login is tried twice more within about 2 seconds, and fails then,
        unless other servers cannot be reached and may still let us in.
    type: int
    default: 30
requirements:
  - confluent-kafka >= 2.6 where the module runs
  - kafka-python >= 3.0 where the module runs
  - gssapi (python3-gssapi of Debian) where the module runs, with V(GSSAPI)
notes:
  - Runs where the brokers can be reached, usually the control node (C(delegate_to=localhost)), once per cluster.
  - The action group C(streamops.kafka.cluster) sets these options for several tasks through C(module_defaults).
"""

    # Annotated, since ansible-test reads every other text of this class as a literal.
    SOURCE: str = (
        r"""
options:
  source_connection:
    description: >-
      The connection to the source cluster, with the options that the module itself has for the target. Defaults of
      the action group do not reach in here.
    type: dict
    required: true
    suboptions:
"""
        # The same options, without the line that opens them and without requirements and notes.
        + textwrap.indent(DOCUMENTATION.split("options:\n", 1)[1].split("requirements:\n", 1)[0], "    ")
    )
