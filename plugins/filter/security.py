# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters around TLS and SASL."""

from __future__ import annotations

DOCUMENTATION = r"""
name: security
short_description: "PRIVATE: TLS, logins and the authorizer"
description:
  - The roles of this collection call the filters of this file; their names and what they take may change with any
    release.
options:
  _input:
    description: See the functions of this file.
    type: raw
    required: true
author: The streamops engineers (@streamops)
"""

import os
from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.explained import explained


def scram_credentials(users: Mapping[str, str], mechanisms: list[str]) -> list[str]:
    """The credentials of users (name to password) for every SCRAM mechanism, each with a salt of its own."""
    from ansible_collections.streamops.kafka.plugins.plugin_utils.render import security

    return [
        security.scram_credential(mechanism, user, password, os.urandom(16))
        for user, password in users.items()
        for mechanism in mechanisms
        if mechanism.startswith("SCRAM-")
    ]


class FilterModule:
    """What Ansible asks for the filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {
            "client_properties": explained("render.security.client_properties", secret=True),
            "hold_secret": explained("render.security.hold_secret", secret=True),
            "scram_credentials": explained(scram_credentials, secret=True),
        }
