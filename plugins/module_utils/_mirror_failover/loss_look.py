# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Reads of the target of a flow what is left of a source that is lost, and tries whether the source answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._client.connection import Connection, quick
from .._client.session import Session
from .._cluster.api import topics_at
from .._cluster.snapshot import Key
from .._core.errors import AccessRefusedError, ClusterUnreachableError
from .._core.names import capped
from .._groups.api import list_groups
from .._groups.look import described
from .._logs.api import leaders_of, newest_times
from .._mirror import status
from .._mirror.flows import Flow, offsets_topic, remote_topic
from .._mirror.gaps_look import kept_with_time, now
from .._mirror.look import at, read_notes
from .look import checkpoints_of, copies_of, hidden_brokers, mirrors_of
from .loss import Survivors


def answer_of(flow: Flow, params: Mapping[str, Any]) -> tuple[str, str]:
    """Try for about ten seconds whether the source answers; return how it does, and why it does not: the other empty.

    Raises RefusedError for a connection that cannot be meant.
    """
    with at(f"source {flow.source}"):
        source = quick(Connection.from_params(params["source_connection"]))
    try:
        with Session(source):
            return f"it answers at {capped(source.bootstrap_servers, 3)}", ""
    except AccessRefusedError as error:
        return f"it answers, and refuses us ({_tried(error.fields['attempts'])})", ""
    except ClusterUnreachableError as error:
        if error.fields["refused"]:
            return f"it answers, and refuses us at {capped(error.fields['refused'], 3)}", ""
        return "", _tried(error.fields["attempts"])


def _tried(attempts: Mapping[str, str]) -> str:
    return capped([f"{server}: {why}" for server, why in attempts.items()], 3)


def survivors_of(flow: Flow, copy: Session, answer: str, silence: str) -> Survivors:
    """Read what the target knows; C(answer) and C(silence) as C(answer_of) returns them.

    Raises MirrorNotBegunError for a target that knows nothing of the flow, or what the clients raise.
    """
    with at(f"target {flow.target}"):
        existing = topics_at(copy, None, None)
        if offsets_topic(flow) not in existing:
            raise status.not_begun(flow)
        notes = read_notes(flow, copy, existing)
        copies = copies_of(flow, copy)
        listed, silent = list_groups(copy)
        groups, present, offsets = described(copy, listed)
        workers, unknown = mirrors_of(flow, flow.target, groups)
        checkpoints = checkpoints_of(flow, copy)
        newest = _newest(flow, copy, list(copies))
    return Survivors(
        marks=kept_with_time(flow, copy),
        now=now(),
        positions=notes.positions,
        copies=copies,
        newest=newest,
        checkpoints=checkpoints,
        checkpoint_at=notes.checkpoint_at,
        groups=[(groups[group.name], offsets[group.name]) for group in present],
        hidden=[*hidden_brokers(flow.target, silent), *unknown],
        workers=workers,
        answer=answer,
        silence=silence,
    )


def _newest(flow: Flow, copy: Session, keys: list[Key]) -> dict[Key, int]:
    """Return the latest time of the records of each copy, as far as brokers tell it."""
    names = {(remote_topic(flow, topic), number): (topic, number) for topic, number in keys}
    times = newest_times(copy, leaders_of(copy, {name for name, _number in names}), names)
    return {names[name]: time for name, time in times.items() if isinstance(time, int)}
