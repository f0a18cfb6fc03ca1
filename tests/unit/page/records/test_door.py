"""Who gets in: the real application with logins, over a cluster that does not run."""

from __future__ import annotations

import contextlib
import http.client
import logging
import threading
from collections.abc import Iterator

import pytest
import uvicorn

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from page.access import Access
from page.login import digest, scrypt_of
from page.records.door import Door, Gate, TooManyError
from page.records.rights import Rights
from page.web import application
from tests.support.cluster import free_port_base, until
from tests.support.page import Answer, ask, basic
from tests.support.page_seen import looked

PASSWORDS = {"ann": "an apple", "bob": "a banana"}
RIGHTS = Rights(frozenset({"ann"}), ("orders", "other/x"))
ORDERS = "clusters/orders/topics/orders"


@contextlib.contextmanager
def served(rights: Rights, has_login: bool = True) -> Iterator[int]:
    """Serve the application; the port."""
    users = {name: scrypt_of(digest(word, b"s" * 16)) for name, word in PASSWORDS.items()}
    closed = Connection.from_params({"bootstrap_servers": [f"127.0.0.1:{free_port_base()}"], "request_timeout": 1})
    seen = looked()

    async def nothing() -> None:
        """Run nothing beside it."""

    door = Door(rights, {"orders": closed})
    inner = application(lambda: seen, 300, Access(users) if has_login else None, nothing, door=door)
    port = free_port_base()
    server = uvicorn.Server(uvicorn.Config(inner, port=port, log_config=None, access_log=False, ws="none"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        until(lambda: server.started, "the page to listen", 120)
        yield port
    finally:
        server.should_exit = True
        thread.join(60)


def get(port: int, path: str, user: str = "") -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        return ask(connection, path, "GET", basic(user, PASSWORDS[user]) if user else {})
    finally:
        connection.close()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with served(RIGHTS) as one:
        yield one


def test_only_a_reader_reads_and_only_topics_that_are_listed(port: int, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "page.records"):
        assert get(port, f"{ORDERS}/records").status == 401
        for path, user in (
            (f"{ORDERS}/records", "bob"),
            (f"{ORDERS}/records?format=json", "bob"),
            ("clusters/orders/topics/other/records", "ann"),
            ("clusters/orders/topics/x/records", "ann"),
            ("clusters/none/topics/orders/records", "ann"),
            ("clusters/orders/topics/a%0Ab%1b%5B31m/records", "ann"),
        ):
            answer = get(port, path, user)
            assert (answer.status, "You may not read" in answer.text) == (403, True), path
            is_json = answer.headers["content-type"].startswith("application/json")
            assert is_json == ("format=json" in path), path
    lines = [one.getMessage() for one in caplog.records if one.name == "page.records"]
    assert len(lines) == 6
    assert all("may not read records of topic" in one and "\n" not in one and "\x1b" not in one for one in lines)


def test_a_read_that_fails_says_why_and_is_logged(port: int, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "page.records"):
        answer = get(port, f"{ORDERS}/records?from=oldest", "ann")
    assert (answer.status, "The cluster gave no records" in answer.text) == (502, True)
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert "script-src" not in answer.headers["content-security-policy"]
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    lines = [one.getMessage() for one in caplog.records if one.name == "page.records"]
    assert lines[0].startswith("user ann reads records of topic orders of cluster orders from oldest of all partitions")
    wrong = get(port, f"{ORDERS}/records?from=x", "ann")
    assert (wrong.status, "from is none of" in wrong.text) == (400, True)
    assert get(port, f"{ORDERS}/records?format=json&from=x", "ann").json()["next_step"].startswith("from is none of")


def test_the_page_of_a_topic_links_to_records_for_who_may_read_them(port: int) -> None:
    assert f'href="/{ORDERS}/records"' in get(port, ORDERS, "ann").text
    assert "/records" not in get(port, ORDERS, "bob").text


def test_records_are_off_unless_readers_and_topics_are_named_and_without_a_login() -> None:
    with served(Rights()) as one:
        answer = get(one, f"{ORDERS}/records", "ann")
        assert (answer.status, "kafka_page_records_readers" in answer.text) == (404, True)
    with served(RIGHTS, has_login=False) as one:
        assert get(one, f"{ORDERS}/records").status == 403
        assert get(one, f"{ORDERS}/records", "ann").status == 403, "a login that nobody has looked at is none"


def test_a_reader_has_one_place_and_all_have_some() -> None:
    gate = Gate(2)
    with gate.place("ann"):
        with pytest.raises(TooManyError) as own, gate.place("ann"):
            pass
        with gate.place("bob"), pytest.raises(TooManyError) as others, gate.place("eve"):
            pass
    assert (own.value.status, others.value.status) == (429, 503)


def test_a_place_is_free_again_whatever_happens() -> None:
    gate = Gate(1)
    with pytest.raises(ValueError, match="broken"), gate.place("ann"):
        raise ValueError("broken")
    with gate.place("ann"):
        pass
