# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Prometheus rules from the table of alerts (alerts.yml) and what an inventory chooses of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from ansible.module_utils.common.yaml import yaml_load

from ...module_utils._core.names import near
from ...module_utils._core.values import to_boolean, to_number

TABLE = Path(__file__).with_name("alerts.yml")
#: Where docs/alerts.md can be read when an inventory names no other place (kafka_monitoring_runbooks).
RUNBOOKS = "https://github.com/streamops/streamops.kafka/blob/main/docs/alerts.md"
#: Those that an inventory may choose; none is for what no person shall see.
SEVERITIES = ("critical", "warning")
NOT_NEGATIVE = (0, None)
#: How long an alert goes on whose source is silent: one that is gone for good is not told for ever.
HELD = "7d"
#: What an alert that holds on to nothing does when its source is gone.
FIRES, STAYS, ENDS = "fires", "stays", "ends"
#: The alert that fires all the time, of which a service outside waits (a dead man's switch).
WATCHDOG = "KafkaWatchdog"
#: The labels by which a target of Prometheus is known.
TARGET = ("cluster", "instance")
#: A duration as Prometheus writes it, in units of falling size.
DURATION = re.compile(r"(?=\d)(\d+d)?(\d+h)?(\d+m)?(\d+s)?")


@dataclass(frozen=True)
class Alert:
    """One alert of the table; `numbers` are those of `expr`, by name. `period` is the `for` of Prometheus.

    `terms` are the expressions by name that `expr` and `heard` may use. `causes` are the alerts that follow from it
    where labels of the names in `within` are the same; `causing` is a matcher of what they follow from, empty for all
    of it. Event-Driven Ansible starts the job template `looks` and the workflow of the change `proposes`; empty for
    none. `heard` is PromQL that has a series, with the labels of the names in `by`, while the source of the alert
    speaks; `gone` is what an alert without it does when its source is gone, FIRES, STAYS or ENDS. `tells` are the kinds
    of findings that it tells of.
    """

    group: str
    name: str
    expr: str
    period: str
    severity: str
    summary: str
    meaning: str
    first: str
    then: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    enabled: bool = True
    planned: bool = False
    terms: Mapping[str, str] = field(default_factory=dict)
    causes: Sequence[str] = ()
    within: Sequence[str] = ()
    causing: str = ""
    looks: str = ""
    proposes: str = ""
    heard: str = ""
    by: Sequence[str] = ()
    gone: str = ENDS
    tells: Sequence[str] = ()

    @property
    def query(self) -> str:
        """Return the PromQL of what makes it fire, filled in, on one line."""
        return self._filled_in(self.expr)

    @property
    def told(self) -> str:
        """Return the PromQL that has a series while its source speaks, filled in, on one line."""
        return self._filled_in(self.heard)

    def _filled_in(self, text: str) -> str:
        """Return PromQL with the numbers and terms of this alert."""
        numbers = {name: written(number) for name, number in self.numbers.items()}
        # A term whose numbers this alert does not have is not used in it.
        terms = {name: Template(term).safe_substitute(numbers) for name, term in self.terms.items()}
        given = {**terms, **numbers, "held": HELD, "tells": "|".join(self.tells)}
        return " ".join(Template(text).substitute(given).split())

    @property
    def record(self) -> str:
        """Return the series in which Prometheus keeps what makes the alert fire, where it holds."""
        return f"alert:{self.name}:value"

    @property
    def rule(self) -> str:
        """Return the PromQL of its rule: what fires and has a source that fell silent goes on with its last value.

        ALERTS tells whether it fired at the evaluation before: what rested since is not brought back. A target that
        Prometheus reads no more has no `up`: a node or a cluster that was taken away is not silent, it is gone. A
        series of a whole cluster, of an alert whose others are of nodes, ends with the cluster.
        """
        if not self.heard:
            return self.query
        target = [label for label in TARGET if label in self.by]
        read = "(up or max by (cluster) (up))" if target == list(TARGET) else "up"
        firing = f'ALERTS{{alertname="{self.name}", alertstate="firing"}}'
        return (
            f"{self.record} or (last_over_time({self.record}[{HELD}]) "
            f"and ignoring (alertname, alertstate, severity) {firing} "
            f"unless on ({', '.join(self.by)}) ({self.told}) "
            f"and on ({', '.join(target)}) {read})"
        )


def written(number: float) -> str:
    """Return a number as people write it: without a fraction where it has none."""
    return str(int(number) if float(number).is_integer() else number)


@cache
def table() -> tuple[Alert, ...]:
    """Return all alerts, in the order of their table."""
    return tuple(
        Alert(
            group=group["group"],
            name=entry["alert"],
            period=entry["for"],
            enabled=not entry.get("optional", False),
            planned=entry.get("planned", False),
            numbers=entry.get("numbers", {}),
            terms=group.get("terms", {}),
            causes=entry.get("causes", ()),
            within=entry.get("within", ()),
            causing=entry.get("causing", ""),
            looks=entry.get("looks", ""),
            proposes=entry.get("proposes", ""),
            heard=entry.get("heard", ""),
            by=entry.get("by", ()),
            gone=entry.get("gone", ENDS),
            tells=entry.get("tells", ()),
            **{key: entry[key] for key in ("expr", "severity", "summary", "meaning", "first", "then")},
        )
        for group in yaml_load(TABLE.read_text())
        for entry in group["alerts"]
    )


