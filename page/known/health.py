"""Judge whether what the service shows is fresh. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._health.model import DOWN
from page.known.freshness import FAILED, FRESH, LOADING, SILENT, STALE, freshness
from page.known.picture import Picture, Polls

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
