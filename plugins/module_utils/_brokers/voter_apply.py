# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Voters of the metadata quorum, the doing half."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from .._client.session import Session
from .._client.settle import ACCEPTED, PAUSE, wait_until_none
from .._cluster.api import describe_quorum, live_brokers
from .._configs.api import BROKER, describe_configs
from .._core.applied import Applied
from .._core.diff import Change, diff_of
from .._core.errors import RefusedError, RequestFailedError, StreamopsError, WaitTimeoutError
from .api import add_voter, remove_voter
from .voter import (
    AUTO_JOIN,
    REJOIN_SECONDS,
    SILENT,
    SUBJECT,
    Steps,
    came_back,
    election,
    general_violations,
    join_steps,
    joins_itself_violations,
    leave_steps,
    named,
    removal_violations,
    runs_as_voter,
)

if TYPE_CHECKING:
    from .._cluster.snapshot import Quorum

#: What is done to a voter, and its node id and directory id.
_Voter = tuple[str, str]
_REMOVED, _ADDED = "removed", "added"


def ensure_voter(session: Session, params: Mapping[str, Any], check: bool, _diff: bool) -> dict[str, Any]:
    """Make a node a voter, with the directory that it runs with, or none; the module's result.

    Where something must be waited for first, it is named and nothing is done.
    """
    node, timeout = params["node_id"], params["timeout"]
    quorum = describe_quorum(session)
    waiting = election(quorum)
    if waiting and not check:
        return {"changed": False, "voters": [], "waiting": waiting, "diff": diff_of([])}
    before = _changeable(quorum, node)
    steps = (join_steps if params["state"] == "present" else leave_steps)(before, node)
    if steps.waiting and not check:
        waits = {"waiting": steps.waiting, "lag": steps.lag}
        return {"changed": False, "voters": named(before.voters), **waits, "diff": diff_of([])}
    if steps.remove:
        refused = removal_violations(before, node)
        if not steps.add:
            refused += joins_itself_violations(node, _auto_join(session, node))
        if refused:
            raise RefusedError(SUBJECT, refused)
    changed = bool(steps.remove or steps.add or steps.waiting)
    after = named(before.voters)
    if changed and not check:
        _do(session, node, steps, params["listeners"] or (), timeout, not steps.add and runs_as_voter(before, node))
        # Each change was seen. A leader that was taken out resigns after that, and then nobody answers for a moment.
        after = _voters(session, node) or _wanted(before, node, steps)
    change = Change("voters", {"voters": named(before.voters)}, {"voters": _wanted(before, node, steps)})
    return {
        "changed": changed,
        "voters": after,
        "waiting": steps.waiting,
        "diff": diff_of([change] if changed else []),
    }


def _changeable(quorum: Quorum | None, node: int) -> Quorum:
    """The quorum, whose voters can be changed; RefusedError where they cannot."""
    refused = general_violations(quorum, node)
    if refused or quorum is None:
        raise RefusedError(SUBJECT, refused)
    return quorum


def _auto_join(session: Session, node: int) -> str | None:
    """Return AUTO_JOIN of a node; None where it does not know it, or is no live broker, which alone would tell."""
    if node not in live_brokers(session):
        return None
    try:
        values = describe_configs(session, BROKER, {str(node): [AUTO_JOIN]}).get(str(node), {})
    except RequestFailedError:  # Without the right to ask, what follows is watched.
        return None
    return values[AUTO_JOIN].value if AUTO_JOIN in values else None


def _do(
    session: Session,
    node: int,
    steps: Steps,
    listeners: Sequence[Mapping[str, Any]],
    timeout: float,
    may_return: bool,
) -> None:
    """One voter at a time, each seen before the next: the quorum takes one change after the other.

    C(may_return): the node runs and is taken out for good, so it is looked at until it would have joined by itself.
    """
    applied = Applied[_Voter]("voter", " ".join)
    with applied.truthful(_changes, True):
        for directory in steps.remove:
            voter = f"{node}@{directory}"
            gone = partial(wait_until_none, SUBJECT, partial(_present, session, node, voter), timeout)
            with _lost_answer_seen(applied, gone):
                applied.ask([(_REMOVED, voter)], partial(remove_voter, session, node, directory))
            if may_return:
                _stays_out(session, node, voter, timeout)
            else:
                gone()
        if steps.add:
            voter = f"{node}@{steps.add}"
            there = partial(wait_until_none, SUBJECT, partial(_absent, session, node, voter), timeout)
            with _lost_answer_seen(applied, there):
                applied.ask([(_ADDED, voter)], partial(add_voter, session, node, steps.add, listeners, timeout))
            there()


@contextlib.contextmanager
def _lost_answer_seen(applied: Applied[_Voter], wait: Callable[[], None]) -> Iterator[None]:
    """Wait until the quorum shows the change that is asked for inside, where that got no clear answer.

    A slow quorum carries a change out after the request for it has timed out, so it decides whether that was an error.
    """
    try:
        yield
    except StreamopsError:
        if not applied.doubtful:
            raise
        with contextlib.suppress(WaitTimeoutError):
            wait()
            applied.settle()
            return
        raise


def _stays_out(session: Session, node: int, voter: str, timeout: float) -> None:
    """Return when a node that runs is still no voter after the time in which it would have joined by itself.

    Kafka has acknowledged the removal, so a voter of that id has joined again. Raises StreamopsError then, and
    WaitTimeoutError where nobody tells who votes.
    """
    begun = time.monotonic()
    while True:
        voters = _voters(session, node)
        passed = time.monotonic() - begun
        if voters is not None and passed >= REJOIN_SECONDS:
            if voter in voters:
                raise StreamopsError(came_back(node))
            return
        if passed > max(timeout, REJOIN_SECONDS):
            raise WaitTimeoutError(SUBJECT, timeout, [SILENT], ACCEPTED)
        time.sleep(PAUSE)


def _changes(done: Sequence[_Voter]) -> list[Change]:
    """From and to of what was done."""
    gone = [voter for how, voter in done if how == _REMOVED]
    come = [voter for how, voter in done if how == _ADDED]
    return [Change("voters", {"voters": gone}, {"voters": come})] if done else []


def _present(session: Session, node: int, voter: str) -> list[str]:
    voters = _voters(session, node)
    return [SILENT] if voters is None else [f"{voter} is still a voter"] if voter in voters else []


def _absent(session: Session, node: int, voter: str) -> list[str]:
    voters = _voters(session, node)
    return [SILENT] if voters is None else [] if voter in voters else [f"{voter} is no voter yet"]


def _voters(session: Session, node: int) -> list[str] | None:
    """The voters; None while the quorum elects, as it does when its leader was taken out."""
    quorum = describe_quorum(session)
    return None if quorum is None or general_violations(quorum, node) else named(quorum.voters)


def _wanted(before: Quorum, node: int, steps: Steps) -> list[str]:
    """The voters when all is done; in check mode of a node that is not there yet its directory is not known."""
    gone = {f"{node}@{directory}" for directory in steps.remove}
    coming = [f"{node}@{steps.add}"] if steps.add else [f"{node}@(not there yet)"] if steps.waiting else []
    return sorted([*(one for one in named(before.voters) if one not in gone), *coming])
