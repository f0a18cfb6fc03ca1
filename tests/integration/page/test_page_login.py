"""The service as a process of its own, with TLS and a login: who gets in, and what a thousand wrong logins do."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from page.login import digest
from tests.support.certificates import Issued, issue
from tests.support.cluster import free_port_base
from tests.support.page import Page, ask, basic, command, environment, trusting

PASSWORD = "päss:word"
LOGIN = basic("prometheus", PASSWORD)


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Settings with a certificate, users, and a cluster that does not run: what logs in gets its 503 of /health."""
    certificate, key = issue("page", names=("127.0.0.1",)).write(tmp_path_factory.mktemp("tls"), "page")
    return {
        "host": "0.0.0.0",
        "tls_certificate": str(certificate),
        "tls_key": str(key),
        "users": {"prometheus": digest(PASSWORD, b"s" * 16), "other": digest("another", b"t" * 16)},
        "clusters": {"orders": {"bootstrap_servers": [f"127.0.0.1:{free_port_base()}"], "request_timeout": 1}},
    }


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, settings: dict[str, Any]) -> Iterator[Page]:
    """The service with them."""
    with Page(tmp_path_factory.mktemp("service"), settings, ("prometheus", PASSWORD)) as one:
        one.wait_until(lambda: one.get("metrics").status == 200, "the service to listen")
        yield one


def test_only_a_right_login_gets_in_and_each_path_needs_one(page: Page) -> None:
    page.wait_until(lambda: page.get("health").json()["clusters"]["orders"]["status"] == "down", "the first poll")
    assert page.get("health").status == 503
    for path, method in (("metrics", "GET"), ("health", "GET"), ("none", "GET"), ("metrics", "POST")):
        for headers in ({}, {"Authorization": "Bearer x"}, {"Authorization": "Basic !"}):
            answer = page.get(path, method, headers)
            assert (answer.status, answer.text) == (401, "login needed\n")
            assert answer.headers["www-authenticate"] == 'Basic realm="streamops.kafka", charset="UTF-8"'
            assert answer.headers["cache-control"] == "no-store"
    assert page.get("metrics", headers=basic("other", "another")).status == 200
    for user, password in (("other", PASSWORD), ("prometheus", ""), ("unknown", "another"), ("", "")):
        page.wait_until(
            lambda user=user, password=password: page.get("metrics", headers=basic(user, password)).status == 401,
            "a turn of the login",
        )


def test_with_a_login_only_get_is_answered(page: Page) -> None:
    assert [page.get(*one).status for one in (("metrics", "POST"), ("none", "GET"), ("metrics", "GET"))] == [
        405,
        404,
        200,
    ]


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion")
def test_the_port_speaks_tls_only_and_no_old_one(page: Page) -> None:
    assert page.get("metrics", is_tls=False).status == 0
    with socket.create_connection(("127.0.0.1", page.port), 60) as plain:
        plain.sendall(b"GET /metrics HTTP/1.1\r\nHost: page\r\n\r\n")
        assert b"HTTP" not in plain.recv(1000)
    old = trusting()
    # Without it, OpenSSL of the client itself refuses what is old.
    old.set_ciphers("ALL:@SECLEVEL=0")
    old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    with socket.create_connection(("127.0.0.1", page.port), 60) as raw, pytest.raises((ssl.SSLError, OSError)):
        old.wrap_socket(raw)
    assert page.get("metrics").status == 200


def refused(page: Page, reason: str) -> float:
    """How many connections the service says that it refused for a reason."""
    return page.get("metrics").value(f'streamops_page_refused_connections_total{{reason="{reason}"}}')


def test_what_is_refused_is_counted_and_not_logged_one_by_one(page: Page) -> None:
    before = {reason: refused(page, reason) for reason in ("tls", "bad_request")}
    for _one in range(20):
        assert page.get("metrics", is_tls=False).status == 0
        with trusting().wrap_socket(socket.create_connection(("127.0.0.1", page.port), 60)) as one:
            one.sendall(b"this is no HTTP\r\n\r\n")
            assert b" 400 " in one.recv(1000)

    def more() -> dict[str, float]:
        return {reason: refused(page, reason) - count for reason, count in before.items()}

    page.wait_until(lambda: more() == {"tls": 20, "bad_request": 20}, "all of them in the metric")
    assert "Invalid HTTP" not in page.log
    assert page.log.count("connections refused") <= 3


