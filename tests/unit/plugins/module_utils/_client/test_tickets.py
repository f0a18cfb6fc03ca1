# SPDX-License-Identifier: GPL-3.0-or-later
"""Logins by Kerberos, with a library that has tickets, has none, or is not there."""

from __future__ import annotations

import struct
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client import reach as _reach
from ansible_collections.streamops.kafka.plugins.module_utils._client import tickets as _tickets
from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import (
    Connection,
    denied,
    own_principal,
    refuse_tickets,
)
from ansible_collections.streamops.kafka.plugins.module_utils._client.login import SaslLogin
from ansible_collections.streamops.kafka.plugins.module_utils._client.reach import reach
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._client.tickets import (
    Exchange,
    TicketError,
    Tickets,
    mechanism,
    tickets_of,
)
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import (
    AccessRefusedError,
    ClusterUnreachableError,
    RefusedError,
)
from tests.support.talks import Serve, read, reply

LOGIN = SaslLogin.by_ticket("/admin.keytab", "admin@TEST.EXAMPLE")
#: What libkrb5 says, by its status.
UNKNOWN_SERVER, NOTHING_HELD, NO_KDC = 2529638919, 2529639107, 2529639068


class FakeError(Exception):
    """An error of the library."""

    def __init__(self, status: int) -> None:
        self.min_code = status

    def get_all_statuses(self, status: int, _is_major: bool) -> list[str]:
        """Return its words."""
        return [f"words of {status}"]


class FakeContext:
    """Sends a ticket, takes one, and then the layers."""

    def __init__(self, library: FakeLibrary) -> None:
        self._library, self.complete = library, False

    def step(self, received: bytes | None) -> bytes | None:
        """Take the answer of the broker."""
        self._library.waits()
        if self._library.status_of_step:
            raise FakeError(self._library.status_of_step)
        if received is None:
            return b"ticket"
        self.complete = True
        return None

    def unwrap(self, message: bytes) -> Any:
        """Return what is within."""
        return SimpleNamespace(message=message)

    def wrap(self, message: bytes, _encrypt: bool) -> Any:
        """Return it as it would be sent."""
        return SimpleNamespace(message=b"wrapped" + message)


class FakeLibrary:
    """The package gssapi; notes what it is asked for."""

    NameType = SimpleNamespace(kerberos_principal="principal", hostbased_service="service")
    MechType = SimpleNamespace(kerberos="kerberos")
    exceptions = SimpleNamespace(GSSError=FakeError)

    def __init__(self, status: int = 0, status_of_step: int = 0, waits: Callable[[], None] = lambda: None) -> None:
        self.status, self.status_of_step, self.waits = status, status_of_step, waits
        self.stores: list[dict[str, str]] = []
        self.names: list[tuple[str, str]] = []
        self.Name, self.Credentials, self.SecurityContext = self._name, self._credentials, self._context

    def _name(self, name: str, kind: str) -> str:
        """Note a name."""
        self.names.append((name, kind))
        return name

    def _credentials(self, name: str, usage: str, store: dict[str, str]) -> str:
        """Note where keys and tickets are."""
        self.stores.append(store)
        if self.status:
            raise FakeError(self.status)
        return f"{usage} {name}"

    def _context(self, **_options: Any) -> FakeContext:
        """Begin a login."""
        return FakeContext(self)


def test_a_login_takes_three_messages_and_asks_for_no_layer() -> None:
    library = FakeLibrary()
    exchange = Exchange(Tickets(LOGIN, library), "kafka1")
    assert exchange.answer(b"") == b"ticket"
    assert exchange.answer(b"ticket of the broker") == b""
    assert not exchange.is_last
    assert exchange.answer(b"\x07\x00\x10\x00") == b"wrapped\x01\x00\x00\x00"
    assert exchange.is_last
    assert library.names == [("admin@TEST.EXAMPLE", "principal"), ("kafka@kafka1", "service")]


def test_tickets_stay_in_memory_apart_for_each_principal() -> None:
    library = FakeLibrary()
    for login in (LOGIN, LOGIN, SaslLogin.by_ticket("/admin.keytab", "other@TEST.EXAMPLE")):
        Exchange(Tickets(login, library), "kafka1").answer(b"")
    assert {store["client_keytab"] for store in library.stores} == {"FILE:/admin.keytab"}
    first, second, other = (store["ccache"] for store in library.stores)
    assert first == second != other
    assert first.startswith("MEMORY:")


def test_a_broker_that_wants_to_encrypt_is_refused() -> None:
    exchange = Exchange(Tickets(LOGIN, FakeLibrary()), "kafka1")
    exchange.answer(b"")
    exchange.answer(b"x")
    with pytest.raises(TicketError, match="signed or encrypted"):
        exchange.answer(b"\x04\x00\x10\x00")


@pytest.mark.parametrize(
    ("status", "said", "fix"),
    [
        (
            UNKNOWN_SERVER,
            f"no ticket for admin@TEST.EXAMPLE: words of {UNKNOWN_SERVER}",
            "by the host of its principal",
        ),
        (NOTHING_HELD, "/admin.keytab holds no key of it", "Correct sasl_kerberos_keytab"),
        (NO_KDC, f"words of {NO_KDC}", ""),
    ],
)
def test_what_the_library_says_has_its_fix(status: int, said: str, fix: str) -> None:
    for library in (FakeLibrary(status), FakeLibrary(status_of_step=status)):
        with pytest.raises(TicketError) as failed:
            Exchange(Tickets(LOGIN, library), "kafka1").answer(b"")
        assert said in str(failed.value)
        assert fix in failed.value.fix
        assert bool(fix) == bool(failed.value.fix), "without a KDC it may pass"


