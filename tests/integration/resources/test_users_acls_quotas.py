"""The modules users, acls and quotas against a secured cluster: create, again, check, change, drift, absent, many."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, Producer

from ansible_collections.streamops.kafka.plugins.module_utils._acls.api import create_acls, delete_acls, describe_acls
from ansible_collections.streamops.kafka.plugins.module_utils._acls.entries import Binding
from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import list_brokers, list_reassignments
from ansible_collections.streamops.kafka.plugins.module_utils._configs.api import BROKER
from ansible_collections.streamops.kafka.plugins.module_utils._core.scram import salted_password
from ansible_collections.streamops.kafka.plugins.module_utils._quotas.api import alter_quotas, describe_quotas
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.throttle import live_throttles
from ansible_collections.streamops.kafka.plugins.module_utils._state.api import read_state
from ansible_collections.streamops.kafka.plugins.module_utils._users.api import alter_credentials, describe_credentials
from ansible_collections.streamops.kafka.plugins.module_utils._users.login import Login, log_in
from ansible_collections.streamops.kafka.plugins.module_utils._users.plan import DesiredUser
from tests.support.cluster import Cluster
from tests.support.modules import run_module
from tests.support.secured import PASSWORD, admin_connection

SHA256, SHA512 = "SCRAM-SHA-256", "SCRAM-SHA-512"
Ensure = Callable[..., dict[str, Any]]


@pytest.fixture
def connection(secured: Cluster) -> dict[str, Any]:
    """The connection options of the administrator."""
    return admin_connection(secured, PASSWORD)


@pytest.fixture
def admin(connection: dict[str, Any]) -> Iterator[Session]:
    """The cluster, seen by the client of the collection, without users, ACLs and quotas that other tests left there."""
    with Session(Connection.from_params(connection)) as connected:
        _sweep(connected)
        yield connected
        _sweep(connected)


def _sweep(admin: Session) -> None:
    left = [(name, how) for name, found in describe_credentials(admin).items() for how in found if name != "admin"]
    alter_credentials(admin, (), left)
    delete_acls(admin, list(describe_acls(admin)))
    alter_quotas(admin, {entity: dict.fromkeys(limits) for entity, limits in describe_quotas(admin).items()})


@pytest.fixture
def ensure(connection: dict[str, Any], admin: Session) -> Ensure:
    """Calls a module, users, acls or quotas, with its list; the module's own failure is a result too."""

    def call(
        what: str, *items: dict[str, Any], check: bool = False, diff: bool = True, **options: Any
    ) -> dict[str, Any]:
        wanted = {**connection, what: list(items), **options}
        return run_module(f"streamops.kafka.{what}", wanted, check=check, diff=diff)

    return call


def user(name: str, password: str = "s3cret-of-the-user", **fields: Any) -> dict[str, Any]:
    """An entry of the list of users."""
    return {"name": name, "password": password, **fields}


def accepted(admin: Session, name: str, password: str, mechanism: str = SHA512) -> list[bool]:
    """Whether each broker lets somebody in."""
    login = Login.of(admin.connection, None, None, 10)
    assert login is not None
    wish = DesiredUser(name, mechanism, password=password)
    return [log_in(login.at(server), wish) for server in login.connection.bootstrap_servers]


# -- users -------------------------------------------------------------------------------------------------------


def test_the_life_of_a_user(ensure: Ensure, admin: Session) -> None:
    foreseen = ensure("users", user("it-alice"), check=True)
    assert foreseen["created"] == ["it-alice"], foreseen
    assert "it-alice" not in describe_credentials(admin)

    done = ensure("users", user("it-alice"))
    assert (done["created"], done["diff"]) == (["it-alice"], foreseen["diff"])
    assert accepted(admin, "it-alice", "s3cret-of-the-user") == [True] * 3
    assert accepted(admin, "it-alice", "another") == [False] * 3

    again = ensure("users", user("it-alice"))
    assert (again["changed"], again["unchanged"], again["unproven"]) == (False, 1, [])

    gone = ensure("users", {"name": "it-alice", "state": "absent"})
    assert gone["deleted"] == ["it-alice"]
    assert list(describe_credentials(admin)) == ["admin"]
    assert not ensure("users", {"name": "it-alice", "state": "absent"})["changed"]


