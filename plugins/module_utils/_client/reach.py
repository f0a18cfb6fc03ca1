# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which addresses of a cluster answer, and as whom they let us in: found out before a client library is asked.

The libraries repeat for their whole time limit what can never work, and do not tell which server it was. Here every
server is asked at once, in bounded time, up to the login; a library then gets only those that let us in.
"""

from __future__ import annotations

import errno
import queue
import ssl
import struct
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from .._core.errors import AccessRefusedError, ClusterUnreachableError, StreamopsError
from .._core.network import RESOLVE_SECONDS
from .connection import Connection, within
from .login import TICKETS, TOKENS, SaslLogin
from .tickets import Exchange, TicketError, tickets_of
from .tokens import TokenError, tokens_of
from .wire import CONNECTING, LOGIN, RESOLVING, Channel, MechanismError, NoSaslError, NotKafkaError, tls_context

#: Longest time in seconds that one server gets for connection, TLS and login together; longer with request_timeout.
PROBE_SECONDS = 10.0
#: Seconds before a refused login is tried again: a broker learns of a new user a little later than the controller, and
#: behind one address there may be several brokers.
_AGAIN = (0.7, 1.3)
#: The stage of a channel whose server has answered, and of which the login waits for a token of the issuer.
TOKEN_AWAITED = f"{LOGIN} {TOKENS}, without a token yet"
#: How long the others are waited for when one server has let us in (seconds).
_GRACE = 2.0


@dataclass(frozen=True)
class Failure:
    """Why one server did not let us in. C(fix) is set for what no repetition mends; C(hangs): it never answered.

    C(is_gone): nobody serves there: the connection is refused, cut or not taken, or nothing comes after it.
    C(no_token): it answered, and the issuer gave no token for the login, or the KDC no ticket.
    """

    why: str
    fix: str = ""
    hangs: bool = False
    login: bool = False
    is_gone: bool = False
    no_token: bool = False


@dataclass(frozen=True)
class Reached:
    """The servers that let us in, and what happened at each of the others."""

    servers: tuple[str, ...]
    failures: Mapping[str, Failure] = field(default_factory=dict)

    @property
    def silent(self) -> frozenset[str]:
        """The servers that took the connection and did not answer."""
        return frozenset(server for server, failure in self.failures.items() if failure.hangs)

    @property
    def warnings(self) -> list[str]:
        """One sentence for each server that took the connection and did not answer."""
        return [
            f"bootstrap server {server}: {failure.why}. It was left out; the other servers answered. "
            "Look at this broker: it may be frozen or overloaded."
            for server, failure in self.failures.items()
            if failure.hangs
        ]


def reach(
    connection: Connection,
    seconds: float = PROBE_SECONDS,
    grace: float = _GRACE,
    again: Sequence[float] = _AGAIN,
) -> Reached:
    """Try every bootstrap server at once; ClusterUnreachableError or AccessRefusedError when none lets us in.

    A server that refuses the login is asked again before that is believed.
    """
    seconds = within(seconds, connection.request_timeout)
    wanted = list(dict.fromkeys(connection.bootstrap_servers))
    found = _tried(connection, wanted, seconds, grace)
    for pause in again:
        refused = [server for server, failure in found.items() if failure is not None and failure.login]
        if not refused or None in found.values():
            break
        time.sleep(pause)
        found |= _tried(connection, refused, seconds, grace)
    failures = {server: failure for server in wanted if (failure := found[server]) is not None}
    servers = tuple(server for server in wanted if found[server] is None)
    if not servers:
        raise _unreachable(failures)
    return Reached(servers, failures)


def silent_servers(connection: Connection, servers: Iterable[str], seconds: float = PROBE_SECONDS) -> dict[str, str]:
    """Ask each of these servers at once up to the login; return what happened at those that did not answer.

    One that refuses us answered: its certificate or our login is wrong, and its process works. So did one for which we
    get no token or ticket.
    """
    seconds = within(seconds, connection.request_timeout)
    found = _tried(connection, list(dict.fromkeys(servers)), seconds, seconds)
    return {
        server: failure.why
        for server, failure in found.items()
        if failure is not None and not (failure.fix or failure.no_token)
    }


def _tried(connection: Connection, servers: Iterable[str], seconds: float, grace: float) -> dict[str, Failure | None]:
    """Return each server's outcome; all are asked at once."""
    began = time.monotonic()
    resolve = within(RESOLVE_SECONDS, connection.request_timeout)
    channels = {server: Channel(seconds, resolve) for server in servers}
    found: dict[str, Failure | None] = {}
    answers = _begin(connection, channels)
    # A little more than the channels have, so that each can say itself how it ended.
    until = began + resolve + seconds + 0.5
    while len(found) < len(channels):
        try:
            server, failure = answers.get(timeout=max(0.0, until - time.monotonic()))
        except queue.Empty:
            break
        found[server] = failure
        if failure is None:
            until = min(until, time.monotonic() + grace)
    waited = time.monotonic() - began
    for server in channels:
        found.setdefault(server, _silent(channels[server], waited))
    return found


