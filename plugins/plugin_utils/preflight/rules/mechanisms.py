# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on the SASL mechanisms that running brokers offer: clients move from one to another in three runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ....module_utils._node.logins import Logins
from ...reports.logins import at_time
from ..host import Host, Offer
from ..rule import Problem, host_rule

VARIABLE = "kafka_sasl_mechanisms"
#: Seconds after which a client that is alive has come back to a broker that restarted, by the defaults of clients of
#: Kafka (ConsumerConfig, ProducerConfig): within 5 minutes it learns that the broker leads again (metadata.max.age.ms),
#: and a connection that it did not use for 9 it opens anew for its next request (connections.max.idle.ms); a minute is
#: spare. No inventory has these settings of clients, so it follows from none. Who connects less often: see the fix.
_SETTLED = 900
_STEPS = '("Moving clients to another mechanism" in docs/tls-sasl.md)'


@dataclass(frozen=True)
class _Change:
    """What a run changes at a listener of a running broker.

    logins -- those counted there, empty without a log; looked_at -- when, in seconds since 1970
    """

    offer: Offer
    now: Sequence[str]
    logins: Sequence[Logins]
    looked_at: float


@host_rule(
    variable=VARIABLE,
    allowed="first a mechanism that the brokers offer already",
    fix=f"put the new mechanism behind the old one in this run, and first in the next one {_STEPS}",
    acceptable=True,
)
def mechanism_too_early(hosts: Sequence[Host]) -> Iterator[Problem]:
    """The first of `kafka_sasl_mechanisms`, by which the administrator and our own clients log in, is none that a
    running broker offers: the run could not log in."""
    for host in hosts:
        for change in _changes(host):
            if change.offer.own and change.offer.own not in change.now:
                what = f"nothing can log in at listener {change.offer.listener} by {change.offer.own} yet"
                yield Problem(host, what, f"the running broker offers {', '.join(change.now)}")


@host_rule(
    variable=VARIABLE,
    allowed="with each mechanism that clients still log in by",
    fix=f"move these clients first; the count begins anew when the broker restarts {_STEPS}",
    acceptable=True,
)
def mechanism_in_use(hosts: Sequence[Host]) -> Iterator[Problem]:
    """This run takes a mechanism away by which clients have begun to log in since the broker started, or the broker has
    counted no login at all or for less than 15 minutes, so that it is not known: such clients could not connect any
    more."""
    for host in hosts:
        for change in _changes(host):
            for mechanism in _taken_away(change):
                what = f"this run takes {mechanism} away from listener {change.offer.listener}"
                used = next((entry for entry in change.logins if entry.mechanism == mechanism), None)
                if used:
                    counted = f"{used.count} logins since {at_time(used.first)}"
                    yield Problem(host, what, f"{counted}, the last at {at_time(used.last)}", fix=_to_move(mechanism))
                elif not change.logins:
                    yield Problem(host, what, "the broker has counted no login there, so it is not known who uses it")
                else:
                    yield from _too_soon(host, change, mechanism, what)


def _too_soon(host: Host, change: _Change, mechanism: str, what: str) -> Iterator[Problem]:
    """Say that a broker has not counted for long enough to show who still uses a mechanism that it counted no login by.

    What was before the first login that it has counted is not known.
    """
    since = min(entry.first for entry in change.logins)
    counted_for = change.looked_at - since
    if counted_for < _SETTLED:
        others = sum(entry.count for entry in change.logins)
        seen_so_far = (
            f"no login by {mechanism} in {counted_for / 60:.0f} min (since {at_time(since)}, {others} by others)"
        )
        fix = f"wait, longer where clients connect seldom, and run again {_STEPS}"
        yield Problem(host, what, seen_so_far, f"counted for {_SETTLED // 60} min", fix)


def _to_move(mechanism: str) -> str | None:
    """Return the fix of a mechanism that is used; None for that of the rule."""
    if not mechanism.startswith("SCRAM-"):
        return None
    return (
        f"move these clients first; a run tries the passwords of kafka_users by {mechanism}, which counts too, so set "
        "update_password: on_create for those of them who have moved; the count begins anew when the broker restarts "
        f"{_STEPS}"
    )


def _taken_away(change: _Change) -> list[str]:
    """Return what clients cannot use any more; nothing where all changes at once, which is too early anyway."""
    stays = set(change.now) & set(change.offer.mechanisms)
    return [name for name in change.now if name not in change.offer.mechanisms] if stays else []


def _changes(host: Host) -> Iterator[_Change]:
    info = host.info or {}
    for offer in host.offers:
        now = info.get("mechanisms", {}).get(offer.listener.lower())
        if now:
            logins = [Logins(**entry) for entry in info.get("logins") or ()]
            there = [entry for entry in logins if entry.listener.lower() == offer.listener.lower()]
            yield _Change(offer, now, there, info["looked_at"])
