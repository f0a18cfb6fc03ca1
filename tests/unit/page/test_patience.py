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
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
import uvicorn
from starlette.types import ASGIApp

from page.patience import be_ready, counting
from page.refusals import BAD_REQUEST, NO_REQUEST, TOO_MANY, Refusals
from tests.support.cluster import free_port_base, until

REQUEST = b"GET / HTTP/1.1\r\nHost: page\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"


async def application(scope: Any, _receive: Any, send: Any) -> None:
    """Answer everything."""
    assert scope["type"] == "http"
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@contextmanager
def served(application: ASGIApp, refusals: Refusals, seconds: int = 60) -> Iterator[int]:
    """Serve an application with three places, where a request may take that long to come; gives the port."""
    port = free_port_base()
    few = type("Few", (counting(refusals),), {"most": 3})
    server = uvicorn.Server(
        uvicorn.Config(
            application, port=port, http=few, lifespan="off", log_config=None, ws="none", timeout_keep_alive=seconds
        )
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        until(lambda: server.started, "the server to listen", 60)
        yield port
    finally:
        server.should_exit = True
        thread.join(60)


def connected(stack: ExitStack, port: int, sent: bytes = b"") -> socket.socket:
    """A connection on which something was sent, taken by the server before the next one."""
    connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), 60))
    connection.sendall(sent)
    time.sleep(0.1)
    return connection


def test_where_no_place_is_left_the_connection_that_was_idle_for_longest_ends() -> None:
    refusals = Refusals()
    with served(application, refusals) as port, ExitStack() as stack:
        silent, kept = connected(stack, port), connected(stack, port, REQUEST)
        assert b" 204 " in kept.recv(1000)
        half = connected(stack, port, REQUEST)
        assert b" 204 " in half.recv(1000)
        half.sendall(REQUEST[:20])
        for number, idle in enumerate((silent, kept, half), 1):
            newest = connected(stack, port, REQUEST)
            assert b" 204 " in newest.recv(1000)
            assert ended(idle)
            assert refusals.total[TOO_MANY] == number
        newest.sendall(b"no HTTP\r\n\r\n")
        assert b" 400 " in newest.recv(1000)
        assert refusals.total[BAD_REQUEST] == 1


def test_a_request_under_way_keeps_its_place_however_long_it_takes() -> None:
    refusals, may_answer = Refusals(), threading.Event()

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        """Answer when it may."""
        while not may_answer.is_set():
            await asyncio.sleep(0.01)
        await application(scope, receive, send)

    with served(slow, refusals, seconds=1) as port, ExitStack() as stack:
        busy = [connected(stack, port, REQUEST) for _reader in range(3)]
        assert ended(connected(stack, port)), "where all are busy the new one has no place"
        time.sleep(1.5)
        may_answer.set()
        for reader in busy:
            assert b" 204 " in reader.recv(1000)
        assert b" 204 " in connected(stack, port, REQUEST).recv(1000), "the first of them gave its place away"
        assert ended(busy[0])
        assert refusals.total[TOO_MANY] == 2


@pytest.mark.parametrize("sent", [b"", REQUEST[:20], REQUEST, REQUEST + REQUEST[:20]])
def test_a_connection_ends_when_the_next_request_does_not_come_whole_in_time(sent: bytes) -> None:
    refusals = Refusals()
    with served(application, refusals, seconds=1) as port, ExitStack() as stack:
        connection = connected(stack, port, sent)
        if sent.startswith(REQUEST):
            assert b" 204 " in connection.recv(1000)
        time.sleep(0.5)
        if sent != REQUEST:
            connection.sendall(REQUEST[len(sent) % len(REQUEST) :][:1])
        assert ended(connection)
        assert refusals.total[NO_REQUEST] == (sent != REQUEST), "idle after an answer is no fault"


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
