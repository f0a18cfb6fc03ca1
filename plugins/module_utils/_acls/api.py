# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""ACLs: read and changed. With C(at) that broker is asked for its own view, else any broker."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .._client.session import Session
from .entries import Binding

#: Kafka's numbers (org.apache.kafka.common.acl and .resource); the position in the list is the number.
_RESOURCE_TYPES = ("unknown", "any", "topic", "group", "cluster", "transactional_id", "delegation_token", "user")
_PATTERN_TYPES = ("unknown", "any", "match", "literal", "prefixed")
_PERMISSIONS = ("unknown", "any", "deny", "allow")
_OPERATIONS = (
    *("unknown", "any", "all", "read", "write", "create", "delete", "alter", "describe", "cluster_action"),
    *("describe_configs", "alter_configs", "idempotent_write", "create_tokens", "describe_tokens", "two_phase_commit"),
)
#: The fields of a DescribeAcls request that asks for every binding.
EVERYTHING = {
    "resource_type_filter": 1,
    "resource_name_filter": None,
    "pattern_type_filter": 1,
    "principal_filter": None,
    "host_filter": None,
    "operation": 1,
    "permission_type": 1,
}


def describe_acls(session: Session, at: int | None = None) -> dict[Binding, None]:
    """Every ACL binding of the cluster."""
    from kafka.protocol.admin import DescribeAclsRequest

    answer = session.send("describe ACLs", DescribeAclsRequest(**EVERYTHING), at)
    return bindings_of(session.sound(answer, "describe ACLs").resources)


def create_acls(session: Session, bindings: Sequence[Binding]) -> dict[Binding, Any]:
    """Create bindings in one request; per binding None or (Kafka's error name, why)."""
    from kafka.protocol.admin import CreateAclsRequest

    results = session.send("create ACLs", CreateAclsRequest(creations=fields_of(bindings))).results
    return {binding: session.outcome("create ACLs", results[number]) for number, binding in enumerate(bindings)}


def delete_acls(session: Session, bindings: Sequence[Binding]) -> dict[Binding, Any]:
    """Delete exactly these bindings in one request; per binding None or (Kafka's error name, why)."""
    from kafka.protocol.admin import DeleteAclsRequest

    results = session.send("delete ACLs", DeleteAclsRequest(filters=fields_of(bindings))).filter_results
    return {binding: session.outcome("delete ACLs", results[number]) for number, binding in enumerate(bindings)}


def fields_of(bindings: Iterable[Binding]) -> list[tuple[Any, ...]]:
    """Bindings as the fields of a creation, which are those of an exact filter too."""
    return [
        (
            _number(_RESOURCE_TYPES, binding.resource_type),
            binding.resource,
            _number(_PATTERN_TYPES, binding.pattern_type),
            binding.principal,
            binding.host,
            _number(_OPERATIONS, binding.operation),
            _number(_PERMISSIONS, binding.permission),
        )
        for binding in bindings
    ]


def bindings_of(resources: Any) -> dict[Binding, None]:
    """The bindings in the resources of DescribeAcls."""
    return {
        Binding(
            acl.principal,
            acl.host,
            _name(_PERMISSIONS, acl.permission_type),
            _name(_OPERATIONS, acl.operation),
            _name(_RESOURCE_TYPES, resource.resource_type),
            resource.resource_name,
            _name(_PATTERN_TYPES, resource.pattern_type),
        ): None
        for resource in resources
        for acl in resource.acls
    }


def _name(names: Sequence[str], number: int) -> str:
    """Kafka's name of a number; the number itself where a later Kafka has more names than we know."""
    return names[number] if 0 <= number < len(names) else str(number)


def _number(names: Sequence[str], name: str) -> int:
    return names.index(name) if name in names else int(name)
