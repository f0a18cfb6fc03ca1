# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Speak to a running JVM of this machine as jcmd and jconsole do, which a Java without its development kit lacks.

HotSpot opens a socket in its /tmp when it finds a file there and gets SIGQUIT (the attach mechanism). That signal ends
a process that does not handle it, so it goes only to one that does. Whoever answers must be the process itself: any
user may put a socket of that name into /tmp.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import struct
import time
from collections.abc import Iterator

from .._core.errors import StreamopsError
from .._core.properties import parse
from .processes import read_text

#: Seconds for the JVM to open its socket, and for each answer.
SECONDS = 10.0
_MOMENT = 0.05
#: Arguments that a request has (attachListener.hpp), and the most that an answer may hold.
_ARGUMENTS, _MOST = 3, 1 << 20
_ADDRESS = "com.sun.management.jmxremote.localConnectorAddress"
_CAUGHT = re.compile(r"^SigCgt:\s*([0-9a-f]+)$", re.M)
_OWN_NUMBERS = re.compile(r"^NSpid:.*?(\d+)$", re.M)


class AttachError(StreamopsError):
    """A process cannot be spoken to; the message has no secret in it."""


def local_jmx_address(pid: int) -> str:
    """Return where this machine alone reaches the MBeans of a JVM; it opens that if it has not yet.

    The address holds what admits to them, so it belongs on no command line. Raises AttachError and OSError.
    """
    # Some versions say that it runs already, as an error: what counts is the address.
    said = ask(pid, "jcmd", "ManagementAgent.start_local")
    address = parse(_body(ask(pid, "agentProperties"))).get(_ADDRESS, "")
    if not address:
        raise AttachError(f"it does not open its MBeans to this machine ({' '.join(said.split())[:200] or 'no word'})")
    return address


def ask(pid: int, command: str, *arguments: str) -> str:
    """Return what a JVM answers, its status first. Raises AttachError and OSError."""
    with _connected(pid) as connection:
        words = [command, *arguments, *[""] * (_ARGUMENTS - len(arguments))]
        connection.sendall(b"1\0" + b"".join(word.encode() + b"\0" for word in words))
        answer, until = b"", time.monotonic() + SECONDS
        while chunk := connection.recv(65536):
            answer += chunk
            if len(answer) > _MOST or time.monotonic() > until:
                raise AttachError("its answer has no end")
    return answer.decode("utf-8", "replace")


def _body(answer: str) -> str:
    status, _end, body = answer.partition("\n")
    if status.strip() != "0":
        raise AttachError(f"it refuses to be asked ({' '.join(body.split())[:200] or status})")
    return body


@contextlib.contextmanager
def _connected(pid: int) -> Iterator[socket.socket]:
    """Connect to a JVM; it is asked to open its socket where it has none."""
    status = read_text(f"/proc/{pid}/status") or ""
    own = _OWN_NUMBERS.search(status)
    # The /tmp and the number that the process itself has: its unit or its container may give it others.
    place, number = f"/proc/{pid}/root/tmp", own[1] if own else str(pid)
    path = f"{place}/.java_pid{number}"
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(SECONDS)
        if not _reached(connection, path):
            _open(pid, status, f"{place}/.attach_pid{number}", connection, path)
        peer = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        if peer != pid:
            raise AttachError(f"{path} is not its own, process {peer} listens there")
        yield connection


def _open(pid: int, status: str, wish: str, connection: socket.socket, path: str) -> None:
    """Have a JVM open its socket, and connect to it."""
    caught = _CAUGHT.search(status)
    if not caught or not int(caught[1], 16) >> (signal.SIGQUIT - 1) & 1:
        raise AttachError("it does not take the signal by which a JVM lets others ask it (-Xrs)")
    with contextlib.suppress(FileExistsError):
        os.close(os.open(wish, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
    try:
        os.kill(pid, signal.SIGQUIT)
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            if _reached(connection, path):
                return
            time.sleep(_MOMENT)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(wish)
    raise AttachError(f"it did not open {path} within {SECONDS:g} s; it hangs, or has -XX:+DisableAttachMechanism")


def _reached(connection: socket.socket, path: str) -> bool:
    try:
        connection.connect(path)
    except (FileNotFoundError, ConnectionRefusedError):
        # The second one is what an earlier process of this number left behind.
        return False
    return True
