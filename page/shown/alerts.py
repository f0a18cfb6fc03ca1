"""What pages show of alerts: what fires, what is kept back, and whether Alertmanager could be asked. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import duration
from page.alerts.told import CRITICAL, FIRING, WARNING, Alert, Alerts
from page.known.freshness import clock, iso

#: What a page says in place of OK while a critical alert fires.
ALERT = "ALERT"
#: Alerts of one kind that a page lists; its JSON has all that are kept.
LISTED = 20
_TONES = {CRITICAL: "fail", WARNING: "inconclusive"}
_LOOK = "Look at the process and the log of Alertmanager; where it is, kafka_page_alertmanager_url says (page.yml)."


@dataclass(frozen=True)
class Row:
    """One alert as a page shows it."""

    name: str
    word: str
    tone: str
    summary: str
    more: str
    runbook: str


@dataclass(frozen=True)
class Shown:
    """The alerts of a page: C(trouble) says why they are not known, C(note) of when they are."""

    firing: Sequence[Row] = ()
    kept_back: Sequence[Row] = ()
    note: str = ""
    trouble: str = ""
    next_step: str = ""


def shown(alerts: Alerts, now: float) -> Shown:
    """Return what a page shows of alerts at C(now), in seconds since 1970."""
    firing = [one for one in alerts.alerts if one.how == FIRING]
    kept_back = [one for one in alerts.alerts if one.how != FIRING]
    left = max(0, len(firing) - LISTED) + max(0, len(kept_back) - LISTED) + alerts.left_out
    as_of = "" if alerts.asked is None else f"As of {clock(alerts.asked)}, {_ago(alerts.asked, now)}."
    more = f" {left:,} more are at Alertmanager." if left else ""
    return Shown(
        [_row(one, one.severity, now) for one in firing[:LISTED]],
        [_row(one, one.how, now) for one in kept_back[:LISTED]],
        f"{as_of}{more}",
        _trouble(alerts),
        _LOOK if alerts.error else "",
    )


def fires(alerts: Alerts) -> str:
    """Return how many alerts fire as a sentence; empty without one."""
    if not alerts.firing:
        return ""
    if alerts.firing == alerts.critical == 1:
        return "A critical alert fires."
    critical = f", {alerts.critical:,} of them critical" if alerts.critical else ""
    return f"{alerts.firing:,} alert{' fires' if alerts.firing == 1 else 's fire'}{critical}."


def data_of(alerts: Alerts) -> dict[str, Any]:
    """Return alerts for machines."""
    return {
        "asked": None if alerts.asked is None else iso(alerts.asked),
        "error": alerts.error,
        "firing": alerts.firing,
        "critical": alerts.critical,
        "left_out": alerts.left_out,
        "alerts": [
            {
                "name": one.name, "severity": one.severity, "state": one.how, "summary": one.summary,
                "about": one.about, "since": None if one.since is None else iso(one.since), "runbook": one.runbook,
            }
            for one in alerts.alerts
        ],
    }  # fmt: skip


def _trouble(alerts: Alerts) -> str:
    if not alerts.error:
        return ""
    last = " What it told before is shown, and may not hold now." if alerts.asked is not None else ""
    return f"Alerts are not known: Alertmanager cannot be asked ({alerts.error}).{last}"


def _row(one: Alert, word: str, now: float) -> Row:
    since = "" if one.since is None else f"since {clock(one.since)}, for {duration(max(0.0, now - one.since))}"
    severity = "" if word == one.severity else f"severity {one.severity}"
    tone = _TONES.get(one.severity, "info") if one.how == FIRING else "info"
    more = "; ".join(filter(None, [one.about, severity, since]))
    return Row(one.name, word, tone, one.summary or one.name, more, one.runbook)


def _ago(seconds: float, now: float) -> str:
    return f"{duration(max(0.0, now - seconds))} ago"
