# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is in charge of the metadata, as a session reads it: what is there, what is not, and what may not be read."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from kazoo.exceptions import (
    BadVersionError,
    ConnectionLoss,
    NoAuthError,
    NoNodeError,
    RolledBackError,
    RuntimeInconsistency,
)
from kazoo.handlers.threading import KazooTimeoutError
from kazoo.security import ACL, OPEN_ACL_UNSAFE, READ_ACL_UNSAFE, make_acl

from ansible_collections.streamops.kafka.plugins.module_utils._zookeeper.connection import Access
from ansible_collections.streamops.kafka.plugins.module_utils._zookeeper.session import (
    IN_CHARGE,
    MIGRATED,
    Change,
    ZnodesKeptError,
    Zookeeper,
)

#: What Kafka 3.9 writes (ZkData.scala), of a broker and of a controller of KRaft.
OF_BROKER = b'{"version":2,"brokerid":1,"timestamp":"1764400000000","kraftControllerEpoch":-1}'
OF_KRAFT = b'{"version":2,"brokerid":101,"timestamp":"1764400000000","kraftControllerEpoch":4}'
COPIED = (
    b'{"version":0,"kraft_metadata_offset":800,"kraft_controller_id":101,"kraft_metadata_epoch":4,'
    b'"kraft_controller_epoch":4}'
)


class Client:
    """Answers reads alone; anything else is an error of the test."""

    def __init__(self, contents: dict[str, bytes | Exception]) -> None:
        self._contents = contents

    def get(self, path: str) -> tuple[bytes, object]:
        """Return the content of a path and its statistics."""
        content = self._contents.get(path, NoNodeError())
        if isinstance(content, Exception):
            raise content
        return content, SimpleNamespace(version=len(content))


def in_charge(contents: dict[str, Any], access: Access | None = None) -> dict[str, Any]:
    session = Zookeeper((), access or Access())
    session._client = Client(contents)
    return session.in_charge()


def test_the_paths_are_those_of_kafka() -> None:
    assert IN_CHARGE == ("/controller", "/controller_epoch", "/migration")


def test_before_a_migration_a_broker_is_in_charge_and_nothing_is_copied() -> None:
    read = in_charge({"/controller": OF_BROKER, "/controller_epoch": b"3"})
    assert read["unread"] == {}
    assert (read["znodes"]["/controller_epoch"], read["znodes"]["/migration"]) == (3, None)
    assert read["znodes"]["/controller"]["brokerid"] == 1
    assert read["znodes"]["/controller"]["kraftControllerEpoch"] == -1


def test_during_a_migration_a_controller_of_kraft_is_in_charge() -> None:
    read = in_charge({"/controller": OF_KRAFT, "/controller_epoch": b"9", "/migration": COPIED})
    assert read["znodes"]["/controller"]["kraftControllerEpoch"] == 4
    assert read["znodes"]["/migration"]["kraft_metadata_offset"] == 800


def test_an_ensemble_that_no_broker_has_used_has_none() -> None:
    assert in_charge({}) == {"znodes": dict.fromkeys(IN_CHARGE), "unread": {}}


@pytest.mark.parametrize(
    ("access", "who"),
    [
        (Access(), "a session without a login"),
        (Access(sasl_username="reader", sasl_password="z0-long"), "reader"),
    ],
)
def test_a_missing_right_is_told_and_not_taken_for_a_missing_znode(access: Access, who: str) -> None:
    read = in_charge({"/controller": OF_BROKER, "/controller_epoch": b"3", "/migration": NoAuthError()}, access)
    assert read["unread"] == {"/migration": f"{who} has no right to read it"}
    assert read["znodes"]["/migration"] is None
    assert read["znodes"]["/controller_epoch"] == 3


@pytest.mark.parametrize("content", [b"", b"{", b"\xff"])
def test_a_content_that_kafka_did_not_write_is_told(content: bytes) -> None:
    assert in_charge({"/controller": content})["unread"] == {"/controller": "its content is no JSON"}


class Transaction:
    """Notes what is asked for, and answers with what it was made with."""

    def __init__(self, answers: Sequence[object] | Exception) -> None:
        self.asked: list[tuple[object, ...]] = []
        self._answers = answers

    def delete(self, path: str, version: int) -> None:
        """Note it."""
        self.asked.append(("delete", path, version))

    def set_data(self, path: str, content: bytes, version: int) -> None:
        """Note it."""
        self.asked.append(("set", path, content, version))

    def commit_async(self) -> Transaction:
        """Return what is waited for."""
        return self

    def get(self, timeout: float) -> Sequence[object]:
        """Return the answers."""
        assert timeout == 10
        if isinstance(self._answers, Exception):
            raise self._answers
        return self._answers


CHANGES = [Change("/controller_epoch", b"5", 8), Change("/controller", None, 0), Change("/migration", None, 31)]


def change(answers: Sequence[object] | Exception) -> Transaction:
    session, transaction = Zookeeper((), Access()), Transaction(answers)
    session._client = SimpleNamespace(transaction=lambda: transaction)
    session.change(CHANGES)
    return transaction


def test_znodes_change_in_one_transaction_tied_to_their_versions() -> None:
    assert change([object(), True, True]).asked == [
        ("set", "/controller_epoch", b"5", 8),
        ("delete", "/controller", 0),
        ("delete", "/migration", 31),
    ]