@pytest.mark.full
def test_passwords_may_be_of_any_script_and_names_may_not(ensure: Ensure, admin: Session) -> None:
    users = [
        {"name": "it-alice", "password": "Пароль é 日本"},
        {"name": "it-bob", "password": "mot de passé", "mechanism": "SCRAM-SHA-256"},
    ]
    assert sorted(ensure("users", *users)["created"]) == ["it-alice", "it-bob"]
    again = ensure("users", *users)
    assert (again["changed"], again["unproven"]) == (False, []), again
    assert ensure("users", {**users[0], "password": "Пароль e 日本"})["updated"] == ["it-alice"]
    refused = ensure("users", {"name": "it-José", "password": "s3cret"})
    assert "user it-José: the name has characters outside of ASCII" in refused["msg"]


def test_white_space_that_strayed_into_a_password_is_refused_and_the_password_not_shown(
    ensure: Ensure, admin: Session
) -> None:
    refused = ensure("users", {"name": "it-alice", "password": "fr0m-a-vault\n"})
    assert "user it-alice: the password ends with a line end" in refused["msg"]
    assert "fr0m-a-vault" not in str(refused)


def test_a_password_changed_by_hand_is_noticed_and_set_back(ensure: Ensure, admin: Session) -> None:
    ensure("users", user("it-alice"))
    salted = salted_password(SHA512, "by-hand", b"salt", 8192)
    assert alter_credentials(admin, [("it-alice", SHA512, 8192, b"salt", salted)], ()) == {"it-alice": None}
    ensure("users", user("it-bob"))  # Its wait is over when all brokers know the password set before it.
    assert accepted(admin, "it-alice", "by-hand") == [True] * 3

    foreseen = ensure("users", user("it-alice"), check=True)
    assert (foreseen["changed"], foreseen["updated"]) == (True, ["it-alice"])
    assert accepted(admin, "it-alice", "by-hand") == [True] * 3
    assert ensure("users", user("it-alice"))["diff"] == foreseen["diff"]
    assert accepted(admin, "it-alice", "s3cret-of-the-user") == [True] * 3
    assert not ensure("users", user("it-alice"))["changed"]


@pytest.mark.full
def test_who_gives_itself_a_password_while_its_other_way_in_is_closed_gets_through(
    connection: dict[str, Any],
) -> None:
    passwords = [PASSWORD, "of the meantime"] * 3
    for before, after in itertools.pairwise([*passwords, PASSWORD]):
        mine = {**connection, "sasl_password": before}
        with Session(Connection.from_params(mine)) as own:
            salted = salted_password(SHA256, before, b"salt", 8192)
            assert alter_credentials(own, [("admin", SHA256, 8192, b"salt", salted)], ()) == {"admin": None}
        done = run_module("streamops.kafka.users", {**mine, "users": [user("admin", after)]})
        assert done.get("updated") == ["admin"], done.get("msg")
    with Session(Connection.from_params(connection)) as own:
        assert describe_credentials(own)["admin"] == {SHA512: 8192}


def test_a_new_password_iterations_and_mechanism_are_set_and_the_old_way_in_is_closed(
    ensure: Ensure, admin: Session
) -> None:
    ensure("users", user("it-alice", mechanism=SHA256))
    assert ensure("users", user("it-alice", "new", mechanism=SHA256))["updated"] == ["it-alice"]
    assert accepted(admin, "it-alice", "new", SHA256) == [True] * 3
    assert ensure("users", user("it-alice", "new", mechanism=SHA256, iterations=9000))["updated"] == ["it-alice"]
    moved = ensure("users", user("it-alice", "new"))
    assert moved["diff"]["before"] == {"it-alice": {SHA256: {"iterations": 9000}}}
    assert describe_credentials(admin)["it-alice"] == {SHA512: 8192}
    assert accepted(admin, "it-alice", "new", SHA256) == [False] * 3
    assert not ensure("users", user("it-alice", "new"))["changed"]


