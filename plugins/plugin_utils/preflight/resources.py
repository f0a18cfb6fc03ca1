# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on users, ACLs and quotas: what their modules would refuse is refused before a host is touched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._acls.entries import parse_entries
from ansible_collections.streamops.kafka.plugins.module_utils._quotas.plan import KEYS
from ansible_collections.streamops.kafka.plugins.module_utils._quotas.plan import parse_wishes as parse_quotas
from ansible_collections.streamops.kafka.plugins.module_utils._users.plan import parse_wishes as parse_users
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import (
    UNDEFINED,
    Cluster,
    Inventory,
    as_bool,
    as_int,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.violation import ERROR, Violation

#: Fields of the entries that hold one of a few words.
WORDS = {
    "state": ("present", "absent"),
    "permission": ("allow", "deny"),
    "pattern_type": ("literal", "prefixed"),
}
_LISTS = ("operations", "topics", "groups", "transactional_ids")


def entries(inventory: Inventory) -> Iterator[Violation]:
    """C22: entries of kafka_users, kafka_acls and kafka_quotas that their modules would refuse."""
    for cluster in inventory.clusters():
        for variable, judge in JUDGES.items():
            listed = _entries(cluster, variable)
            for why in [*_words(listed), *judge(listed)]:
                module = f"streamops.kafka.{variable.removeprefix('kafka_')}"
                yield _violation(
                    cluster, variable, "an entry cannot be used", why, f"correct it; see ansible-doc {module}"
                )


def authorizer(inventory: Inventory) -> Iterator[Violation]:
    """C22: ACLs need an authorizer."""
    for cluster in inventory.clusters():
        first = cluster.nodes[0]
        native = first.config().get("authorizer.class.name")
        if _entries(cluster, "kafka_acls") and not as_bool(first.get("kafka_authorizer")) and not native:
            yield _violation(
                cluster, "kafka_acls", "the cluster has no authorizer that would keep ACLs",
                "kafka_authorizer is false", "set kafka_authorizer: true, or take kafka_acls out",
            )  # fmt: skip


def _entries(cluster: Cluster, variable: str) -> list[Mapping[str, Any]]:
    """The well-formed entries of a list, of the first node that has it; none while a value could not be templated."""
    lists = [node.get(variable) for node in cluster.nodes]
    listed = next((one for one in lists if isinstance(one, (list, tuple)) and one), ())
    return [one for one in listed if isinstance(one, Mapping) and not any(v is UNDEFINED for v in one.values())]


def _words(listed: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for number, entry in enumerate(listed, 1):
        for field, words in WORDS.items():
            if entry.get(field) not in (None, *words):
                yield f"entry {number}: {field} is {entry[field]}; {' or '.join(words)} is allowed."


def _users(listed: Sequence[Mapping[str, Any]]) -> list[str]:
    return parse_users([{**one, "iterations": _number(one.get("iterations"))} for one in listed])[1]


def _quotas(listed: Sequence[Mapping[str, Any]]) -> list[str]:
    return parse_quotas([{**one, **{key: _number(one[key]) for key in KEYS if key in one}} for one in listed])[1]


def _acls(listed: Sequence[Mapping[str, Any]]) -> list[str]:
    items = []
    for one in listed:
        item = {**one, "operations": one.get("operations") or one.get("operation")}
        items.append({**item, **{key: _list(item.get(key)) for key in _LISTS}})
    return parse_entries(items)[2]


def _number(value: Any) -> Any:
    """A number that a template made text of, as a number; anything else as it is."""
    whole = as_int(value)
    if whole is not None or not isinstance(value, str):
        return value if whole is None else whole
    try:
        return float(value)
    except ValueError:
        return value


def _list(value: Any) -> list[str]:
    """A list as Ansible reads it: text is cut at its commas."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    return [str(part) for part in value] if isinstance(value, (list, tuple)) else []


def _violation(cluster: Cluster, variable: str, what: str, found: str, way_out: str) -> Violation:
    return Violation("C22", ERROR, cluster.hosts, variable, what, found.rstrip("."), "", way_out)


JUDGES: dict[str, Callable[[Sequence[Mapping[str, Any]]], list[str]]] = {
    "kafka_users": _users,
    "kafka_acls": _acls,
    "kafka_quotas": _quotas,
}
RULES = (entries, authorizer)
