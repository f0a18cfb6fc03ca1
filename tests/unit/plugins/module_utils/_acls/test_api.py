"""Bindings in Kafka's messages: its numbers of operations, kinds and patterns."""

from __future__ import annotations

from types import SimpleNamespace

from ansible_collections.streamops.kafka.plugins.module_utils._acls.api import bindings_of, fields_of
from ansible_collections.streamops.kafka.plugins.module_utils._acls.entries import OPERATIONS, Binding


def test_every_kind_of_binding_is_the_same_after_a_way_through_kafkas_numbers() -> None:
    every = [
        Binding("User:a", "*", permission, operation, kind, "n", pattern)
        for kind, operations in OPERATIONS.items()
        for operation in operations
        for permission in ("allow", "deny")
        for pattern in ("literal", "prefixed")
    ]
    resources = [
        SimpleNamespace(
            resource_type=kind,
            resource_name=name,
            pattern_type=pattern,
            acls=[SimpleNamespace(principal=who, host=host, operation=operation, permission_type=permission)],
        )
        for kind, name, pattern, who, host, operation, permission in fields_of(every)
    ]
    assert list(bindings_of(resources)) == every


def test_numbers_are_those_of_kafka() -> None:
    assert fields_of([Binding("User:a", "*", "allow", "read", "topic", "a", "literal")]) == [
        (2, "a", 3, "User:a", "*", 3, 3)
    ]
    deny = Binding("User:b", "10.0.0.1", "deny", "two_phase_commit", "transactional_id", "x", "prefixed")
    assert fields_of([deny]) == [(5, "x", 4, "User:b", "10.0.0.1", 15, 2)]


def test_a_name_of_a_later_kafka_is_kept_by_its_number() -> None:
    acl = SimpleNamespace(principal="User:a", host="*", operation=99, permission_type=3)
    resource = SimpleNamespace(resource_type=42, resource_name="n", pattern_type=3, acls=[acl])
    (found,) = bindings_of([resource])
    assert (found.operation, found.resource_type) == ("99", "42")
    assert fields_of([found]) == [(42, "n", 3, "User:a", "*", 99, 3)]
