"""What pages show of alerts: what fires by kind, what is kept back, and whether Alertmanager could be asked. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import duration
from page.alerts.told import CRITICAL, FIRING, WARNING, Alert, Alerts, Kind
from page.known.freshness import clock, iso

#: What a page says in place of OK while a critical alert fires.
ALERT = "ALERT"
#: Kinds of alerts that a page shows at once, the gravest; others are closed until a reader opens them.
LINES = 5
#: Alerts that a page lists below a kind, and those of its JSON.
LISTED, IN_JSON = 50, 100
#: Kinds that the one line on other pages of a cluster names.
_NAMED = 3
#: What alerts of one name say of several groups or nodes together.
MANY = {
    "KafkaNodeDown": "nodes do not answer",
    "KafkaGroupStopped": "groups have stopped",
    "KafkaGroupMissing": "watched groups do not exist",
    "KafkaGroupFallsBehind": "groups fall behind",
    "KafkaGroupRewound": "groups went back",
    "KafkaGroupLate": "groups are late",
    "KafkaGroupLostRecords": "groups lost records unread",
}
_TONES = {CRITICAL: "fail", WARNING: "inconclusive"}
_LOOK = "Look at the process and the log of Alertmanager; where it is, kafka_page_alertmanager_url says (page.yml)."


@dataclass(frozen=True)
class Line:
    """The alerts of one kind as a page shows them: C(what) there is, C(listed) what each is about, where it is several.

    C(next_step) and C(runbook) are those of the first; C(left) more are at Alertmanager alone.
    """

    name: str
    word: str
    tone: str
    what: str
    more: str
    next_step: str
    runbook: str
    listed: Sequence[str] = ()
    left: int = 0


@dataclass(frozen=True)
class Shown:
    """The alerts of a page: C(trouble) says why they are not known, C(note) of when they are.

    C(firing) are at most LINES, C(further) the kinds behind them. C(in_a_line) names what fires where no line of it is
    shown.
    """

    firing: Sequence[Line] = ()
    further: Sequence[Line] = ()
    kept_back: Sequence[Line] = ()
    note: str = ""
    trouble: str = ""
    next_step: str = ""
    in_a_line: str = ""


def shown(alerts: Alerts, now: float) -> Shown:
    """Return what a page shows of alerts at C(now), in seconds since 1970."""
    kinds = alerts.kinds()
    firing = [line_of(kind, now) for kind in kinds if kind.first.how == FIRING]
    as_of = "" if alerts.asked is None else f"As of {clock(alerts.asked)}, {_ago(alerts.asked, now)}."
    more = f" {alerts.left_out:,} more are at Alertmanager." if alerts.left_out else ""
    return Shown(
        firing[:LINES],
        firing[LINES:],
        [line_of(kind, now) for kind in kinds if kind.first.how != FIRING],
        f"{as_of}{more}",
        _trouble(alerts),
        _LOOK if alerts.error else "",
        _in_a_line(alerts),
    )


def lines_about(alerts: Alerts | None, labels: Mapping[str, str], now: float) -> list[Line]:
    """Return the alerts that have one of these labels, by kind, whether they fire or are held back."""
    if alerts is None:
        return []
    return [line_of(kind, now) for kind in alerts.kinds(alerts.naming(labels))]


def line_of(kind: Kind, now: float) -> Line:
    """Return the line of alerts of one kind."""
    first, count = kind.first, kind.count
    word = first.severity if first.how == FIRING else first.how
    severity = "" if word == first.severity else f"severity {first.severity}"
    begun = [alert.since for alert in kind.alerts if alert.since is not None]
    since = f"since {clock(min(begun))}, for {duration(max(0.0, now - min(begun)))}" if begun else ""
    own = "; ".join(filter(None, ["" if count > 1 else first.about, severity, since]))
    listed = [_each(alert) for alert in kind.alerts[:LISTED]] if count > 1 else []
    tone = _TONES.get(first.severity, "info") if first.how == FIRING else "info"
    return Line(first.name, word, tone, _what(kind), own, first.first_step, first.runbook, listed, count - len(listed))


def _what(kind: Kind) -> str:
    first = kind.first
    if kind.count == 1:
        return first.summary or first.name
    if kind.subjects == 1:
        return f"{first.subject}: {kind.count:,} alerts {first.name}"
    if first.name in MANY and kind.subjects:
        return f"{kind.subjects:,} {MANY[first.name]}"
    return f"{kind.count:,} alerts {first.name}, as: {first.summary or first.about or first.name}"


def _each(alert: Alert) -> str:
    """Return what one alert of several is about, and since when."""
    since = "" if alert.since is None else f"since {clock(alert.since)}"
    return "; ".join(filter(None, [alert.summary or alert.about or alert.name, since]))


def _in_a_line(alerts: Alerts) -> str:
    kinds = [kind for kind in alerts.kinds() if kind.first.how == FIRING]
    named = [kind.first.name + (f" ({kind.count:,})" if kind.count > 1 else "") for kind in kinds[:_NAMED]]
    left = len(kinds) - len(named)
    return ", ".join(named) + (f" and {left:,} more kind{'' if left == 1 else 's'}" if left else "")


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
        "left_out": alerts.left_out + max(0, len(alerts.alerts) - IN_JSON),
        "kinds": [
            {
                "name": kind.first.name, "severity": kind.first.severity, "state": kind.first.how,
                "alerts": kind.count, "subjects": kind.subjects, "first_step": kind.first.first_step,
            }
            for kind in alerts.kinds()[:IN_JSON]
        ],
        "alerts": [
            {
                "name": alert.name, "severity": alert.severity, "state": alert.how, "summary": alert.summary,
                "about": alert.about, "since": None if alert.since is None else iso(alert.since),
                "runbook": alert.runbook, "first_step": alert.first_step,
            }
            for alert in alerts.alerts[:IN_JSON]
        ],
    }  # fmt: skip


def _trouble(alerts: Alerts) -> str:
    if not alerts.error:
        return ""
    last = " What it told before is shown, and may not hold now." if alerts.asked is not None else ""
    return f"Alerts are not known: Alertmanager cannot be asked ({alerts.error}).{last}"


def _ago(seconds: float, now: float) -> str:
    return f"{duration(max(0.0, now - seconds))} ago"