def _begin(connection: Connection, channels: Mapping[str, Channel]) -> queue.SimpleQueue[tuple[str, Failure | None]]:
    """Have a thread for each server that reports how it ended. They are daemons: a program may end before they do."""
    context = tls_context(connection)
    answers: queue.SimpleQueue[tuple[str, Failure | None]] = queue.SimpleQueue()

    def attempt(server: str, channel: Channel) -> None:
        """Try one server."""
        try:
            answers.put((server, _attempt(connection, server, channel, context)))
        except (OSError, ValueError, OverflowError, struct.error) as error:  # ssl and time-outs are OSError.
            answers.put((server, failure_of(connection, error, channel)))

    for server, channel in channels.items():
        threading.Thread(target=attempt, args=(server, channel), daemon=True).start()
    return answers


def _attempt(connection: Connection, server: str, channel: Channel, context: ssl.SSLContext | None) -> Failure | None:
    with channel.open(server, context):
        return let_in(connection, channel)


def let_in(connection: Connection, channel: Channel) -> Failure | None:
    """Ask over an open channel what the broker can do, and log in where the connection does; None when it let us in."""
    channel.greet()
    login = connection.login
    if not connection.security_protocol.startswith("SASL_") or login is None:
        return None
    if login.mechanism == TOKENS:
        channel.stage, began = TOKEN_AWAITED, time.monotonic()
        try:
            token = tokens_of(login).token()
        except TokenError as error:
            return Failure(str(error), error.fix, no_token=True)
        channel.extend(time.monotonic() - began)
        if channel.log_in(login.mechanism, login.username, token):
            return None
        return Failure(
            f"it refuses the token of the client {login.username}: it takes those of another issuer, for another "
            "audience or with other claims, or the clocks differ",
            "Compare what the issuer writes into tokens of this client with kafka_oauth of the brokers.",
            login=True,
        )
    if login.mechanism == TICKETS:
        return _let_in_by_ticket(login, channel)
    if channel.log_in(login.mechanism, login.username, login.password or ""):
        return None
    return Failure(
        f"it refuses the login of user {login.username} by {login.mechanism}: the user does not exist there or the "
        "password is wrong",
        "Correct sasl_username, sasl_password and sasl_mechanism.",
        login=True,
    )


def _let_in_by_ticket(login: SaslLogin, channel: Channel) -> Failure | None:
    channel.stage = f"{LOGIN} {TICKETS}"
    exchange, began = Exchange(tickets_of(login), channel.host), time.monotonic()
    try:
        first = exchange.answer(b"")
        channel.extend(time.monotonic() - began)
        if channel.log_in_by_ticket(exchange, first):
            return None
    except TicketError as error:
        return Failure(str(error), error.fix, no_token=True)
    return Failure(
        f"it refuses the ticket of {login.principal}: no rule of its principal_rules takes this principal, its keytab "
        f"holds no key of {login.service_name}/{channel.host} or older ones than the KDC, or the clocks differ",
        "Compare klist -ekt of the broker's keytab with kvno of a client, and look at kafka_kerberos of the brokers.",
        login=True,
    )


# -- what is permanent -------------------------------------------------------------------------------------------

