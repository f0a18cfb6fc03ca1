"""Say how old a picture is, why it is not newer, and whether what the service shows is fresh. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import duration
from ansible_collections.streamops.kafka.plugins.module_utils._health.model import DOWN
from page.known.picture import Picture, Polls

LOADING, FRESH, STALE, FAILED, SILENT = "loading", "fresh", "stale", "failed", "down"
_LOOK = "ansible-playbook streamops.kafka.status -i INVENTORY shows whether the cluster answers at all"


@dataclass(frozen=True)
class Freshness:
    """How old what is shown is: C(taken) as text (ISO 8601, UTC), C(age) in seconds; both None without a picture."""

    state: str
    what: str
    taken: str | None = None
    age: float | None = None
    cause: str = ""
    next_step: str = ""

    @property
    def is_fresh(self) -> bool:
        """Whether what is shown holds now."""
        return self.state == FRESH


def freshness(polls: Polls, picture: Picture | None, now: float, stale_after: float) -> Freshness:
    """Return how old a picture is at C(now), in seconds since 1970; C(stale_after) is in seconds."""
    if polls.is_down:
        last = (
            f"Last seen {duration(max(0.0, now - picture.taken))} ago." if picture else "It was never seen from here."
        )
        taken, age = (iso(picture.taken), max(0.0, now - picture.taken)) if picture else (None, None)
        what = f"No server of the cluster answers. {last}"
        return Freshness(SILENT, what, taken, age, polls.error, f"Start the brokers: site.yml does. {_LOOK}.")
    if picture is None:
        if polls.error:
            return Freshness(FAILED, "No poll has succeeded yet.", None, None, polls.error, f"Mend the cause. {_LOOK}.")
        wait = duration(now - polls.began)
        return Freshness(LOADING, f"The first poll is under way for {wait}.", next_step="Look again in some seconds.")
    age = max(0.0, now - picture.taken)
    taken, what = iso(picture.taken), f"Seen {duration(age)} ago."
    if polls.error:
        return Freshness(STALE, f"Stale: polls fail. {what}", taken, age, polls.error, f"Mend the cause. {_LOOK}.")
    if age > stale_after:
        cause = f"no poll has ended since, and a picture is stale after {duration(stale_after)}"
        return Freshness(STALE, f"Stale. {what}", taken, age, cause, f"Look at the log of the page. {_LOOK}.")
    return Freshness(FRESH, what, taken, age)


def iso(seconds: float) -> str:
    """Return a time since 1970 as text, as 2026-11-24T12:00:00Z."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def clock(seconds: float) -> str:
    """Return a time since 1970 for people, as 2026-11-24 12:00:00 UTC."""
    return iso(seconds).replace("T", " ").replace("Z", " UTC")


#: What a freshness is called here.
_STATUS = {SILENT: "down", LOADING: "unknown", FAILED: "unknown", STALE: "stale", FRESH: "ok"}


def health(clusters: Mapping[str, tuple[Polls, Picture | None]], now: float, stale_after: float) -> dict[str, Any]:
    """Return C(status) of the service and, by name of the cluster, C(clusters).

    As on its page, a cluster is down when no server of it answered the last poll or its fresh picture is judged DOWN,
    unknown before its first picture, stale when its picture is older than C(stale_after) seconds or the last poll
    failed, and ok otherwise, also where it is DEGRADED; the service is ok when all clusters are. C(now) is in seconds
    since 1970. Why polls failed is left out: it names addresses and users, and the log has it.
    """
    found = {name: _health(polls, picture, now, stale_after) for name, (polls, picture) in clusters.items()}
    seen = {one["status"] for one in found.values()}
    return {"status": next((one for one in ("down", "unknown", "stale") if one in seen), "ok"), "clusters": found}


def is_current(polls: Polls, picture: Picture | None, now: float, stale_after: float) -> bool:
    """Return whether what was seen may be told as what is; times as in C(health).

    A poll that failed does not end that by itself: alerts on groups would end and begin anew.
    """
    return picture is not None and not polls.is_down and now - picture.taken <= stale_after


def _health(polls: Polls, picture: Picture | None, now: float, stale_after: float) -> dict[str, Any]:
    age = max(0.0, now - (picture.taken if picture else polls.began))
    fresh = freshness(polls, picture, now, stale_after)
    is_down = fresh.is_fresh and picture is not None and picture.cluster.get("status") == DOWN
    status = _STATUS[SILENT if is_down else fresh.state]
    return {"status": status, "age_seconds": round(age, 3), "polls": polls.done, "polls_failed": polls.failed}
