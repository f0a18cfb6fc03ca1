"""Read the alerts in an answer of Alertmanager (GET /api/v2/alerts), which is text of others throughout. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

#: An alert that is told to people, and those that Alertmanager keeps back: by a silence, or for another alert.
FIRING, SILENCED, INHIBITED = "firing", "silenced", "inhibited"
CRITICAL, WARNING = "critical", "warning"
#: Of alerts that fire all the time and are for no person, as KafkaWatchdog.
_FOR_NOBODY = "none"
#: Alerts that are kept of a cluster, and characters of a text and of a link.
MOST, LONGEST, LONGEST_LINK = 2000, 400, 2000
#: The label of a group, of which a cluster may have any number, and those of a topic and of a node.
GROUP, TOPIC, NODE, INSTANCE = "consumergroup", "topic", "node", "instance"
#: What tells alerts of one name and cluster apart, beside the cluster: labels of our alerts.
_ABOUT = (NODE, INSTANCE, GROUP, TOPIC, "source", "target", "mountpoint", "listener")
#: The labels by which people count alerts of one kind, the first that an alert has: groups, nodes.
_COUNTED = (GROUP, NODE, INSTANCE)
#: The last time that can be written with four digits of a year.
_LAST = 253_402_300_800
_KINDS = (CRITICAL, WARNING)
_HOW = (FIRING, SILENCED, INHIBITED)


class NoAlertsError(ValueError):
    """An answer that is none of Alertmanager's API."""


@dataclass(frozen=True)
class Alert:
    """One alert. C(since) is in seconds since 1970, None where it is unknown. C(runbook): a link of http(s), or empty.

    C(cluster) is None where no label names one. C(labels) say what it is about within the cluster, in the order of
    _ABOUT. C(first_step) is the first command or playbook, empty where it is not told.
    """

    name: str
    severity: str
    how: str
    cluster: str | None = None
    summary: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    since: float | None = None
    runbook: str = ""
    first_step: str = ""

    @property
    def about(self) -> str:
        """Return what it is about within the cluster, in words."""
        return _text(", ".join(f"{name} {text}" for name, text in self.labels))

    @property
    def host(self) -> str:
        """Return the host of the target that it is about, where no label names a node; empty without one."""
        labels = dict(self.labels)
        return "" if NODE in labels else labels.get(INSTANCE, "").rpartition(":")[0]

    @property
    def kind(self) -> tuple[str, str, str]:
        """Return what people look at as one: alerts of this state, severity and name."""
        return self.how, self.severity, self.name

    @property
    def subject(self) -> str:
        """Return the group or the node that it is about; empty for any other."""
        labels = dict(self.labels)
        return next((labels[name] for name in _COUNTED if name in labels), "")


@dataclass(frozen=True)
class Kind:
    """Alerts that fire, or are held back, under one name and with one severity.

    C(alerts): those that are kept, at least one. C(count): how many there are. C(subjects): of how many groups, or of
    how many nodes; 0 where one of them is about neither.
    """

    alerts: Sequence[Alert]
    count: int
    subjects: int

    @property
    def first(self) -> Alert:
        """Return the alert that stands for all of them."""
        return self.alerts[0]


@dataclass(frozen=True)
class Alerts:
    """What is known of the alerts about one cluster, or about none.

    C(alerts): the gravest first, at most MOST, of each kind at least one as far as there is room. C(counts): by kind
    how many there are, and of how many subjects. C(left_out): how many more there are. C(firing), C(critical): how many
    of all fire, and fire with this severity. C(asked): when they were told last (seconds since 1970), None before that.
    C(error): why the last question had no answer.
    """

    alerts: tuple[Alert, ...] = ()
    counts: Mapping[tuple[str, str, str], tuple[int, int]] = field(default_factory=dict)
    left_out: int = 0
    firing: int = 0
    critical: int = 0
    asked: float | None = None
    error: str = ""

    def kinds(self, some: Iterable[Alert] | None = None) -> list[Kind]:
        """Return the alerts by kind, the gravest first; of C(some) of them alone where these are given."""
        by: dict[tuple[str, str, str], list[Alert]] = {}
        for alert in self.alerts if some is None else some:
            by.setdefault(alert.kind, []).append(alert)
        if some is None:
            return [Kind(kept, *self.counts[kind]) for kind, kept in by.items()]
        return [Kind(kept, len(kept), _subjects(kept)) for kept in by.values()]

    def naming(self, labels: Mapping[str, str]) -> list[Alert]:
        """Return the alerts that have one of these labels."""
        wanted = {(label, _text(text)) for label, text in labels.items()}
        return [alert for alert in self.alerts if not wanted.isdisjoint({*alert.labels, (NODE, alert.host)})]


