"""Deciding about ACLs: which plan follows from bindings that are there and bindings wanted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.module_utils._acls.entries import Binding
from ansible_collections.streamops.kafka.plugins.module_utils._acls.plan import network_violations, plan_acls
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


def test_a_network_is_known_in_every_spelling_and_removed_as_kafka_has_it() -> None:
    wanted = A._replace(host="10.0.0.0/8")
    there = A._replace(host="10.1.2.3/8")
    kept = plan_acls([there], [wanted], [], authoritative=True)
    assert (kept.add, kept.remove, kept.unchanged) == ((), (), 1)
    assert plan_acls([there, wanted], [], [wanted]).remove == (there, wanted)
    assert plan_acls([there, B], [B], [], authoritative=True).remove == (there,)
    assert plan_acls([A._replace(host="10.0.0.0/9")], [wanted], []).add == (wanted,)


def test_a_cluster_below_the_level_of_networks_is_told_it_and_how_it_gets_there() -> None:
    networks = [A._replace(host="10.0.0.0/8"), B._replace(host="10.0.0.0/8"), C._replace(host="2001:db8::/32")]
    (violation,) = network_violations([*networks, A], {"metadata.version": 30})
    assert "acl host 10.0.0.0/8, 2001:db8::/32" in violation
    assert "need metadata.version 4.4-IV1 (level 32), and it has 4.3-IV0 (level 30)" in violation
    assert "upgrade.yml with kafka_upgrade=finalize" in violation
    assert list(network_violations(networks, {"metadata.version": 32})) == []
    assert list(network_violations([A, B], {"metadata.version": 30})) == []
    (zookeeper,) = network_violations(networks, None)
    assert "it has no metadata.version" in zookeeper


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


def on_cluster(operation: str, who: str, permission: str = "allow", host: str = "*") -> Binding:
    """A binding on the cluster."""
    return Binding(who, host, permission, operation, "cluster", "kafka-cluster", "literal")


@pytest.mark.parametrize("holder", ["User:me", "User:*"])
@pytest.mark.parametrize(("own", "refused"), [("User:me", 1), ("User:other", 0), (None, 1)])
def test_a_run_keeps_the_right_to_change_acls_that_it_has_or_may_have(
    holder: str, own: str | None, refused: int
) -> None:
    mine = on_cluster("alter", holder)
    plan = plan_acls([A, mine], [A], [], authoritative=True, own=own)
    assert len(plan.violations) == (1 if holder == "User:*" else refused)
    assert plan_acls([A, mine], [A], [mine], authoritative=True, own=own).violations == ()


@pytest.mark.parametrize("own", ["User:me", None])
def test_a_right_to_change_acls_may_go_where_the_list_gives_another_one(own: str | None) -> None:
    here, anywhere = on_cluster("alter", "User:me", host="10.0.0.1"), on_cluster("alter", "User:me")
    plan = plan_acls([here], [anywhere], [], authoritative=True, own=own)
    assert (plan.remove, plan.violations) == ((here,), ())
    assert plan_acls([anywhere], [here], [], authoritative=True, own=own).violations


def test_a_run_of_which_only_the_brokers_know_the_principal_may_name_whose_right_goes() -> None:
    theirs = on_cluster("alter", "User:intern")
    plan = plan_acls([theirs], [], [], authoritative=True, scope=["User:intern"], own=None)
    assert (plan.remove, plan.violations) == ((theirs,), ())


@pytest.mark.parametrize("operation", ["alter", "describe", "all"])
@pytest.mark.parametrize(
    ("own", "denied", "allowed", "refused"),
    [
        ("User:me", "User:me", [], True),
        ("User:me", "User:*", ["User:me"], True),
        ("User:me", "User:*", ["User:*"], True),
        ("User:me", "User:*", ["User:other"], False),  # A super user: no ACL lets it in.
        ("User:me", "User:other", ["User:me", "User:other"], False),
        (None, "User:other", ["User:other"], True),
        (None, "User:other", ["User:*"], True),
        (None, "User:*", ["User:other"], True),
        (None, "User:other", ["User:me"], False),
        (None, "User:*", [], False),
    ],
)
def test_a_denial_that_would_lock_this_run_out_is_refused(
    operation: str, own: str | None, denied: str, allowed: list[str], refused: bool
) -> None:
    state = [on_cluster("alter", who) for who in allowed]
    denial = on_cluster(operation, denied, "deny")
    plan = plan_acls(state, [denial], [], own=own)
    assert bool(plan.violations) == refused
    assert plan_acls([*state, denial], [denial], [], own=own).violations == (), "it is there already"
    if refused and denied != own:
        assert plan_acls(state, [denial], state, own=own).violations == (), "the right goes by name"


def test_a_denial_of_anything_else_is_nobody_s_lock() -> None:
    denials = [on_cluster("create", "User:me", "deny"), A._replace(permission="deny", principal="User:me")]
    assert plan_acls([on_cluster("alter", "User:me")], denials, [], own="User:me").violations == ()


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
