"""A container that plays a machine: what a test asks it, and what it does to it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass


def docker(*words: str, timeout: float = 60) -> str:
    """What a docker command prints; AssertionError with its errors when it fails."""
    done = subprocess.run(["docker", *words], capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == 0, f"docker {' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout.strip()


def eventually(holds: Callable[[], bool], what: str, seconds: float) -> None:
    """Waits until something holds, for a bounded time."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"{what}: not within {seconds:.0f} s"
        time.sleep(1)


@dataclass(frozen=True)
class Machine:
    """A machine of a scenario: its name, address and groups, and the id of its Kafka node (none: no node)."""

    name: str
    address: str
    node_id: int | None
    groups: list[str]

    @property
    def is_broker(self) -> bool:
        """Whether a broker runs here."""
        return "kafka_brokers" in self.groups

    @property
    def is_node(self) -> bool:
        """Whether a Kafka node runs here."""
        return self.node_id is not None

    @property
    def service(self) -> str:
        """The systemd unit of its node."""
        return f"kafka-{self.name}.service"

    def run(self, *command: str, user: str = "root") -> str:
        """What a command prints that must succeed on the machine."""
        return docker("exec", "--user", user, self.name, *command)

    def fails(self, *command: str, user: str = "root") -> str:
        """The output of a command that must fail on the machine."""
        done = subprocess.run(
            ["docker", "exec", "--user", user, self.name, *command],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode != 0, f"{self.name}: {' '.join(command)} succeeded:\n{done.stdout}"
        return done.stdout + done.stderr

    def property(self, name: str) -> str:
        """A property of the node's unit, as systemd has it now."""
        return self.run("systemctl", "show", self.service, "--property", name, "--value")

    def pid(self) -> int:
        """The process of the node."""
        return int(self.property("MainPID"))

    def listening(self) -> set[int]:
        """The TCP ports that anything on the machine listens on, except on loopback."""
        lines = self.run("ss", "-Htln").splitlines()
        ends = [line.split()[3].rsplit(":", 1) for line in lines]
        return {int(port) for address, port in ends if not address.strip("[]").startswith(("127.", "::1"))}
