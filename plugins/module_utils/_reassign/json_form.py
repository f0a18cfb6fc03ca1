# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""A spec from the options of the module, or from JSON; and as the record of a reassignment keeps it.

Every fault of a document is reported at once, each with where it is, what was found and what is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from typing import Any

from .._core.errors import RefusedError
from .model import Spec
from .snapshot import broker_of, is_id, is_ids, is_list, is_whole

#: What can be asked for, by the names of the options of the module.
OPTIONS = tuple(field.name for field in fields(Spec))


def number_of(text: str) -> Any:
    """The whole number that a text is; any other text as it is, for the message that says what is wrong with it.

    Numbers of more digits than any that Kafka has stay text too: Python refuses to read the longest ones.
    """
    return int(text) if re.fullmatch("[0-9]{1,30}", text) else text


def spec_of(data: Any) -> Spec:
    """A spec from plain data, where null asks for nothing; raises RefusedError with all that is wrong with its form."""
    if not isinstance(data, Mapping):
        raise RefusedError(
            "Reassignment", [f"{data!r} is not an object with options; known are {', '.join(sorted(OPTIONS))}"]
        )
    unknown = sorted(str(name) for name in data if name not in OPTIONS)
    faults = [f"{name}: is not an option; known are {', '.join(sorted(OPTIONS))}" for name in unknown]
    given = {name: value for name, value in data.items() if name in OPTIONS and value is not None}
    read = {name: _READERS[name](name, value, faults) for name, value in given.items()}
    if faults:
        raise RefusedError("Reassignment", faults)
    return Spec(**read)


def _flag(name: str, value: Any, faults: list[str]) -> bool:
    if not isinstance(value, bool):
        faults.append(f"{name}: {value!r} is not true or false")
    return value is True


def _word(name: str, value: Any, faults: list[str]) -> str:
    if not isinstance(value, str):
        faults.append(f"{name}: {value!r} is not a word")
    return str(value)


def _number(name: str, value: Any, faults: list[str]) -> float:
    """Return a number; whether it makes sense is judged with the spec: JSON has NaN too."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        faults.append(f"{name}: {value!r} is not a number")
        return 0
    return value


def _ids(name: str, value: Any, faults: list[str]) -> tuple[int, ...]:
    if not is_list(value):
        faults.append(f"{name}: {value!r} is not a list of broker ids")
        return ()
    faults += [f"{name}: {broker!r} is not a broker id" for broker in value if not is_id(broker)]
    return tuple(value)


def _added(name: str, value: Any, faults: list[str]) -> tuple[Any, ...]:
    if not is_list(value):
        faults.append(f"{name}: {value!r} is not a list of brokers, each an id or an object with id and rack")
        return ()
    found = [one for entry in value for one in broker_of({"id": entry} if is_id(entry) else entry, name, faults)]
    listed = [broker.id for broker in found]
    faults += [f"{name}: broker {b} is given twice; give it once" for b in sorted(set(listed)) if listed.count(b) > 1]
    return tuple(found)


def _names(name: str, value: Any, faults: list[str]) -> tuple[str, ...]:
    if not is_list(value) or not all(isinstance(one, str) for one in value):
        faults.append(f"{name}: {value!r} is not a list of names")
        return ()
    return tuple(value)


def _replaced(name: str, value: Any, faults: list[str]) -> dict[int, int]:
    found: dict[int, int] = {}
    for old, new in _object(name, value, "broker ids to broker ids", faults).items():
        number, new = number_of(str(old)), number_of(new) if isinstance(new, str) else new
        if not is_id(number) or not is_id(new):
            faults.append(f"{name}: {old!r} by {new!r} are not two broker ids")
        elif number in found:
            faults.append(f"{name}: broker {number} is given twice; give it once")
        else:
            found[number] = new
    return found


def _factors(name: str, value: Any, faults: list[str]) -> dict[str, int]:
    given = _object(name, value, "topics to whole numbers", faults)
    found = {topic: number_of(factor) if isinstance(factor, str) else factor for topic, factor in given.items()}
    faults += [f"{name}: {f!r} for topic {t} is not a whole number" for t, f in found.items() if not is_whole(f)]
    return found


def _object(name: str, value: Any, form: str, faults: list[str]) -> Mapping[Any, Any]:
    if isinstance(value, Mapping):
        return value
    faults.append(f"{name}: {value!r} is not an object from {form}")
    return {}


def _assignment(name: str, value: Any, faults: list[str]) -> list[tuple[str, int, tuple[int, ...]]]:
    """Kafka's reassignment file: version 1, partitions with topic, partition, replicas."""
    if not isinstance(value, Mapping) or value.get("version", 1) != 1 or not is_list(value.get("partitions")):
        faults.append(f"{name}: is not Kafka's reassignment file (version 1, with partitions)")
        return []
    found = []
    for place, entry in enumerate(value["partitions"]):
        sound = isinstance(entry, Mapping) and isinstance(entry.get("topic"), str) and is_id(entry.get("partition"))
        if not sound or not is_ids(entry.get("replicas")):
            faults.append(f"{name}: partitions[{place}] needs topic, partition and replicas (a list of broker ids)")
        elif any(directory != "any" for directory in _directories(entry)):
            faults.append(
                f"{name}: partitions[{place}] names log_dirs, and no move between disks of a broker is planned here; "
                "leave them out"
            )
        else:
            found.append((entry["topic"], entry["partition"], tuple(entry["replicas"])))
    return found


def _directories(entry: Mapping[str, Any]) -> list[Any]:
    named = entry.get("log_dirs") or []
    return list(named) if is_list(named) else [named]


_READERS: Mapping[str, Callable[[str, Any, list[str]], Any]] = {
    "rebalance": _flag,
    "drain": _ids,
    "add": _added,
    "replace": _replaced,
    "replication_factor": _factors,
    "fix_racks": _flag,
    "assignment": _assignment,
    "rack_rule": _word,
    "leaders": _word,
    "topic_spread": _flag,
    "balance_by": _word,
    "bytes_tolerance": _number,
    "topics": _names,
}


# -- the spec as the record keeps it, to be compared with that of a later run -----------------------------------------


def spec_kept(params: Mapping[str, Any]) -> dict[str, Any]:
    """The spec in the module's parameters, as it is kept and compared: only what is asked for."""
    return {name: params[name] for name in OPTIONS if _asked(params.get(name))}


def same_spec(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Say whether two kept specs ask for the same; one of an earlier version lacks the options that came since."""
    defaults = spec_kept(asdict(Spec()))
    return _normal({**defaults, **one}) == _normal({**defaults, **other})


#: Options of which the order does not matter.
_SETS = ("drain", "topics", "add")


def _normal(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A spec to be compared: however its numbers, names and lists are written."""
    found = {name: _plain(value) for name, value in spec.items() if _asked(value)}
    return {name: sorted(value, key=str) if name in _SETS else value for name, value in found.items()}


def _plain(value: Any) -> Any:
    """A value with numbers for texts that are one, without what is null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items() if one is not None}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return int(value) if isinstance(value, str) and re.fullmatch("0|[1-9][0-9]*", value) else value


def _asked(value: Any) -> bool:
    """Return whether something is asked for: a number is, 0 too."""
    return bool(value) or (isinstance(value, (int, float)) and not isinstance(value, bool))
