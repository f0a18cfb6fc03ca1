# SPDX-License-Identifier: GPL-3.0-or-later
"""A topic is created once, also where a second broker is asked because the first one did not say what it did."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Partition
from ansible_collections.streamops.kafka.plugins.module_utils._configs.values import OF_TOPIC, ConfigValue
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError
from ansible_collections.streamops.kafka.plugins.module_utils._topics import api
from ansible_collections.streamops.kafka.plugins.module_utils._topics.api import (
    TopicSpec,
    create_topics,
    drop_topics,
    is_as_wanted,
    make_topic,
    require,
)

#: Kafka's errors of an answer.
UNKNOWN, TIMED_OUT, NOT_CONTROLLER, EXISTS = 3, 7, 41, 36
ORDERS = TopicSpec("orders", 2, 2, {})
RATIO, POLICY = "min.cleanable.dirty.ratio", "cleanup.policy"
PRUNED = TopicSpec("orders", 1, 1, {POLICY: "compact, delete"})


def own(value: str, kind: str) -> ConfigValue:
    """What a topic sets itself."""
    return ConfigValue(value, kind, OF_TOPIC)


def partitions(*replicas: tuple[int, ...]) -> tuple[Partition, ...]:
    """The partitions of a topic with these replicas."""
    return tuple(Partition("orders", n, some[0], some, some, 0, False) for n, some in enumerate(replicas))


class Answering(Session):
    """Brokers 1, 2, ... that answer a creation with these codes, and know the topic with so many partitions.

    They know it after they have been asked for it C(late) times.
    """

    def __init__(self, *codes: int, there: int = 2, late: int = 0) -> None:
        super().__init__(Connection(("a:1",), request_timeout=1))
        self.codes, self.there, self.late = codes, there, late
        brokers = [SimpleNamespace(node_id=number) for number, _code in enumerate(codes, 1)]
        known = {broker.node_id: broker for broker in brokers}
        cluster = SimpleNamespace(controller=brokers[0], brokers=lambda: brokers, broker_metadata=known.get)
        self._python_client = SimpleNamespace(_manager=SimpleNamespace(cluster=cluster))

    def _exchange(self, request: Any, node: int | None, _seconds: float | None = None) -> Any:
        if type(request).__name__.startswith("Metadata"):
            self.late -= 1
            if self.late >= 0:
                return SimpleNamespace(topics=[SimpleNamespace(name="orders", error_code=UNKNOWN, partitions=[])])
            told = [
                SimpleNamespace(partition_index=n, leader_id=1, replica_nodes=[1, 2], isr_nodes=[1])
                for n in range(self.there)
            ]
            return SimpleNamespace(
                topics=[SimpleNamespace(name="orders", error_code=0, is_internal=False, partitions=told)]
            )
        if type(request).__name__.startswith("DescribeConfigs"):
            policy = SimpleNamespace(name=POLICY, value="compact,delete", config_type=7, config_source=1, synonyms=[])
            policy.is_sensitive = False
            return SimpleNamespace(results=[SimpleNamespace(resource_name="orders", error_code=0, configs=[policy])])
        code = self.codes[(node or 1) - 1]
        return SimpleNamespace(topics=[SimpleNamespace(name="orders", error_code=code, error_message=None)])


def test_a_topic_that_an_unanswered_request_has_created_is_created() -> None:
    assert create_topics(Answering(TIMED_OUT, EXISTS), [ORDERS]) == {"orders": None}


@pytest.mark.parametrize(("policy", "ours"), [("delete, compact", True), ("delete", False)])
def test_a_topic_that_an_unanswered_request_has_created_is_known_by_its_values(policy: str, ours: bool) -> None:
    wanted = TopicSpec("orders", 2, 2, {POLICY: policy})
    assert (create_topics(Answering(TIMED_OUT, EXISTS), [wanted])["orders"] is None) is ours


def test_a_broker_that_does_not_know_a_created_topic_yet_is_asked_again() -> None:
    assert create_topics(Answering(TIMED_OUT, EXISTS, late=2), [ORDERS]) == {"orders": None}


def test_a_topic_that_stays_unknown_is_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "_REPLAY_SECONDS", 0.1)
    assert create_topics(Answering(TIMED_OUT, EXISTS, late=99), [ORDERS])["orders"][0] == "TOPIC_ALREADY_EXISTS"


def test_a_topic_that_is_there_otherwise_than_wanted_is_not_ours() -> None:
    refused = create_topics(Answering(TIMED_OUT, EXISTS, there=3), [ORDERS])["orders"]
    assert refused[0] == "TOPIC_ALREADY_EXISTS"


@pytest.mark.parametrize("codes", [(EXISTS,), (NOT_CONTROLLER, EXISTS)])
def test_a_topic_that_was_there_before_anything_was_asked_for_is_refused(codes: tuple[int, ...]) -> None:
    assert create_topics(Answering(*codes), [ORDERS])["orders"][0] == "TOPIC_ALREADY_EXISTS"


def test_a_creation_that_no_broker_answers_is_in_doubt() -> None:
    with pytest.raises(RequestFailedError) as failed:
        create_topics(Answering(TIMED_OUT, NOT_CONTROLLER), [ORDERS])
    assert failed.value.code == "REQUEST_TIMED_OUT"
    assert not failed.value.unsent


def test_the_state_topic_is_cleaned_while_it_is_written() -> None:
    """Kafka never compacts the last segment, so it ends after an hour; and a segment holds the biggest record."""
    assert int(api.STATE_CONFIG["segment.bytes"]) >= int(api.STATE_CONFIG["max.message.bytes"])
    assert int(api.STATE_CONFIG["segment.bytes"]) < 1 << 30
    assert int(api.STATE_CONFIG["segment.ms"]) <= 3_600_000
    assert float(api.STATE_CONFIG[RATIO]) < 0.5


class Cluster:
    """The topics of a cluster; what is made or deleted shows to the second look after that."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *there: str, refusal: tuple[str, str] | None = None) -> None:
        self.there, self.shown, self.refusal = set(there), [set(there)], refusal
        monkeypatch.setattr(api, "create_topics", lambda _session, specs: self._do([one.name for one in specs], True))
        monkeypatch.setattr(api, "delete_topics", lambda _session, names: self._do(names, False))
        monkeypatch.setattr(api, "topics_at", self._look)
        monkeypatch.setattr("ansible_collections.streamops.kafka.plugins.module_utils._client.settle.PAUSE", 0.01)

    def _do(self, names: list[str], is_there: bool) -> dict[str, Any]:
        before = set(self.there)
        if not self.refusal:
            self.there = self.there | set(names) if is_there else self.there - set(names)
        self.shown = [before, self.there]
        return dict.fromkeys(names, self.refusal)

    def _look(self, _session: Any, _broker: None, names: list[str]) -> dict[str, tuple[()]]:
        shown = self.shown.pop(0) if len(self.shown) > 1 else self.shown[0]
        return {name: () for name in names if name in shown}


