"""Deciding about ACLs: which plan follows from bindings that are there and bindings wanted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.module_utils._acls.entries import Binding
from ansible_collections.streamops.kafka.plugins.module_utils._acls.plan import plan_acls
from ansible_collections.streamops.kafka.plugins.module_utils._core.diff import diff_of


def binding(name: str = "t", operation: str = "read", who: str = "User:a", kind: str = "topic") -> Binding:
    """A binding that allows."""
    return Binding(who, "*", "allow", operation, kind, name, "literal")


A, B, C = binding("a"), binding("b"), binding("c")
REPLICATES = binding("kafka-cluster", "cluster_action", "User:broker", "cluster")


def test_what_is_missing_is_added_and_others_are_left_alone() -> None:
    plan = plan_acls([A, C], [A, B], [])
    assert (plan.add, plan.remove, plan.unchanged) == ((B,), (), 1)
    assert diff_of(plan.changes) == {"before": {}, "after": {str(B): B._asdict()}}


def test_what_is_wanted_away_is_removed_when_it_is_there() -> None:
    plan = plan_acls([A], [], [A, B])
    assert (plan.add, plan.remove) == ((), (A,))
    assert diff_of(plan.changes) == {"before": {str(A): A._asdict()}, "after": {}}


def test_an_authoritative_list_of_one_removes_all_others() -> None:
    plan = plan_acls([A, B, C], [A], [], authoritative=True)
    assert (plan.add, plan.remove, plan.violations, plan.unchanged) == ((), (B, C), (), 1)


def test_an_authoritative_list_may_speak_for_some_principals_only() -> None:
    other = binding("a", who="User:other")
    plan = plan_acls([A, B, other], [A], [], authoritative=True, scope=["User:a"])
    assert plan.remove == (B,)


def test_an_empty_authoritative_list_is_refused_unless_it_names_principals() -> None:
    assert "wants none" in plan_acls([A], [], [], authoritative=True).violations[0]
    assert plan_acls([], [], [], authoritative=True).violations == ()
    named = plan_acls([A], [], [], authoritative=True, scope=["User:a"])
    assert (named.remove, named.violations) == ((A,), ())


def test_what_brokers_replicate_by_goes_only_by_an_entry_of_its_own() -> None:
    (violation,) = plan_acls([A, REPLICATES], [A], [], authoritative=True).violations
    assert "brokers may replicate by it" in violation
    plan = plan_acls([A, REPLICATES], [A], [REPLICATES], authoritative=True)
    assert (plan.remove, plan.violations) == ((REPLICATES,), ())


@pytest.mark.parametrize(("own", "refused"), [("User:me", 1), ("User:other", 0), (None, 0)])
def test_a_run_keeps_its_own_right_to_change_acls(own: str | None, refused: int) -> None:
    mine = binding("kafka-cluster", "alter", "User:me", "cluster")
    assert len(plan_acls([A, mine], [A], [], authoritative=True, own=own).violations) == refused


BINDINGS = st.lists(st.builds(binding, st.sampled_from("abcdef"), st.sampled_from(["read", "write"])), unique=True)


@given(BINDINGS, BINDINGS, BINDINGS, st.booleans())
def test_a_plan_done_leaves_nothing_to_do(
    state: list[Binding], present: list[Binding], absent: list[Binding], authoritative: bool
) -> None:
    absent = [one for one in absent if one not in present]
    plan = plan_acls(state, present, absent, authoritative)
    after = [one for one in state if one not in plan.remove] + list(plan.add)
    again = plan_acls(after, present, absent, authoritative)
    assert (again.add, again.remove) == ((), ())
    assert set(present) <= set(after)
    assert not set(absent) & set(after)
    assert not authoritative or set(after) == set(present)
