# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters around TLS, SASL, bounds, the administrator's connection and the bundle for clients."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.streamops.kafka.plugins.module_utils import _bounds, _client_bundle, _security


def scram_credentials(users: Mapping[str, str], mechanisms: list[str]) -> list[str]:
    """The credentials of users (name to password) for every SCRAM mechanism, each with a salt of its own."""
    return [
        _security.scram_credential(mechanism, user, password, os.urandom(16))
        for user, password in users.items()
        for mechanism in mechanisms
        if mechanism.startswith("SCRAM-")
    ]


def _explained(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        """The filter itself, with its mistakes as a template error that shows no value."""
        try:
            return function(*args, **kwargs)
        except (KeyError, TypeError, ValueError) as error:
            raise AnsibleFilterError(f"{function.__name__}: {type(error).__name__} {error}") from None

    return call


class FilterModule:
    """What Ansible asks for the filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {
            "broker_bounds": _explained(_bounds.broker_bounds),
            "node_addresses": _explained(_bounds.node_addresses),
            "node_names": _explained(_bounds.node_names),
            "admin_connection": _explained(_security.connection),
            "bundle_directories": _explained(_client_bundle.bundle_directories),
            "client_bundle": _explained(_client_bundle.client_bundle),
            "certificate_names": _explained(_security.certificate_names),
            "client_certificates": _explained(_security.client_certificates),
            "client_properties": _explained(_security.client_properties),
            "hold_secret": _explained(_security.hold_secret),
            "scram_credentials": _explained(scram_credentials),
            "security_properties": _explained(_security.security_properties),
        }