@pytest.mark.parametrize(
    ("answers", "path", "why"),
    [
        ([RolledBackError(), RolledBackError(), BadVersionError()], "/migration", "somebody else has changed it"),
        ([RolledBackError(), NoNodeError(), RuntimeInconsistency()], "/controller", "somebody else has changed it"),
        (
            [NoAuthError(), RuntimeInconsistency(), RuntimeInconsistency()],
            "/controller_epoch",
            "Log in as the brokers do",
        ),
    ],
)
def test_the_one_znode_that_could_not_be_changed_is_named_and_no_other_was(
    answers: Sequence[object], path: str, why: str
) -> None:
    with pytest.raises(ZnodesKeptError, match=f"znode {path} was not changed, nor any other: .*{why}") as failed:
        change(answers)
    assert not failed.value.unclear


@pytest.mark.parametrize("error", [ConnectionLoss(), KazooTimeoutError("10 s")])
def test_a_change_without_an_answer_is_unclear(error: Exception) -> None:
    with pytest.raises(ZnodesKeptError, match=r"All of it was carried out, or nothing\. Run again") as failed:
        change(error)
    assert failed.value.unclear


def test_the_versions_are_those_that_were_read() -> None:
    session = Zookeeper((), Access())
    session._client = Client({"/controller": OF_BROKER, "/controller_epoch": b"3"})
    session.in_charge()
    assert session.versions == {"/controller": len(OF_BROKER), "/controller_epoch": 1}


# -- whether a login may do what controllers do ----------------------------------------------------------------------

OF_BROKERS = [make_acl("sasl", "kafka", all=True)]
READ_BY_ALL = [*OF_BROKERS, *READ_ACL_UNSAFE]
OF_OTHERS = [make_acl("sasl", "stranger", all=True)]
#: Who holds which right to each znode of a small cluster, as Kafka gives them (ZkData.defaultAcls).
ZNODES: dict[str, list[ACL]] = {
    "/": READ_BY_ALL,
    "/controller": READ_BY_ALL,
    "/controller_epoch": READ_BY_ALL,
    "/brokers": READ_BY_ALL,
    "/brokers/topics": READ_BY_ALL,
    "/brokers/topics/orders": READ_BY_ALL,
    "/brokers/topics/orders/partitions": READ_BY_ALL,
    "/config": READ_BY_ALL,
    "/config/users": OF_BROKERS,
    "/config/users/app": OF_BROKERS,
    "/consumers": OF_OTHERS,
}


class Ensemble:
    """A client of an ensemble that answers as ZooKeeper does: it looks at the right before it looks at the version."""

    def __init__(self, znodes: dict[str, list[ACL]], login: str, gone: tuple[str, ...] = ()) -> None:
        self._znodes, self._login, self._gone = znodes, login, gone
        self.tried: list[str] = []

    def _may(self, path: str, right: str) -> bool:
        who = [acl for acl in self._znodes[path] if acl.id.scheme == "world" or acl.id.id == self._login]
        return any(right in acl.acl_list or "ALL" in acl.acl_list for acl in who)

    def _answer(self, path: str, right: str, answer: object) -> SimpleNamespace:
        def get(timeout: float) -> object:
            assert timeout == 10
            if path not in self._znodes:
                raise NoNodeError
            if not self._may(path, right):
                raise NoAuthError
            return answer

        return SimpleNamespace(get=get)

    def get_children_async(self, path: str) -> SimpleNamespace:
        """Return the names below a path."""
        below = path.rstrip("/") + "/"
        names = [znode[len(below) :] for znode in self._znodes if znode.startswith(below) and znode != "/"]
        return self._answer(path, "READ", [name for name in names if "/" not in name])

    def get_acls_async(self, path: str) -> SimpleNamespace:
        """Return who has which right to a path."""
        return self._answer(path, "READ", (self._znodes.get(path), object()))

    def set(self, path: str, _content: bytes, version: int) -> None:
        """Refuse a change; -1 would be any version."""
        assert version == 2**31 - 1
        self.tried.append(path)
        if path in self._gone:
            raise NoNodeError
        raise BadVersionError if self._may(path, "WRITE") else NoAuthError


def denied(client: Ensemble) -> list[str]:
    session = Zookeeper((), Access())
    session._client = client
    return session.denied()


def test_the_login_of_the_brokers_may_all_and_few_changes_are_tried() -> None:
    client = Ensemble(ZNODES, "kafka")
    assert denied(client) == []
    assert client.tried == ["/", "/config/users"], "one of those that have the same rights"


def test_another_login_may_change_nothing_and_reads_no_users() -> None:
    read = {path for path in ZNODES if path not in ("/brokers", "/consumers", "/config/users/app")}
    assert denied(Ensemble(ZNODES, "app")) == sorted(read)


@pytest.mark.parametrize("acl", [OF_OTHERS, [*OF_OTHERS, make_acl("sasl", "kafka", read=True, admin=True)]])
def test_a_znode_of_somebody_else_is_named_alone(acl: list[ACL]) -> None:
    znodes = {**ZNODES, "/brokers/topics/orders/partitions": acl}
    assert denied(Ensemble(znodes, "kafka")) == ["/brokers/topics/orders/partitions"]


def test_znodes_that_everybody_may_change_need_no_login() -> None:
    assert denied(Ensemble(dict.fromkeys(ZNODES, OPEN_ACL_UNSAFE), "")) == []


def test_a_znode_that_goes_away_is_left_for_the_next_with_the_same_rights() -> None:
    client = Ensemble(dict.fromkeys(ZNODES, OF_OTHERS + READ_ACL_UNSAFE), "kafka", gone=("/", "/controller"))
    assert "/config/users/app" in denied(client)
    assert client.tried == ["/", "/controller", "/controller_epoch"]


def test_what_is_tried_holds_who_is_in_charge_and_the_root_in_which_it_is_made() -> None:
    assert set(IN_CHARGE) < set(MIGRATED)
    assert MIGRATED[0] == "/"
