"""The service as a process of its own: who takes many connections, or sends wrong logins, keeps no reader out."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest

from page.login import digest
from page.patience import MOST
from tests.support.certificates import issue
from tests.support.cluster import free_port_base
from tests.support.page import Page, ask, basic, trusting

ANN, BEN, CLEO = (basic(user, "right") for user in ("ann", "ben", "cleo"))
#: Addresses of this machine: of the proxy, and of others. What was right from one of them is remembered for it alone.
PROXY, FIRST, SECOND, THIRD, FOURTH, FIFTH, SIXTH = (f"127.0.0.{number}" for number in range(2, 9))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The service without a login, on loopback, with a cluster that does not run."""
    settings = {"clusters": {"orders": {"bootstrap_servers": [f"127.0.0.1:{free_port_base()}"], "request_timeout": 1}}}
    with Page(tmp_path_factory.mktemp("plain"), settings) as service:
        service.wait_until(lambda: service.get("metrics").status == 200, "the service to listen")
        yield service


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The service with TLS, logins and a proxy that it trusts."""
    certificate, key = issue("page", names=("127.0.0.1",)).write(tmp_path_factory.mktemp("tls"), "page")
    settings = {
        "trusted_proxies": [f"{PROXY}/32"],
        "tls_certificate": str(certificate),
        "tls_key": str(key),
        "users": {user: digest("right", user.encode().ljust(16)) for user in ("ann", "ben", "cleo")},
        "clusters": {"orders": {"bootstrap_servers": [f"127.0.0.1:{free_port_base()}"], "request_timeout": 1}},
    }
    with Page(tmp_path_factory.mktemp("page"), settings, ("ann", "right")) as service:
        service.wait_until(lambda: service.get("metrics").status == 200, "the service to listen")
        yield service


def login(page: Page, headers: dict[str, str], source: str) -> int | str:
    """The status that a login from an address gets, on a connection of its own; what went wrong when none comes."""
    connection = http.client.HTTPSConnection(
        "127.0.0.1", page.port, timeout=60, context=trusting(), source_address=(source, 0)
    )
    try:
        return ask(connection, "style.css", "GET", headers).status
    except (OSError, http.client.HTTPException) as error:
        return repr(error)
    finally:
        connection.close()


@contextmanager
def wrong_logins(page: Page, threads: int, names: list[str], source: str, **more: str) -> Iterator[Counter[int | str]]:
    """Send wrong logins from an address without end, each name in turn; gives their answers when it is over."""
    over, answers = threading.Event(), Counter[int | str]()
    is_busy = threading.Barrier(threads + 1)

    def send(number: int) -> Counter[int | str]:
        own: Counter[int | str] = Counter()
        is_busy.wait(60)
        for turn in range(number, 1_000_000):
            if over.is_set():
                break
            headers = {**basic(names[turn % len(names)], f"wrong {turn}"), **more}
            own[login(page, headers, source)] += 1
        return own

    with ThreadPoolExecutor(threads) as pool:
        senders = [pool.submit(send, number) for number in range(threads)]
        try:
            is_busy.wait(60)
            time.sleep(2)
            yield answers
        finally:
            over.set()
        for sender in senders:
            answers.update(sender.result())


def refused(page: Page, reason: str) -> float:
    """How many connections the service says that it refused for a reason."""
    return page.get("metrics").value(f'streamops_page_refused_connections_total{{reason="{reason}"}}')


def read_head(connection: socket.socket) -> bytes:
    """The head of an answer, and what came with it."""
    text = b""
    while b"\r\n\r\n" not in text:
        more = connection.recv(65536)
        assert more, text
        text += more
    return text


def ends_in_time(connection: socket.socket, part: bytes) -> bool:
    """Whether the service ends a connection within half a minute while bytes come on it, twice a second."""
    connection.settimeout(0.5)
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            connection.sendall(part)
            if not connection.recv(65536):
                return True
        except TimeoutError:
            continue
        except OSError:
            return True
    return False


@pytest.mark.parametrize("second", [b"GET / HTTP/1.1\r\nHost: 127", b""])
def test_connections_with_one_request_and_half_a_second_one_lock_no_reader_out(page: Page, second: bytes) -> None:
    first = f"GET /icon.svg HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {ANN['Authorization']}\r\n\r\n".encode()
    with ExitStack() as stack:
        held: list[ssl.SSLSocket] = []
        for _number in range(MOST + 10):
            raw = stack.enter_context(socket.create_connection(("127.0.0.1", page.port), 60))
            held.append(stack.enter_context(trusting().wrap_socket(raw)))
            held[-1].sendall(first)
            assert b" 200 " in read_head(held[-1])
            held[-1].sendall(second)
        assert [page.get("icon.svg").status for _reader in range(5)] == [200] * 5
        assert ends_in_time(held[-1], b"." if second else b"G"), "bytes that come one by one prolong nothing"


def test_five_hundred_idle_connections_a_second_lock_no_reader_out(plain: Page) -> None:
    over = threading.Event()

    def connect() -> None:
        """Open connections that send nothing, as many as may be kept."""
        kept: deque[socket.socket] = deque(maxlen=MOST * 6 // 5)
        while not over.is_set():
            for _number in range(20):
                if len(kept) == kept.maxlen:
                    kept.popleft().close()
                kept.append(socket.create_connection(("127.0.0.1", plain.port), 60))
            time.sleep(0.03)
        for connection in kept:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        flood = pool.submit(connect)
        try:
            # Each question is one of a reader: without an answer it fails.
            plain.wait_until(lambda: refused(plain, "too_many") > 50, "no place to be left")
            assert [plain.get("metrics").status for _reader in range(30)] == [200] * 30
        finally:
            over.set()
        flood.result()


def test_a_request_with_a_slow_body_is_ended_too(plain: Page) -> None:
    with socket.create_connection(("127.0.0.1", plain.port), 60) as connection:
        connection.sendall(b"GET /icon.svg HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\n")
        assert b" 200 " in read_head(connection)
        assert ends_in_time(connection, b".")


def test_wrong_logins_of_a_name_delay_right_ones_and_lock_none_out(page: Page) -> None:
    with wrong_logins(page, 6, ["ann"], FIRST) as answers:
        began = time.monotonic()
        assert login(page, ANN, SECOND) == 200, "the same name from another address"
        assert login(page, BEN, FIRST) == 200, "another name from the same address"
        assert login(page, ANN, FIRST) == 200, "the same name from the same address, which waits"
        assert time.monotonic() - began < 30
    assert answers.keys() == {401}


@pytest.mark.parametrize(
    ("names", "attacker", "reader"),
    [(["ben"], THIRD, FOURTH), ([f"name{number}" for number in range(100)], FIFTH, SIXTH)],
    ids=["one name", "many names"],
)
def test_a_flood_of_wrong_logins_keeps_out_no_other_address(
    page: Page, names: list[str], attacker: str, reader: str
) -> None:
    with wrong_logins(page, 30, names, attacker) as answers:
        assert login(page, BEN, reader) == 200
        if len(names) == 1:
            assert login(page, ANN, attacker) == 200, "and no other name of the same address"
    assert answers.keys() == {401, 429}
    page.wait_until(lambda: login(page, BEN, attacker) == 200, "the right login after the wrong ones")


def test_behind_a_proxy_that_is_trusted_the_address_of_the_client_counts(page: Page) -> None:
    flood = {"X-Forwarded-For": "198.51.100.9, 192.0.2.1"}
    with wrong_logins(page, 30, ["ann", "ben", "cleo", "none"], PROXY, **flood) as answers:
        for reader in ("192.0.2.2", "198.51.100.9", "2001:db8::1"):
            assert login(page, {**CLEO, "X-Forwarded-For": reader}, PROXY) == 200
    assert answers.keys() == {401, 429}


def test_who_is_no_proxy_cannot_say_another_address(page: Page) -> None:
    def attempt(number: int) -> int | str:
        return login(page, {**basic("ann", "wrong"), "X-Forwarded-For": f"192.0.2.{number}"}, "127.0.0.9")

    with ThreadPoolExecutor(24) as pool:
        answers = Counter(pool.map(attempt, range(24)))
    assert answers[429], "they count as one address"
