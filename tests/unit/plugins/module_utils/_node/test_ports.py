"""Listeners are found in /proc, with real sockets."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node.ports import ports


@pytest.fixture(params=["127.0.0.1", "0.0.0.0", "::1"])
def listener(request: pytest.FixtureRequest) -> Iterator[int]:
    family = socket.AF_INET6 if ":" in request.param else socket.AF_INET
    with socket.socket(family) as opened:
        opened.bind((request.param, 0))
        opened.listen()
        yield opened.getsockname()[1]


def test_the_own_listener_is_ours(listener: int) -> None:
    found = ports([listener], os.getpid())[str(listener)]
    assert found is not None
    assert (found["pid"], found["ours"], found["note"]) == (os.getpid(), True, "")


def test_the_listener_of_another_process_is_named_with_its_command(listener: int) -> None:
    found = ports([listener], None)[str(listener)]
    assert found is not None
    assert (found["pid"], found["ours"]) == (os.getpid(), False)
    assert "pytest" in found["command"] or "python" in found["command"]


def test_a_port_without_a_listener_is_null() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        # Bound, not listening: nobody answers there.
        assert ports([port], None) == {str(port): None}


def test_a_connection_from_the_port_is_no_listener(listener: int) -> None:
    assert ports([], None) == {}
    assert list(ports([listener, 1], None)) == [str(listener), "1"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_without_rights_the_owner_is_unknown_and_it_says_so() -> None:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        opened.listen()
        port = opened.getsockname()[1]
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            opened.close()
            os.setgid(65534)
            os.setuid(65534)
            os.write(writing, repr(ports([port], None)[str(port)]).encode())
            os._exit(0)
        os.close(writing)
        os.waitpid(child, 0)
        text = os.read(reading, 1000).decode()
        os.close(reading)
    assert "'pid': None" in text
    assert "run as root" in text


def test_a_listener_of_a_child_process_is_found() -> None:
    program = (
        "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); "
        "print(s.getsockname()[1], flush=True); input()"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    try:
        port = int(child.stdout.readline())
        found = ports([port], child.pid)[str(port)]
        assert found is not None
        assert (found["pid"], found["ours"]) == (child.pid, True)
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