SESSION: Any = None


def test_a_topic_is_made_once_a_broker_knows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(monkeypatch)
    make_topic(SESSION, ORDERS, 5.0)
    assert (cluster.there, cluster.shown) == ({"orders"}, [{"orders"}])


def test_topics_are_dropped_once_no_broker_knows_them(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(monkeypatch, "orders", "other")
    drop_topics(SESSION, ["orders", "never"], 5.0)
    assert (cluster.there, cluster.shown) == ({"other"}, [{"other"}])


@pytest.mark.parametrize("change", [make_topic, drop_topics])
def test_a_topic_that_is_refused_is_named_with_the_reason(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    Cluster(monkeypatch, "orders", refusal=("POLICY_VIOLATION", "not so"))
    with pytest.raises(RequestFailedError, match=r"(create|delete) topic orders: not so \(POLICY_VIOLATION\)"):
        change(SESSION, ORDERS if change is make_topic else ["orders"], 5.0)


def test_an_error_that_does_no_harm_is_passed_over() -> None:
    outcomes = {"a": None, "b": ("TOPIC_ALREADY_EXISTS", "it is there")}
    require("create topic", outcomes, ["TOPIC_ALREADY_EXISTS"])
    with pytest.raises(RequestFailedError, match="create topic b: it is there"):
        require("create topic", outcomes)


@pytest.mark.parametrize(
    ("wanted", "replicas", "values", "expected"),
    [
        (ORDERS, ((1, 2), (2, 3)), {}, True),
        (ORDERS, ((1, 2),), {}, False),
        (ORDERS, ((1, 2), (2,)), {}, False),
        (ORDERS, (), {}, False),
        (TopicSpec("orders", -1, -1, {}), ((1,), (2,)), {}, True),
        (TopicSpec("orders", 1, 1, {"retention.ms": "5"}), ((1,),), {"retention.ms": own("5", "LONG")}, True),
        (TopicSpec("orders", 1, 1, {"retention.ms": "5"}), ((1,),), {"retention.ms": own("6", "LONG")}, False),
        (TopicSpec("orders", 1, 1, {"retention.ms": "5"}), ((1,),), {"retention.ms": ConfigValue("5", "LONG")}, False),
        (TopicSpec("orders", 1, 1, {"retention.ms": "5"}), ((1,),), {}, False),
        # Kafka tells of values as it has read them.
        (TopicSpec("orders", 1, 1, {RATIO: "0.50"}), ((1,),), {RATIO: own("0.5", "DOUBLE")}, True),
        (PRUNED, ((1,),), {POLICY: own("compact,delete", "LIST")}, True),
        (TopicSpec("orders", 2, 1, {}, ((1,), (2,))), ((1,), (2,)), {}, True),
        (TopicSpec("orders", 2, 1, {}, ((1,), (2,))), ((2,), (1,)), {}, False),
    ],
)
def test_a_topic_is_as_wanted(
    wanted: TopicSpec, replicas: tuple[tuple[int, ...], ...], values: dict[str, ConfigValue], expected: bool
) -> None:
    assert is_as_wanted(wanted, partitions(*replicas), values) is expected