@pytest.mark.full
def test_a_user_may_have_a_credential_of_each_mechanism(ensure: Ensure, admin: Session) -> None:
    both = [user("it-alice"), user("it-alice", "the-other-one", mechanism=SHA256)]
    made = ensure("users", user("it-bob"), *both)
    assert (made.get("created"), made["changed"]) == (["it-bob", "it-alice"], True), made
    assert describe_credentials(admin)["it-alice"] == {SHA256: 8192, SHA512: 8192}
    assert accepted(admin, "it-alice", "s3cret-of-the-user") == [True] * 3
    assert accepted(admin, "it-alice", "the-other-one", SHA256) == [True] * 3
    assert not ensure("users", *both)["changed"]
    assert ensure("users", {"name": "it-alice", "state": "absent"})["deleted"] == ["it-alice"]
    assert "it-alice" not in describe_credentials(admin)


@pytest.mark.full
def test_a_user_of_on_create_keeps_another_password_and_no_login_is_tried(
    ensure: Ensure, admin: Session, connection: dict[str, Any]
) -> None:
    ensure("users", user("it-moved"), user("it-stays"))
    wrong = user("it-moved", "another", update_password="on_create")
    # Where no login can be tried, a user whose password is tried is unproven.
    nowhere = {"login_bootstrap_servers": ["127.0.0.1:1"]}
    kept = ensure("users", wrong, user("it-stays"), **nowhere)
    assert (kept["changed"], kept["unchanged"], kept["unproven"]) == (False, 2, ["it-stays"]), kept
    kept = ensure("users", wrong, user("it-stays"))
    assert (kept["changed"], kept["unproven"]) == (False, []), kept
    assert accepted(admin, "it-moved", "s3cret-of-the-user") == [True] * 3
    made = ensure("users", wrong, user("it-new", update_password="on_create"), **nowhere)
    assert (made["created"], made["diff"]["before"]) == (["it-new"], {}), made
    refused = run_module("streamops.kafka.users", {**connection, "users": [user("it-new", update_password="never")]})
    assert "value of update_password must be one of" in refused["msg"]


@pytest.mark.full
def test_without_a_listener_to_log_in_at_the_password_is_left_and_that_is_told(
    ensure: Ensure, secured: Cluster, connection: dict[str, Any]
) -> None:
    ensure("users", user("it-alice"))
    nowhere = {"login_bootstrap_servers": ["127.0.0.1:1"]}
    told = ensure("users", user("it-alice", "other"), **nowhere)
    assert (told["changed"], told["unproven"]) == (False, ["it-alice"])
    assert "so their passwords were not compared and were left as they are" in told["warnings"][0]
    wrong_protocol = {"login_security_protocol": "SASL_PLAINTEXT", "login_timeout": 2}
    assert ensure("users", user("it-alice", "other"), **wrong_protocol)["unproven"] == ["it-alice"]
    assert not ensure("users", user("it-alice", "other"), update_password="on_create")["changed"]
    assert ensure("users", user("it-alice"), update_password="always")["updated"] == ["it-alice"]


def test_all_violations_are_told_nothing_is_touched_and_the_administrator_stays(ensure: Ensure, admin: Session) -> None:
    refused = ensure("users", user("it-good"), user("it-empty", ""), user("it-few", iterations=4096), user("it-few"))
    assert refused["failed"]
    for said in ("it-empty: the password is missing", "it-few: iterations is 4096", "it-few: named 2 times"):
        assert said in refused["msg"]
    locked_out = ensure("users", {"name": "admin", "state": "absent"})
    assert "lock itself out" in locked_out["msg"]
    assert list(describe_credentials(admin)) == ["admin"]


def test_no_secret_is_in_a_result_whatever_happens(ensure: Ensure) -> None:
    secret = "planted-5ecret"
    results = [ensure("users", user("it-alice", secret)), ensure("users", user("it-alice", secret))]
    results.append(ensure("users", user("it-alice", secret, iterations=1)))
    results.append(ensure("users", user("it-alice", secret), login_bootstrap_servers=["127.0.0.1:1"]))
    assert secret not in json.dumps(results)


@pytest.mark.full
def test_a_thousand_users_are_created_found_as_wanted_and_deleted(ensure: Ensure, admin: Session) -> None:
    many = [user(f"it-{number}", f"password-{number}") for number in range(1000)]
    assert len(ensure("users", *many, diff=False)["created"]) == 1000
    assert len(describe_credentials(admin)) == 1001
    again = ensure("users", *many, diff=False)
    assert (again["changed"], again["unchanged"], again["unproven"]) == (False, 1000, [])
    gone = ensure("users", *({"name": entry["name"], "state": "absent"} for entry in many), diff=False)
    assert len(gone["deleted"]) == 1000
    assert list(describe_credentials(admin)) == ["admin"]


