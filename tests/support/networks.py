# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts that are network namespaces of this kernel, cabled to one machine under test; only root can make them."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_TIMEOUT = 60  # seconds for any one command, far more than it takes

LISTENER = """
import socket, sys, threading
def serve(one):
    while True:
        connection, _ = one.accept()
        threading.Thread(target=echo, args=(connection,), daemon=True).start()
def echo(connection):
    try:
        while True:
            data = connection.recv(64)
            if not data:
                return
            connection.sendall(data)
    except OSError:
        pass
for port in map(int, sys.argv[1:]):
    one = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True)
    threading.Thread(target=serve, args=(one,), daemon=True).start()
print("listening", flush=True)
sys.stdin.read()
"""
CONNECT = """
import socket, sys
try:
    with socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=3) as one:
        one.sendall(b"hello")
        print("open" if one.recv(5) == b"hello" else "closed")
except ConnectionRefusedError:
    print("refused")
except TimeoutError:
    print("no answer")
"""
STAY = """
import socket, sys
one = socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=5)
print("connected", flush=True)
for line in sys.stdin:
    try:
        one.sendall(line.encode())
        print("answered" if one.recv(64) else "closed", flush=True)
    except ConnectionError:
        print("reset", flush=True)
    except TimeoutError:
        print("no answer", flush=True)
"""
RUN_MODULE = """
import json, sys
from tests.support.modules import run_module
print(json.dumps(run_module(**json.load(sys.stdin))))
"""


def missing() -> str | None:
    """Why no such network can be made here; None when it can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    lacking = [program for program in ("nft", "ip", "unshare") if shutil.which(program) is None]
    if lacking:
        return f"not installed: {', '.join(lacking)}"
    tried = subprocess.run(
        ["unshare", "--net", "nft", "add", "table", "inet", "probe"], capture_output=True, text=True, check=False
    )
    return None if tried.returncode == 0 else f"this kernel refuses nftables in a namespace: {tried.stderr.strip()}"


class Namespace:
    """One host."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.prefix = ["ip", "netns", "exec", name]

    def run(self, *command: str, given: str | None = None) -> str:
        """Run a command in it and return what it prints; AssertionError when it fails."""
        done = subprocess.run(
            [*self.prefix, *command],
            input=given,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            check=False,
            cwd=ROOT,
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def connect(self, address: str, port: int) -> str:
        """What a client sees that connects from here: open, refused or no answer."""
        return self.run(sys.executable, "-c", CONNECT, address, str(port)).strip()

    def module(self, name: str, args: dict[str, Any], **how: Any) -> dict[str, Any]:
        """The result of a module of the collection that runs here."""
        printed = self.run(sys.executable, "-c", RUN_MODULE, given=json.dumps({"name": name, "args": args, **how}))
        result: dict[str, Any] = json.loads(printed)
        return result

    @contextlib.contextmanager
    def process(self, code: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
        """A Python program that runs here for the time of the block; its first line says that it is ready."""
        command = [*self.prefix, sys.executable, "-c", code, *arguments]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            assert process.stdout.readline().strip(), "the program did not start"
            yield process
        finally:
            process.kill()
            process.communicate()


@contextlib.contextmanager
def network(hosts: dict[str, list[str]], listening: list[int]) -> Iterator[dict[str, Namespace]]:
    """A namespace for each host with its addresses (each with its length), on one cable with all the others.

    The first host is the machine under test, which listens on these ports. All is gone at the end of the block.
    """
    tag = uuid.uuid4().hex[:6]
    made = {name: Namespace(f"so{tag}-{name}") for name in hosts}
    cable = Namespace(f"so{tag}-cable")
    try:
        _ip("netns", "add", cable.name)
        cable.run("ip", "link", "add", "cable", "type", "bridge")
        cable.run("ip", "link", "set", "cable", "up")
        for index, (name, addresses) in enumerate(hosts.items()):
            _attach(made[name], cable, f"port{index}", addresses)
        machine = next(iter(made.values()))
        with machine.process(LISTENER, *map(str, listening)):
            yield made
    finally:
        for namespace in (*made.values(), cable):
            subprocess.run(["ip", "netns", "delete", namespace.name], capture_output=True, check=False)


def _attach(host: Namespace, cable: Namespace, port: str, addresses: list[str]) -> None:
    _ip("netns", "add", host.name)
    # Without duplicate address detection an IPv6 address serves at once.
    host.run("ip", "link", "set", "lo", "up")
    _ip("link", "add", port, "netns", cable.name, "type", "veth", "peer", "name", "eth0", "netns", host.name)
    cable.run("ip", "link", "set", port, "master", "cable", "up")
    for address in addresses:
        host.run("ip", "address", "add", address, "dev", "eth0", *(["nodad"] if ":" in address else []))
    host.run("ip", "link", "set", "eth0", "up")


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, timeout=_TIMEOUT)