@pytest.mark.full
def test_pages_that_two_hundred_readers_ask_for_at_once_keep_no_scrape_out(page: Page) -> None:
    ended = threading.Event()

    def read() -> Counter[int]:
        seen: Counter[int] = Counter()
        while not ended.is_set():
            seen[page.get("clusters/orders").status] += 1
        return seen

    with ThreadPoolExecutor(200) as threads:
        readers = [threads.submit(read) for _one in range(200)]
        try:
            scrapes = []
            for _one in range(5):
                began = time.monotonic()
                scrapes.append((page.get("metrics").status, page.get("health").status, time.monotonic() - began))
        finally:
            ended.set()
        seen = sum((one.result() for one in readers), Counter[int]())
    assert [one[:2] for one in scrapes] == [(200, 503)] * 5, "the cluster does not run, so it is not well"
    assert max(one[2] for one in scrapes) < 10, "the time that Prometheus gives a scrape"
    assert set(seen) <= {200, 503}
    assert seen[200]


@pytest.mark.full
def test_a_thousand_wrong_logins_lock_no_right_one_out(page: Page) -> None:
    """From the address of the right login, which is remembered here; tests/unit/page/test_access.py has the others."""
    assert page.get("metrics").status == 200
    began = time.monotonic()

    own = threading.local()

    def wrong(number: int) -> int:
        if not hasattr(own, "connection"):
            own.connection = page.connection()
        return ask(own.connection, "metrics", "GET", basic("prometheus", f"wrong {number}")).status

    with ThreadPoolExecutor(20) as threads:
        seen = threads.map(wrong, range(1000))
        right = [page.get("metrics").status for _scrape in range(10)]
        counted = Counter(seen)
    assert right == [200] * 10
    assert counted.keys() == {401, 429}
    assert counted.total() == 1000
    seconds = time.monotonic() - began
    assert counted[401] <= seconds + 10, "one a second is checked"
    assert seconds < 120
    # A login that is not remembered has its turn soon after.
    page.wait_until(lambda: page.get("metrics", headers=basic("other", "another")).status == 200, "a right login")
    assert page.process.poll() is None


def ended(connection: ssl.SSLSocket) -> bool:
    """Whether the server ends a connection without an answer."""
    try:
        return connection.recv(1) == b""
    except OSError as error:
        # The time of this socket is 120 s.
        return not isinstance(error, TimeoutError)


@pytest.mark.full
def test_connections_that_send_no_request_are_ended(page: Page) -> None:
    idle = [trusting().wrap_socket(socket.create_connection(("127.0.0.1", page.port), 120)) for _one in range(60)]
    try:
        for number, one in enumerate(idle):
            one.sendall(b"GET /metrics HTTP/1.1\r\n"[:number])
        assert all(ended(one) for one in idle)
        assert page.get("metrics").status == 200, "more than the service takes at once"
    finally:
        for one in idle:
            one.close()


def served(port: int) -> str:
    """The certificate that the service shows."""
    with socket.create_connection(("127.0.0.1", port), 60) as raw, trusting().wrap_socket(raw) as found:
        return ssl.DER_cert_to_PEM_cert(found.getpeercert(binary_form=True) or b"")


def test_a_renewed_certificate_is_taken_up_while_an_old_connection_lives_on(
    page: Page, settings: dict[str, Any]
) -> None:
    new: Issued = issue("renewed", names=("127.0.0.1",))
    before = served(page.port)
    connection = page.connection()
    assert ask(connection, "metrics", "GET", LOGIN).status == 200
    Path(settings["tls_certificate"]).write_bytes(new.pem())
    Path(settings["tls_key"]).write_bytes(new.key_pem())
    try:
        page.wait_until(lambda: served(page.port) == new.pem().decode() != before, "the renewed certificate")
        assert page.get("metrics").status == 200
    finally:
        connection.close()
    assert "reloaded the certificate from" in page.log


def test_what_cannot_be_served_ends_at_once_and_says_all(tmp_path: Path, settings: dict[str, Any]) -> None:
    config = tmp_path / "page.json"
    config.write_text(json.dumps({**settings, "tls_key": f"{tmp_path}/none", "users": {}, "port": True}))
    ended = subprocess.run(command(config), env=environment(), capture_output=True, text=True, timeout=120, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    for named in (str(config), f"tls_key {tmp_path}/none cannot be read", "users is empty", "port is true"):
        assert named in ended.stderr
    assert "Traceback" not in ended.stderr
    assert settings["users"]["other"] not in ended.stderr