@cache
def records() -> dict[str, list[dict[str, str]]]:
    """Return by group the series that Prometheus keeps for its alerts, as recording rules."""
    return {
        group["group"]: [{"record": entry["record"], "expr": entry["expr"]} for entry in group.get("records", ())]
        for group in yaml_load(TABLE.read_text())
    }


def planned() -> list[str]:
    """Return the names of the alerts that restarts and moves of partitions may cause, which runs silence."""
    return [alert.name for alert in table() if alert.planned]


def inhibitions() -> list[dict[str, Any]]:
    """Return Alertmanager's rules: while an alert fires, the alerts that it causes are muted, and no others.

    A critical alert is never muted, also where an inventory made it critical: Alertmanager never tells the end of what
    ends while it is muted, so who was told before would wait for it for ever.
    """
    return [
        {
            "source_matchers": [f'alertname="{alert.name}"', *([alert.causing] if alert.causing else [])],
            "target_matchers": [f'alertname=~"{"|".join(alert.causes)}"', 'severity="warning"'],
            "equal": list(alert.within),
        }
        for alert in table()
        if alert.causes
    ]


def chosen(alerts: Iterable[Alert], choices: Mapping[str, Any]) -> list[Alert]:
    """Return the alerts that are on, with what an inventory changed in them.

    Args:
        alerts: Those of the table.
        choices: By name of an alert what shall be otherwise: `enabled`, `for`, `severity`, or one of its numbers.

    Raises:
        ValueError: A choice names no alert, or something that this alert does not have. All mistakes are named.
    """
    known = {alert.name: alert for alert in alerts}
    mistakes = [
        f"kafka_monitoring_alerts: there is no alert {name}{near(str(name), known)}; docs/alerts.md lists all"
        for name in choices
        if name not in known
    ]
    for name in known.keys() & choices.keys():
        try:
            known[name] = _changed(known[name], choices[name])
        except ValueError as error:
            mistakes.append(f"kafka_monitoring_alerts: {name}: {error}")
    if mistakes:
        raise ValueError("; ".join(sorted(mistakes)))
    return [alert for alert in known.values() if alert.enabled]


def _changed(alert: Alert, choice: Any) -> Alert:
    """Return an alert as chosen; whatever is chosen about an optional one turns it on."""
    if not isinstance(choice, Mapping):
        raise ValueError(f"{choice!r} is not a dictionary; fix: {alert.name}: {{enabled: false}}")
    possible = ("enabled", "for", "severity", *alert.numbers)
    for key in choice:
        if key not in possible:
            raise ValueError(f"it has no {key!r}; it has {', '.join(possible)}")
    period, severity = str(choice.get("for", alert.period)), choice.get("severity", alert.severity)
    if not DURATION.fullmatch(period):
        raise ValueError(f"for is {period!r}; fix: a duration such as 5m or 1h30m")
    if severity not in (*SEVERITIES, alert.severity):
        raise ValueError(f"severity is {severity!r}; fix: {' or '.join(SEVERITIES)}")
    numbers = {key: to_number(choice.get(key, number), key, NOT_NEGATIVE) for key, number in alert.numbers.items()}
    return replace(
        alert,
        period=period,
        severity=severity,
        numbers=numbers,
        enabled=to_boolean(choice.get("enabled", True), "enabled"),
    )


def alert_rules(choices: Any, runbooks: str = RUNBOOKS, turned_on: Iterable[str] = ()) -> dict[str, Any]:
    """Return the rules file of an inventory: `chosen` and `rules` on the whole table. Raises ValueError as `chosen`.

    Args:
        choices: What the inventory chose, as `chosen` takes it.
        runbooks: Address of the page that explains the alerts.
        turned_on: Names of optional alerts that are on where the inventory chose nothing about them.
    """
    if not isinstance(choices, Mapping):
        raise ValueError(f"{choices!r} is not a dictionary of alerts; fix: kafka_monitoring_alerts: {{}}")
    return rules(chosen(table(), {**{name: {} for name in turned_on}, **choices}), runbooks)


def rules(alerts: Sequence[Alert], runbooks: str = RUNBOOKS) -> dict[str, Any]:
    """Return the content of a rules file of Prometheus.

    Args:
        alerts: Those that are on.
        runbooks: Address of the page that explains them; the name of each is its anchor.
    """
    return {
        "groups": [
            {
                "name": f"streamops-kafka-{group}",
                "rules": [
                    *records()[group],
                    *(rule for one in alerts if one.group == group for rule in _rules_of(one, runbooks)),
                ],
            }
            for group in dict.fromkeys(alert.group for alert in alerts)
        ]
    }


def _rules_of(alert: Alert, runbooks: str) -> Iterator[dict[str, Any]]:
    """Yield the rule of an alert, and before it what it holds on to."""
    if alert.heard:
        yield {"record": alert.record, "expr": alert.query}
    yield _rule(alert, runbooks)


def _rule(alert: Alert, runbooks: str) -> dict[str, Any]:
    return {
        "alert": alert.name,
        "expr": alert.rule,
        "for": alert.period,
        "labels": {"severity": alert.severity},
        "annotations": {
            "summary": alert.summary,
            "description": alert.meaning,
            "first_step": alert.first,
            "runbook_url": f"{runbooks}#{alert.name.lower()}",
        },
    }
