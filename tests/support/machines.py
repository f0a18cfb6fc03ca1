"""A container that plays a machine: what a test asks it, and what it does to it."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.login import TICKETS, SaslLogin
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.kerberos import Kerberos
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.oauth import TokenIssuer

# What the roles open when an inventory says nothing.
LISTENERS = [
    {"purpose": "clients", "port": 9092},
    {"purpose": "brokers", "port": 9094},
    {"purpose": "controllers", "port": 9093},
]
ZOOKEEPER_PORTS = {"clients": 2181, "quorum": 2888, "election": 3888}
# What runs on a host -> the first part of its unit's name, and the file of its properties.
KINDS = {
    "kafka": ("kafka", "server.properties"),
    "zookeeper": ("zookeeper", "zoo.cfg"),
    "mirror": ("mirror-maker", "mm2.properties"),
}
SEARCHED = ["/etc", "/home", "/opt", "/root", "/run", "/srv", "/tmp", "/usr/local", "/var"]
DIRECTORIES = {
    "install": "/opt/kafka",
    "config": "/etc/kafka",
    "data": "/var/lib/kafka",
    "log": "/var/log/kafka",
    "run": "/run/kafka",
}


def docker(*words: str, given: str = "", timeout: float = 60) -> str:
    """What a docker command prints; AssertionError with its errors when it fails."""
    done = subprocess.run(["docker", *words], input=given, capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == 0, f"docker {' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout.strip()


def start_machine(name: str, image: str, label: str, *options: str) -> None:
    """Starts a container with what systemd needs as PID 1; molecule/shared/create.yml says why each option is there."""
    engine = json.loads(docker("info", "--format", "{{ json . }}"))
    armoured = any("apparmor" in option for option in engine.get("SecurityOptions") or ())
    docker(
        *("run", "--detach", "--name", name, "--label", label, *options),
        *(f"--cap-add={capability}" for capability in ("SYS_ADMIN", "NET_ADMIN", "SYS_PTRACE")),
        "--security-opt=seccomp=unconfined",
        *(["--security-opt=apparmor=unconfined"] if armoured else []),
        *(["--cgroupns=host"] if engine.get("CgroupVersion") == "2" else []),
        *("--volume", "/sys/fs/cgroup:/sys/fs/cgroup:rw", "--tmpfs", "/run", "--tmpfs", "/run/lock"),
        *("--stop-signal", "SIGRTMIN+3", image),
    )


def eventually(holds: Callable[[], bool], what: str, seconds: float) -> None:
    """Waits until something holds, for a bounded time."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"{what}: not within {seconds:.0f} s"
        time.sleep(1)


