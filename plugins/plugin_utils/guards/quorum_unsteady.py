# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether the metadata quorum of a cluster ever formed, and has no stable leader now, judged from its own nodes.

No broker can tell: it is the one that asks in vain. One controller alone may be cut off from the others, which keep
their leader, so only a majority of all controllers makes an unsteady quorum.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

Info = Mapping[str, Any] | None
Infos = Mapping[str, Info]

#: How old a change may be that is taken back for a quorum that has no stable leader now: what ran for longer is hardly
#: its cause, and nobody expects it to be undone.
RECENT = timedelta(days=1)
#: How the names of generations begin.
_TIME = "%Y%m%dT%H%M%SZ"


def unsteady_quorum(controllers: Infos) -> dict[str, Any]:
    """Return {controllers, epochs, changed} of a quorum without a stable leader; empty of any other.

    controllers -- by host what node_info returned with watch_quorum, of all controllers of the cluster; one that was
    not asked, does not run or was not watched says nothing. epochs and changed are phrases.
    """
    seen = _unsteady(controllers)
    if 2 * len(seen) <= len(controllers):
        return {}
    return {"controllers": list(seen), "epochs": _epochs(list(seen.values())), "changed": changed_last(controllers)}


def cut_off(controllers: Infos) -> list[str]:
    """Return the hosts of controllers that find no stable leader while most of the others do."""
    return [] if unsteady_quorum(controllers) else list(_unsteady(controllers))


def changed_last(controllers: Infos) -> list[str]:
    """Return what changed last in the start files of controllers, a phrase for all with the same change."""
    hosts: dict[tuple[str, ...], list[str]] = {}
    for host, change in _changes(controllers).items():
        hosts.setdefault(tuple(change["changes"]), []).append(host)
    since = {host: str(change["since"]) for host, change in _changes(controllers).items()}
    return [
        f"{', '.join(some)} since {min(since[host] for host in some)}: {'; '.join(lines)}"
        for lines, some in hosts.items()
    ]


def taken_back(controllers: Infos, now: float) -> list[str]:
    """Return the hosts of controllers whose last change can be undone: a recent one, with the same release.

    An older release may not read the metadata of a newer one.
    """
    earliest = datetime.fromtimestamp(now, UTC) - RECENT
    return [
        host
        for host, change in _changes(controllers).items()
        if change["same_release"] and (made := _made(str(change["since"]))) and made >= earliest
    ]


def _changes(controllers: Infos) -> dict[str, Mapping[str, Any]]:
    found = {host: ((info or {}).get("start_files") or {}).get("last_change") for host, info in controllers.items()}
    return {host: change for host, change in found.items() if change}


def _made(name: str) -> datetime | None:
    try:
        # Of two in the same second, the second has a number behind it.
        return datetime.strptime(name[:16], _TIME).replace(tzinfo=UTC)
    except ValueError:
        return None


def _epochs(seen: Sequence[Mapping[str, Any]]) -> str:
    known = [one[key] for one in seen for key in ("first_epoch", "last_epoch") if one[key] is not None]
    if not known:
        return "no leader"
    if min(known) == max(known):
        return f"no leader in epoch {known[0]}"
    return f"epochs {min(known)} to {max(known)} within seconds"


def _unsteady(controllers: Infos) -> dict[str, Mapping[str, Any]]:
    found = {host: (info or {}).get("quorum") or {} for host, info in controllers.items()}
    return {host: quorum for host, quorum in found.items() if quorum.get("unsteady")}


def never_formed(voters: Iterable[Mapping[str, Any] | None], brokers: Iterable[Mapping[str, Any] | None] = ()) -> bool:
    """Return whether no voter ever knew a leader or held a record, and no broker that was asked followed one.

    voters, brokers -- the results of node_info on each controller, and on the brokers as far as they were asked.
    """
    states = [(one or {}).get("quorum") for one in voters]
    followed = [state for one in brokers if (state := (one or {}).get("quorum")) and not _is_blank(state)]
    return bool(states) and not followed and all(_is_blank(state) for state in states)


def _is_blank(state: Mapping[str, Any] | None) -> bool:
    return bool(state) and state["leader"] is None and state["records"] is False  # type: ignore[index]
