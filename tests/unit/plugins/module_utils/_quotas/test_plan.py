"""Deciding about quotas: which plan follows from limits and specs, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.module_utils._core.diff import diff_of
from ansible_collections.streamops.kafka.plugins.module_utils._quotas.plan import (
    KEYS,
    DesiredQuota,
    parse_specs,
    plan_quotas,
)

ALICE = (("user", "alice"),)


def spec(**item: Any) -> DesiredQuota:
    """The spec of one good entry."""
    (wanted,), violations = parse_specs([item])
    assert violations == []
    return wanted


def test_a_new_entity_gets_its_limits() -> None:
    plan = plan_quotas({}, [spec(user="alice", producer_byte_rate=1000, request_percentage=12.5)])
    assert plan.alterations == {ALICE: {"producer_byte_rate": 1000.0, "request_percentage": 12.5}}
    assert diff_of(plan.changes) == {
        "before": {},
        "after": {"user alice": {"producer_byte_rate": 1000, "request_percentage": 12.5}},
    }


def test_an_entity_as_wanted_needs_nothing() -> None:
    plan = plan_quotas({ALICE: {"producer_byte_rate": 1000.0}}, [spec(user="alice", producer_byte_rate=1000)])
    assert (plan.alterations, plan.changes, plan.unchanged) == ({}, (), 1)


def test_a_limit_that_an_entry_leaves_out_is_taken_away_and_unknown_ones_are_left() -> None:
    state = {ALICE: {"producer_byte_rate": 1000.0, "consumer_byte_rate": 5.0, "a_later_limit": 1.0}}
    plan = plan_quotas(state, [spec(user="alice", producer_byte_rate=2000)])
    assert plan.alterations == {ALICE: {"producer_byte_rate": 2000.0, "consumer_byte_rate": None}}
    assert diff_of(plan.changes) == {
        "before": {"user alice": {"producer_byte_rate": 1000, "consumer_byte_rate": 5}},
        "after": {"user alice": {"producer_byte_rate": 2000}},
    }


def test_an_absent_entity_loses_all_limits_and_others_are_left_alone() -> None:
    state = {ALICE: {"producer_byte_rate": 1000.0}, (("user", "bob"),): {"producer_byte_rate": 1.0}}
    plan = plan_quotas(state, [spec(user="alice", state="absent"), spec(ip="10.0.0.1", state="absent")])
    assert plan.alterations == {ALICE: {"producer_byte_rate": None}}
    assert plan.unchanged == 1


@pytest.mark.parametrize(
    ("item", "entity"),
    [
        ({"user": "<default>"}, (("user", None),)),
        ({"client_id": "app"}, (("client-id", "app"),)),
        ({"client_id": "app", "user": "alice"}, (("user", "alice"), ("client-id", "app"))),
        ({"user": "<default>", "client_id": "<default>"}, (("user", None), ("client-id", None))),
    ],
)
def test_an_entity_is_a_user_a_client_both_or_their_defaults(item: dict[str, Any], entity: Any) -> None:
    assert spec(**item, producer_byte_rate=1).entity == entity


@pytest.mark.parametrize("ip", ["10.0.0.1", "::1", "<default>"])
def test_an_address_limits_connections(ip: str) -> None:
    assert spec(ip=ip, connection_creation_rate=5).limits == {"connection_creation_rate": 5}


BAD = [
    ([{"producer_byte_rate": 1}], "quota number 1: has no user, client_id or ip"),
    ([{"user": "", "producer_byte_rate": 1}], "an empty name"),
    ([{"user": "a", "ip": "10.0.0.1", "connection_creation_rate": 1}], "ip goes with neither user nor client_id"),
    ([{"ip": "10.0.0.0/8", "connection_creation_rate": 1}], "no network and no host name"),
    ([{"ip": "host", "connection_creation_rate": 1}], "no network and no host name"),
    ([{"user": "a"}], "quota user a: no limit; producer_byte_rate"),
    ([{"user": "a", "connection_creation_rate": 1}], "connection_creation_rate is no limit of this kind"),
    ([{"ip": "10.0.0.1", "producer_byte_rate": 1}], "producer_byte_rate is no limit of this kind"),
    ([{"user": "a", "producer_byte_rate": 0}], "producer_byte_rate is 0; more than 0 is needed"),
    ([{"user": "a", "consumer_byte_rate": -1}], "consumer_byte_rate is -1"),
    ([{"user": "a", "request_percentage": float("nan")}], "request_percentage is nan"),
    ([{"user": "a", "request_percentage": float("inf")}], "request_percentage is inf"),
    ([{"user": "a", "controller_mutation_rate": True}], "controller_mutation_rate is True"),
    ([{"user": "a", "producer_byte_rate": 1.5}], "a whole number of at most 9223372036854775807"),
    ([{"user": "a", "producer_byte_rate": 2**63}], "a whole number of at most"),
    ([{"ip": "<default>", "connection_creation_rate": 2**31}], "a whole number of at most 2147483647"),
    ([{"user": "a", "state": "absent", "producer_byte_rate": 1}], "state is absent and it has limits"),
    ([{"user": "a", "producer_byte_rate": 1}, {"user": "a", "request_percentage": 1}], "named 2 times"),
]


@pytest.mark.parametrize(("items", "why"), BAD, ids=[why for _items, why in BAD])
def test_bad_input_is_refused(items: list[dict[str, Any]], why: str) -> None:
    _specs, violations = parse_specs(items)
    assert len(violations) == 1, violations
    assert why in violations[0]


LIMITS = st.dictionaries(st.sampled_from(KEYS[:4]), st.integers(1, 5), min_size=1)
NAMES = st.sampled_from("abc")


@given(st.dictionaries(NAMES, LIMITS), st.dictionaries(NAMES, LIMITS))
def test_a_plan_done_leaves_nothing_to_do(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    state = {(("user", name),): {key: float(value) for key, value in limits.items()} for name, limits in found.items()}
    specs = [spec(user=name, **limits) for name, limits in wanted.items()]
    for entity, ops in plan_quotas(state, specs).alterations.items():
        limits = {**state.get(entity, {}), **ops}
        state[entity] = {key: value for key, value in limits.items() if value is not None}
    assert plan_quotas(state, specs).alterations == {}


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        ("::1", "0:0:0:0:0:0:0:1", "ip ::1"),
        ("2001:DB8::0:1", "2001:db8::1", "ip 2001:db8::1"),
        ("::ffff:10.0.0.1", "10.0.0.1", "ip 10.0.0.1"),
    ],
)
def test_an_address_is_one_in_all_its_spellings(one: str, other: str, shown: str) -> None:
    entries = [{"ip": text, "connection_creation_rate": 5} for text in (one, other)]
    assert f"quota {shown}: named 2 times" in parse_specs(entries)[1][0]
    for text in (one, other):
        held = {(("ip", text),): {"connection_creation_rate": 5.0}}
        for wanted in (one, other):
            assert plan_quotas(held, [spec(ip=wanted, connection_creation_rate=5)]).unchanged == 1
            assert plan_quotas(held, [spec(ip=wanted, state="absent")]).alterations == {
                (("ip", text),): {"connection_creation_rate": None}
            }


def test_an_address_that_kafka_has_twice_gets_its_limits_twice() -> None:
    held = {(("ip", "::1"),): {"connection_creation_rate": 5.0}, (("ip", "0::1"),): {"connection_creation_rate": 6.0}}
    plan = plan_quotas(held, [spec(ip="::1", connection_creation_rate=5)])
    assert plan.alterations == {(("ip", "0::1"),): {"connection_creation_rate": 5.0}}
    assert len(plan_quotas(held, [spec(ip="::1", state="absent")]).alterations) == 2
