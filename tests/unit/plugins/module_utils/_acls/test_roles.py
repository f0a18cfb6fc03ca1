"""What each role may do, written out: a change of a role shows here."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._acls.roles import ROLES, expand, role_violations

LISTED = {"topics": ["t"], "groups": ["g"], "transactional_ids": ["x"]}


def rights(role: str, **listed: Any) -> set[str]:
    """The rights of a role in one line each."""
    return {" ".join(right) for right in expand(role, listed, "literal")}


def test_a_producer_may_write_and_nothing_else() -> None:
    assert rights("producer", topics=["a", "b"]) == {"topic a literal write", "topic b literal write"}


def test_a_consumer_may_read_its_topics_and_its_groups() -> None:
    assert rights("consumer", topics=["a"], groups=["g"]) == {"topic a literal read", "group g literal read"}


def test_a_transactional_producer_may_write_by_its_ids_and_commit_offsets_of_its_groups() -> None:
    assert rights("transactional", **LISTED) == {
        "topic t literal write",
        "transactional_id x literal write",
        "group g literal read",
    }


def test_spark_may_read_and_write_its_topics_and_needs_no_group() -> None:
    assert rights("spark", topics=["t"]) == {"topic t literal read", "topic t literal write"}
    assert rights("spark", groups=["g"]) == {"group g literal read"}


def test_a_mirror_never_writes_to_the_topics_of_its_source() -> None:
    source = rights("mirror_source", topics=["t"], groups=["g"])
    assert {right for right in source if right.split()[1] in {"t", "g"}} == {
        "topic t literal read",
        "topic t literal describe_configs",
        "group g literal describe",
    }


def test_a_mirror_in_both_directions_has_the_rights_of_both_sides() -> None:
    listed = {"topics": ["t"], "groups": ["g"]}
    assert rights("mirror", **listed) == rights("mirror_source", **listed) | rights("mirror_target", **listed)


@pytest.mark.parametrize("role", sorted(ROLES))
def test_no_role_may_touch_the_cluster_delete_or_do_everything(role: str) -> None:
    listed = {option: ["n"] for option in ("topics", "groups", "transactional_ids")}
    for resource_type, _name, _pattern, operation in expand(role, listed, "prefixed"):
        assert resource_type != "cluster"
        assert operation not in {"all", "delete", "cluster_action"}


@pytest.mark.parametrize(
    ("role", "listed", "why"),
    [
        ("boss", {"topics": ["t"]}, "role is boss; producer"),
        ("producer", {}, "role producer names no resource; topics"),
        ("producer", {"topics": ["t"], "groups": ["g"]}, "role producer has no use for groups"),
        ("consumer", {"topics": ["t"], "transactional_ids": ["x"]}, "role consumer has no use for transactional_ids"),
        ("spark", {"groups": [], "topics": None}, "role spark names no resource"),
    ],
)
def test_lists_that_a_role_cannot_use_are_refused(role: str, listed: Any, why: str) -> None:
    (violation,) = role_violations(role, listed)
    assert why in violation