@dataclass(frozen=True)
class Told:
    """What Alertmanager told: C(by) the label cluster, None for alerts without it; the rest is as in Alerts."""

    by: Mapping[str | None, Alerts] = field(default_factory=dict)
    asked: float | None = None
    error: str = ""

    def about(self, cluster: str | None) -> Alerts:
        """Return what is known of the alerts about a cluster, or with None about none."""
        return replace(self.by.get(cluster, Alerts()), asked=self.asked, error=self.error)


def told(answer: bytes, asked: float) -> Told:
    """Return the alerts in an answer that came at C(asked); NoAlertsError where it is none."""
    try:
        given = json.loads(answer)
    except (ValueError, RecursionError):
        raise NoAlertsError("its answer is no JSON") from None
    if not isinstance(given, list):
        raise NoAlertsError("its answer is no list of alerts")
    by: dict[str | None, list[Alert]] = {}
    for one in given:
        if (alert := _alert(one)) and alert.severity != _FOR_NOBODY:
            by.setdefault(alert.cluster, []).append(alert)
    return Told({cluster: _alerts(some) for cluster, some in by.items()}, asked)


def _alerts(some: list[Alert]) -> Alerts:
    firing = [alert.severity for alert in some if alert.how == FIRING]
    kept = _kept(sorted(some, key=_order))
    by: dict[tuple[str, str, str], list[Alert]] = {}
    for alert in some:
        by.setdefault(alert.kind, []).append(alert)
    counts = {kind: (len(alike), _subjects(alike)) for kind, alike in by.items()}
    return Alerts(kept, counts, len(some) - len(kept), len(firing), firing.count(CRITICAL))


def _kept(ordered: Sequence[Alert]) -> tuple[Alert, ...]:
    """Return the first MOST alerts, but one of each kind before a second one of any: no flood hides another kind."""
    met: Counter[tuple[str, str, str]] = Counter()
    places: list[tuple[bool, int]] = []
    for place, alert in enumerate(ordered):
        met[alert.kind] += 1
        places.append((met[alert.kind] > 1, place))
    return tuple(ordered[place] for place in sorted(place for _again, place in sorted(places)[:MOST]))


def _subjects(alike: Iterable[Alert]) -> int:
    subjects = {alert.subject for alert in alike}
    return 0 if "" in subjects else len(subjects)


def _order(one: Alert) -> tuple[Any, ...]:
    """Return what alerts are ordered by: what is about a whole cluster or a node comes before what is about groups."""
    weight = _KINDS.index(one.severity) if one.severity in _KINDS else len(_KINDS)
    return _HOW.index(one.how), weight, GROUP in dict(one.labels), one.name, one.severity, one.about


def _alert(given: Any) -> Alert | None:
    """Return one alert; what has no labels, and so no name, is none."""
    if not isinstance(given, dict) or not isinstance(labels := given.get("labels"), dict):
        return None
    annotations = _object(given.get("annotations"))
    cluster = labels.get("cluster")
    return Alert(
        _text(labels.get("alertname")) or "(no name)",
        _text(labels.get("severity")) or "(no severity)",
        _how(given.get("status")),
        cluster if isinstance(cluster, str) and cluster else None,
        _text(annotations.get("summary")),
        tuple((name, text) for name in _ABOUT if (text := _text(labels.get(name)))),
        _seconds(given.get("startsAt")),
        _link(annotations.get("runbook_url")),
        _text(annotations.get("first_step")),
    )


def _object(given: Any) -> dict[str, Any]:
    return given if isinstance(given, dict) else {}


def _text(given: Any) -> str:
    """Return a text that is not too long; what is no text is empty."""
    if not isinstance(given, str):
        return ""
    return given if len(given) <= LONGEST else f"{given[:LONGEST]}..."


def _how(status: Any) -> str:
    """Return whether an alert is told to people: all that is not kept back is, also what is still unprocessed."""
    found = _object(status)
    if found.get("silencedBy"):
        return SILENCED
    return INHIBITED if found.get("inhibitedBy") else FIRING


def _seconds(given: Any) -> float | None:
    """Return a time of RFC 3339 in seconds since 1970; None for anything else."""
    try:
        found = datetime.fromisoformat(given) if isinstance(given, str) else None
        seconds = found.timestamp() if found and found.tzinfo else -1.0
        return seconds if 0 <= seconds < _LAST else None
    except (ValueError, OverflowError):
        return None


def _link(given: Any) -> str:
    """Return an address that a page may lead to: http(s) with a host, without a login and characters that hide any."""
    if not isinstance(given, str) or not given.isascii() or not given.isprintable() or len(given) > LONGEST_LINK:
        return ""
    try:
        found = urlsplit(given)
        is_fit = found.scheme in ("http", "https") and found.hostname and "@" not in found.netloc
    except ValueError:
        return ""
    return given if is_fit and " " not in given else ""
