# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Modules that connect to a cluster: one argument spec of the connection, one way to open it, one way to fail."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import (
    CONNECTION_REQUIRED_IF,
    CONNECTION_REQUIRED_TOGETHER,
    CONNECTION_SPEC,
    Connection,
    quick,
)
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._core.applied import asked_again
from ansible_collections.streamops.kafka.plugins.module_utils._core.module import run_module


def run_on_cluster(
    spec: Mapping[str, Any],
    work: Callable[[Session, Mapping[str, Any], bool, bool], Mapping[str, Any]],
    repeated: bool = False,
    idempotent: bool | Callable[[Mapping[str, Any]], bool] = False,
    **rules: Any,
) -> None:
    """Be a module with these options and those of the connection, whose C(work) returns the result.

    C(work) gets the session, the parameters, whether this is check mode, and whether a diff is asked for.
    C(repeated): an action plugin repeats the module, so a broker that hangs must not use up the whole wait.
    C(idempotent): whether the work, with these parameters, may be done once more in the same run. Then an answer that
    was lost does not end the module: it looks again and does what is left (_core/applied.py).
    C(rules) are those of AnsibleModule.
    """

    def connected(module: Any) -> Mapping[str, Any]:
        """The work within a session."""
        connection = Connection.from_params(module.params)

        def once() -> Mapping[str, Any]:
            """Work in a session of its own: the one that lost an answer may be broken."""
            with Session(quick(connection) if repeated else connection) as session:
                return work(session, module.params, module.check_mode, module._diff)

        is_repeatable = idempotent(module.params) if callable(idempotent) else idempotent
        return asked_again(once, time.sleep) if is_repeatable else once()

    run_with_connection(spec, connected, **rules)


def run_with_connection(
    spec: Mapping[str, Any],
    work: Callable[[Any], Mapping[str, Any]],
    required_if: Sequence[tuple[str, Any, list[str]]] = (),
    **rules: Any,
) -> None:
    """Be a module with these options and those of the connection, whose C(work) opens sessions itself."""
    run_module(
        {**CONNECTION_SPEC, **spec},
        work,
        required_if=[*CONNECTION_REQUIRED_IF, *required_if],
        required_together=CONNECTION_REQUIRED_TOGETHER,
        **rules,
    )