@dataclass(frozen=True)
class Machine:
    """A host of a scenario: its name, the machine it is on, the address of that, its groups, and the variables of the
    collection that its inventory sets. A host is one node at most; a machine may have several."""

    name: str
    machine: str
    address: str
    groups: list[str]
    variables: dict[str, Any]

    @property
    def is_broker(self) -> bool:
        """Whether a broker runs here."""
        return "kafka_brokers" in self.groups

    @property
    def is_controller(self) -> bool:
        """Whether a controller runs here."""
        return "kraft_controllers" in self.groups

    @property
    def is_server(self) -> bool:
        """Whether a server of ZooKeeper runs here."""
        return "zookeeper" in self.groups

    @property
    def is_node(self) -> bool:
        """Whether a node of Kafka or ZooKeeper runs here."""
        return self.is_broker or self.is_controller or self.is_server

    @property
    def is_mirror(self) -> bool:
        """Whether a MirrorMaker runs here."""
        return "mirror_makers" in self.groups

    @property
    def is_process(self) -> bool:
        """Whether any process of ours runs here."""
        return self.is_node or self.is_mirror

    @property
    def cluster(self) -> str:
        """The cluster that its node belongs to, or that its mirror writes to."""
        return str(self.get("kafka_cluster_name", "kafka"))

    def get(self, variable: str, default: Any) -> Any:
        """A variable of the inventory, or the default that the roles have for it."""
        return self.variables.get(variable, default)

    @property
    def mechanisms(self) -> list[str]:
        """The mechanisms by which clients log in at its node, first that of our own clients."""
        return list(self.get("kafka_sasl_mechanisms", ["SCRAM-SHA-512"]))

    @property
    def node_id(self) -> int:
        """The id of its node."""
        return int(self.variables["zookeeper_id" if self.is_server else "kafka_node_id"])

    @property
    def ports(self) -> dict[str, int]:
        """Purpose to port of the listeners that its process opens; a second one of a purpose has its name behind it."""
        if self.is_server:
            return {f"zookeeper_{kind}": port for kind, port in ZOOKEEPER_PORTS.items()}
        if self.is_mirror:
            return {"mirror_rest": self.get("mirror_maker_rest_port", 8443)}
        opens = ["clients", "brokers"] * self.is_broker + ["controllers"] * self.is_controller
        ports: dict[str, int] = {}
        for one in self.get("kafka_listeners", LISTENERS):
            if one["purpose"] in opens:
                ports[f"{one['purpose']} {one['name']}" if one["purpose"] in ports else one["purpose"]] = one["port"]
        if self.get("kafka_metrics_enabled", False):
            ports["metrics"] = self.get("kafka_metrics_port", 9404)
        return ports

    @property
    def user(self) -> str:
        """The user that its node runs as."""
        return str(self.get("kafka_user", "kafka"))

    @property
    def group(self) -> str:
        """The group of that user."""
        return str(self.get("kafka_group", "kafka"))

    @property
    def directories(self) -> tuple[str, ...]:
        """Where programs, configurations, data, logs and start records of its nodes are."""
        return tuple(self.get(f"kafka_{kind}_dir", default) for kind, default in DIRECTORIES.items())

    @property
    def service(self) -> str:
        """The systemd unit of its process."""
        return f"{self._kind[0]}-{self.name}.service"

    @property
    def _kind(self) -> tuple[str, str]:
        return KINDS["zookeeper" if self.is_server else "mirror" if self.is_mirror else "kafka"]

    @property
    def config_file(self) -> str:
        """The file of its process's properties."""
        return f"{self.directories[1]}/{self.name}/{self._kind[1]}"

    @property
    def disks(self) -> list[str]:
        """Where its process keeps data, the place of its identity first; a mirror keeps none."""
        if self.is_mirror:
            return []
        home = f"{self.directories[2]}/{self.name}"
        return [home, f"{home}-txlog"] if self.is_server else list(self.get("kafka_log_dirs", [home]))

    def run(self, *command: str, given: str = "", timeout: float = 60) -> str:
        """What a command prints that must succeed on the machine; it is given text on its standard input."""
        return docker("exec", "-i", self.machine, *command, given=given, timeout=timeout)

    def fails(self, *command: str) -> str:
        """The output of a command that must fail on the machine."""
        done = subprocess.run(
            ["docker", "exec", self.machine, *command],
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode != 0, f"{self.name}: {' '.join(command)} succeeded:\n{done.stdout}"
        return done.stdout + done.stderr

    def files_with(self, patterns: list[str]) -> list[str]:
        """Files of the machine that hold one of these texts, sorted.

        The kernel's own file systems, the packages of the distribution and our own look are left out.
        """
        # The patterns go in by standard input: grep's own arguments would be found by the watcher.
        look = ["grep", "-rlsaF", "-f", "-", "--devices=skip", *SEARCHED]
        given = "\n".join(patterns)
        return sorted(self.run("sh", "-c", f"{' '.join(look)} || test $? -le 2", given=given, timeout=180).splitlines())

    def property(self, name: str) -> str:
        """A property of the process's unit, as systemd has it now."""
        return self.run("systemctl", "show", self.service, "--property", name, "--value")

    def pid(self) -> int:
        """The number of its process."""
        return int(self.property("MainPID"))

    def listening(self) -> set[int]:
        """The TCP ports that anything on the machine listens on, except on loopback."""
        lines = self.run("ss", "-Htln").splitlines()
        ends = [line.split()[3].rsplit(":", 1) for line in lines]
        return {int(port) for address, port in ends if not address.strip("[]").startswith(("127.", "::1"))}


def login_at(broker: Machine, user: str, password: str, mechanism: str = "") -> SaslLogin:
    """How a user logs in at a broker, by the first of its mechanisms where none is named; with tickets the keytab is
    that of the administrator."""
    mechanism = mechanism or broker.mechanisms[0]
    if mechanism == TICKETS:
        return Kerberos.of(broker.get("kafka_kerberos", {})).login(user)
    return TokenIssuer.of(broker.get("kafka_oauth", {})).login(mechanism, user, password)


def administrator_of(nodes: Iterable[Machine], writes: bool = False) -> dict[str, Any]:
    """How the administrator of the cluster of these nodes connects, in the words of the modules.

    writes -- by librdkafka, which takes no tickets: then by the first mechanism behind these.
    """
    brokers = [machine for machine in nodes if machine.is_broker]
    connection = {"bootstrap_servers": [f"{machine.address}:{machine.ports['clients']}" for machine in brokers]}
    password = brokers[0].get("kafka_admin_password", "")
    if not password:
        return connection
    mechanism = next(name for name in brokers[0].mechanisms if not (writes and name == TICKETS))
    login = login_at(brokers[0], brokers[0].variables["kafka_admin_user"], password, mechanism)
    over = {"security_protocol": "SASL_SSL", "ssl_ca_location": brokers[0].variables["kafka_tls_ca_file"]}
    return {**connection, **over, **login.options()}


def client_settings(connection: dict[str, Any]) -> dict[str, Any]:
    """A connection of the modules in the words of librdkafka, without the addresses."""
    found = Connection.from_params(connection).confluent_config()
    del found["bootstrap.servers"]
    return found


#: Programs that need only Python, for machines that have nothing else.
PROGRAMS = Path(__file__).parents[2] / "molecule" / "shared" / "programs"
#: ask(machine, program, question): what one of them answers there; None is the control node.
Ask = Callable[[Machine | None, str, Any], str]
#: attempted(machine, question): how an attempt of attempt.py ends there.
Attempted = Callable[[Machine, dict[str, Any]], str]
