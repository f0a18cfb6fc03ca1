# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""How an ensemble of ZooKeeper is reached, and by whom: one argument spec and one description for its modules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: The options of the doc fragment streamops.kafka._zookeeper.
ZOOKEEPER_SPEC: dict[str, dict[str, Any]] = {
    "servers": {
        "type": "list",
        "elements": "dict",
        "required": True,
        "options": {
            "id": {"type": "int", "required": True},
            "host": {"type": "str", "required": True},
            "port": {"type": "int", "default": 2181},
        },
    },
    "ssl_ca_location": {"type": "path"},
    "ssl_certificate_location": {"type": "path"},
    "ssl_key_location": {"type": "path"},
    "sasl_username": {"type": "str"},
    "sasl_password": {"type": "str", "no_log": True},
    "request_timeout": {"type": "int", "default": 5},
}
#: What is expected of the ensemble; the part C(goal) of the doc fragment.
GOAL_SPEC: dict[str, dict[str, Any]] = {
    "stopping": {"type": "list", "elements": "int", "default": []},
    "away": {"type": "list", "elements": "int", "default": []},
    "compare_members": {"type": "bool", "default": True},
}
ZOOKEEPER_REQUIRED_TOGETHER = [
    ("ssl_certificate_location", "ssl_key_location"),
    ("sasl_username", "sasl_password"),
]


@dataclass(frozen=True)
class Access:
    """Who we are towards ZooKeeper; C(request_timeout) bounds each question, in seconds. Secrets never show."""

    ssl_ca_location: str | None = None
    ssl_certificate_location: str | None = None
    ssl_key_location: str | None = None
    sasl_username: str | None = None
    sasl_password: str | None = field(default=None, repr=False)
    request_timeout: int = 5

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Access:
        """The access in the parameters of a module, whose other parameters are not looked at."""
        return cls(**{name: params[name] for name in cls.__dataclass_fields__ if params.get(name) is not None})
