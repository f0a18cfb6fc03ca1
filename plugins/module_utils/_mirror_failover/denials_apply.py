# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Makes and takes away the denials of a failover, and keeps a list of them in the cluster that they are in.

Two failovers of one source may deny the same: such a denial stays for as long as one of them has it in its list.
"""

from __future__ import annotations

from collections.abc import Sequence

from .._acls.apply import ensure_acls
from .._acls.plan import KEPT, denials_key, denials_of, denied_topics
from .._client.session import Session
from .._core.errors import RequestFailedError, is_denial, warn
from .._state.api import read_prefixed, read_states, write_state
from .._topics.api import made_state_topic
from .record import Denial
from .steps import denial_entries

#: Seconds in which brokers must learn of denials without any progress.
_TIMEOUT = 60


def deny(session: Session, pair: str, denied: Sequence[Denial]) -> None:
    """Make the denials of the failover by a flow that are not there, also those that somebody took away meanwhile."""
    if denied:
        keep_denials(session, pair, denied)
        _change(session, denied, "present")


def allow(session: Session, pair: str, denied: Sequence[Denial], left: Sequence[Denial] = ()) -> None:
    """Take denials away that the failover by a flow made; the cluster keeps a list of those that are C(left)."""
    if denied:
        shared = shared_denials(session, pair)
        if gone := [denial for denial in denied if denial not in shared]:
            _change(session, gone, "absent")
        keep_denials(session, pair, left)


def shared_denials(session: Session, pair: str) -> dict[Denial, str]:
    """Return what the failovers by other flows than this one deny there, each denial with its flow.

    Empty where the user may not read the lists: keep_denials warns of it.
    """
    try:
        kept = denials_of(read_prefixed(session, KEPT))
    except RequestFailedError as error:
        if not is_denial(error.code):
            raise
        return {}
    return {
        Denial(principal, topic): other
        for other, principals in kept.items()
        if other != pair
        for principal, topics in principals.items()
        for topic in topics
    }


def _change(session: Session, denied: Sequence[Denial], state: str) -> None:
    """Make denials that are not there (state present), or take those away that are (absent)."""
    options = {"authoritative": False, "authoritative_for": [], "timeout": _TIMEOUT}
    ensure_acls(session, {"acls": denial_entries(denied, state), **options}, check=False, diff=False)


def keep_denials(session: Session, pair: str, denied: Sequence[Denial]) -> None:
    """Keep what the failover by a flow denies, so that no list of ACLs takes it away; nothing ends that."""
    after = denied_topics(denied)
    try:
        values = read_states(session, [KEPT, denials_key(pair)])
        if denials_of(values).get(pair, {}) == after:
            return
        made_state_topic(session)
        # What an older release kept of the flow holds until the flow has a value of its own, be it an empty one.
        write_state(session, denials_key(pair), after or ({} if KEPT in values else None))
    except RequestFailedError as error:
        if not is_denial(error.code):
            raise
        # The failover itself does not need it.
        warn(
            f"{pair}: its denials are not kept ({error}). Run nothing there with kafka_acls_authoritative meanwhile."
            if denied
            else f"{pair}: its denials are gone, but not the list of them ({error}). Where one is made again, "
            "kafka_acls_authoritative leaves it; an entry with state: absent removes it."
        )
