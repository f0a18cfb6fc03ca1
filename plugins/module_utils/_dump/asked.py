# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What is to be dumped, as a user asks for it: options read, and what is wrong with them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .._core.names import allowed_instead
from .._core.times import UnclearTimeError, milliseconds
from .._core.values import UnclearValueError, to_boolean, to_integer

SNAPSHOT, METADATA_TOPIC = "snapshot", "__cluster_metadata"
#: The words for what is no partition by name, with the topic that each means.
WORDS = {
    "metadata": METADATA_TOPIC,
    "offsets": "__consumer_offsets",
    "transactions": "__transaction_state",
    "shares": "__share_group_state",
    SNAPSHOT: METADATA_TOPIC,
}
#: By topic the option that has the tool decode its records; those of any other topic are shown as text.
DECODERS = {
    METADATA_TOPIC: "--cluster-metadata-decoder",
    "__consumer_offsets": "--offsets-decoder",
    "__transaction_state": "--transaction-log-decoder",
    "__share_group_state": "--share-group-state-decoder",
}
#: The bounds of a dump: their defaults, the least and the most that each may be.
BOUNDS = {
    "records": (1_000, 1, 100_000),
    "bytes": (16 * 2**20, 1, 2**30),
    "seconds": (60, 1, 600),
}
_PARTITION = re.compile(r"(?P<topic>.+)-(?P<index>[0-9]{1,10})")
_REGEX = "regex:"
_ALLOWED = "metadata, offsets, transactions, shares, snapshot, or a partition as orders-3"


@dataclass(frozen=True)
class Asked:
    """What is to be dumped.

    C(partition) is None for all partitions of the topic that the node has. C(offset_from) below zero counts from the
    end, C(offset_to) is the last one that is shown; times are in ms since 1970. C(key) is matched by C(matches).
    """

    what: str
    topic: str
    partition: int | None
    records: int = BOUNDS["records"][0]
    bytes: int = BOUNDS["bytes"][0]
    seconds: int = BOUNDS["seconds"][0]
    offset_from: int | None = None
    offset_to: int | None = None
    time_from: int | None = None
    time_to: int | None = None
    key: str = ""
    payload: bool = False

    @property
    def is_internal(self) -> bool:
        """Return whether the tool decodes its records."""
        return self.topic in DECODERS

    @property
    def has_payload(self) -> bool:
        """Return whether values are shown; those that the tool decodes always are, without their secrets."""
        return self.is_internal or self.payload

    def matches(self, texts: Iterable[str]) -> bool:
        """Say whether one of these texts is asked for: the same, or with C(regex:) one that matches the pattern."""
        if not self.key:
            return True
        if self.key.startswith(_REGEX):
            pattern = re.compile(self.key[len(_REGEX) :])
            return any(pattern.search(text) for text in texts)
        return self.key in texts

    def holds(self, offset: int, time: int, first: int) -> bool:
        """Return whether a record at this offset, of this time, is in the ranges; C(first) is the least offset."""
        return (
            offset >= first
            and (self.offset_to is None or offset <= self.offset_to)
            and (self.time_from is None or time >= self.time_from)
            and (self.time_to is None or time <= self.time_to)
        )


def read(options: Mapping[str, Any], prefix: str = "") -> tuple[Asked | None, list[str]]:
    """Return what is asked for, None where anything is wrong, and all that is wrong, a sentence each.

    options -- what, records, bytes, seconds, offset_from, offset_to, time_from, time_to, key, payload: text or numbers,
    empty for none. prefix -- what stands before these names where the user gave them.
    """
    wrong: list[str] = []
    found = _subject(str(options.get("what") or "").strip(), f"{prefix}what", wrong)
    numbers: dict[str, Any] = {name: _bound(options.get(name), f"{prefix}{name}", name, wrong) for name in BOUNDS}
    numbers |= {name: _offset(options.get(name), f"{prefix}{name}", wrong) for name in ("offset_from", "offset_to")}
    numbers |= {name: _time(options.get(name), f"{prefix}{name}", wrong) for name in ("time_from", "time_to")}
    key = str(options.get("key") or "")
    payload = _boolean(options.get("payload"), f"{prefix}payload", wrong)
    wrong += _ranges(numbers, prefix) + _pattern(key, f"{prefix}key")
    if found is None or wrong:
        return None, wrong
    what, topic, partition = found
    if what == SNAPSHOT:
        wrong += [
            f"{prefix}{name} is given, but a snapshot is one state and has no range. Leave it out."
            for name in ("offset_from", "offset_to", "time_from", "time_to")
            if numbers[name] is not None
        ]
    if wrong:
        return None, wrong
    return Asked(what, topic, partition, key=key, payload=payload, **numbers), []


def _subject(what: str, name: str, wrong: list[str]) -> tuple[str, str, int | None] | None:
    if what in WORDS:
        return what, WORDS[what], 0 if WORDS[what] == METADATA_TOPIC else None
    match = _PARTITION.fullmatch(what)
    if match is None:
        hint = f" For partition 0 of the topic {what} write {what}-0." if what and not allowed_instead(what) else ""
        wrong.append(f"{name}: {what!r} is nothing that can be dumped. Allowed: {_ALLOWED}.{hint}")
        return None
    topic = match["topic"]
    why = allowed_instead(topic)
    if why:
        wrong.append(f"{name}: {topic!r} is no name of a topic (allowed: {why}).")
        return None
    return what, topic, int(match["index"])


def _bound(value: Any, name: str, bound: str, wrong: list[str]) -> int:
    default, least, most = BOUNDS[bound]
    return default if _is_empty(value) else _integer(value, name, (least, most), wrong) or default


def _offset(value: Any, name: str, wrong: list[str]) -> int | None:
    least = None if name.endswith("from") else 0
    return None if _is_empty(value) else _integer(value, name, (least, None), wrong)


def _integer(value: Any, name: str, limits: tuple[int | None, int | None], wrong: list[str]) -> int | None:
    try:
        return to_integer(value, name, limits)
    except UnclearValueError as unclear:
        wrong.append(f"{unclear}. Correct it, or leave it out.")
        return None


def _boolean(value: Any, name: str, wrong: list[str]) -> bool:
    try:
        return not _is_empty(value) and to_boolean(value, name)
    except UnclearValueError as unclear:
        wrong.append(f"{unclear}. Correct it, or leave it out.")
        return False


def _time(value: Any, name: str, wrong: list[str]) -> int | None:
    if _is_empty(value):
        return None
    try:
        return milliseconds(str(value), name)
    except UnclearTimeError as unclear:
        wrong.append(str(unclear))
        return None


def _is_empty(value: Any) -> bool:
    return value is None or not str(value).strip()


def _ranges(numbers: Mapping[str, Any], prefix: str) -> list[str]:
    found = []
    for kind in ("offset", "time"):
        first, last = numbers[f"{kind}_from"], numbers[f"{kind}_to"]
        if first is not None and last is not None and first > last >= 0:
            found.append(
                f"{prefix}{kind}_from is above {prefix}{kind}_to ({first} and {last}), so no record is in between. "
                "Exchange them."
            )
    return found


def _pattern(key: str, name: str) -> list[str]:
    if not key.startswith(_REGEX):
        return []
    try:
        re.compile(key[len(_REGEX) :])
    except re.error as error:
        return [f"{name}: {key!r} is no regular expression ({error}). Correct it, or leave out {_REGEX!r}."]
    return []
