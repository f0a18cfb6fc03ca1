"""What no waiting mends fails at once, with who, what and the fix; a broker that hangs below TLS holds nobody up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._acls.api import describe_acls
from ansible_collections.streamops.kafka.plugins.module_utils._brokers.api import elect
from ansible_collections.streamops.kafka.plugins.module_utils._brokers.election_apply import ensure_leaders
from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import (
    describe_quorum,
    disk_usage,
    list_brokers,
    live_brokers,
)
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._quotas.api import describe_quotas
from ansible_collections.streamops.kafka.plugins.module_utils._topics.apply import ensure_topics
from ansible_collections.streamops.kafka.plugins.module_utils._users.api import describe_credentials
from tests.support.certificates import issue
from tests.support.cluster import Cluster, until
from tests.support.forms import short
from tests.support.modules import run_module
from tests.support.secured import PASSWORD, admin_connection

CAROL = {"name": "it-carol", "password": "s3cret-of-carol"}
GATE = {"node_ids": [2], "expected_brokers": [1, 2, 3], "timeout": 60, "interval": 1}


@pytest.fixture(scope="module")
def connection(secured: Cluster) -> dict[str, Any]:
    """The connection options of the administrator."""
    return admin_connection(secured, PASSWORD)


@pytest.fixture(scope="module")
def carol(connection: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The connection options of somebody without any right."""

    def users(entry: dict[str, Any]) -> None:
        assert not run_module("streamops.kafka.users", {**connection, "users": [entry]})["failed"]

    users(CAROL)
    yield {**connection, "sasl_username": CAROL["name"], "sasl_password": CAROL["password"]}
    users({"name": CAROL["name"], "state": "absent"})


@pytest.mark.parametrize(
    ("module", "wish"), short([("acls", {"acls": []}), ("restart_gate", GATE)], ("acls", {"acls": []}))
)
def test_a_wrong_password_is_tried_once(connection: dict[str, Any], module: str, wish: dict[str, Any]) -> None:
    refused = run_module(f"streamops.kafka.{module}", {**connection, "sasl_password": "not-this-one", **wish})
    assert refused["failed"]
    assert refused.get("looks", 1) == 1
    assert "refuses the login of user admin by SCRAM-SHA-512" in refused["msg"]
    assert "Fix: Correct sasl_username, sasl_password" in refused["msg"]


def test_a_ca_that_did_not_sign_the_brokers_is_told_at_once(connection: dict[str, Any], tmp_path: Path) -> None:
    other = str(issue("other", ca=True).write(tmp_path, "ca")[0])
    refused = run_module("streamops.kafka.topics", {**connection, "ssl_ca_location": other, "topics": []})
    assert refused["failure"]["kind"] == "AccessRefusedError"
    assert f"Set ssl_ca_location to the CA that signed the brokers' certificates (now {other})" in refused["msg"]


ABSENT = {
    "topics": [{"name": "orders", "state": "absent"}],
    "allow_delete": True,
    "allow_create": True,
    "allow_compacted_growth": False,
    "max_new_replicas_per_broker": 1,
    "timeout": 60,
}
ELECTION = {"type": "preferred", "broker": None, "partitions": None, "timeout": 60}
RIGHTS: dict[str, tuple[Callable[[Session], Any], str]] = {
    "users": (describe_credentials, "describe on the cluster"),
    "acls": (describe_acls, "describe on the cluster"),
    "quotas": (describe_quotas, "describe_configs on the cluster"),
    "log_dirs": (lambda admin: disk_usage(admin, [1]), "describe on the cluster"),
    "elections": (lambda admin: elect(admin, [("orders", 0)]), "alter on the cluster"),
    "leader_election": (lambda admin: ensure_leaders(admin, ELECTION, True, False), "describe on the cluster"),
    "topics": (lambda admin: ensure_topics(admin, ABSENT, True, False), "describe on the topic orders"),
}


@pytest.mark.parametrize("what", short(RIGHTS, "users", "topics", "elections"))
def test_a_right_that_is_missing_is_named(carol: dict[str, Any], what: str) -> None:
    call, right = RIGHTS[what]
    with Session(Connection.from_params(carol)) as admin, pytest.raises(StreamopsError) as refused:
        call(admin)
    assert f"User:it-carol has no right to do this: it needs the operation {right}" in refused.value.message
    assert not refused.value.passing


