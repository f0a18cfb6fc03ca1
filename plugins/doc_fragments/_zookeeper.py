# Private to this collection.
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation that the modules of ZooKeeper share."""

from __future__ import annotations


class ModuleDocFragment:
    """How an ensemble is reached, and in GOAL what is expected of it."""

    DOCUMENTATION = r"""
options:
  servers:
    description: All servers of the ensemble, as the inventory has them.
    type: list
    elements: dict
    required: true
    suboptions:
      id:
        description: The server's id (C(myid)).
        type: int
        required: true
      host:
        description: Its name or address.
        type: str
        required: true
      port:
        description: Its port for clients.
        type: int
        default: 2181
  ssl_ca_location:
    description: PEM file of the certificates that are trusted; with it the ensemble is asked over TLS.
    type: path
  ssl_certificate_location:
    description: PEM file of the client's own certificate, where the ensemble asks for one.
    type: path
  ssl_key_location:
    description: PEM file of its key.
    type: path
  sasl_username:
    description: Name to log in with (SASL, DIGEST-MD5).
    type: str
  sasl_password:
    description: Its password.
    type: str
  request_timeout:
    description: Seconds that a server may take to answer.
    type: int
    default: 5
"""

    GOAL = r"""
options:
  stopping:
    description: Ids of servers that are to stop; the others must be a majority without them.
    type: list
    elements: int
    default: []
  away:
    description: Ids of servers that need not answer, such as one that is about to be replaced.
    type: list
    elements: int
    default: []
  compare_members:
    description: Whether every server must have been started with O(servers) as its members; not while those change.
    type: bool
    default: true
"""
