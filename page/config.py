"""Read the settings of the service from JSON. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import ipaddress
import json
from dataclasses import dataclass
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import CONNECTION_SPEC, Connection
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError

#: Numbers that may be set: default, least and most. Times are in seconds.
NUMBERS = {
    "port": (9406, 1, 65535),
    "interval": (30, 1, 3600),
    "poll_timeout": (60, 1, 3600),
    "stale_after": (300, 1, 86400),
    "series_limit": (100_000, 0, 10_000_000),
}
#: Seconds that a request of a poll may take by default: shorter than a poll, so that one broker cannot use it all up.
_REQUEST_TIMEOUT = 10


@dataclass(frozen=True)
class Config:
    """Settings of the service; times are in seconds, C(series_limit) is a number of series."""

    connection: Connection
    host: str
    port: int
    interval: int
    poll_timeout: int
    stale_after: int
    series_limit: int


def config_of(text: str) -> Config:
    """Return the settings in a JSON text; RefusedError names every setting that is wrong."""
    try:
        given = json.loads(text)
    except ValueError as error:
        raise RefusedError("configuration", [f"it is no JSON: {error}. Correct the file."]) from error
    if not isinstance(given, dict) or not isinstance(given.get("kafka"), dict):
        raise RefusedError("configuration", ["kafka is not an object with bootstrap_servers. Add it."])
    wrong = [f"{name} is unknown. Remove it." for name in sorted(given.keys() - {"kafka", "host", *NUMBERS})]
    numbers = {name: given.get(name, default) for name, (default, _least, _most) in NUMBERS.items()}
    for name, (_default, least, most) in NUMBERS.items():
        number = numbers[name]
        if not isinstance(number, int) or isinstance(number, bool) or not least <= number <= most:
            wrong.append(f"{name} is {number!r}. Set a whole number from {least} to {most}.")
    host = given.get("host", "127.0.0.1")
    if not _is_loopback(host):
        wrong.append(f"host is {host!r}, but the service has no login. Set a loopback address, as 127.0.0.1.")
    wrong += _wrong_kafka(given["kafka"])
    if wrong:
        raise RefusedError("configuration", wrong)
    connection = Connection.from_params({"request_timeout": _REQUEST_TIMEOUT, **given["kafka"]})
    return Config(connection, host, **numbers)


def _wrong_kafka(kafka: dict[str, Any]) -> list[str]:
    wrong = [f"kafka.{name} is unknown. Remove it." for name in sorted(kafka.keys() - CONNECTION_SPEC.keys())]
    servers = kafka.get("bootstrap_servers")
    if not isinstance(servers, list) or not all(isinstance(one, str) for one in servers):
        wrong.append("kafka.bootstrap_servers is not a list of host:port. Set it.")
    seconds = kafka.get("request_timeout", _REQUEST_TIMEOUT)
    if not isinstance(seconds, int) or isinstance(seconds, bool) or seconds < 1:
        wrong.append(f"kafka.request_timeout is {seconds!r}. Set whole seconds, at least 1.")
    texts = kafka.keys() & CONNECTION_SPEC.keys() - {"bootstrap_servers", "request_timeout"}
    wrong += [f"kafka.{name} is not a text. Correct it." for name in sorted(texts) if not isinstance(kafka[name], str)]
    for name in ("security_protocol", "sasl_mechanism"):
        if name in kafka and kafka[name] not in (choices := CONNECTION_SPEC[name]["choices"]):
            wrong.append(f"kafka.{name} is none of {', '.join(choices)}. Set one of them.")
    return wrong


def _is_loopback(host: Any) -> bool:
    try:
        return isinstance(host, str) and ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
