# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Connections from this machine to ports of others, all at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .._core.network import connect

#: Seconds for a connection; machines of a cluster answer each other within milliseconds.
SECONDS = 5.0
# Connections that are tried at the same time.
_AT_ONCE = 32


def unreached(tries: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return those of these {address, port, ...} that take no connection, each with its error as text."""
    listed = [dict(one) for one in tries]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        tried = list(pool.map(lambda one: {**one, "error": _error(one)}, listed))
    return [one for one in tried if one["error"]]


def _error(one: Mapping[str, Any]) -> str:
    """Say why a port takes no connection; empty where it does."""
    try:
        connect(str(one["address"]), int(one["port"]), SECONDS).close()
    except OSError as error:
        return error.strerror or str(error) or type(error).__name__
    return ""
