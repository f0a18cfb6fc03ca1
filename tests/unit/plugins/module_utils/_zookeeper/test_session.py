# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is in charge of the metadata, as a session reads it: what is there, what is not, and what may not be read."""

from __future__ import annotations

from typing import Any

import pytest
from kazoo.exceptions import NoAuthError, NoNodeError

from ansible_collections.streamops.kafka.plugins.module_utils._zookeeper.connection import Access
from ansible_collections.streamops.kafka.plugins.module_utils._zookeeper.session import IN_CHARGE, Zookeeper

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
        return content, object()


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