def test_a_failure_is_repeated_for_a_while_without_a_question() -> None:
    library, now = FakeLibrary(NO_KDC), [0.0]
    tickets = Tickets(LOGIN, library, lambda: now[0])
    for _connection in range(3):
        with pytest.raises(TicketError):
            tickets.begin("kafka1")
    assert len(library.stores) == 1
    now[0] = 3.1
    library.status = 0
    tickets.begin("kafka1")


def test_a_kdc_that_is_silent_is_not_waited_for() -> None:
    library = FakeLibrary(waits=lambda: time.sleep(1))
    with pytest.raises(TicketError, match=r"no ticket within 0\.1 s: the KDC does not answer"):
        Exchange(Tickets(LOGIN, library), "kafka1", 0.1).answer(b"")


def test_a_missing_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gssapi", None)
    with pytest.raises(TicketError, match="needs the Python package gssapi") as failed:
        Exchange(Tickets(LOGIN), "kafka1").answer(b"")
    assert "python3-gssapi" in failed.value.fix


def test_kafka_python_logs_in_as_the_principal_of_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    library = FakeLibrary()
    monkeypatch.setattr(_tickets, "tickets_of", lambda login: Tickets(login, library))
    ours = mechanism(object, RuntimeError)(host="kafka1", sasl_kerberos_name=LOGIN, sasl_mechanism="GSSAPI")
    sent = []
    for answer in (b"ticket of the broker", b"\1\0\0\0", b""):
        assert not ours.is_done()
        sent.append(ours.auth_bytes())
        ours.receive(answer)
    assert sent == [b"ticket", b"", b"wrapped\1\0\0\0"]
    assert ours.is_done()
    assert ours.is_authenticated()
    library.status_of_step = NO_KDC
    with pytest.raises(RuntimeError, match="no ticket for admin"):
        mechanism(object, RuntimeError)(host="kafka2", sasl_kerberos_name=LOGIN)


def takes_tickets(code: int = 0) -> Callable[[Any], None]:
    """Return a broker that answers the last message with an error of Kafka, where it is one."""

    def talk(connection: Any) -> None:
        """Take three messages."""
        read(connection)
        reply(connection, struct.pack(">hi", 0, 0))
        assert read(connection).endswith(b"GSSAPI")
        reply(connection, struct.pack(">hi", 0, 0))
        for answer, error in ((b"ticket of the broker", 0), (b"\1\0\0\0", 0), (b"", code)):
            read(connection)
            reply(connection, struct.pack(">hhi", error, -1, len(answer)) + answer)

    return talk


def by_ticket(server: str) -> Connection:
    """Return the connection of the administrator."""
    return Connection.from_params(
        {"bootstrap_servers": [server], "security_protocol": "SASL_PLAINTEXT", **LOGIN.options()}
    )


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> FakeLibrary:
    made = FakeLibrary()
    monkeypatch.setattr(_reach, "tickets_of", lambda login: Tickets(login, made))
    return made


def test_a_broker_that_takes_the_ticket_lets_us_in(serve: Serve, library: FakeLibrary) -> None:
    server = serve(takes_tickets())
    assert reach(by_ticket(server)).servers == (server,)
    assert library.names[-1] == (f"kafka@{server.rpartition(':')[0]}", "service")


@pytest.mark.usefixtures("library")
def test_a_ticket_that_is_refused_names_the_keytab_of_the_broker(serve: Serve) -> None:
    with pytest.raises(AccessRefusedError, match=r"refuses the ticket of admin@TEST\.EXAMPLE.*klist -ekt"):
        reach(by_ticket(serve(takes_tickets(58))), again=())


def test_no_kdc_is_waited_for_and_a_wrong_name_is_final(serve: Serve, library: FakeLibrary) -> None:
    library.status = NO_KDC
    with pytest.raises(ClusterUnreachableError, match="no ticket for admin"):
        reach(by_ticket(serve(takes_tickets())), again=())
    library.status = UNKNOWN_SERVER
    with pytest.raises(AccessRefusedError, match="by the host of its principal"):
        reach(by_ticket(serve(takes_tickets())), again=())


def test_a_session_gives_kafka_python_the_login_and_its_way() -> None:
    from kafka.net.sasl import get_sasl_mechanism

    config = Session(by_ticket("kafka1:9092")).python_config()
    assert (config["sasl_mechanism"], config["sasl_kerberos_name"]) == ("GSSAPI", LOGIN)
    assert get_sasl_mechanism("GSSAPI").__module__ == _tickets.__name__
    assert tickets_of(LOGIN) is tickets_of(SaslLogin.of(LOGIN.options()))


def test_who_writes_records_refuses_it_by_name() -> None:
    with pytest.raises(RefusedError, match="sasl_mechanism is GSSAPI, by which confluent-kafka"):
        refuse_tickets(by_ticket("kafka1:9092"))
    with pytest.raises(RefusedError):
        by_ticket("kafka1:9092").confluent_config()
    refuse_tickets(Connection(("kafka1:9092",)))


def test_brokers_make_the_name_of_a_principal() -> None:
    connection = by_ticket("kafka1:9092")
    assert own_principal(connection) is None
    assert "admin@TEST.EXAMPLE (principal_rules" in denied(connection, "read", "TOPIC_AUTHORIZATION_FAILED", "t")
