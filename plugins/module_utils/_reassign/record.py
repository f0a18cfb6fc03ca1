# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a reassignment keeps with the cluster while it runs: where everything shall go, and what throttles were before.

It is written before anything is touched and taken away after everything is restored, so whoever finds it knows that a
run was cut, or runs. What is done is not in it: the cluster itself tells that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Optional

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.moving import Key
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.model import Wish

#: The key of the record in the state topic: there is one reassignment at a time.
KEY = "reassignment"
VERSION = 1
#: By broker id or topic name the values of some keys; None where a key has no value of its own.
Priors = dict[str, dict[str, Optional[str]]]


@dataclass(frozen=True)
class Row:
    """One partition and where it goes. C(bytes) are those of one replica, C(moves) how many replicas are copied."""

    topic: str
    index: int
    replicas: tuple[int, ...]
    bytes: int
    moves: int

    @property
    def key(self) -> Key:
        """The partition."""
        return self.topic, self.index


@dataclass(frozen=True)
class Record:
    """A reassignment under way. C(brokers) and C(topics): what the keys of throttles were before it.

    C(stopped): why the cluster refused single partitions, by name; then nothing more of it is begun. Without batches
    only throttles are left to restore.
    """

    wish: Mapping[str, Any]
    batches: tuple[tuple[Row, ...], ...]
    brokers: Priors = field(default_factory=dict)
    topics: Priors = field(default_factory=dict)
    stopped: Mapping[str, str] = field(default_factory=dict)

    @property
    def rows(self) -> list[Row]:
        """All partitions in order."""
        return [row for batch in self.batches for row in batch]

    def as_data(self) -> dict[str, Any]:
        """The record for JSON; rows as short as they can be, since there may be a million."""
        return {
            "version": VERSION,
            "wish": dict(self.wish),
            "batches": [
                [[row.topic, row.index, list(row.replicas), row.bytes, row.moves] for row in batch]
                for batch in self.batches
            ],
            "brokers": self.brokers,
            "topics": self.topics,
            "stopped": dict(self.stopped),
        }


def record_of(data: Any) -> Record | None:
    """The record that was kept, None where there is none; StreamopsError when it cannot be understood."""
    if data is None:
        return None
    try:
        if data["version"] != VERSION:
            raise ValueError(f"its version is {data['version']!r}, this collection reads {VERSION}")
        batches = tuple(
            tuple(Row(topic, index, tuple(replicas), size, moves) for topic, index, replicas, size, moves in batch)
            for batch in data["batches"]
        )
        return Record(data["wish"], batches, data["brokers"], data["topics"], data["stopped"])
    except (KeyError, TypeError, ValueError) as error:
        raise StreamopsError(
            f"reassignment: the record that an earlier run left with the cluster cannot be understood ({error}). "
            "Nothing was changed. Run the version of this collection that wrote it with state: finished."
        ) from error


def wish_kept(params: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The wish in the module's parameters, as it is kept and compared: only what is asked for."""
    return {name: params[name] for name in names if _asked(params.get(name))}


def same_wish(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two kept wishes ask for the same; one that an earlier version kept lacks the options that came since."""
    nothing = asdict(Wish())
    defaults = wish_kept(nothing, tuple(nothing))
    return _normal({**defaults, **one}) == _normal({**defaults, **other})


#: Wishes of which the order does not matter.
_SETS = ("drain", "topics", "add")


def _normal(wish: Mapping[str, Any]) -> dict[str, Any]:
    """A wish to be compared: however its numbers, names and lists are written."""
    found = {name: _plain(value) for name, value in wish.items() if _asked(value)}
    return {name: sorted(value, key=str) if name in _SETS else value for name, value in found.items()}


def _plain(value: Any) -> Any:
    """A value with numbers for texts that are one, without what is null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items() if one is not None}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return int(value) if isinstance(value, str) and re.fullmatch("0|[1-9][0-9]*", value) else value


def _asked(value: Any) -> bool:
    """Whether something is asked for: a number is, 0 too."""
    return bool(value) or (isinstance(value, (int, float)) and not isinstance(value, bool))
