# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Client quotas, the deciding half: limits as they are and as wanted become a plan (KIP-13, KIP-546, KIP-612)."""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._core.diff import Change

#: How a default entity is written.
DEFAULT = "<default>"
#: Kafka's name of each kind of entity, by the option that names it.
KINDS = {"user": "user", "client_id": "client-id", "ip": "ip"}
_CLIENT_KEYS = ("producer_byte_rate", "consumer_byte_rate", "request_percentage", "controller_mutation_rate")
_IP_KEYS = ("connection_creation_rate",)
#: Every limit that an entry may set, in Kafka's names (org.apache.kafka.server.config.QuotaConfig).
KEYS = (*_CLIENT_KEYS, *_IP_KEYS)
#: Limits that Kafka keeps as whole numbers, with the largest: LONG, and INT for connections.
_WHOLE = {"producer_byte_rate": 2**63 - 1, "consumer_byte_rate": 2**63 - 1, "connection_creation_rate": 2**31 - 1}
#: Kinds and names of an entity, None for the default, in Kafka's order of kinds.
Entity = tuple[tuple[str, "str | None"], ...]
#: entity -> limit -> value.
Quotas = Mapping[Entity, Mapping[str, float]]


@dataclass(frozen=True)
class DesiredQuota:
    """All limits of an entity as wanted; none at all where it is to have none."""

    entity: Entity
    limits: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class QuotaPlan:
    """What has to be done: C(alterations) of limits by entity, None takes a limit away."""

    alterations: Mapping[Entity, Mapping[str, float | None]] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    unchanged: int = 0


def label(entity: Entity) -> str:
    """An entity for people, for example C(user alice, client-id <default>)."""
    return ", ".join(f"{kind} {DEFAULT if name is None else name}" for kind, name in entity)


def as_kafka_takes_it(entity: Entity) -> Entity:
    """Write an address in one way: Kafka keeps it as it was written, and limits what it means (InetAddress)."""
    return tuple((kind, _one_address(name) if kind == "ip" and name else name) for kind, name in entity)


def _one_address(text: str) -> str:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return text
    # Java reads ::ffff:10.0.0.1 as 10.0.0.1.
    return str(getattr(address, "ipv4_mapped", None) or address)


def parse_specs(items: Sequence[Mapping[str, Any]]) -> tuple[list[DesiredQuota], list[str]]:
    """The specs of a list of {user, client_id, ip, limits, state}, and everything that is wrong with it."""
    specs, violations = [], []
    for number, item in enumerate(items, 1):
        entity = as_kafka_takes_it(
            tuple(
                (kind, None if item[option] == DEFAULT else str(item[option]))
                for option, kind in KINDS.items()
                if item.get(option) is not None
            )
        )
        limits = {key: item[key] for key in KEYS if item.get(key) is not None}
        absent = item.get("state") == "absent"
        where = f"quota {label(entity)}" if entity else f"quota number {number}"
        violations += [f"{where}: {why}" for why in (*_entity_violations(entity), *_limits(entity, limits, absent))]
        specs.append(DesiredQuota(entity, {} if absent else limits))
    for entity, count in Counter(spec.entity for spec in specs if spec.entity).items():
        if count > 1:
            violations.append(f"quota {label(entity)}: named {count} times; one entry each is allowed. Merge them.")
    return specs, violations


def _entity_violations(entity: Entity) -> Iterator[str]:
    named = dict(entity)
    if not entity:
        yield f"has no user, client_id or ip. Set user, client_id, both of them, or ip ({DEFAULT} for all others)."
    if "ip" in named and len(entity) > 1:
        yield "ip goes with neither user nor client_id; connections have no user yet when Kafka counts them (KIP-612)."
    if "" in named.values():
        yield f"an empty name; leave the option out, or write {DEFAULT} for everybody else."
    address = named.get("ip")
    if address:
        try:
            ipaddress.ip_address(address)
        except ValueError:
            yield f"ip is {address}; one address or {DEFAULT} is allowed, no network and no host name."


def _limits(entity: Entity, limits: Mapping[str, Any], absent: bool) -> Iterator[str]:
    if absent:
        if limits:
            yield f"state is absent and it has limits ({', '.join(limits)}). Take them out, or make it present."
        return
    allowed = _IP_KEYS if "ip" in dict(entity) else _CLIENT_KEYS
    if not limits:
        yield f"no limit; {', '.join(allowed)} are allowed. To take all limits away write state: absent."
    for key, value in limits.items():
        if entity and key not in allowed:
            yield f"{key} is no limit of this kind of entity; {', '.join(allowed)} are allowed."
        elif isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
            yield f"{key} is {value}; more than 0 is needed. Leave it out for no limit."
        elif key in _WHOLE and (value != int(value) or value > _WHOLE[key]):
            yield f"{key} is {value}; a whole number of at most {_WHOLE[key]} is allowed."


def plan_quotas(state: Quotas, specs: Sequence[DesiredQuota]) -> QuotaPlan:
    """Compare limits with the specs; an entity of the list gets exactly its limits, others are left alone.

    An address that Kafka has in several spellings gets its limits in each: which of them counts, only Kafka knows.
    """
    spellings: dict[Entity, list[Entity]] = {}
    for entity in state:
        spellings.setdefault(as_kafka_takes_it(entity), []).append(entity)
    alterations: dict[Entity, dict[str, float | None]] = {}
    changes = []
    unchanged = 0
    for spec in specs:
        wanted = {key: float(value) for key, value in spec.limits.items()}
        before = len(alterations)
        for entity in spellings.get(spec.entity, [spec.entity]):
            found = {key: value for key, value in state.get(entity, {}).items() if key in KEYS}
            ops: dict[str, float | None] = {key: value for key, value in wanted.items() if found.get(key) != value}
            ops.update(dict.fromkeys(key for key in found if key not in wanted))
            if ops:
                alterations[entity] = ops
                changes.append(Change(label(entity), _shown(found, ops), _shown(wanted, ops)))
        unchanged += len(alterations) == before
    return QuotaPlan(alterations, tuple(changes), unchanged)


def _shown(limits: Mapping[str, float], keys: Mapping[str, Any]) -> dict[str, float] | None:
    """The limits among these keys, whole numbers as such; None for none."""
    some = {key: int(value) if value == int(value) else value for key, value in limits.items() if key in keys}
    return some or None
