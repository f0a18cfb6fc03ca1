"""Deciding about SCRAM users: which plan follows from credentials and specs, what is refused, what never shows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.module_utils._core.diff import diff_of
from ansible_collections.streamops.kafka.plugins.module_utils._users.plan import (
    ACCEPTED,
    MECHANISMS,
    REFUSED,
    UNTRIED,
    DesiredUser,
    changes_of,
    parse_specs,
    plan_users,
    requests,
    to_prove,
)

SHA256, SHA512 = "SCRAM-SHA-256", "SCRAM-SHA-512"
ALICE = DesiredUser("alice", password="s3cret")
AS_WANTED = {"alice": {SHA512: 8192}}


def test_a_missing_user_is_created() -> None:
    plan = plan_users({}, [ALICE], {})
    assert (plan.upserts, plan.created, plan.deletions) == ((ALICE,), ("alice",), ())
    assert diff_of(plan.changes) == {
        "before": {},
        "after": {"alice": {SHA512: {"iterations": 8192, "password": "(as given)"}}},
    }


def test_a_user_whose_login_is_accepted_needs_nothing() -> None:
    plan = plan_users(AS_WANTED, [ALICE], {ALICE.key: ACCEPTED})
    assert (plan.upserts, plan.changes, plan.unchanged) == ((), (), 1)


def test_a_user_whose_login_is_refused_gets_the_password() -> None:
    plan = plan_users(AS_WANTED, [ALICE], {ALICE.key: REFUSED})
    assert (plan.upserts, plan.updated, plan.unproven) == ((ALICE,), ("alice",), ())
    assert plan.changes[0].before == {SHA512: {"iterations": 8192, "password": "(another one)"}}


def test_a_login_that_could_not_be_tried_changes_nothing_and_is_told() -> None:
    plan = plan_users(AS_WANTED, [ALICE], {ALICE.key: UNTRIED})
    assert (plan.upserts, plan.unproven, plan.unchanged) == ((), ("alice",), 1)


def test_other_iterations_are_changed_without_a_login() -> None:
    state = {"alice": {SHA512: 4096}}
    assert to_prove(state, [ALICE]) == []
    plan = plan_users(state, [ALICE], {})
    assert plan.updated == ("alice",)
    assert plan.changes[0].before == {SHA512: {"iterations": 4096, "password": "(not shown)"}}


@pytest.mark.parametrize(("update", "upserts"), [("always", 1), ("on_create", 0)])
def test_without_logins_the_password_is_set_always_or_at_creation_only(update: str, upserts: int) -> None:
    (alice,) = parse_specs([item()], update)[0]
    assert to_prove(AS_WANTED, [alice]) == []
    assert len(plan_users(AS_WANTED, [alice], {}).upserts) == upserts
    assert len(plan_users({}, [alice], {}).upserts) == 1


def test_an_entry_says_for_itself_when_its_password_is_set() -> None:
    entries = [item(update_password="on_create", iterations=9000), item("bob", update_password=None)]
    alice, bob = parse_specs(entries, "when_different")[0]
    state = {"alice": {SHA512: 8192}, "bob": {SHA512: 8192}}
    assert to_prove(state, [alice, bob]) == [bob]
    assert plan_users(state, [alice, bob], {bob.key: REFUSED}).updated == ("bob",)
    other = plan_users({"alice": {SHA256: 8192}}, [alice], {})
    assert (other.upserts, other.deletions) == ((alice,), (("alice", SHA256),))


def test_a_credential_by_another_mechanism_is_taken_away_so_that_no_old_password_stays_valid() -> None:
    plan = plan_users({"alice": {SHA256: 8192}}, [ALICE], {})
    assert (plan.upserts, plan.deletions, plan.updated) == ((ALICE,), (("alice", SHA256),), ("alice",))
    assert diff_of(plan.changes)["before"] == {"alice": {SHA256: {"iterations": 8192}}}


def test_a_user_may_have_both_mechanisms() -> None:
    both = [ALICE, DesiredUser("alice", SHA256, password="s3cret")]
    state = {"alice": {SHA256: 8192, SHA512: 8192}}
    plan = plan_users(state, both, dict.fromkeys([spec.key for spec in both], ACCEPTED))
    assert (plan.changes, plan.unchanged) == ((), 1)


def test_an_absent_user_loses_every_credential_and_others_are_left_alone() -> None:
    state = {"alice": {SHA256: 4096, SHA512: 8192}, "bob": {SHA512: 8192}}
    plan = plan_users(state, [DesiredUser("alice", absent=True)], {})
    assert (plan.deletions, plan.deleted) == ((("alice", SHA256), ("alice", SHA512)), ("alice",))
    assert plan_users({}, [DesiredUser("alice", absent=True)], {}).unchanged == 1


@pytest.mark.parametrize("spec", [DesiredUser("alice", absent=True), DesiredUser("alice", SHA256, password="x")])
def test_a_run_never_takes_away_who_it_is_logged_in_as(spec: DesiredUser) -> None:
    plan = plan_users(AS_WANTED, [spec], {}, own=("alice", SHA512))
    assert "lock itself out" in plan.violations[0]
    assert not plan_users(AS_WANTED, [spec], {}, own=("admin", SHA512)).violations


def item(name: str = "alice", **fields: Any) -> dict[str, Any]:
    """An entry of the list as a module gives it."""
    return {"name": name, "password": "s3cret", "mechanism": SHA512, "iterations": 8192, "state": "present", **fields}


BAD = [
    ([item("")], "the name is empty"),
    ([item(" ")], "the name is empty"),
    ([item(password="")], "user alice: the password is missing or empty"),
    ([item(password=None)], "user alice: the password is missing or empty"),
    ([item(mechanism="PLAIN")], "user alice: mechanism is PLAIN; SCRAM-SHA-256 and SCRAM-SHA-512 are allowed"),
    ([item(iterations=4096)], "user alice: iterations is 4096; 8192 to 16384 are allowed"),
    ([item(iterations=0)], "user alice: iterations is 0"),
    ([item(iterations=16385)], "user alice: iterations is 16385"),
    ([item(), item()], "user alice: named 2 times with SCRAM-SHA-512"),
    ([item(), item(state="absent")], "user alice: wanted both present and absent"),
    ([item(state="absent"), item(state="absent", mechanism=SHA256)], "user alice: named 2 times as absent"),
]


@pytest.mark.parametrize(("items", "why"), BAD, ids=[why for _items, why in BAD])
def test_bad_input_is_refused_without_telling_the_password(items: list[dict[str, Any]], why: str) -> None:
    _specs, violations = parse_specs(items)
    assert len(violations) == 1
    assert why in violations[0]
    assert "s3cret" not in violations[0]


def test_all_violations_are_told_at_once() -> None:
    assert len(parse_specs([item(iterations=1, password=""), item("", mechanism="X")])[1]) == 4


def test_the_password_of_a_spec_never_shows() -> None:
    plan = plan_users({}, [ALICE], {})
    assert "s3cret" not in repr(plan)


SPECS = st.lists(
    st.builds(
        DesiredUser,
        name=st.sampled_from("abcd"),
        mechanism=st.sampled_from(sorted(MECHANISMS)),
        iterations=st.sampled_from([8192, 16384]),
        password=st.just("p"),
        absent=st.just(False),
    ),
    unique_by=lambda spec: spec.key,
)
STATES = st.dictionaries(
    st.sampled_from("abcd"),
    st.dictionaries(st.sampled_from(sorted(MECHANISMS)), st.sampled_from([4096, 8192]), min_size=1),
)


@given(STATES, SPECS, st.booleans())
def test_a_plan_done_leaves_nothing_to_do(state: Any, specs: list[DesiredUser], refused: bool) -> None:
    logins = {spec.key: REFUSED if refused else ACCEPTED for spec in to_prove(state, specs)}
    plan = plan_users(state, specs, logins)
    after = {name: dict(credentials) for name, credentials in state.items()}
    for spec in plan.upserts:
        after.setdefault(spec.name, {})[spec.mechanism] = spec.iterations
    for name, mechanism in plan.deletions:
        del after[name][mechanism]
    again = plan_users(after, specs, {spec.key: ACCEPTED for spec in to_prove(after, specs)})
    assert (again.upserts, again.deletions, again.changes) == ((), (), ())
    assert {name for name in after if name not in {spec.name for spec in specs}} == set(state) - {
        spec.name for spec in specs
    }


def test_no_request_names_a_user_twice_since_kafka_refuses_both() -> None:
    keys = [("alice", SHA256), ("bob", SHA512), ("alice", SHA512), ("carol", SHA512)]
    assert list(requests(keys, 1000)) == [[keys[0], keys[1], keys[3]], [keys[2]]]


@given(
    st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from([SHA256, SHA512])), unique=True), st.integers(1, 4)
)
def test_every_credential_is_in_one_request_and_none_is_too_large(keys: list[tuple[str, str]], most: int) -> None:
    parts = list(requests(keys, most))
    assert sorted(key for part in parts for key in part) == sorted(keys)
    assert all(len({name for name, _mechanism in part}) == len(part) <= most for part in parts)


def test_of_a_plan_done_in_part_a_user_shows_only_the_credentials_that_were_set() -> None:
    other = DesiredUser("alice", SHA256, password="s3cret")
    plan = plan_users({}, [ALICE, other], {})
    (change,) = changes_of({}, plan.upserts[:1], (), {})
    assert change.after == {SHA512: {"iterations": 8192, "password": "(as given)"}}
    assert set(plan.changes[0].after or {}) == {SHA256, SHA512}
