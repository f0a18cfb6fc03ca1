"""Say how old a picture is, and why it is not newer. Pure: the caller tells the time."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import duration
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
