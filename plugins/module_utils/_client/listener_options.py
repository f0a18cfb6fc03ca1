# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The options of listener_check, for the module and for the action plugin that repeats it."""

from __future__ import annotations

from typing import Any

from .connection import CONNECTION_SPEC, LOGIN_REQUIRED_IF

LISTENER = {
    "node": {"type": "str", "default": ""},
    "name": {"type": "str", "required": True},
    "host": {"type": "str", "required": True},
    "port": {"type": "int", "required": True},
    "protocol": {**CONNECTION_SPEC["security_protocol"]},
    "connections": {"type": "int", "default": 1},
    "node_id": {"type": "int"},
    "cluster_id": {"type": "str", "default": ""},
    "role": {"type": "str", "choices": ["broker", "controller"], "default": "broker"},
}
#: Of the options of a connection what the listeners do not say themselves.
ACCESS = {
    name: option
    for name, option in CONNECTION_SPEC.items()
    if name not in ("bootstrap_servers", "security_protocol", "request_timeout")
}
#: Those of the loop, which is the action plugin's.
LOOP_OPTIONS: dict[str, dict[str, Any]] = {
    "wait": {"type": "float", "default": 0.0},
    "interval": {"type": "float", "default": 2.0},
}
CHECK_SPEC: dict[str, dict[str, Any]] = {
    "listeners": {"type": "list", "elements": "dict", "required": True, "options": LISTENER},
    **ACCESS,
    "ssl_check_hostname": {"type": "bool", "default": True},
    "timeout": {"type": "float", "default": 5.0},
    **LOOP_OPTIONS,
}
CHECK_TOGETHER = [
    ("ssl_certificate_location", "ssl_key_location"),
    ("sasl_username", "sasl_password"),
]
CHECK_IF = LOGIN_REQUIRED_IF
CHECK_BY = {"sasl_username": ["sasl_mechanism"], "sasl_kerberos_keytab": ["sasl_mechanism"]}