# -- acls --------------------------------------------------------------------------------------------------------


def entry(name: str = "orders", operation: str = "read", **fields: Any) -> dict[str, Any]:
    """An entry of the list of ACLs."""
    return {"principal": "User:it-alice", "operation": operation, "resource_type": "topic", "resource": name, **fields}


def binding(name: str = "orders", operation: str = "read") -> Binding:
    """What such an entry gives."""
    return Binding("User:it-alice", "*", "allow", operation, "topic", name, "literal")


def test_the_life_of_an_acl(ensure: Ensure, admin: Session) -> None:
    foreseen = ensure("acls", entry(), check=True)
    assert (foreseen["changed"], foreseen["added"]) == (True, 1), foreseen
    assert describe_acls(admin) == {}

    done = ensure("acls", entry())
    assert done["diff"] == foreseen["diff"] == {"before": {}, "after": {str(binding()): binding()._asdict()}}
    for broker in list_brokers(admin):
        assert list(describe_acls(admin, broker.id)) == [binding()]
    again = ensure("acls", entry())
    assert (again["changed"], again["unchanged"]) == (False, 1)

    changed = ensure("acls", entry(state="absent"), entry(operation="write"))
    assert (changed["added"], changed["removed"]) == (1, 1)
    assert list(describe_acls(admin)) == [binding(operation="write")]
    assert ensure("acls", entry(operation="write", state="absent"))["removed_first"] == [
        str(binding(operation="write"))
    ]
    assert describe_acls(admin) == {}


def test_every_kind_of_binding_is_taken_by_kafka_and_found_again(ensure: Ensure, admin: Session) -> None:
    entries = [
        entry("orders-", operation="describe_configs", pattern_type="prefixed", permission="deny", host="10.0.0.1"),
        entry("*", operation="all", host="::1"),
        entry("g", operation="delete", resource_type="group"),
        entry("x", operation="write", resource_type="transactional_id"),
        entry("x", operation="two_phase_commit", resource_type="transactional_id"),
        entry("t", operation="describe", resource_type="delegation_token"),
        entry("User:it-bob", operation="create_tokens", resource_type="user"),
        {"principal": "User:it-alice", "operation": "alter", "resource_type": "cluster"},
    ]
    assert ensure("acls", *entries)["added"] == 8
    assert not ensure("acls", *entries)["changed"]
    assert len(describe_acls(admin)) == 8


@pytest.mark.full
def test_others_are_left_alone_unless_the_list_is_authoritative(ensure: Ensure, admin: Session) -> None:
    ensure("acls", *(entry(f"t{number}") for number in range(10)))
    assert not ensure("acls", entry("t3"))["changed"]
    foreseen = ensure("acls", entry("t3"), authoritative=True, check=True)
    assert (foreseen["removed"], len(describe_acls(admin))) == (9, 10)
    alone = ensure("acls", entry("t3"), authoritative=True)
    assert (alone["removed"], alone["diff"]) == (9, foreseen["diff"])
    assert list(describe_acls(admin)) == [binding("t3")]
    assert not ensure("acls", entry("t3"), authoritative=True)["changed"]


@pytest.mark.full
def test_only_what_is_clearly_true_makes_the_list_of_the_inventory_authoritative(
    secured: Cluster, ensure: Ensure, admin: Session
) -> None:
    ensure("acls", *(entry(f"t{number}") for number in range(3)))
    listed = {"kafka_acls": [entry("t1")], "kafka_authorizer": "on", "kafka_topics": []}
    for text in ("false", "off"):
        run = secured.playbook("site.yml", "--tags", "kafka_acls", **listed, kafka_acls_authoritative=text)
        assert (run.ok().changed, len(describe_acls(admin))) == (0, 3)
    run = secured.playbook("site.yml", "--tags", "kafka_acls", **listed, kafka_acls_authoritative="maybe")
    assert "kafka_acls_authoritative: the value is neither true nor false" in " ".join(run.output.split())
    assert (run.changed, len(describe_acls(admin))) == (0, 3)
    assert secured.playbook("site.yml", "--tags", "kafka_acls", **listed, kafka_acls_authoritative="yes").ok().changed
    assert list(describe_acls(admin)) == [binding("t1")]


