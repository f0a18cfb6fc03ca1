# SPDX-License-Identifier: GPL-3.0-or-later
"""A secured cluster goes from ZooKeeper to KRaft, back, and forward again: every object and every record stays.

Nodes know each other by certificates, clients log in by SCRAM, an authorizer allows what ACLs say, and the znodes have
ACLs too. The tests run in order, on one cluster.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaError, Message, Producer
from kazoo.security import make_acl

from ansible_collections.streamops.kafka.plugins.module_utils._acls.entries import Binding
from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import parse
from ansible_collections.streamops.kafka.plugins.module_utils._quotas.plan import Entity
from ansible_collections.streamops.kafka.plugins.module_utils._users.login import Login, log_in
from ansible_collections.streamops.kafka.plugins.module_utils._users.plan import DesiredUser
from ansible_collections.streamops.kafka.plugins.module_utils._zookeeper.connection import Access
from ansible_collections.streamops.kafka.plugins.module_utils._zookeeper.ensemble import Member
from ansible_collections.streamops.kafka.plugins.module_utils._zookeeper.session import Zookeeper
from tests.support.cluster import said, until
from tests.support.migration import OLD, PATIENT, TOPIC, Way, phase_behind
from tests.support.modules import run_module
from tests.support.objects import Objects, objects_of
from tests.support.traffic import producing

pytestmark = pytest.mark.full

SHA256, SHA512 = "SCRAM-SHA-256", "SCRAM-SHA-512"
CHROOT = "/local_zookeeper"

# What a password may hold that JAAS texts, properties or templates could stumble over. Of each at least one part
# without a quote or a backslash is looked for, since those are written in other ways where they are shown.
ADMIN = 'planted-Adm1n, [secret] "of" tests'
ZNODES = 'planted-zn0des "secret" \\ of-all-brokers'
APP, WRITER, READER, RENEWED, LATER = (
    f"planted-5ecret-of-{who}" for who in ("the-app", "writers", "readers", "readers-anew", "who-came-later")
)
WRONG = "planted-but-wr0ng"
SECRETS = [
    part
    for word in (ADMIN, ZNODES, APP, WRITER, READER, RENEWED, LATER, WRONG)
    for part in re.split(r'["\\]', word)
    if len(part) > 8
]

LISTENERS = [
    {"name": "CLIENT", "host": "127.0.0.1", "purpose": "clients", "protocol": "SASL_SSL", "port": "{{ node_port }}"},
    {"name": "BROKER", "host": "127.0.0.1", "purpose": "brokers", "protocol": "SSL", "port": "{{ node_port + 40 }}"},
    {"name": "CONTROLLER", "host": "127.0.0.1", "purpose": "controllers", "protocol": "SSL", "port": "{{ node_port }}"},
]

# -- the objects -------------------------------------------------------------------------------------------------------

ODD, LONG, DOOMED, SEALED, SINCE = "a.B_c-9", "l" * 200, "doomed", "sealed", "since_copied"
TOPICS: list[dict[str, Any]] = [
    {
        "name": ODD,
        "partitions": 5,
        "replication_factor": 3,
        "config": {"cleanup.policy": "compact,delete", "max.message.bytes": 2000000, "min.insync.replicas": 1},
    },
    {"name": LONG, "partitions": 1, "replication_factor": 2, "config": {"retention.ms": -1}},
    {"name": DOOMED, "partitions": 2, "replication_factor": 3},
    {"name": SEALED, "partitions": 1, "replication_factor": 3},
]


def acl(principal: str, operations: list[str], kind: str, resource: str | None = None, **more: Any) -> dict[str, Any]:
    """Return an entry of the list of ACLs."""
    entry = {"principal": principal, "operations": operations, "resource_type": kind, **more}
    return entry if resource is None else {**entry, "resource": resource}


def binding(principal: str, operation: str, topic: str) -> Binding:
    """Return what such an entry of a topic gives."""
    return Binding(principal, "*", "allow", operation, "topic", topic, "literal")


GONE_LATER = acl("User:doomed", ["read"], "topic", DOOMED)
ACLS: list[dict[str, Any]] = [
    acl("User:it-writer", ["write", "describe"], "topic", TOPIC),
    acl("User:it-writer", ["write", "describe"], "topic", SEALED),
    acl("User:it-writer", ["write"], "topic", SEALED, permission="deny"),
    acl("User:it-reader", ["read", "describe"], "topic", "writ", pattern_type="prefixed"),
    acl("User:*", ["describe"], "topic", "*"),
    acl("User:CN=billing,OU=a b,O=Ünï", ["read"], "group", "group with spaces", host="10.0.0.7"),
    acl("User:ключ", ["write", "describe"], "transactional_id", "tx-日本", pattern_type="prefixed"),
    acl("User:auditor", ["describe_configs"], "cluster"),
    GONE_LATER,
]
USERS: list[dict[str, Any]] = [
    {"name": "it-writer", "password": WRITER, "mechanism": SHA512},
    {"name": "it-reader", "password": READER, "mechanism": SHA256, "iterations": 9000},
    {"name": "both", "password": WRITER, "mechanism": SHA512},
    {"name": "both", "password": READER, "mechanism": SHA256},
    {"name": "CN=billing,OU=a b", "password": READER, "mechanism": SHA512},
    {"name": DOOMED, "password": READER, "mechanism": SHA512},
]
MANY_BYTES = 100_000_000
GONE_QUOTA = {"user": DOOMED, "client_id": "client 1"}
QUOTAS: list[dict[str, Any]] = [
    {"user": "it-writer", "producer_byte_rate": MANY_BYTES},
    {"user": "CN=billing,OU=a b", "request_percentage": 150.5},
    {"client_id": "client 1", "consumer_byte_rate": MANY_BYTES},
    {"user": "it-reader", "client_id": "client=1", "consumer_byte_rate": MANY_BYTES, "producer_byte_rate": MANY_BYTES},
    {"user": "<default>", "producer_byte_rate": MANY_BYTES},
    {"client_id": "<default>", "controller_mutation_rate": 1000},
    {"user": "<default>", "client_id": "<default>", "consumer_byte_rate": MANY_BYTES},
    {"user": "it-writer", "client_id": "<default>", "request_percentage": 500},
    {"ip": "10.0.0.7", "connection_creation_rate": 50},
    {**GONE_QUOTA, "producer_byte_rate": MANY_BYTES},
]


@dataclass
class Story:
    """The cluster, and the objects that it has to have."""

    way: Way
    wanted: Objects

    def ensure(self, module: str, **options: Any) -> None:
        """Have a module change something."""
        done = run_module(f"streamops.kafka.{module}", {**self.way.connection, **options})
        assert (done["failed"], done["changed"]) == (False, True), done

    def has_its_objects(self) -> None:
        """Wait for what brokers hear a moment later, and compare."""
        with contextlib.suppress(AssertionError):
            until(lambda: objects_of(self.way.connection) == self.wanted, "every object is as before", 60)
        assert objects_of(self.way.connection) == self.wanted

    def under_load(self, phase: str, *, back: bool = False, **given: Any) -> str:
        """Take a step or a half step back while records are written, and prove what it left; return what it said."""
        way = self.way
        settings = {**way.client, **(PATIENT if back else {})}
        with producing(way.cluster.bootstrap_servers, TOPIC, rate=200, settings=settings) as ledger:
            ledger.reaches(500)
            run = way.back() if back else way.next(**given)
            assert phase_behind(run) == phase
            ledger.reaches(len(ledger.acknowledged) + 500)
        way.keeps(ledger, TOPIC)
        self.has_its_objects()
        return said(run)

    def lets_in(self, name: str, mechanism: str, password: str, is_wanted: bool = True) -> None:
        """Check whether each broker lets somebody in, once it has heard of the last change."""
        login = Login.of(Connection.from_params(self.way.connection), None, None, 10)
        assert login is not None
        servers, wish = login.connection.bootstrap_servers, DesiredUser(name, mechanism, password=password)
        what = f"{name} is {'let in' if is_wanted else 'kept out'} by {mechanism}"
        until(lambda: {log_in(login.at(server), wish) for server in servers} == {is_wanted}, what, 60)

    def znodes(self, **options: Any) -> dict[str, Any]:
        """Return what the ensemble says to the login of the brokers."""
        login = {"sasl_username": "kafka", "sasl_password": ZNODES}
        return self.way.cluster.ensemble(chroot=CHROOT, ssl_ca_location=self._ca, **login, **options)

    @property
    def _ca(self) -> str:
        return str(self.way.login["ssl_ca_location"])

    def give_rights(self, path: str, *rights: Any) -> None:
        """Say who has which right to a znode."""
        cluster = self.way.cluster
        members = [Member(cluster.identities[one], "127.0.0.1", cluster.port(one)) for one in cluster.servers]
        access = Access(ssl_ca_location=self._ca, sasl_username="kafka", sasl_password=ZNODES)
        with Zookeeper(members, access, CHROOT) as session:
            session._client.set_acls(path, list(rights))


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """Three servers of ZooKeeper and three brokers, all secured, with records and objects of each kind."""
    directory = tmp_path_factory.mktemp("secured")
    variables = {
        "kafka_listeners": LISTENERS,
        "kafka_metrics_enabled": False,
        "kafka_tls_source": "development_ca",
        "kafka_tls_ca_dir": str(directory / "nodes" / "ca"),
        "kafka_sasl_mechanisms": [SHA512, SHA256],
        "kafka_admin_password": ADMIN,
        "kafka_authorizer": True,
        "zookeeper_tls": True,
        "zookeeper_password": ZNODES,
        # What the inventory wants too is looked after by every step.
        "kafka_users": [{"name": "app", "password": APP}],
        "kafka_acls": [{"principal": "User:app", "role": "producer", "topics": ["orders"]}],
    }
    login = {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": SHA512,
        "sasl_username": "admin",
        "sasl_password": ADMIN,
        "ssl_ca_location": str(directory / "nodes" / "ca" / "ca.pem"),
    }
    with Way.begun(directory, variables=variables, login=login, secrets=SECRETS) as way:
        made = Story(way, objects_of(way.connection))
        made.ensure("topics", topics=TOPICS)
        made.ensure("acls", acls=ACLS)
        made.ensure("users", users=USERS)
        made.ensure("quotas", quotas=QUOTAS)
        made.ensure(
            "broker_configs",
            default={"log.cleaner.threads": "2", "log.retention.ms": "700000000"},
            brokers={"11": {"num.io.threads": "9"}, "13": {"background.threads": "11", "num.replica.fetchers": "2"}},
        )
        way.add_controllers()
        way.run(playbook="site.yml").ok()
        made.wanted = objects_of(way.connection)
        yield made


# -- before the first step ---------------------------------------------------------------------------------------------


def test_there_are_objects_of_each_kind(story: Story) -> None:
    wanted = story.wanted
    assert {TOPIC, OLD, "orders", ODD, LONG, DOOMED, SEALED} <= set(wanted.topics)
    assert wanted.topics[ODD].config["max.message.bytes"] == "2000000"
    assert len(wanted.topics[ODD].replicas) == 5
    principals = {entry["principal"] for entry in ACLS} | {"User:app"}
    assert {bound.principal for bound in wanted.acls} == principals
    assert {bound.pattern_type for bound in wanted.acls} == {"literal", "prefixed"}
    assert wanted.users["both"].keys() == {SHA256, SHA512}
    assert wanted.users["it-reader"] == {SHA256: 9000}
    assert set(wanted.users) == {user["name"] for user in USERS} | {"admin", "app"}
    assert len(wanted.quotas) == len(QUOTAS)
    assert {"log.cleaner.threads": "2", "log.retention.ms": "700000000"}.items() <= wanted.brokers[""].items()
    assert wanted.brokers["11"]["num.io.threads"] == "9"
    assert wanted.brokers["13"]["background.threads"] == "11"
    assert "num.io.threads" not in wanted.brokers["12"]


def refused_untouched(story: Story, words: str, **given: Any) -> None:
    """Check that the first step is refused before its first change."""
    way = story.way
    before = {node: way.cluster.pid(node) for node in (*way.cluster.servers, *way.cluster.brokers)}
    refused = way.next(**given)
    assert refused.rc != 0
    assert words in said(refused)
    assert {node: way.cluster.pid(node) for node in before} == before
    assert not any((way.cluster.directory / "config" / node).exists() for node in way.cluster.controllers)
    assert story.znodes()["znodes"]["/migration"] is None


@pytest.mark.parametrize("given", [{"zookeeper_password": WRONG}, {"zookeeper_user": "stranger"}])
def test_a_login_that_the_servers_refuse_is_found_before_the_first_step(story: Story, given: dict[str, str]) -> None:
    refused_untouched(
        story, "set zookeeper_tls, zookeeper_user and zookeeper_password as the brokers have them", **given
    )
    assert story.way.phase() == "not_begun"


@pytest.mark.parametrize("path", ["/config/users/app", f"/brokers/topics/{ODD}"])
def test_a_znode_of_somebody_else_is_found_before_the_first_step(story: Story, path: str) -> None:
    before = story.znodes(acl_paths=[path])["acls"][path]
    secret = not any(right.startswith("world:") for right in before)
    owner = make_acl("sasl", "kafka", all=True)
    readers = [] if secret else [make_acl("world", "anyone", read=True)]
    story.give_rights(path, make_acl("sasl", "stranger", all=True), make_acl("sasl", "kafka", read=True, admin=True))
    try:
        refused_untouched(story, f"may not read and change 1 znodes of the cluster: {path}")
    finally:
        story.give_rights(path, owner, *readers)
    assert sorted(story.znodes(acl_paths=[path])["acls"][path]) == sorted(before)
    assert "Step not_begun -> controllers_ready" in said(story.way.next("--check").ok())


# -- forward, and changes on the way -----------------------------------------------------------------------------------


def authorizers(way: Way, nodes: list[str]) -> set[str]:
    """Return the authorizers that nodes were started with, by their last names."""
    started = [parse((way.cluster.record(node) / "server.properties").read_text()) for node in nodes]
    return {known["authorizer.class.name"].rpartition(".")[2] for known in started}


def protects(way: Way, nodes: list[str]) -> set[str]:
    """Return what nodes were started with about ACLs of what they write to ZooKeeper; empty words without it."""
    started = [parse((way.cluster.record(node) / "server.properties").read_text()) for node in nodes]
    return {known.get("zookeeper.set.acl", "") for known in started}


def test_controllers_start_and_every_object_stays(story: Story) -> None:
    story.under_load("controllers_ready")
    way = story.way
    assert authorizers(way, way.cluster.controllers) == {"StandardAuthorizer"}
    assert protects(way, way.cluster.controllers) == {"true"}


def test_the_copy_has_every_object(story: Story) -> None:
    story.under_load("copied")
    way = story.way
    assert authorizers(way, way.cluster.brokers) == {"AclAuthorizer"}
    paths = ["/controller", "/controller_epoch", "/migration"]
    for path, rights in story.znodes(acl_paths=paths)["acls"].items():
        assert any(right.startswith("sasl:kafka:") for right in rights), (path, rights)
        assert [right for right in rights if right.startswith("world:")] in ([], ["world:anyone:read"]), (path, rights)


def test_objects_are_made_changed_and_deleted_in_the_copy(story: Story) -> None:
    before, since = story.wanted, acl("User:later", ["read"], "topic", SINCE)
    story.ensure("topics", topics=[{"name": SINCE, "partitions": 3, "replication_factor": 3}])
    story.ensure("topics", topics=[{"name": ODD, "config": {"max.message.bytes": 3000000, "retention.ms": 86400000}}])
    story.ensure("topics", topics=[{"name": DOOMED, "state": "absent"}], allow_delete=True)
    story.ensure("acls", acls=[since, {**GONE_LATER, "state": "absent"}])
    story.ensure("users", users=[{"name": "later", "password": LATER, "mechanism": SHA256}])
    story.ensure("users", users=[{"name": "it-reader", "password": RENEWED, "mechanism": SHA256, "iterations": 9000}])
    story.ensure("users", users=[{"name": DOOMED, "state": "absent"}])
    story.ensure(
        "quotas",
        quotas=[
            {"user": "later", "producer_byte_rate": MANY_BYTES},
            {"ip": "10.0.0.7", "connection_creation_rate": 60},
            {**GONE_QUOTA, "state": "absent"},
        ],
    )
    story.ensure("broker_configs", brokers={"11": {"num.io.threads": "10"}, "13": {"background.threads": None}})

    made = objects_of(story.way.connection).topics[SINCE]
    assert (len(made.replicas), made.config) == (3, {})
    odd = before.topics[ODD]
    changed = {**odd.config, "max.message.bytes": "3000000", "retention.ms": "86400000"}
    topics = {**before.topics, ODD: replace(odd, config=changed), SINCE: made}
    users = {**before.users, "later": {SHA256: 8192}}
    limits: dict[Entity, dict[str, float]] = {
        (("user", "later"),): {"producer_byte_rate": float(MANY_BYTES)},
        (("ip", "10.0.0.7"),): {"connection_creation_rate": 60.0},
    }
    gone: Entity = (("user", DOOMED), ("client-id", "client 1"))
    story.wanted = Objects(
        topics={name: topics[name] for name in topics if name != DOOMED},
        acls=before.acls - {binding("User:doomed", "read", DOOMED)} | {binding("User:later", "read", SINCE)},
        users={name: users[name] for name in users if name != DOOMED},
        quotas={entity: limit for entity, limit in {**before.quotas, **limits}.items() if entity != gone},
        brokers={
            **before.brokers,
            "11": {**before.brokers["11"], "num.io.threads": "10"},
            "13": {key: value for key, value in before.brokers["13"].items() if key != "background.threads"},
        },
    )
    story.has_its_objects()


def lets_in_whom_it_should(story: Story) -> None:
    """Check the logins by each mechanism at every broker, and that an ACL that is missing or denies keeps out."""
    story.lets_in("it-writer", SHA512, WRITER)
    story.lets_in("it-reader", SHA256, RENEWED)
    story.lets_in("both", SHA512, WRITER)
    story.lets_in("both", SHA256, READER)
    story.lets_in("later", SHA256, LATER)
    story.lets_in("app", SHA512, APP)
    # By its former password, after it was deleted, and by a mechanism of which it has no credential.
    story.lets_in("it-reader", SHA256, READER, is_wanted=False)
    story.lets_in(DOOMED, SHA512, READER, is_wanted=False)
    story.lets_in("it-writer", SHA256, WRITER, is_wanted=False)
    assert written_by(story, "it-writer", SHA512, WRITER, TOPIC) is None
    assert written_by(story, "it-writer", SHA512, WRITER, SEALED) == KafkaError.TOPIC_AUTHORIZATION_FAILED
    assert written_by(story, "it-reader", SHA256, RENEWED, TOPIC) == KafkaError.TOPIC_AUTHORIZATION_FAILED


def written_by(story: Story, name: str, mechanism: str, password: str, topic: str) -> int | None:
    """Return why a user may not write a record, as a code of Kafka; None where it was stored."""
    login = {"sasl.username": name, "sasl.password": password, "sasl.mechanism": mechanism}
    writer = Producer({**story.way.client, **login, "acks": "all", "delivery.timeout.ms": 60000, "log_level": 0})
    answers: list[KafkaError | None] = []

    def note(error: KafkaError | None, _message: Message) -> None:
        answers.append(error)

    # A number that no writer under load has.
    writer.produce(topic, value=b"-1", on_delivery=note)
    writer.flush(70)
    assert len(answers) == 1
    return answers[0].code() if answers[0] is not None else None


def test_the_copy_lets_in_whom_it_should(story: Story) -> None:
    lets_in_whom_it_should(story)


# -- back --------------------------------------------------------------------------------------------------------------


def test_back_in_zookeeper_every_object_is_there(story: Story) -> None:
    shown = story.under_load("not_begun", back=True)
    assert "Done: the controllers of cluster local_zookeeper are stopped" in shown
    way, znodes = story.way, story.znodes(acl_paths=["/controller", "/controller_epoch"])
    assert znodes["znodes"]["/migration"] is None
    assert znodes["znodes"]["/controller"]["brokerid"] in (11, 12, 13)
    for path, rights in znodes["acls"].items():
        assert any(right.startswith("sasl:kafka:") for right in rights), (path, rights)
    assert authorizers(way, way.cluster.brokers) == {"AclAuthorizer"}
    assert not any(way.cluster.alive(node) for node in way.cluster.controllers)
    lets_in_whom_it_should(story)


def test_back_in_zookeeper_topics_change(story: Story) -> None:
    story.ensure("topics", topics=[{"name": "since_back", "partitions": 3, "replication_factor": 3}])
    topic = objects_of(story.way.connection).topics["since_back"]
    story.wanted = replace(story.wanted, topics={**story.wanted.topics, "since_back": topic})
    story.has_its_objects()


# -- forward to the end ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("phase", ["controllers_ready", "copied", "dual_write_kraft"])
def test_forward_again_every_object_is_there(story: Story, phase: str) -> None:
    story.under_load(phase)


def test_brokers_of_kraft_let_in_whom_they_should(story: Story) -> None:
    way = story.way
    assert authorizers(way, way.cluster.brokers) == {"StandardAuthorizer"}
    assert protects(way, way.cluster.brokers) == {""}
    lets_in_whom_it_should(story)


def test_a_znode_of_somebody_else_keeps_nobody_from_the_end(story: Story) -> None:
    path = "/config/users/both"
    story.give_rights(path, make_acl("sasl", "stranger", all=True), make_acl("sasl", "kafka", read=True, admin=True))
    shown = said(story.way.run().ok())
    story.give_rights(path, make_acl("sasl", "kafka", all=True))
    assert f"may not read and change 1 znodes of the cluster: {path}" in shown
    assert "Note" in shown


def test_the_end_has_every_object_and_needs_no_zookeeper(story: Story) -> None:
    way = story.way
    story.under_load("finalised", kafka_migration_confirmed="finalised")
    assert protects(way, way.cluster.controllers) == {""}
    for server in way.cluster.servers:
        way.cluster.stop(server)
    assert way.phase() == "zookeeper_gone"
    story.has_its_objects()
    lets_in_whom_it_should(story)


def test_no_file_of_a_node_holds_a_password_of_a_client(story: Story) -> None:
    """The login at ZooKeeper is in a file of its own, which nobody else may read."""
    for folder in ("config", "log"):
        for file in (story.way.directory / folder).rglob("*"):
            if file.is_file():
                assert not held(file, [WRITER, READER, RENEWED, LATER, APP, WRONG]), file


def held(file: Path, words: list[str]) -> list[str]:
    """Return which words a file holds; none where a running node has renamed it meanwhile."""
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        return []
    return [word for word in words if word.encode() in content]
