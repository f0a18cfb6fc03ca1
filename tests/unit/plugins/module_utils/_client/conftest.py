"""Servers for the tests of the client."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.certificates import Issued, issue
from tests.support.talks import Serve, Talk


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts a server of one talk, with TLS where there is a context; its address."""
    open_sockets: list[socket.socket] = []

    def start(talk: Talk, context: ssl.SSLContext | None = None) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        open_sockets.append(listener)

        def answer(plain: socket.socket) -> None:
            try:
                with plain if context is None else context.wrap_socket(plain, server_side=True) as connection:
                    talk(connection)
            except OSError:
                return  # The client went away.

        def accept() -> None:
            while True:
                try:
                    connection, _peer = listener.accept()
                except OSError:
                    return
                threading.Thread(target=answer, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        return f"127.0.0.1:{listener.getsockname()[1]}"

    yield start
    for listener in open_sockets:
        listener.close()


@pytest.fixture
def black_hole() -> Iterator[str]:
    """An address that answers nobody who connects; its port is free at other addresses of this machine."""
    with contextlib.ExitStack() as sockets:
        full = sockets.enter_context(socket.socket())
        full.bind(("127.0.0.2", 0))
        full.listen(0)
        for _one in range(8):
            waiting = sockets.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(full.getsockname())
        yield f"127.0.0.2:{full.getsockname()[1]}"


@pytest.fixture
def authority(tmp_path: Path) -> tuple[Issued, str]:
    """A CA and its file."""
    ca = issue("CA", ca=True)
    return ca, str(ca.write(tmp_path, "ca")[0])