def test_an_authoritative_list_may_be_limited_and_never_takes_what_it_must_not(ensure: Ensure, admin: Session) -> None:
    ensure("acls", entry(), entry(principal="User:it-bob"))
    assert "wants none" in ensure("acls", authoritative=True)["msg"]
    one = ensure("acls", authoritative=True, authoritative_for=["User:it-bob"])
    assert (one["removed"], list(describe_acls(admin))) == (1, [binding()])
    broker = {"principal": "User:broker", "operation": "cluster_action", "resource_type": "cluster"}
    ensure("acls", broker)
    assert "brokers may replicate by it" in ensure("acls", entry(), authoritative=True)["msg"]
    assert len(describe_acls(admin)) == 2


@pytest.mark.full
def test_an_acl_removed_by_hand_is_told_and_repaired(ensure: Ensure, admin: Session) -> None:
    ensure("acls", entry(), entry(operation="write"))
    delete_acls(admin, [binding()])
    repaired = ensure("acls", entry(), entry(operation="write"))
    assert (repaired["added_first"], repaired["unchanged"]) == ([str(binding())], 1)


def test_networks_are_added_found_in_other_spellings_and_removed(ensure: Ensure, admin: Session) -> None:
    networks = [entry(host="10.1.2.3/8"), entry(host="2001:DB8::7/32"), entry(host="::ffff:192.168.0.0/112")]
    done = ensure("acls", *networks)
    assert done.get("added") == 3, done
    kept = {"10.0.0.0/8", "2001:db8::/32", "192.168.0.0/16"}
    assert {acl.host for acl in describe_acls(admin)} == kept
    assert not ensure("acls", *networks)["changed"]

    # Kafka keeps what another tool wrote as it was written.
    by_hand = binding("payments")._replace(host="10.9.9.9/8")
    assert create_acls(admin, [by_hand]) == {by_hand: None}
    listed = ensure("acls", *networks, entry("payments", host="10.0.0.0/8"), authoritative=True)
    assert (listed["changed"], listed["unchanged"]) == (False, 4)
    gone = ensure("acls", entry("payments", host="10.0.0.0/8", state="absent"))
    assert gone["removed_first"] == [str(by_hand)]
    assert ensure("acls", entry(host="10.0.0.0/8"), authoritative=True)["removed"] == 2
    assert [acl.host for acl in describe_acls(admin)] == ["10.0.0.0/8"]


def test_a_network_lets_in_who_comes_from_it_and_no_one_else(ensure: Ensure, alice: dict[str, Any]) -> None:
    ensure("acls", {"principal": "User:it-alice", "role": "producer", "topics": ["orders"], "host": "10.0.0.0/8"})
    assert produce(alice, "orders") in {"TOPIC_AUTHORIZATION_FAILED", "CLUSTER_AUTHORIZATION_FAILED"}
    ensure("acls", {"principal": "User:it-alice", "role": "producer", "topics": ["orders"], "host": "127.0.0.0/8"})
    assert produce(alice, "orders") is None


def test_bad_entries_are_all_told_and_nothing_is_touched(ensure: Ensure, admin: Session) -> None:
    refused = ensure("acls", entry(), entry(principal="alice"), entry(host="10.0.0.0/33"), {"principal": "User:a"})
    for said in ("write User:alice", "host is 10.0.0.0/33", "neither role nor operations"):
        assert said in refused["msg"]
    assert describe_acls(admin) == {}


@pytest.mark.full
def test_thousands_of_bindings_go_in_are_found_and_go_out(ensure: Ensure, admin: Session) -> None:
    many = [entry(f"t{number}", operation=operation) for number in range(500) for operation in ("read", "write")]
    assert ensure("acls", *many, diff=False)["added"] == 1000
    again = ensure("acls", *many, diff=False)
    assert (again["changed"], again["unchanged"]) == (False, 1000)
    assert ensure("acls", entry("t0"), authoritative=True, diff=False)["removed"] == 999
    assert list(describe_acls(admin)) == [binding("t0")]