@pytest.mark.parametrize(
    ("module", "wish"), short([("restart_gate", GATE), ("isr_wait", {"timeout": 60})], ("restart_gate", GATE))
)
def test_a_missing_right_is_not_waited_for(carol: dict[str, Any], module: str, wish: dict[str, Any]) -> None:
    refused = run_module(f"streamops.kafka.{module}", {**carol, **wish})
    assert refused["failed"], "somebody without rights sees an empty cluster, in which all seems well"
    assert refused.get("looks", 1) == 1
    assert "User:it-carol has no right to do this: it needs the operation describe on the cluster" in refused["msg"]


@pytest.mark.full
def test_what_was_deleted_before_a_refusal_is_told(connection: dict[str, Any], carol: dict[str, Any]) -> None:
    names = ["it-gone", "it-kept"]
    topics = [{"name": name, "partitions": 1, "replication_factor": 1} for name in names]
    assert run_module("streamops.kafka.topics", {**connection, "topics": topics})["created"] == names
    right = {"principal": "User:it-carol", "resource_type": "topic", "resource": "it-", "pattern_type": "prefixed"}
    acls = [{**right, "operation": "describe"}, {**right, "operation": "delete", "resource": "it-gone"}]
    run_module("streamops.kafka.acls", {**connection, "acls": acls})
    try:
        absent = {"topics": [{"name": name, "state": "absent"} for name in names], "allow_delete": True}
        half = run_module("streamops.kafka.topics", {**carol, **absent}, diff=True)
        assert (half["failed"], half["changed"]) == (True, True)
        assert list(half["diff"]["before"]) == ["it-gone"]
        assert "it needs the operation delete on the topic it-kept" in half["msg"]
        assert "Done before that: deleted it-gone." in half["msg"]
    finally:
        run_module("streamops.kafka.acls", {**connection, "acls": [{**entry, "state": "absent"} for entry in acls]})
        run_module("streamops.kafka.topics", {**connection, **absent})


@pytest.mark.full
def test_a_frozen_broker_does_not_hold_the_gate(secured: Cluster, connection: dict[str, Any]) -> None:
    with Session(Connection.from_params(connection)) as admin:
        quorum = describe_quorum(admin)
    assert quorum is not None
    # Not the leader of the quorum: until there is another one, no broker answers what a gate asks for.
    frozen, stopping = sorted({1, 2, 3} - {quorum.leader_id})
    servers = dict(enumerate(secured.bootstrap_servers, 1))
    others = [server for number, server in servers.items() if number != frozen]
    try:
        with secured.frozen(f"kafka{frozen}"):
            beside = Connection.from_params({**connection, "bootstrap_servers": others, "request_timeout": 10})
            # It stays registered for seconds, so a client that begins at another one may draw it.
            for _ in range(4):
                with Session(beside) as admin:
                    assert {broker.id for broker in list_brokers(admin)} >= {1, 2, 3} - {frozen}
                    assert describe_credentials(admin)
            # A look beside a frozen broker may last as long as the gate waits, so the first one has to see it fenced.
            with Session(beside) as admin:
                until(lambda: frozen not in live_brokers(admin), "a fenced broker")
            # Without an end of its own the look would last as long as the broker is frozen.
            wish = {**connection, **GATE, "node_ids": [stopping], "timeout": 20}
            shut = run_module("streamops.kafka.restart_gate", wish, timeout=120)
        assert shut["failed"]
        assert f"broker {frozen} is fenced" in shut["msg"]
        assert any(servers[frozen] in warning for warning in shut["warnings"])
    finally:
        assert run_module("streamops.kafka.isr_wait", {**connection, "timeout": 120})["in_sync"]


@pytest.mark.full
@pytest.mark.parametrize("active", [False, pytest.param(True, marks=pytest.mark.full)])
def test_a_topic_is_created_while_a_broker_hangs(secured: Cluster, connection: dict[str, Any], active: bool) -> None:
    with Session(Connection.from_params(connection)) as admin:
        quorum = describe_quorum(admin)
    assert quorum is not None
    frozen = quorum.leader_id if active else max({1, 2, 3} - {quorum.leader_id})
    topic = f"it-frozen-{active}".lower()
    try:
        with secured.frozen(f"kafka{frozen}"):
            # At once: while it is registered, any client may take it for the controller.
            wish = {"topics": [{"name": topic, "partitions": 3, "replication_factor": 2}]}
            made = run_module("streamops.kafka.topics", {**connection, **wish}, timeout=150)
        assert not made["failed"], made["msg"]
        assert made["created"] == [topic]
    finally:
        assert run_module("streamops.kafka.isr_wait", {**connection, "timeout": 120})["in_sync"]
        gone = {"topics": [{"name": topic, "state": "absent"}], "allow_delete": True}
        run_module("streamops.kafka.topics", {**connection, **gone})
