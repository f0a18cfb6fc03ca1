# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Where each variable of an inventory stands: for all hosts, for a group or for one host, where it is shared most.

Ansible takes a dict of a host in place of that of its group, so properties that nodes do not share stand in a variable
of their own (inventory/properties.py, LAYERS), which wins over kafka_config.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from .written import Remarked, Value

Kind = TypeVar("Kind")
Variables = dict[str, "Value | Remarked"]
#: The level of all hosts, by the name of their group in Ansible.
ALL = "all"


@dataclass(frozen=True)
class Entry:
    """A native property that the inventory must say. remark -- where it stands, and what this collection would write.

    Two are equal whatever is remarked.
    """

    value: Value
    remark: str = field(compare=False)


@dataclass(frozen=True)
class Host:
    """A host of the inventory.

    is_kafka -- whether its node is one of Kafka; kind -- the group whose variables it reads, of several that which it
    is listed in with all of its kind; layer -- the variable of the properties of its kind; unknown -- remarks on
    properties of ours of which nobody tells what holds.
    """

    is_kafka: bool
    kind: str
    layer: str
    variables: Mapping[str, Value]
    entries: Mapping[str, Entry]
    unknown: tuple[str, ...]


def levels(hosts: Mapping[str, Host], groups: Mapping[str, Sequence[str]]) -> dict[str, Variables]:
    """Return the variables of all, of each group and of each host, by the name of these."""
    placed: dict[str, Variables] = {level: {} for level in (ALL, *groups, *hosts)}
    kafka = {name: host for name, host in hosts.items() if host.is_kafka}
    # A server or a mirror for which something else holds says so in its group, which wins.
    shared = _shared([host.variables for host in kafka.values()])
    of_kafka = _shared([host.entries for host in kafka.values()])
    placed[ALL] = {**shared, **_written("kafka_config", of_kafka, kafka)}
    for group in dict.fromkeys(host.kind for host in hosts.values()):
        members = {name: host for name, host in hosts.items() if host.kind == group}
        rest = {
            name: replace(
                host,
                variables=_rest(host.variables, shared),
                entries=_rest(host.entries, of_kafka) if host.is_kafka else host.entries,
            )
            for name, host in members.items()
        }
        # Hosts of another kind in the group, such as combined nodes among controllers, would read what it says.
        is_whole = sorted(groups[group]) == sorted(members)
        of_group = _shared([host.variables for host in rest.values()]) if is_whole else {}
        entries = [host.entries for host in rest.values()]
        is_alike = is_whole and all(len(_shared(entries)) == len(own) for own in entries)
        placed[group].update(of_group)
        for place, own in [(group, rest)] if is_alike else [(name, {name: host}) for name, host in rest.items()]:
            first = next(iter(own.values()))
            placed[place].update(_written(first.layer, first.entries, own))
        for name, host in rest.items():
            placed[name] = {**_rest(host.variables, of_group), **placed[name]}
    return placed


def _shared(dicts: Sequence[Mapping[str, Kind]]) -> dict[str, Kind]:
    """Return what all dicts have with the same value."""
    first, *others = dicts or [{}]
    return {key: value for key, value in first.items() if all(_has(other, key, value) for other in others)}


def _rest(values: Mapping[str, Kind], shared: Mapping[str, Kind]) -> dict[str, Kind]:
    """Return what others do not say with the same value."""
    return {key: value for key, value in values.items() if not _has(shared, key, value)}


def _has(values: Mapping[str, Kind], key: str, value: Kind) -> bool:
    """Tell whether a dict has this value; true is not 1."""
    if key not in values:
        return False
    kinds = [type(part.value if isinstance(part, Entry) else part) for part in (values[key], value)]
    return values[key] == value and kinds[0] is kinds[1]


def _written(variable: str, entries: Mapping[str, Entry], hosts: Mapping[str, Host]) -> dict[str, Remarked]:
    """Return a variable with these properties, each with the remarks of all these hosts; nothing without any."""
    unknown = [] if variable == "kafka_config" else _listed({name: host.unknown for name, host in hosts.items()})
    if not entries and not unknown:
        return {}
    remarks = {key: _listed({name: (host.entries[key].remark,) for name, host in hosts.items()}) for key in entries}
    return {variable: Remarked({key: entry.value for key, entry in entries.items()}, remarks, unknown)}


def _listed(remarks: Mapping[str, Sequence[str]]) -> list[str]:
    """Return remarks of hosts, each once, with these hosts where they do not share it."""
    by_remark: dict[str, list[str]] = {}
    for name, listed in remarks.items():
        for remark in listed:
            by_remark.setdefault(remark, []).append(name)
    return [
        remark if len(names) == len(remarks) else f"{', '.join(names)}: {remark}" for remark, names in by_remark.items()
    ]
