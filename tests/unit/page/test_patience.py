"""Connections that are too many: the real protocol of uvicorn, with few places."""

from __future__ import annotations

import asyncio
import resource
import socket
import ssl
import threading
import time
from asyncio import constants
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn

from page.patience import be_ready, counting
from page.refusals import BAD_REQUEST, TOO_MANY, Refusals
from tests.support.cluster import free_port_base, until

REQUEST = b"GET / HTTP/1.1\r\nHost: page\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"


async def application(scope: Any, _receive: Any, send: Any) -> None:
    """Answer everything."""
    assert scope["type"] == "http"
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def test_connections_beyond_the_bound_are_ended_and_others_are_answered() -> None:
    refusals, port = Refusals(), free_port_base()
    few = type("Few", (counting(refusals),), {"most": 3})
    server = uvicorn.Server(
        uvicorn.Config(application, port=port, http=few, lifespan="off", log_config=None, ws="none")
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    some: list[socket.socket] = []
    try:
        until(lambda: server.started, "the server to listen", 60)
        for _one in range(3):
            some.append(socket.create_connection(("127.0.0.1", port), 60))
        time.sleep(0.1)
        for _one in range(2):
            with socket.create_connection(("127.0.0.1", port), 60) as more:
                assert ended(more)
        some[0].sendall(REQUEST)
        assert b" 204 " in some[0].recv(1000)
        some[1].sendall(b"no HTTP\r\n\r\n")
        assert b" 400 " in some[1].recv(1000)
        assert (refusals.total[TOO_MANY], refusals.total[BAD_REQUEST]) == (2, 1)
        some.append(socket.create_connection(("127.0.0.1", port), 60))
        some[-1].sendall(REQUEST)
        assert b" 204 " in some[-1].recv(1000), "the place is free again"
    finally:
        for one in some:
            one.close()
        server.should_exit = True
        thread.join(60)


@pytest.fixture
def as_before() -> Iterator[None]:
    """Puts back what a process has once."""
    seconds, limit = constants.SSL_HANDSHAKE_TIMEOUT, resource.getrlimit(resource.RLIMIT_NOFILE)
    yield
    constants.SSL_HANDSHAKE_TIMEOUT = seconds
    resource.setrlimit(resource.RLIMIT_NOFILE, limit)


@pytest.mark.usefixtures("as_before")
def test_a_handshake_that_does_not_begin_is_ended_and_there_are_files_for_many() -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, hard))
    be_ready(0.2)
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert soft == (65_536 if hard == resource.RLIM_INFINITY else min(hard, 65_536))

    async def idle() -> bytes:
        """Connect, and send nothing."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server = await asyncio.start_server(lambda *_streams: None, "127.0.0.1", 0, ssl=context)
        async with server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            try:
                return await asyncio.wait_for(reader.read(1), 30)
            finally:
                writer.close()

    assert asyncio.run(idle()) == b""


def ended(connection: socket.socket) -> bool:
    """Whether the server ends a connection without an answer."""
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True
