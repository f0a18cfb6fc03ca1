"""The configuration of a broker: what differs from Kafka's defaults and where it is from, then all the rest. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_cells import Cell, Table
from page.known.brokers import Setting
from page.shown.settings import value_cell

Row = Mapping[str, Any]

#: Where a value comes from, by Kafka's sources, in the order in which the first one counts: for machines, for people.
_FROM = {
    "DYNAMIC_BROKER": ("broker", "set at run time for this broker"),
    "DYNAMIC_DEFAULT_BROKER": ("cluster", "set at run time for all brokers"),
    "STATIC_BROKER": ("file", "its server.properties"),
    "DEFAULT": ("default", "Kafka's default"),
}
_ORDER = [*_FROM]
#: What stands where no other source has a value. There may be one under another name, as log.dir is for log.dirs.
_NONE = "none of this name"
_COLUMNS = (("Setting", "name"), ("Value", "name"), ("Without it", "name"), ("From", "text"))


def broker_setting_rows(settings: Mapping[str, Setting]) -> list[dict[str, Any]]:
    """Return all settings of a broker by name, for machines.

    Returns:
        C(name), C(value) (None where it is unset or sensitive), C(from) (broker, cluster, file or default) and
        C(source) (Kafka's name of it), C(sensitive), and C(without): what holds if the value is taken away where it is
        set, a C(value) and C(source), None where no other source has one of this name, or it is sensitive.
    """
    return [
        {
            "name": name,
            "value": one.value,
            "from": _FROM.get(one.source, ("unknown", ""))[0],
            "source": one.source,
            "sensitive": one.sensitive,
            "without": one.behind and {"value": one.behind[1], "source": one.behind[0]},
        }
        for name, one in sorted(settings.items())
    ]


def broker_settings_table(rows: Sequence[Row] | None, when: str = "", why_none: str = "") -> Table:
    """Return the settings that are not Kafka's default, what was set at run time first.

    C(when) says how old they are. C(rows) is None where they are not known, and C(why_none) says why.
    """
    if rows is None:
        return Table("Configuration", "", (), [], why_none)
    changed = sorted((one for one in rows if one["from"] != "default"), key=lambda one: (_rank(one), one["name"]))
    note = f"What is not Kafka's default; all others are at the end of this page. {when}".strip()
    return Table("Configuration", note, _COLUMNS, [_cells(one) for one in changed], "All are Kafka's defaults.")


def broker_defaults_table(rows: Sequence[Row] | None, when: str = "") -> Table:
    """Return the settings that are Kafka's default, for a place that is closed at first."""
    usual = [[*_cells(one)[:2]] for one in rows or () if one["from"] == "default"]
    return Table("Settings that are Kafka's defaults", when, _COLUMNS[:2], usual)


def _rank(one: Row) -> int:
    return _ORDER.index(one["source"]) if one["source"] in _ORDER else len(_ORDER)


def _cells(one: Row) -> list[Cell]:
    return [
        Cell(one["name"], "name"),
        value_cell(one["name"], one["value"], one["sensitive"]),
        _without(one),
        Cell(_said(one["source"])),
    ]


def _without(one: Row) -> Cell:
    other = one["without"]
    if other is None:
        return Cell("sensitive, not shown" if one["sensitive"] else _NONE, "name")
    cell = value_cell(one["name"], other["value"], one["sensitive"])
    return replace(cell, more=", ".join(filter(None, [cell.more, _said(other["source"])])))


def _said(source: str) -> str:
    return _FROM.get(source, ("", source))[1]
