# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Dashboards of Grafana from their table (dashboards.yml), as the JSON that its import and its provisioning read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from ansible.module_utils.common.yaml import yaml_load

TABLE = Path(__file__).with_name("dashboards.yml")
#: Grafana migrates older ones at their import; 36 is that of Grafana 9, the first whose data sources have a uid.
SCHEMA = 36
#: The width of a dashboard, and of a row of panels, in Grafana's units.
WIDTH = 24
HEIGHTS = {"stat": 4, "graph": 8, "table": 10}
KINDS = {"stat": "stat", "graph": "timeseries", "table": "table"}
SOURCE = {"type": "prometheus", "uid": "${datasource}"}


@cache
def table() -> tuple[dict[str, Any], ...]:
    """Return all dashboards, in the order of their table."""
    return tuple(yaml_load(TABLE.read_text(encoding="utf-8")))


def matchers(job: str) -> str:
    """Return the matchers of every series of a dashboard."""
    return f'job="{job}", cluster=~"$cluster", instance=~"$instance"'


def dashboard(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return one dashboard as Grafana reads it."""
    return {
        "uid": entry["uid"],
        "title": entry["title"],
        "tags": ["kafka", "streamops"],
        "schemaVersion": SCHEMA,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "1m",
        "time": {"from": "now-3h", "to": "now"},
        "timezone": "",
        "templating": {"list": _variables(entry["job"], entry["present"])},
        "panels": list(_panels(entry)),
    }


def _variables(job: str, present: str) -> list[dict[str, Any]]:
    queries = {
        "cluster": f'label_values({present}{{job="{job}"}}, cluster)',
        "instance": f'label_values({present}{{job="{job}", cluster=~"$cluster"}}, instance)',
    }
    source = {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}
    return [
        source,
        *(
            {
                "name": name,
                "label": name.capitalize(),
                "type": "query",
                "datasource": SOURCE,
                "query": {"query": query, "refId": name},
                "definition": query,
                # When the range of time changes too, since a series may have ended.
                "refresh": 2,
                "sort": 1,
                "multi": True,
                "includeAll": True,
                "allValue": ".+",
                "current": {"text": "All", "value": "$__all"},
            }
            for name, query in queries.items()
        ),
    ]


def _kind(panel: Mapping[str, Any]) -> str:
    return next(kind for kind in KINDS if kind in panel)


def _panels(entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield rows and panels from left to right; a panel that does not fit begins a new line below the highest one."""
    number, top = 0, 0
    for row in entry["rows"]:
        number += 1
        closed = row.get("closed", False)
        own = {"id": number, "gridPos": {"x": 0, "y": top, "w": WIDTH, "h": 1}}
        left, top, height = 0, top + 1, 0
        panels: list[dict[str, Any]] = []
        for panel in row["panels"]:
            number += 1
            kind = _kind(panel)
            width = WIDTH // (2 if panel.get("wide") else 3)
            if left + width > WIDTH:
                left, top, height = 0, top + height, 0
            place = {"x": left, "y": top, "w": width, "h": HEIGHTS[kind]}
            left, height = left + width, max(height, HEIGHTS[kind])
            panels.append({"id": number, "gridPos": place, **_panel(panel, kind, entry["job"])})
        top += height
        # A closed row has its panels within it.
        yield {**own, "type": "row", "title": row["title"], "collapsed": closed, "panels": panels if closed else []}
        yield from () if closed else panels


def _panel(entry: Mapping[str, Any], kind: str, job: str) -> dict[str, Any]:
    defaults: dict[str, Any] = {"unit": entry[kind], "min": 0, "thresholds": _thresholds(entry.get("bad", ""))}
    panel: dict[str, Any] = {
        "type": KINDS[kind],
        "title": entry["title"],
        "description": entry["text"],
        "datasource": SOURCE,
        "targets": [_target(entry, kind, job)],
        "fieldConfig": {"defaults": defaults, "overrides": []},
    }
    if kind == "stat":
        panel["options"] = {"colorMode": "background" if entry.get("bad") else "value", "textMode": "auto",
                            "reduceOptions": {"calcs": ["lastNotNull"]}}  # fmt: skip
    elif kind == "table":
        shown = [*entry["columns"], "Value"]
        order = {
            "includeByName": dict.fromkeys(shown, True),
            "indexByName": {name: at for at, name in enumerate(shown)},
        }
        panel["transformations"] = [{"id": "organize", "options": order}]
    else:
        panel["options"] = {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}}
    return panel


def _target(entry: Mapping[str, Any], kind: str, job: str) -> dict[str, Any]:
    target = {"refId": "A", "datasource": SOURCE, "expr": entry["expr"].replace("{%", "{" + matchers(job))}
    if kind == "table":
        return {**target, "format": "table", "instant": True, "range": False}
    return {**target, "legendFormat": entry["legend"], "range": True}


def _thresholds(bad: str) -> dict[str, Any]:
    """Return the colours of a number; `from 1` is red from there on, `below 1` below it."""
    word, _space, number = bad.partition(" ")
    colours = {"from": ("green", "red"), "below": ("red", "green")}.get(word, ("green", "green"))
    steps: list[dict[str, Any]] = [{"color": colours[0], "value": None}]
    if number:
        steps.append({"color": colours[1], "value": float(number)})
    return {"mode": "absolute", "steps": steps}


def files() -> list[dict[str, str]]:
    """Return every dashboard as a file, `path` and `content`."""
    return [
        {"path": f"dashboards/{entry['uid']}.json", "content": json.dumps(dashboard(entry), indent=2) + "\n"}
        for entry in table()
    ]
