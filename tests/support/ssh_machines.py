"""Machines for jobs of AWX: containers with systemd and an address of their own, reached by SSH and nothing else."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.support.machines import docker, start_machine

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "tests" / "integration" / "awx"
IMAGE = "streamops-kafka-ssh:bookworm"
#: The user that AWX logs in as, and what marks all that these tests made at the engine.
USER = "deploy"
LABEL = "streamops.awx"
#: Neither of the networks of the scenarios (CONTRIBUTING.md).
PREFIX = os.environ.get("STREAMOPS_AWX_NETWORK", "10.213.66")


@dataclass(frozen=True)
class Machines:
    """The machines of one test: the network of the engine, names with addresses, and the key that opens them."""

    network: str
    addresses: Mapping[str, str]
    key: str

    def run(self, machine: str, *command: str, given: str = "", timeout: float = 60) -> str:
        """Return what a command prints that must succeed on a machine, as its root."""
        return docker("exec", "-i", container(machine), *command, given=given, timeout=timeout)


def container(machine: str) -> str:
    """Return the engine's name of a machine."""
    return f"awx-{machine}"


@contextmanager
def ssh_machines(*names: str) -> Iterator[Machines]:
    """Start machines by these names; they are gone afterwards, and so is what an earlier test that was cut left."""
    network = LABEL
    remove_all()
    docker("build", "--quiet", "--network", "host", "--tag", IMAGE, str(RECIPE), timeout=300)
    docker("network", "create", "--subnet", f"{PREFIX}.0/24", "--label", LABEL, network)
    try:
        addresses = {name: f"{PREFIX}.{11 + number}" for number, name in enumerate(names)}
        private, public = key_pair()
        for name, address in addresses.items():
            start_machine(container(name), IMAGE, LABEL, "--hostname", name, "--network", network, "--ip", address)
        for name in names:
            _open(name, public)
        yield Machines(network, addresses, private)
    finally:
        remove_all()


def _open(name: str, public: str) -> None:
    """Wait until a machine has started, and let the key in."""
    path = f"/home/{USER}/.ssh/authorized_keys"
    put = f"install -o {USER} -g {USER} -m 0600 /dev/stdin {path}"
    docker("exec", "-i", container(name), "sh", "-c", put, given=public)
    deadline = time.monotonic() + 60
    while not _listens(name):
        assert time.monotonic() < deadline, f"{name}: no sshd listens after 60 s"
        time.sleep(0.2)


def _listens(name: str) -> bool:
    words = ["docker", "exec", container(name), "ss", "-Hltn", "sport = :22"]
    return bool(subprocess.run(words, capture_output=True, timeout=30, check=False).stdout)


def key_pair() -> tuple[str, str]:
    """Return a new private key and its public one, in the words of OpenSSH."""
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return private.decode(), f"{public.decode()} awx\n"


def remove_all() -> None:
    """Remove every container and network with the label of these tests."""
    for kind, ends in (("ps --all", "rm --force --volumes"), ("network ls", "network rm")):
        found = docker(*kind.split(), "--quiet", "--filter", f"label={LABEL}").split()
        if found:
            docker(*ends.split(), *found)