@pytest.fixture
def alice(ensure: Ensure, admin: Session) -> dict[str, Any]:
    """librdkafka's settings of a user without any right."""
    assert ensure("users", user("it-alice"))["created"] == ["it-alice"]
    own = replace(admin.connection, sasl_username="it-alice", sasl_password="s3cret-of-the-user")
    return {**own.confluent_config(), "socket.timeout.ms": 10000}


@pytest.mark.full
@pytest.mark.usefixtures("alice")
def test_no_denial_goes_where_the_run_may_not_see_whether_a_failover_needs_it(ensure: Ensure, admin: Session) -> None:
    cluster = {"principal": "User:it-alice", "operations": ["alter", "describe"], "resource_type": "cluster"}
    ensure("acls", cluster, entry(permission="deny"))
    own = {"sasl_username": "it-alice", "sasl_password": "s3cret-of-the-user"}
    refused = ensure("acls", cluster, authoritative=True, **own)
    assert "whether a failover needs them is not known" in refused["msg"], refused
    assert "needs the operation read on the topic _streamops_state" in refused["msg"]
    assert len(describe_acls(admin)) == 3
    reads = entry("_streamops_state")
    ensure("acls", reads)
    assert ensure("acls", cluster, reads, authoritative=True, **own)["removed"] == 1
    assert binding()._replace(permission="deny") not in describe_acls(admin)


@pytest.mark.full
@pytest.mark.usefixtures("alice")
def test_who_may_not_read_what_the_cluster_keeps_is_told_which_right_is_missing(
    ensure: Ensure, connection: dict[str, Any]
) -> None:
    own = {**connection, "sasl_username": "it-alice", "sasl_password": "s3cret-of-the-user"}
    asked: dict[str, dict[str, Any]] = {
        "mirror_marks": {"source": "dc_a", "target": "dc_b"},
        "reassignment": {"state": "cancelled"},
    }
    for module, options in asked.items():
        refused = run_module(f"streamops.kafka.{module}", {**own, **options})
        assert refused["failed"], module
        assert "needs the operation read on the topic _streamops_state. Fix: grant it" in refused["msg"], refused["msg"]
    # As soon as it may, it sees that nothing is kept.
    ensure("acls", entry("_streamops_state"))
    assert run_module("streamops.kafka.mirror_marks", {**own, **asked["mirror_marks"]})["marks"] == []


def produce(settings: dict[str, Any], topic: str) -> str | None:
    """Send one record and return the name of the error, None when it was acknowledged."""
    outcome: list[str | None] = []
    producer = Producer({**settings, "acks": "all", "enable.idempotence": True, "message.timeout.ms": 15000})
    report = lambda error, _message: outcome.append(None if error is None else error.name())  # noqa: E731
    producer.produce(topic, b"x", on_delivery=report)
    producer.flush(20)
    return outcome[0]


def consume(settings: dict[str, Any], topic: str, group: str) -> str | None:
    """Read one record as member of a group and return the name of the error, None when one came."""
    consumer = Consumer({**settings, "group.id": group, "auto.offset.reset": "earliest"})
    try:
        consumer.subscribe([topic])
        message = consumer.poll(20)
        assert message is not None, "neither a record nor an error"
        error: KafkaError | None = message.error()
        return None if error is None else error.name()
    finally:
        consumer.close()


def test_a_user_may_do_nothing_then_what_its_role_says_and_no_more(ensure: Ensure, alice: dict[str, Any]) -> None:
    denied = {"TOPIC_AUTHORIZATION_FAILED", "CLUSTER_AUTHORIZATION_FAILED"}
    assert produce(alice, "orders") in denied
    assert consume(alice, "orders", "it-group") in {*denied, "GROUP_AUTHORIZATION_FAILED"}

    ensure("acls", {"principal": "User:it-alice", "role": "producer", "topics": ["orders"]})
    assert produce(alice, "orders") is None
    assert produce(alice, "payments") in denied
    assert consume(alice, "orders", "it-group") == "GROUP_AUTHORIZATION_FAILED"

    ensure("acls", {"principal": "User:it-alice", "role": "consumer", "topics": ["orders"], "groups": ["it-group"]})
    assert consume(alice, "orders", "it-group") is None
    assert consume(alice, "orders", "other-group") == "GROUP_AUTHORIZATION_FAILED"
    new_protocol = {**alice, "group.protocol": "consumer"}
    assert consume(new_protocol, "orders", "other-group") == "GROUP_AUTHORIZATION_FAILED"