#: What TLS says (OpenSSL's names) when the other side does not take our certificate.
_OF_OUR_CERTIFICATE = ("CERTIFICATE", "UNKNOWN_CA", "HANDSHAKE_FAILURE", "ACCESS_DENIED")
#: What it says when the other side does not speak TLS at all.
_NO_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG", "HTTP_REQUEST")
#: What a network says of a machine that is not there; errors of this machine itself are others.
_NO_MACHINE = (errno.EHOSTUNREACH, errno.EHOSTDOWN)
_PROTOCOL_FIX = "Set security_protocol and the port to those of a listener for clients."


def failure_of(connection: Connection, error: Exception, channel: Channel) -> Failure:
    """Explain one server's failure; the only place that tells what waiting can mend from what it cannot."""
    if isinstance(error, TimeoutError):
        return _silent(channel, None)
    if isinstance(error, ssl.SSLCertVerificationError):
        fix = _certificate_fix(error.verify_code, connection.ssl_ca_location)
        return Failure(f"its certificate is refused: {error.verify_message}", fix)
    if isinstance(error, ssl.SSLError):
        reason = error.reason or ""
        if "ALERT" in reason and any(sign in reason for sign in _OF_OUR_CERTIFICATE):
            shown = connection.ssl_certificate_location or "none"
            fix = f"Set ssl_certificate_location and ssl_key_location to a certificate that it trusts (now {shown})."
            return Failure(f"it refuses our certificate: {reason}", fix)
        if any(sign in reason for sign in _NO_TLS):
            return Failure(f"it does not speak TLS: {reason}", _PROTOCOL_FIX)
    if isinstance(error, (NotKafkaError, NoSaslError)):
        return Failure(str(error), _PROTOCOL_FIX)
    if isinstance(error, MechanismError):
        return Failure(str(error), "Set sasl_mechanism to one that the listener offers.")
    return Failure(str(error), is_gone=isinstance(error, ConnectionError) or getattr(error, "errno", 0) in _NO_MACHINE)


def _silent(channel: Channel, waited: float | None) -> Failure:
    if channel.stage == RESOLVING:
        return Failure("no address of its name in time (resolving the name): look at the name servers of this machine")
    if channel.stage == CONNECTING:
        why = "connection timed out: no server at this address, or a firewall drops packets"
        return Failure(why, is_gone=True)
    within = "in time" if waited is None else f"within {waited:.0f} s"
    if channel.stage == TOKEN_AWAITED:
        return Failure(f"no token for the login {within}: the issuer does not answer", no_token=True)
    return Failure(f"it took the connection and did not answer {within} ({channel.stage})", hangs=True, is_gone=True)


def _certificate_fix(code: int, authority: str | None) -> str:
    """Return what mends a certificate that OpenSSL refuses (its numbers, X509_V_ERR_...)."""
    if code in (62, 64):  # The host name, the IP address.
        return "Name the server in bootstrap_servers as its certificate does, or issue it a certificate with that name."
    if code == 10:
        return "Renew the certificate of this server, or that of its CA: it has expired (if the clock here is right)."
    if code == 9:
        return "Correct the clock of this machine, or issue this server a certificate that is valid now."
    if code == 26:
        return "Issue this server a certificate whose extended key usage has serverAuth."
    if code in (2, 7, 18, 19, 20, 21):  # Who issued it is not known, or not with this key.
        known = authority or "the certificates of this machine"
        return f"Set ssl_ca_location to the CA that signed the brokers' certificates (now {known})."
    return "Issue this server a certificate that OpenSSL accepts, by a CA of ssl_ca_location."


def _unreachable(failures: Mapping[str, Failure]) -> StreamopsError:
    """The error when no server lets us in.

    It is final when no server is left for which waiting could help: a certificate may be wrong at one broker only, and
    one that has just started may not know a user yet.
    """
    attempts = {server: failure.why for server, failure in failures.items()}
    if all(failure.fix for failure in failures.values()):
        return AccessRefusedError(attempts, list(dict.fromkeys(failure.fix for failure in failures.values())))
    refused = [server for server, failure in failures.items() if failure.fix]
    return ClusterUnreachableError(attempts, refused, all(failure.is_gone for failure in failures.values()))
