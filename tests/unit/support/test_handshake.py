# SPDX-License-Identifier: GPL-3.0-or-later
"""The program that tests ask on machines for a TLS handshake tells a refusal from a port without a server."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.certificates import Issued, issue
from tests.support.machines import PROGRAMS


@pytest.fixture(scope="module")
def ca() -> Issued:
    """A CA."""
    return issue("CA of the tests", ca=True)


def asked(ca: Issued, server: socket.socket, **more: Any) -> str:
    """What the program says of a server on this machine."""
    given = {"address": "127.0.0.1", "port": server.getsockname()[1], "ca": ca.pem().decode(), **more}
    command = [sys.executable, str(PROGRAMS / "handshake.py")]
    done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def serving(answer: Callable[[socket.socket], None]) -> socket.socket:
    """A server that treats one connection so; OSError of it is the other end's business."""
    server = socket.create_server(("127.0.0.1", 0))

    def one() -> None:
        try:
            answer(server.accept()[0])
        except OSError:
            pass
        finally:
            server.close()

    threading.Thread(target=one, daemon=True).start()
    return server


def test_a_port_without_a_server_is_unreachable(ca: Issued) -> None:
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    with server:
        assert asked(ca, server).startswith("unreachable")


def test_a_server_that_says_nothing_is_silent(ca: Issued) -> None:
    done = threading.Event()

    def hold(connection: socket.socket) -> None:
        done.wait(120)
        connection.close()

    try:
        assert asked(ca, serving(hold)).startswith("silent")
    finally:
        done.set()


def test_a_server_that_ends_the_connection_refuses(ca: Issued) -> None:
    assert asked(ca, serving(lambda connection: connection.close())).startswith("refused")


@pytest.mark.parametrize(
    ("names", "version", "said"),
    [
        (("127.0.0.1",), "TLSv1_3", "agreed TLSv1.3"),
        (("127.0.0.1",), "TLSv1_2", "refused"),
        (("10.99.99.99",), "TLSv1_3", "distrusted"),
    ],
)
def test_a_server_with_tls_1_3_alone(
    ca: Issued, tmp_path: Path, names: tuple[str, ...], version: str, said: str
) -> None:
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.minimum_version = ssl.TLSVersion.TLSv1_3
    own.load_cert_chain(*issue("server", by=ca, names=names).write(tmp_path, "server"))

    def shake(connection: socket.socket) -> None:
        with own.wrap_socket(connection, server_side=True) as secure:
            secure.recv(4)
            secure.sendall(b"x")

    assert asked(ca, serving(shake), version=version).startswith(said)
