# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Modules that connect to a cluster: one argument spec of the connection, one way to open it, one way to fail."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._core.errors import StreamopsError
from .._core.module import run_module
from .connection import CONNECTION_REQUIRED_IF, CONNECTION_REQUIRED_TOGETHER, CONNECTION_SPEC, Connection, quick
from .session import Session

if TYPE_CHECKING:
    from typing import TypeAlias

#: Who does work once more where it ended without a clear answer: takes the work, and who sleeps so many seconds.
Again: TypeAlias = "Callable[[Callable[[], Mapping[str, Any]], Callable[[float], None]], Mapping[str, Any]]"


def run_on_cluster(
    spec: Mapping[str, Any],
    work: Callable[[Session, Mapping[str, Any], bool, bool], Mapping[str, Any]],
    repeated: bool = False,
    again: Again | None = None,
    idempotent: Callable[[Mapping[str, Any]], bool] | None = None,
    **rules: Any,
) -> None:
    """Be a module with these options and those of the connection, whose C(work) returns the result.

    C(work) gets the session, the parameters, whether this is check mode, and whether a diff is asked for.
    C(repeated): an action plugin repeats the module, so a broker that hangs must not use up the whole wait.
    C(again): of work that may be done once more in the same run, asked_again of _core/applied.py: an answer that was
    lost does not end the module then, it looks again and does what is left. A module that only looks leaves it out, and
    is sent without it. C(idempotent): whether that holds with these parameters; None: with all.
    C(rules) are those of AnsibleModule.
    """

    def connected(module: Any) -> Mapping[str, Any]:
        """The work within a session."""
        connection = Connection.from_params(module.params)
        unsettled: list[Callable[[Any], None]] = []

        def once() -> Mapping[str, Any]:
            """Work in a session of its own: the one that lost an answer may be broken.

            What was asked for before an error is waited for as if its answer had come.
            """
            with Session(quick(connection) if repeated else connection) as session:
                try:
                    result = work(session, module.params, module.check_mode, module._diff)
                except StreamopsError as error:
                    unsettled.extend([error.settle] if error.settle else [])
                    raise
                for settle in unsettled:
                    settle(session)
                return result

        if again is None or (idempotent is not None and not idempotent(module.params)):
            return once()
        return again(once, time.sleep)

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
