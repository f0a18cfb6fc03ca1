# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Tickets of Kerberos for our own logins (GSSAPI): got by a keytab, and kept in the memory of this process alone.

The KDC is that of the machine's krb5.conf (or of KRB5_CONFIG). The package gssapi is imported at its first use.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from .._core.network import within
from .connection import SETUP_SECONDS
from .login import TICKETS, SaslLogin

#: What a broker offers, and we choose, behind the tickets (RFC 4752, section 3.1): that nothing is signed or encrypted,
#: which is all that Kafka knows; then the size of a message of other layers.
_NO_LAYER, _CHOSEN = 1, b"\1\0\0\0"
#: Seconds for which a failure is repeated without a question: many connections want a ticket at the same moment.
_PAUSE = 3.0
_INSTALL = (
    "Install the package gssapi where the module runs: python3-gssapi of Debian, or gssapi of PyPI, which is built "
    "with libkrb5-dev and a C compiler."
)
#: Where the minor status of libkrb5 begins; what is behind it are the numbers of RFC 4120 (section 7.5.9), and its own.
_KRB5 = 2529638912
_FIXES = {
    6: "Create the principal at the KDC, or correct sasl_kerberos_principal.",
    7: (
        "Name each broker in bootstrap_servers and advertised.listeners by the host of its principal, and set "
        "sasl_kerberos_service_name to the first part of that."
    ),
    24: "Export the keytab again (kadmin: ktadd): the KDC has newer keys.",
    31: "Export the keytab again (kadmin: ktadd): the KDC has newer keys.",
    37: "Correct the clock of this machine: Kerberos allows 5 minutes.",
    154: "Name the realm with its KDCs in krb5.conf of this machine.",
}
#: That the memory holds nothing (KRB5_FCC_NOFILE): whatever is wrong with a keytab, libkrb5 says this.
_NO_KEYS = 195


class TicketError(ValueError):
    """There is no ticket. C(fix) is set for what no repetition mends."""

    def __init__(self, why: str, fix: str = "") -> None:
        super().__init__(why)
        self.fix = fix


class Tickets:
    """What one principal shows, for all threads; it is renewed when half of its time is over, as libkrb5 does it."""

    def __init__(self, login: SaslLogin, library: Any = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._login, self._library, self._clock = login, library, clock
        self._lock = threading.Lock()
        self._failure: TicketError | None = None
        self._until = 0.0

    def begin(self, host: str) -> Any:
        """Return a context for a login at a broker, which has a principal with this host. Raises TicketError."""
        with self._lock:
            if self._failure is not None and self._clock() < self._until:
                raise TicketError(str(self._failure), self._failure.fix)
            try:
                return self._context(host)
            except TicketError as error:
                self._failure, self._until = error, self._clock() + _PAUSE
                raise

    def explain(self, error: Exception) -> TicketError:
        """Return what an error of the library means."""
        login, status = self._login, getattr(error, "min_code", 0)
        code = status - _KRB5
        who = f"no ticket for {login.principal}"
        if code == _NO_KEYS:
            fix = "Correct sasl_kerberos_keytab and sasl_kerberos_principal (NAME@REALM, as klist -kt FILE shows it)."
            why = f"{login.keytab} holds no key of it, is no keytab, or cannot be read"
            return TicketError(f"{who}: {why}", fix)
        said = "; ".join(error.get_all_statuses(status, False)) if hasattr(error, "get_all_statuses") else ""
        return TicketError(f"{who}: {said or error}", _FIXES.get(code, ""))

    @property
    def errors(self) -> type[Exception]:
        """Return the base of what the library raises."""
        base: type[Exception] = self._loaded().exceptions.GSSError
        return base

    def _context(self, host: str) -> Any:
        library, login = self._loaded(), self._login
        # The same for each login of a process, and for no other process.
        drawn = hashlib.sha256(f"{login.keytab}\0{login.principal}".encode()).hexdigest()[:16]
        store = {"client_keytab": f"FILE:{login.keytab}", "ccache": f"MEMORY:streamops-{drawn}"}
        try:
            own = library.Name(login.principal, library.NameType.kerberos_principal)
            held = library.Credentials(name=own, usage="initiate", store=store)
            broker = library.Name(f"{login.service_name}@{host}", library.NameType.hostbased_service)
            return library.SecurityContext(name=broker, creds=held, usage="initiate", mech=library.MechType.kerberos)
        except self.errors as error:
            raise self.explain(error) from error

    def _loaded(self) -> Any:
        if self._library is None:
            try:
                import gssapi
            except (ImportError, OSError) as error:
                raise TicketError(f"a login by {TICKETS} needs the Python package gssapi: {error}", _INSTALL) from error
            self._library = gssapi
        return self._library


@lru_cache(maxsize=64)
def tickets_of(login: SaslLogin) -> Tickets:
    """Return the tickets of a login, the same ones in all of the process."""
    return Tickets(login)


class Exchange:
    """A login at a broker: what is sent next, given what the broker has answered (RFC 4752).

    host -- of the principal of the broker, as clients name it. seconds -- for each answer: libkrb5 waits a minute for a
    KDC that is silent.
    """

    def __init__(self, tickets: Tickets, host: str, seconds: float = SETUP_SECONDS) -> None:
        self._tickets, self._host, self._seconds = tickets, host, seconds
        self._context: Any = None
        #: Whether all was sent: what the broker answers to the last one is empty.
        self.is_last = False

    def answer(self, received: bytes) -> bytes:
        """Return what is sent next; nothing was received before the first one. Raises TicketError."""
        late = f"no ticket within {self._seconds:g} s: the KDC does not answer"
        try:
            return within(self._seconds, lambda: self._answer(received), (TicketError,), late)
        except TimeoutError as error:
            raise TicketError(str(error)) from None

    def _answer(self, received: bytes) -> bytes:
        if self._context is None:
            self._context, received = self._tickets.begin(self._host), b""
        try:
            if not self._context.complete:
                return bytes(self._context.step(received or None) or b"")
            offered = self._context.unwrap(received).message
            if len(offered) != len(_CHOSEN) or not offered[0] & _NO_LAYER:
                raise TicketError("the broker wants messages to be signed or encrypted, which Kafka does not know")
            self.is_last = True
            return bytes(self._context.wrap(_CHOSEN, False).message)
        except self._tickets.errors as error:
            raise self._tickets.explain(error) from error


def mechanism(base: type, failed: Callable[[str], Exception]) -> type:
    """Return the class by which kafka-python logs in. Its own one has one principal for all of the environment.

    base -- its SaslMechanism. failed -- makes the error of a connection, after which the library tries again.
    """

    class Mechanism(base):  # type: ignore[misc]  # The library ships no types.
        """One login at one broker."""

        def __init__(self, host: str, sasl_kerberos_name: SaslLogin, **_config: Any) -> None:
            self._exchange, self._is_done = Exchange(tickets_of(sasl_kerberos_name), host), False
            self._next = self._answered(b"")

        def _answered(self, received: bytes) -> bytes:
            try:
                return self._exchange.answer(received)
            except TicketError as error:
                raise failed(str(error)) from error

        def auth_bytes(self) -> bytes:
            """Return what is sent."""
            return self._next

        def receive(self, auth_bytes: bytes) -> None:
            """Take what the broker answered."""
            if self._exchange.is_last:
                self._is_done = True
            else:
                self._next = self._answered(auth_bytes)

        def is_done(self) -> bool:
            """Return whether the broker has answered all."""
            return self._is_done

        def is_authenticated(self) -> bool:
            """Return whether it let us in: it answers a refusal with an error."""
            return self._is_done

    return Mechanism
