"""What an event says, as a record of Kafka. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from typing import Any, NamedTuple

#: Of the form of the value; another one is not ours.
FORM = 1
#: Bytes of the longest value that is looked at. Ours has about 150.
LONGEST = 4096
_KEYS = {"form": int, "flow": str, "partition": int, "series": int, "number": int, "at": int}


class Place(NamedTuple):
    """Where an event stands among those of its partition: the later one is greater.

    C(series) is the time in ms since 1970 at which its numbers began with 0. They begin anew only when the topic no
    longer tells the last one.
    """

    series: int
    number: int

    @property
    def next(self) -> Place:
        """The place of the event after it."""
        return Place(self.series, self.number + 1)


class Event(NamedTuple):
    """An event: C(flow) as source->target, the partition that it was written into, its place, and when that was.

    C(at) is in ms since 1970 by the clock of the writer.
    """

    flow: str
    partition: int
    place: Place
    at: int

    @property
    def key(self) -> bytes:
        """The key of its record, one for each partition: a legacy mirror then brings all to one partition, in order."""
        return f"{self.flow} {self.partition}".encode()

    @property
    def value(self) -> bytes:
        """The value of its record."""
        said = {
            "form": FORM, "flow": self.flow, "partition": self.partition, "series": self.place.series,
            "number": self.place.number, "at": self.at,
        }  # fmt: skip
        return json.dumps(said, separators=(",", ":")).encode()


def event_of(value: bytes | None, flow: str) -> Event | None:
    """Return the event in a record's value; None where the record is none of this flow's canary."""
    if value is None or len(value) > LONGEST:
        return None
    try:
        said: Any = json.loads(value)
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or said.keys() != _KEYS.keys():
        return None
    if not all(_is_right(said[key], kind) for key, kind in _KEYS.items()):
        return None
    if said["form"] != FORM or said["flow"] != flow:
        return None
    return Event(flow, said["partition"], Place(said["series"], said["number"]), said["at"])


def _is_right(value: object, kind: type) -> bool:
    """Return whether a value is a text, or a number that is not negative; true and false are no numbers here."""
    return isinstance(value, kind) and not (isinstance(value, int) and (isinstance(value, bool) or value < 0))
