# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""SCRAM credentials: read and changed. With C(at) that broker is asked for its own view, else any broker."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._client.session import Session
from .plan import MECHANISMS, Key

_NAMES = {number: name for name, number in MECHANISMS.items()}


def describe_credentials(session: Session, at: int | None = None) -> dict[str, dict[str, int]]:
    """The SCRAM credentials of the cluster: user, mechanism, iterations."""
    from kafka.protocol.admin import DescribeUserScramCredentialsRequest

    # An empty list means everybody. Without a list a broker gives no answer to somebody who has no right to ask.
    answer = session.send("describe SCRAM credentials", DescribeUserScramCredentialsRequest(users=[]), at)
    return _credentials_of(session.sound(answer, "describe SCRAM credentials").results)


def alter_credentials(
    session: Session, upserts: Iterable[tuple[str, str, int, bytes, bytes]], deletions: Iterable[Key]
) -> dict[str, Any]:
    """Set (user, mechanism, iterations, salt, salted password), or delete; per user None or (error name, why)."""
    from kafka.protocol.admin import AlterUserScramCredentialsRequest

    request = AlterUserScramCredentialsRequest(
        deletions=[(name, MECHANISMS[mechanism]) for name, mechanism in deletions],
        upsertions=[(name, MECHANISMS[mechanism], *rest) for name, mechanism, *rest in upserts],
    )
    answer = session.send_to_controller(what := "alter SCRAM credentials", request)
    return {result.user: session.outcome(what, result) for result in answer.results}


def _credentials_of(results: Any) -> dict[str, dict[str, int]]:
    """The credentials in the results of DescribeUserScramCredentials."""
    return {
        result.user: {
            _NAMES.get(info.mechanism, str(info.mechanism)): info.iterations for info in result.credential_infos
        }
        for result in results
    }