def test_the_role_consumer_is_enough_for_the_new_group_protocol(ensure: Ensure, alice: dict[str, Any]) -> None:
    role = {"principal": "User:it-alice", "topics": ["orders"]}
    ensure("acls", {**role, "role": "producer"}, {**role, "role": "consumer", "groups": ["it-new"]})
    assert produce(alice, "orders") is None
    assert consume({**alice, "group.protocol": "consumer"}, "orders", "it-new") is None


@pytest.mark.full
def test_the_role_transactional_is_enough_for_a_transaction(ensure: Ensure, alice: dict[str, Any]) -> None:
    role = {"principal": "User:it-alice", "role": "transactional", "topics": ["orders"], "transactional_ids": ["it-tx"]}
    ensure("acls", role)
    producer = Producer({**alice, "transactional.id": "it-tx"})
    producer.init_transactions(20)
    producer.begin_transaction()
    producer.produce("orders", b"x")
    producer.commit_transaction(20)


@pytest.fixture
def held(ensure: Ensure) -> Iterator[str]:
    """A topic with replicas on two of three brokers."""
    topic = {"name": "it-held", "partitions": 3, "replication_factor": 2, "config": {"min.insync.replicas": 1}}
    assert ensure("topics", topic)["changed"]
    yield "it-held"
    ensure("topics", {"name": "it-held", "state": "absent"}, allow_delete=True)


@pytest.mark.full
def test_who_may_not_move_replicas_is_told_so_and_leaves_nothing_behind(
    ensure: Ensure, admin: Session, alice: dict[str, Any], connection: dict[str, Any], held: str
) -> None:
    own = {**connection, "sasl_username": "it-alice", "sasl_password": "s3cret-of-the-user"}
    wish = {**own, "replication_factor": {held: 3}, "state": "applied", "sample_seconds": 0}
    nothing = run_module("streamops.kafka.reassignment", wish)
    assert nothing["failed"]
    # Whether another run has a move under way is asked first, and a record that is hidden is not taken for none.
    assert "needs the operation read on the topic _streamops_state" in nothing["msg"], nothing["msg"]

    rights = [entry("*", operation=operation) for operation in ("describe", "describe_configs")]
    rights += [entry("_streamops_state", operation=operation) for operation in ("create", "read", "write")]
    rights += [
        {"principal": "User:it-alice", "operation": operation, "resource_type": "cluster"}
        for operation in ("describe", "describe_configs", "create")
    ]
    assert ensure("acls", *rights)["added"] == len(rights)
    planned = run_module("streamops.kafka.reassignment", {**wish, "state": "planned"})
    assert planned["moves"] > 0, planned
    for throttle in ({}, {"throttle": 10_000_000}):
        refused = run_module("streamops.kafka.reassignment", {**wish, **throttle})
        assert refused["failed"]
        assert "AUTHORIZATION_FAILED" in refused["msg"], refused["msg"]
        assert list_reassignments(admin) == {}
        alive = [str(broker.id) for broker in list_brokers(admin)]
        found = live_throttles(admin, BROKER, alive)
        assert {value for settings in found.values() for value in settings.values()} == {None}
        assert read_state(admin, "reassignment")[0] is None, "the record of what never began is ended"


# -- quotas ------------------------------------------------------------------------------------------------------

LIMITS = {"producer_byte_rate": 1000000, "consumer_byte_rate": 2000000, "request_percentage": 12.5}


def test_the_life_of_a_quota(ensure: Ensure, admin: Session) -> None:
    wanted = {"user": "it-alice", **LIMITS, "controller_mutation_rate": 5}
    foreseen = ensure("quotas", wanted, check=True)
    assert foreseen["altered"] == ["user it-alice"], foreseen
    assert describe_quotas(admin) == {}

    done = ensure("quotas", wanted)
    assert (
        done["diff"]
        == foreseen["diff"]
        == {"before": {}, "after": {"user it-alice": {**LIMITS, "controller_mutation_rate": 5}}}
    )
    for broker in list_brokers(admin):
        assert describe_quotas(admin, broker.id) == {
            (("user", "it-alice"),): {**LIMITS, "controller_mutation_rate": 5.0}
        }
    assert not ensure("quotas", wanted)["changed"]

    changed = ensure("quotas", {"user": "it-alice", "producer_byte_rate": 7})
    assert changed["diff"]["after"] == {"user it-alice": {"producer_byte_rate": 7}}
    assert describe_quotas(admin) == {(("user", "it-alice"),): {"producer_byte_rate": 7.0}}
    assert ensure("quotas", {"user": "it-alice", "state": "absent"})["altered"] == ["user it-alice"]
    assert describe_quotas(admin) == {}


