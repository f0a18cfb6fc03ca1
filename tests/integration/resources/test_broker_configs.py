"""The module broker_configs against real brokers: live settings of one broker and of the whole cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._brokers.configs import LISTED_WHEN_SET
from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import list_brokers
from ansible_collections.streamops.kafka.plugins.module_utils._configs.api import (
    BROKER,
    alter_configs,
    describe_configs,
)
from tests.support.cluster import Cluster
from tests.support.forms import short
from tests.support.modules import run_module

Ensure = Callable[..., dict[str, Any]]
KEY = "log.cleaner.backoff.ms"


@pytest.fixture
def admin(combined: Cluster) -> Iterator[Session]:
    """The cluster, seen by the client of the collection."""
    with Session(Connection(tuple(combined.bootstrap_servers))) as connected:
        yield connected


@pytest.fixture
def ensure(combined: Cluster, admin: Session) -> Iterator[Ensure]:
    """Calls the module; the dynamic values of KEY are taken away afterwards, min.insync.replicas is put back."""
    before = describe_configs(admin, BROKER, {"": ["min.insync.replicas"]})[""]

    def call(*, check: bool = False, **options: Any) -> dict[str, Any]:
        wanted = {"bootstrap_servers": combined.bootstrap_servers, **options}
        return run_module("streamops.kafka.broker_configs", wanted, check=check, diff=True)

    yield call
    entities = ["", *(str(broker.id) for broker in list_brokers(admin))]
    alter_configs(admin, BROKER, {entity: {KEY: None} for entity in entities})
    old = before["min.insync.replicas"].value if "min.insync.replicas" in before else None
    alter_configs(admin, BROKER, {"": {"min.insync.replicas": old}})


def shown(admin: Session, key: str) -> dict[int, str | None]:
    """What each broker uses now."""
    ids = [broker.id for broker in list_brokers(admin)]
    values = describe_configs(admin, BROKER, {str(broker): [key] for broker in ids})
    return {broker: values[str(broker)][key].value for broker in ids}


def test_one_broker_is_set_live_and_taken_back(ensure: Ensure, admin: Session) -> None:
    first = list_brokers(admin)[0].id
    before = shown(admin, KEY)
    foreseen = ensure(brokers={first: {KEY: 4321}}, check=True)
    assert shown(admin, KEY) == before
    done = ensure(brokers={first: {KEY: 4321}})
    assert (
        done["diff"]
        == foreseen["diff"]
        == {
            "before": {f"broker {first}": {KEY: before[first]}},
            "after": {f"broker {first}": {KEY: "4321"}},
        }
    )
    assert shown(admin, KEY) == {**before, first: "4321"}
    assert not ensure(brokers={first: {KEY: "4321"}})["changed"]
    assert ensure(brokers={first: {KEY: None}})["changed"]
    assert shown(admin, KEY) == before
    assert not ensure(brokers={first: {KEY: None}})["changed"]


def test_the_cluster_default_reaches_every_broker_but_those_with_a_value_of_their_own(
    ensure: Ensure, admin: Session
) -> None:
    first, *others = (broker.id for broker in list_brokers(admin))
    done = ensure(default={KEY: 5000}, brokers={first: {KEY: 6000}})
    assert done["settings"] == {f"broker {first}": {KEY: "6000"}, "cluster default": {KEY: "5000"}}
    assert shown(admin, KEY) == {first: "6000", **dict.fromkeys(others, "5000")}
    again = ensure(default={KEY: 5000})
    assert not again["changed"]
    assert "has the dynamic value 6000 of its own" in again["warnings"][0]


def test_the_broker_keeps_the_value_wanted_for_it_when_the_default_moves(ensure: Ensure, admin: Session) -> None:
    first = list_brokers(admin)[0].id
    same = shown(admin, KEY)[first]
    assert ensure(default={KEY: 5001}, brokers={first: {KEY: same}})["changed"]
    assert shown(admin, KEY)[first] == same
    assert not ensure(default={KEY: 5001}, brokers={first: {KEY: same}})["changed"]


def test_min_insync_replicas_is_set_once_for_the_whole_cluster(ensure: Ensure, admin: Session) -> None:
    key = "min.insync.replicas"
    now = set(shown(admin, key).values())
    other = "1" if now == {"2"} else "2"
    assert ensure(default={key: other})["settings"] == {"cluster default": {key: other}}
    assert set(shown(admin, key).values()) == {other}
    assert not ensure(default={key: other})["changed"]


def test_everything_that_cannot_be_set_is_told_with_the_reason_of_kafka(ensure: Ensure, admin: Session) -> None:
    first = list_brokers(admin)[0].id
    refused = ensure(
        brokers={first: {"log.dirs": "/x", "node.id": 9, KEY: 1}, 99: {KEY: 1}},
        default={"no.such.key": 1, "ssl.key.password": "x"},
    )
    assert refused["failed"]
    for said in (
        "Cannot update these configs dynamically: ",
        "log.dirs",
        "node.id",
        "broker 99: not a live broker",
        "Kafka has no key no.such.key",
        "ssl.key.password is a secret",
        "nothing was changed",
    ):
        assert said in refused["msg"]
    assert shown(admin, KEY)[first] != "1"


def test_a_number_that_kafka_takes_and_a_cluster_cannot_live_with_is_refused(ensure: Ensure, admin: Session) -> None:
    first = list_brokers(admin)[0].id
    refused = ensure(brokers={first: {"log.roll.ms": 10, KEY: 4321}})
    assert refused["failed"]
    assert f"broker {first}: log.roll.ms is 10, allowed: at least 1000; beyond it a new" in refused["msg"]
    assert shown(admin, KEY)[first] != "4321"


@pytest.mark.parametrize("key", short(LISTED_WHEN_SET, LISTED_WHEN_SET[0]))
def test_a_throttle_that_brokers_list_only_while_it_is_set_is_set_and_taken_away(
    ensure: Ensure, admin: Session, key: str
) -> None:
    first, second = (str(broker.id) for broker in list_brokers(admin)[:2])
    wanted = {"brokers": {first: {key: 1_000_000}}, "default": {key: "2000000"}}
    assert not ensure(brokers={first: {key: None}}, default={key: None})["changed"]
    refused = ensure(brokers={first: {key: -1}}, default={key: "much"}, check=True)
    assert "Value must be at least 0" in refused["msg"]
    assert "Not a number of type LONG" in refused["msg"]
    foreseen, done = ensure(**wanted, check=True), ensure(**wanted)
    assert (done["changed"], done["diff"]) == (True, foreseen["diff"])
    assert done["diff"]["before"] == {"cluster default": {key: "(not set)"}, f"broker {first}": {key: "(not set)"}}
    now = describe_configs(admin, BROKER, {first: [key], second: [key]})
    assert (now[first][key].value, now[second][key].value) == ("1000000", "2000000")
    assert not ensure(**wanted)["changed"]
    # YAML's forms of a number, such as 2.0e+6, are one.
    assert not ensure(brokers={first: {key: 1e6}}, default={key: 2e6})["changed"]
    assert ensure(brokers={first: {key: None}})["settings"] == {f"broker {first}": {key: None}}
    assert ensure(default={key: None})["changed"]
    assert describe_configs(admin, BROKER, {first: [key], second: [key]}) == {first: {}, second: {}}
    assert not ensure(brokers={first: {key: None}}, default={key: None})["changed"]
