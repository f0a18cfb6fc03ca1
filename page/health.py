"""Judge whether what the service shows is fresh. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

from page.picture import Picture, Polls


def health(polls: Polls, picture: Picture | None, now: float, stale_after: float) -> dict[str, Any]:
    """Return status (starting, ok or stale), the age of the picture in seconds, and the last failure.

    C(now) is in seconds since 1970; a picture older than C(stale_after) seconds is stale.
    """
    age = max(0.0, now - (picture.taken if picture else polls.began))
    status = "stale" if age > stale_after else "ok" if picture else "starting"
    return {"status": status, "age_seconds": round(age, 3), "polls_failed": polls.failed, "error": polls.error}