@pytest.mark.full
def test_every_kind_of_entity_is_taken_by_kafka_and_found_again(ensure: Ensure, admin: Session) -> None:
    entries = [
        {"user": "<default>", **LIMITS},
        {"client_id": "<default>", **LIMITS},
        {"client_id": "it-app", "producer_byte_rate": 1},
        {"user": "it-alice", "client_id": "it-app", **LIMITS},
        {"user": "<default>", "client_id": "<default>", **LIMITS},
        {"ip": "<default>", "connection_creation_rate": 1000},
        {"ip": "10.0.0.1", "connection_creation_rate": 20},
        {"ip": "::1", "connection_creation_rate": 20},
    ]
    assert len(ensure("quotas", *entries)["altered"]) == 8
    assert not ensure("quotas", *entries)["changed"]
    assert len(describe_quotas(admin)) == 8
    # The same address in another spelling, in the list or by another tool in Kafka.
    entries[-1]["ip"] = "0:0:0:0:0:0:0:1"
    assert not ensure("quotas", *entries)["changed"]
    alter_quotas(admin, {(("ip", "2001:DB8:0::1"),): {"connection_creation_rate": 7.0}})
    gone = ensure("quotas", {"ip": "2001:db8::1", "state": "absent"})
    assert gone["altered"] == ["ip 2001:DB8:0::1"]
    assert len(describe_quotas(admin)) == 8


def test_bad_quotas_are_all_told_and_nothing_is_touched(ensure: Ensure, admin: Session) -> None:
    good, bad = {"user": "it-good", **LIMITS}, {"user": "it-bad", "producer_byte_rate": 0}
    refused = ensure("quotas", good, bad, {"ip": "10.0.0.0/8", "connection_creation_rate": 1})
    assert "producer_byte_rate is 0" in refused["msg"]
    assert "no network" in refused["msg"]
    assert describe_quotas(admin) == {}


@pytest.mark.full
def test_a_thousand_quotas_are_set_found_as_wanted_and_taken_away(ensure: Ensure, admin: Session) -> None:
    many = [{"user": f"it-{number}", "producer_byte_rate": 1000 + number} for number in range(1000)]
    assert len(ensure("quotas", *many, diff=False)["altered"]) == 1000
    again = ensure("quotas", *many, diff=False)
    assert (again["changed"], again["unchanged"]) == (False, 1000)
    gone = ensure("quotas", *({"user": one["user"], "state": "absent"} for one in many), diff=False)
    assert (len(gone["altered"]), describe_quotas(admin)) == (1000, {})


# -- by the inventory --------------------------------------------------------------------------------------------


@pytest.mark.full
def test_the_role_gives_an_inventory_its_users_acls_and_quotas_and_shows_no_secret(
    secured: Cluster, admin: Session
) -> None:
    wanted = {
        "kafka_users": [user("it-alice", "planted-5ecret")],
        "kafka_acls": [{"principal": "User:it-alice", "role": "producer", "topics": ["orders"]}],
        "kafka_acls_authoritative": True,
        "kafka_quotas": [{"user": "it-alice", "producer_byte_rate": 1000000}],
    }
    some = ("site.yml", "--tags", "kafka_users,kafka_acls,kafka_quotas")
    first = secured.playbook(*some, "-vvv", "--diff", **wanted).ok()
    assert first.changed == 3
    assert "planted-5ecret" not in first.output
    assert accepted(admin, "it-alice", "planted-5ecret") == [True] * 3
    assert list(describe_acls(admin)) == [binding(operation="write")]
    assert list(describe_quotas(admin)) == [(("user", "it-alice"),)]
    assert secured.playbook(*some, "--check", **wanted).ok().changed == 0
    assert secured.playbook(*some, **wanted).ok().changed == 0
