"""The configuration of a topic against what holds without it, with what each setting means. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._configs.values import (
    OF_TOPIC,
    Behind,
    TopicConfigs,
    TopicValue,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.move_lines import megabytes
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_cells import NOT_KNOWN, Cell, Table

Row = Mapping[str, Any]

#: Characters of a value that a page shows: throttled replicas of a move may be thousands. The JSON has all.
_LONGEST = 300
_HIDDEN = "sensitive, not shown"
#: Where a value comes from, by Kafka's sources: for machines, and for people.
_FROM = {
    OF_TOPIC: ("topic", "this topic"),
    "DYNAMIC_BROKER": ("broker", "a broker"),
    "DYNAMIC_DEFAULT_BROKER": ("broker", "all brokers"),
    "STATIC_BROKER": ("broker", "the file of a broker"),
    "DEFAULT": ("default", "Kafka's default"),
}
#: What a setting does (Kafka's documentation of topic configs).
_MEANINGS = {
    "cleanup.policy": "delete removes old segments, compact keeps the last record of each key",
    "compression.type": "how brokers store batches; producer keeps the way of the producer",
    "delete.retention.ms": "how long compaction keeps a deletion mark, so that consumers see it",
    "file.delete.delay.ms": "how long a removed file stays on disk",
    "flush.messages": "records after which a broker forces them to disk",
    "flush.ms": "time after which a broker forces records to disk",
    "follower.replication.throttled.replicas": "replicas whose copying is slowed down where they are written",
    "leader.replication.throttled.replicas": "replicas whose copying is slowed down where they are read",
    "local.retention.bytes": "size of a partition that stays on the brokers with tiered storage; -2 is retention.bytes",
    "local.retention.ms": "time that records stay on the brokers with tiered storage; -2 is retention.ms",
    "max.compaction.lag.ms": "longest time that a record may wait for compaction",
    "max.message.bytes": "largest batch that brokers take",
    "message.timestamp.after.max.ms": "how far in the future a record's time may lie",
    "message.timestamp.before.max.ms": "how far in the past a record's time may lie",
    "message.timestamp.type": "whose time a record carries: CreateTime of the producer, LogAppendTime of the broker",
    "min.cleanable.dirty.ratio": "part of a log that must be uncompacted before compaction begins",
    "min.compaction.lag.ms": "shortest time that a record stays uncompacted",
    "min.insync.replicas": "replicas that must be in sync, or acks=all is refused; no more than there are",
    "preallocate": "whether a new segment takes its whole size on disk at once",
    "remote.storage.enable": "whether segments go to tiered storage",
    "retention.bytes": "size of a partition above which its oldest segments are removed; -1 is without bound",
    "retention.ms": "time after which segments are removed; -1 is never",
    "segment.bytes": "size at which a new segment begins; only whole segments are removed or compacted",
    "segment.ms": "time after which a new segment begins, also when it is not full",
    "unclean.leader.election.enable": "whether a replica that is not in sync may lead: records may be lost",
}
_UNITS = ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1000, "second"))


def setting_rows(configs: TopicConfigs, topic: str) -> list[dict[str, Any]]:
    """Return all settings of a topic by name, those that are not Kafka's default included.

    Returns:
        C(name), C(value), C(from) (topic, broker or default) and C(source) (Kafka's name of it), C(type),
        C(sensitive), and C(without): what holds if the value is taken away where it is set, a C(name), C(value) and
        C(source), None where the broker did not tell. The name there may be another one, with another unit, as
        log.retention.hours is for retention.ms.
    """
    own = configs.own.get(topic, {})
    return [
        _row(name, own.get(name) or configs.inherited[name], configs.inherited.get(name))
        for name in sorted({*own, *configs.inherited})
    ]


def _row(name: str, value: TopicValue, inherited: TopicValue | None) -> dict[str, Any]:
    behind = value.behind
    if value.source == OF_TOPIC and inherited is not None:
        # What other topics have is in the unit of this setting.
        behind = Behind(name, inherited.value, inherited.source)
    return {
        "name": name,
        "value": value.value,
        "from": _FROM.get(value.source, ("unknown", ""))[0],
        "source": value.source,
        "type": value.kind,
        "sensitive": value.sensitive,
        "without": behind and {"name": behind.name, "value": behind.value, "source": behind.source},
    }


def settings_table(rows: list[dict[str, Any]] | None, when: str = "", why_none: str = "") -> Table:
    """Return the settings that are not Kafka's default, those of the topic first.

    C(when) says how old they are. C(rows) is None where they are not known, and C(why_none) says why.
    """
    columns = (("Setting", "name"), ("Value", "name"), ("Without it", "name"), ("Set by", "text"))
    changed = [one for one in rows or () if one["from"] != "default"]
    changed.sort(key=lambda one: (one["from"] != "topic", one["name"]))
    note = "What is not Kafka's default, as one broker has it; all others are at the end of this page."
    if rows is None:
        return Table("Configuration", "", (), [], why_none)
    none = "All settings are Kafka's defaults; they are at the end of this page."
    return Table("Configuration", f"{note} {when}".strip(), columns, [_cells(one) for one in changed], none)


def defaults_table(rows: list[dict[str, Any]] | None, when: str = "") -> Table:
    """Return the settings that are Kafka's default, for a place that is closed at first; see settings_table."""
    columns = (("Setting", "name"), ("Value", "name"), ("Set by", "text"))
    usual = [one for one in rows or () if one["from"] == "default"]
    cells = [[name, value, by] for name, value, _without, by in map(_cells, usual)]
    return Table("Settings that are Kafka's defaults", when, columns, cells)


def _cells(one: Row) -> list[Cell]:
    return [
        Cell(one["name"], "name", more=_MEANINGS.get(one["name"], "")),
        value_cell(one["name"], one["value"], one["sensitive"]),
        _without(one),
        Cell(_FROM.get(one["source"], ("", one["source"]))[1]),
    ]


def value_cell(name: str, value: str | None, is_sensitive: bool) -> Cell:
    """Return a value as people read it; of a sensitive one nothing."""
    if is_sensitive:
        return Cell(_HIDDEN, "name")
    if value is None:
        return Cell("not set", "name")
    shown = value if len(value) <= _LONGEST else f"{value[:_LONGEST]}... ({len(value):,} characters)"
    return Cell(shown or "(empty)", "name", more=_plainly(name, value))


def _without(one: Row) -> Cell:
    other = one["without"]
    if other is None:
        return Cell(NOT_KNOWN, "name")
    cell = value_cell(other["name"], other["value"], one["sensitive"])
    text = cell.text if other["name"] == one["name"] else f"{other['name']} = {cell.text}"
    of = _FROM.get(other["source"], ("", other["source"]))[1]
    return Cell(text, "name", more=", ".join(filter(None, [cell.more, of])))


def _plainly(name: str, value: str) -> str:
    """Return a number of milliseconds or bytes as people read it; nothing for anything else, and for no bound."""
    if not (value.isascii() and value.isdecimal() and 1 <= len(value) <= 18):
        return ""
    number = int(value)
    if name.endswith(".bytes") and number >= 1000:
        return megabytes(number)
    if name.endswith(".ms") and number >= 1000:
        size, unit = next(one for one in _UNITS if number >= one[0])
        count = f"{number / size:,.1f}".removesuffix(".0")
        return f"{count} {unit}{'' if count == '1' else 's'}"
    return ""
