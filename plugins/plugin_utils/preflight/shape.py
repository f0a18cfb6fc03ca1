# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on the shape of our own variables: lists, dicts, fields, and names with a typing error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.near_names import nearest
from ansible_collections.streamops.kafka.plugins.module_utils._core.values import ALLOWED, is_clear
from ansible_collections.streamops.kafka.plugins.module_utils._quotas.plan import KEYS, KINDS
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import (
    UNDEFINED,
    Inventory,
    Node,
    as_int,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.violation import ERROR, WARNING, Violation

LISTS = (
    *("kafka_listeners", "kafka_topics", "kafka_jvm_options", "kafka_allow_unknown_config", "preflight_accept"),
    *("kafka_users", "kafka_acls", "kafka_quotas", "kafka_plain_users", "kafka_tls_client_names"),
    *("kafka_firewall_addresses", "kafka_firewall_admin_addresses", "kafka_firewall_client_groups"),
)
DICTS = ("kafka_config", "mirror_maker_config")
# List variable -> (fields an entry must have, fields it may have).
ENTRIES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "kafka_listeners": (("name", "port", "purpose"), ("protocol", "host", "advertised_host", "networks")),
    "kafka_topics": (("name",), ("partitions", "replication_factor", "every_broker_leads", "config", "state")),
    "kafka_users": (("name",), ("password", "mechanism", "iterations", "state")),
    "kafka_plain_users": (("name", "password"), ()),
    "kafka_acls": (
        ("principal",),
        (
            *("role", "topics", "groups", "transactional_ids", "operations", "operation", "permission"),
            *("resource_type", "resource", "pattern_type", "host", "state"),
        ),
    ),
    "kafka_quotas": ((), (*KINDS, *KEYS, "state")),
}
TOPIC_STATES = ("present", "absent")
OWN_PREFIXES = ("kafka_", "kraft_controller_", "mirror_", "preflight_", "spark_validation_", "zookeeper_")
# Names of the inventory contract that no role has in its argument specs; the rules get those when they run.
CONTRACT = (
    *("kafka_node_id", "kafka_rack", "kafka_users", "kafka_acls", "kafka_quotas", "kafka_log_dirs"),
    *("kafka_allow_unknown_config", "kafka_require_mount", "zookeeper_id"),
)


def containers(inventory: Inventory) -> Iterator[Violation]:
    """C12: lists are lists and dicts are dicts."""
    for node in inventory.processes:
        for variable in LISTS:
            if not isinstance(node.get(variable, []), (list, tuple)):
                yield _violation(node, variable, "the value has the wrong type", _kind(node.get(variable)), "a list")
        for variable in DICTS:
            if not isinstance(node.get(variable, {}), Mapping):
                found = _kind(node.get(variable))
                yield _violation(node, variable, "the value has the wrong type", found, "a dict of properties")


def properties(inventory: Inventory) -> Iterator[Violation]:
    """C12: a property is text, a number or true and false."""
    for node in inventory.nodes:
        for key, value in node.config().items():
            if value is None or isinstance(value, (list, tuple, Mapping)):
                found = _kind(value)
                yield _violation(
                    node, f"kafka_config['{key}']", "a property has one plain value", found,
                    "text, a number, true or false (Kafka writes lists as text with commas)",
                )  # fmt: skip


def entries(inventory: Inventory) -> Iterator[Violation]:
    """C12: the entries of lists of ours have the fields they must have and no others."""
    for node in inventory.nodes:
        for variable, (required, optional) in ENTRIES.items():
            listed = node.get(variable, [])
            for index, entry in enumerate(listed if isinstance(listed, (list, tuple)) else []):
                where = f"{variable}[{index}]"
                if not isinstance(entry, Mapping):
                    if entry is not UNDEFINED:
                        yield _violation(node, where, "the entry has the wrong type", _kind(entry), "a dict")
                    continue
                yield from _fields(node, where, entry, required, optional)


def _fields(
    node: Node, where: str, entry: Mapping[str, Any], required: tuple[str, ...], optional: tuple[str, ...]
) -> Iterator[Violation]:
    known = (*required, *optional)
    for field in required:
        if entry.get(field) in (None, ""):
            yield _violation(node, where, f"the entry has no {field}", "nothing", f"a {field}")
    for field in entry:
        if field not in known:
            near = nearest(str(field), known)
            hint = f"{', '.join(known)}" + (f"; perhaps {near} is meant" if near else "")
            yield _violation(node, where, "the entry has a field that does not exist", str(field), hint)


def topic_fields(inventory: Inventory) -> Iterator[Violation]:
    """C12: numbers, state and config of a topic have the right type."""
    for node in inventory.nodes:
        listed = node.get("kafka_topics", [])
        for entry in listed if isinstance(listed, (list, tuple)) else []:
            if isinstance(entry, Mapping):
                for field, value, allowed in _bad_fields(entry):
                    where = f"kafka_topics, topic {entry.get('name', '?')}"
                    yield _violation(node, where, f"{field} is unusable", repr(str(value)), allowed)


def _bad_fields(entry: Mapping[str, Any]) -> list[tuple[str, Any, str]]:
    """The fields of a topic with unusable values, as (field, value, allowed)."""
    bad = []
    for field in ("partitions", "replication_factor"):
        value = entry.get(field)
        if value is not None and value is not UNDEFINED and as_int(value) is None:
            bad.append((field, value, "a whole number"))
    leads = entry.get("every_broker_leads")
    if leads is not None and leads is not UNDEFINED and not is_clear(leads, "bool"):
        bad.append(("every_broker_leads", leads, ALLOWED["bool"]))
    state = entry.get("state", "present")
    if state is not UNDEFINED and state not in TOPIC_STATES:
        bad.append(("state", state, " or ".join(TOPIC_STATES)))
    config = entry.get("config")
    if config is not None and config is not UNDEFINED and not isinstance(config, Mapping):
        bad.append(("config", _kind(config), "a dict of topic keys"))
    return bad


def names(inventory: Inventory) -> Iterator[Violation]:
    """C9: a name that nothing reads but that looks like one that is read is a typing error, most likely."""
    known = sorted({*CONTRACT, *inventory.known_variables})
    for node in inventory.processes:
        for name in node.variables:
            if not name.startswith(OWN_PREFIXES) or name in known:
                continue
            near = nearest(name, known, cutoff=0.88)
            if near:
                yield Violation(
                    "C9", WARNING, (node.name,), name, "nothing reads this variable", name, near,
                    f"perhaps {near} is meant; if the name is your own, choose one without our prefixes",
                )  # fmt: skip


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return "text"
    return {dict: "a dict", list: "a list", bool: "true or false", int: "a number"}.get(type(value), "another type")


def _violation(node: Node, variable: str, what: str, found: str, allowed: str) -> Violation:
    return Violation("C12", ERROR, (node.name,), variable, what, found, allowed, "write it as allowed")


RULES = (containers, properties, entries, topic_fields, names)
