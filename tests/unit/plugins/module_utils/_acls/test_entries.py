"""ACL entries become bindings, and bad ones reasons."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._acls.entries import (
    Binding,
    parse_entries,
    parse_entry,
)


def entry(**fields: Any) -> dict[str, Any]:
    """A good entry, changed by fields; None takes one out."""
    good = {"principal": "User:alice", "operations": ["read"], "resource_type": "topic", "resource": "orders"}
    return {key: value for key, value in {**good, **fields}.items() if value is not None}


def role(name: str = "producer", **fields: Any) -> dict[str, Any]:
    """A good entry with a role."""
    return {"principal": "User:alice", "role": name, "topics": ["orders"], **fields}


def test_an_entry_gives_a_binding_for_each_operation() -> None:
    bindings, violations = parse_entry(entry(operations=["read", "describe"], host="10.0.0.1", permission="deny"))
    assert violations == []
    assert bindings == [
        Binding("User:alice", "10.0.0.1", "deny", operation, "topic", "orders", "literal")
        for operation in ("read", "describe")
    ]
    assert str(bindings[0]) == "User:alice deny read on topic literal orders from 10.0.0.1"


def test_the_cluster_needs_no_name() -> None:
    bindings, _none = parse_entry(entry(resource_type="cluster", resource=None, operations=["create"]))
    assert bindings[0].resource == "kafka-cluster"


def test_a_role_gives_its_bindings_with_the_pattern_type_of_the_entry() -> None:
    bindings, violations = parse_entry(role("consumer", groups=["app-"], pattern_type="prefixed", host="10.1.1.1"))
    assert violations == []
    assert {(b.resource, b.pattern_type, b.operation, b.host, b.permission) for b in bindings} == {
        ("orders", "prefixed", "read", "10.1.1.1", "allow"),
        ("app-", "prefixed", "read", "10.1.1.1", "allow"),
    }


BAD: list[tuple[dict[str, Any], str]] = [
    (entry(principal="alice"), "principal 'alice' has no type; write User:alice"),
    (entry(principal="User:"), "principal 'User:' has no type"),
    (entry(principal="user:alice"), "principal type user never matches"),
    (entry(host="10.0.0.0/33"), "host is 10.0.0.0/33; a network is its first address and the number of its fixed bits"),
    (entry(host="client.example.com"), "Kafka compares no host names"),
    (entry(operations=None), "neither role nor operations"),
    (entry(operations=[]), "neither role nor operations"),
    (entry(resource_type=None), "resource_type is missing"),
    (entry(resource_type="share"), "resource_type is share"),
    (entry(operations=["cluster_action"]), "operation cluster_action means nothing on a topic"),
    (entry(operations=["write"], resource_type="group"), "operation write means nothing on a group"),
    (entry(operations=["alter"], resource_type="cluster"), "is named kafka-cluster"),
    (
        entry(operations=["alter"], resource_type="cluster", resource=None, pattern_type="prefixed"),
        "a resource of type cluster is literal",
    ),
    (entry(resource=None), "the resource is missing"),
    (entry(resource=""), "the resource is missing"),
    (entry(resource="*", pattern_type="prefixed"), "use literal for all"),
    (entry(resource="or ders"), "no lawful name of a topic"),
    (entry(topics=["a"]), "topics goes with a role"),
    (role(operations=["read"]), "role and operations exclude each other"),
    (role(resource="orders"), "role and resource exclude each other"),
    (role(permission="deny"), "a role allows"),
    (role("boss"), "role is boss"),
    (role(topics=[]), "role producer names no resource"),
    (role(topics=[""]), "an empty name of a topic"),
    (role(groups=["g"]), "role producer has no use for groups"),
]


@pytest.mark.parametrize(("item", "why"), BAD, ids=[why for _item, why in BAD])
def test_bad_input_is_refused(item: dict[str, Any], why: str) -> None:
    _present, _absent, violations = parse_entries([item])
    assert len(violations) == 1, violations
    assert violations[0].startswith("acl number 1 (")
    assert why in violations[0]


def test_all_violations_of_all_entries_are_told_at_once() -> None:
    _present, _absent, violations = parse_entries([entry(principal="a", host="b"), entry(resource="")])
    assert len(violations) == 3


def test_bindings_that_overlap_count_once() -> None:
    present, absent, violations = parse_entries([role(), role("transactional", transactional_ids=["x"]), role()])
    assert (len(present), absent, violations) == (2, {}, [])


def test_what_a_role_takes_away_and_another_entry_wants_stays() -> None:
    kept = role("producer")
    present, absent, violations = parse_entries([kept, role("spark", state="absent")])
    assert violations == []
    assert [b.operation for b in present] == ["write"]
    assert {b.operation for b in absent} == {"read"}


def test_plain_entries_that_contradict_each_other_are_refused() -> None:
    _present, _absent, violations = parse_entries([entry(), entry(state="absent")])
    assert len(violations) == 1
    assert "wanted both present and absent" in violations[0]
