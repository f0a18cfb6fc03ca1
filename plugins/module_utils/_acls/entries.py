# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""ACLs as a user writes them: entries become single bindings in Kafka's own terms, or reasons why they cannot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .._core.names import is_part_of_name
from .hosts import ANYWHERE, host_text, one_spelling
from .roles import LISTED_BY, expand, role_violations

_ON_TOPIC = ("read", "write", "create", "describe", "delete", "alter", "describe_configs", "alter_configs")
#: The operations that have a meaning on each kind of resource (org.apache.kafka.security.authorizer.AclEntry).
OPERATIONS: Mapping[str, tuple[str, ...]] = {
    "topic": ("all", *_ON_TOPIC),
    "group": ("all", "read", "describe", "delete", "describe_configs", "alter_configs"),
    "cluster": (
        *("all", "create", "cluster_action", "describe_configs", "alter_configs", "idempotent_write"),
        *("alter", "describe"),
    ),
    "transactional_id": ("all", "describe", "write", "two_phase_commit"),
    "delegation_token": ("all", "describe"),
    "user": ("all", "create_tokens", "describe_tokens"),
}
#: The one name of a resource of type cluster (org.apache.kafka.common.resource.Resource.CLUSTER_NAME).
CLUSTER_NAME = "kafka-cluster"


class Binding(NamedTuple):
    """One ACL binding, all of it in lower case but for the names."""

    principal: str
    host: str
    permission: str
    operation: str
    resource_type: str
    resource: str
    pattern_type: str

    def __str__(self) -> str:
        where = f"{self.resource_type} {self.pattern_type} {self.resource}"
        return f"{self.principal} {self.permission} {self.operation} on {where} from {self.host}"

    @property
    def meaning(self) -> Binding:
        """The binding with one spelling of its network: what means the same has the same."""
        return self._replace(host=one_spelling(self.host))


def parse_entry(item: Mapping[str, Any]) -> tuple[list[Binding], list[str]]:
    """The bindings of one entry, and what is wrong with it (then the bindings mean nothing)."""
    principal, pattern_type = str(item.get("principal") or ""), item.get("pattern_type") or "literal"
    host, why_host = host_text(str(item.get("host") or ANYWHERE))
    violations = [*_principal_violations(principal), *why_host]
    if item.get("role"):
        violations += _role_entry_violations(item)
        rights = [] if violations else list(expand(item["role"], item, pattern_type))
    else:
        violations += _plain_entry_violations(item)
        rights = [] if violations else list(_plain_rights(item, pattern_type))
    for where in dict.fromkeys(right[:3] for right in rights):
        violations += resource_violations(*where)
    permission = item.get("permission") or "allow"
    return [
        Binding(principal, host, permission, operation, resource_type, name, pattern)
        for resource_type, name, pattern, operation in rights
    ], violations


def _plain_rights(item: Mapping[str, Any], pattern_type: str) -> Iterator[tuple[str, str, str, str]]:
    resource = CLUSTER_NAME if item["resource_type"] == "cluster" else str(item["resource"])
    for operation in item["operations"]:
        yield item["resource_type"], resource, pattern_type, operation


def _role_entry_violations(item: Mapping[str, Any]) -> Iterator[str]:
    for option in ("operations", "resource_type", "resource"):
        if item.get(option):
            yield f"role and {option} exclude each other; a role lists {', '.join(LISTED_BY.values())}"
    if item.get("permission") == "deny":
        yield "a role allows; write what to deny as operations"
    yield from role_violations(item["role"], item)


def _plain_entry_violations(item: Mapping[str, Any]) -> Iterator[str]:
    for option in LISTED_BY.values():
        if item.get(option):
            yield f"{option} goes with a role; write resource_type and resource"
    if not item.get("operations"):
        yield "neither role nor operations"
    kind = str(item.get("resource_type") or "missing")
    if kind not in OPERATIONS:
        yield f"resource_type is {kind}; {', '.join(OPERATIONS)} are allowed"
        return
    for operation in item.get("operations") or ():
        if operation not in OPERATIONS[kind]:
            yield f"operation {operation} means nothing on a {kind}; {', '.join(OPERATIONS[kind])} are allowed"
    if kind == "cluster":
        if item.get("resource") not in (None, CLUSTER_NAME):
            yield f"the resource of type cluster is named {CLUSTER_NAME}; leave resource out"
        if item.get("pattern_type") == "prefixed":
            yield "a resource of type cluster is literal; leave pattern_type out"
    elif not item.get("resource"):
        yield "the resource is missing; name it (* for all, with pattern_type literal)"


def _principal_violations(principal: str) -> Iterator[str]:
    kind, colon, name = principal.partition(":")
    if not (kind and colon and name):
        yield f"principal {principal!r} has no type; write User:{principal or 'NAME'}"
    elif kind != "User" and kind.lower() == "user":
        yield f"principal type {kind} never matches; Kafka compares letter by letter, write User:{name}"


def resource_violations(resource_type: str, resource: str, pattern_type: str) -> Iterator[str]:
    """Yield what is wrong with the name of a resource."""
    if not resource:
        yield f"an empty name of a {resource_type}; name it (* for all, with pattern_type literal)"
    elif pattern_type == "prefixed" and resource == "*":
        yield f"{resource_type} * with pattern_type prefixed means names that begin with a star; use literal for all"
    elif resource_type == "topic" and resource != "*" and not is_part_of_name(resource):
        yield f"{resource!r} is no lawful name of a topic; letters, digits, . _ and - are allowed"


def parse_entries(items: Sequence[Mapping[str, Any]]) -> tuple[dict[Binding, None], dict[Binding, None], list[str]]:
    """The bindings wanted, those wanted away, each once and in order, and all that is wrong with the list.

    A binding that one entry's role takes away and another entry wants stays; two plain entries that contradict each
    other are refused.
    """
    present: dict[Binding, None] = {}
    absent: dict[Binding, None] = {}
    plain: dict[Binding, str] = {}
    violations = []
    for number, item in enumerate(items, 1):
        bindings, found = parse_entry(item)
        violations += [f"acl number {number} ({item.get('principal') or 'nobody'}): {why}." for why in found]
        state = item.get("state") or "present"
        (absent if state == "absent" else present).update(dict.fromkeys(bindings))
        for binding in [] if item.get("role") else bindings:
            if plain.setdefault(binding, state) != state:
                violations.append(f"acl {binding}: wanted both present and absent. Keep one entry.")
    return present, {binding: None for binding in absent if binding not in present}, violations
