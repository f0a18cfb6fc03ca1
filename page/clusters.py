"""Read how each cluster is reached from the settings. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import (
    CONNECTION_REQUIRED_IF,
    CONNECTION_REQUIRED_TOGETHER,
    CONNECTION_SPEC,
    Connection,
)
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._core.service_settings import LONGEST_NAME, MOST, is_name
from page.core.checks import short, wrong_number

#: Seconds that a request of a poll may take: default, least and most. The default is shorter than a poll, so that one
#: broker cannot use it all up.
_REQUEST_TIMEOUT = (10, 1, 3600)


def clusters_of(given: object) -> tuple[dict[str, Connection], list[str]]:
    """Return the connections by name of the cluster, and what is wrong with each."""
    if not isinstance(given, dict) or not 1 <= len(given) <= MOST:
        return {}, [f"clusters is no object of 1 to {MOST} clusters by name. Set it, with bootstrap_servers in each."]
    clusters, wrong = {}, []
    for name, options in given.items():
        if not is_name(name):
            wrong.append(f"clusters has {short(name)}. Name a cluster with 1 to {LONGEST_NAME} printable characters.")
        found, what = _connection(options)
        wrong += [f"clusters.{short(name)}: {one}" for one in what]
        if found:
            clusters[name] = found
    return clusters, wrong


def _connection(options: object) -> tuple[Connection | None, list[str]]:
    if not isinstance(options, dict):
        return None, ["it is no object. Set bootstrap_servers in it."]
    wrong = [f"{short(name)} is unknown. Remove it." for name in sorted(options.keys() - CONNECTION_SPEC.keys())]
    servers = options.get("bootstrap_servers")
    if not isinstance(servers, list) or not all(isinstance(one, str) for one in servers):
        wrong.append("bootstrap_servers is not a list of host:port. Set it.")
    default, least, most = _REQUEST_TIMEOUT
    wrong += wrong_number("request_timeout", options.get("request_timeout", default), least, most)
    texts = options.keys() & CONNECTION_SPEC.keys() - {"bootstrap_servers", "request_timeout"}
    wrong += [f"{name} is not a text. Correct it." for name in sorted(texts) if not isinstance(options[name], str)]
    for name in ("security_protocol", "sasl_mechanism"):
        if isinstance(options.get(name), str) and options[name] not in (choices := CONNECTION_SPEC[name]["choices"]):
            wrong.append(f"{name} is none of {', '.join(choices)}. Set one of them.")
    wrong += _wrong_login(options)
    if wrong:
        return None, wrong
    try:
        return Connection.from_params({"request_timeout": default, **options}), []
    except RefusedError as error:
        return None, error.violations


def _wrong_login(options: Mapping[str, Any]) -> list[str]:
    """Say which options a protocol or another option needs; a module's own argument spec says it for modules."""
    wrong = []
    for option, needing, names in CONNECTION_REQUIRED_IF:
        missing = [name for name in names if not options.get(name)]
        them = "it" if len(missing) == 1 else "them"
        if options.get(option) == needing and missing:
            wrong.append(f"{option} is {needing}, which needs {', '.join(missing)}. Set {them}.")
    for pair in CONNECTION_REQUIRED_TOGETHER:
        missing = [name for name in pair if not options.get(name)]
        if len(missing) == 1:
            wrong.append(f"{missing[0]} is missing beside {next(one for one in pair if one not in missing)}. Set it.")
    return wrong
