"""A cluster on this machine that the product's own playbooks install, for tests to use and to hurt."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.support.runs import heard, paused

ROOT = Path(__file__).resolve().parents[2]
BIN = ROOT / ".venv" / "bin"
RECAP = re.compile(r"^(\S+)\s+: (ok=.*)$", re.MULTILINE)


#: What every Java of a test is started with. It lives for minutes, in which Java's second compiler costs more than it
#: gains. Without that compiler Java shrinks its cache of compiled code from 240 MB to 48 MB, which a Spark session
#: that runs many plans fills ("Out of space in CodeCache for adapters"); so the size is given.
JVM_OPTIONS = ["-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m"]
# Those of nodes. Other scripts that are read as they were not written show wherever a second run changes nothing.
NODE_OPTIONS = [*JVM_OPTIONS, '"-Downer=Équipe 日本 кириллица"']
# Ranges of ports that tests of this process have taken, each held by a socket that ends with it.
_TAKEN: list[socket.socket] = []


def free_port_base(width: int = 100) -> int:
    """The first port of a range that no test of any process has taken, and of which no port is in use now.

    It is below the range that the kernel takes for clients.
    """
    bases = list(range(20000, 32000 - width, width))
    for base in random.sample(bases, len(bases)):
        if all(_is_free(port) for port in range(base, base + width)) and _taken(base):
            return base
    raise RuntimeError("no free range of ports between 20000 and 32000")


@contextlib.contextmanager
def ports_given_back() -> Iterator[None]:
    """Ranges taken inside are for other tests afterwards: there are 120, and more tests than that."""
    before = len(_TAKEN)
    try:
        yield
    finally:
        for claim in _TAKEN[before:]:
            claim.close()
        del _TAKEN[before:]


def _taken(base: int) -> bool:
    """Takes a range, whose ports a cluster opens much later, for this process; False when another has it."""
    claim = socket.socket(socket.AF_UNIX)
    try:
        # A name that begins so is in no file system (unix(7), abstract sockets).
        claim.bind(f"\0streamops-kafka-tests-{base}")
    except OSError:
        claim.close()
        return False
    _TAKEN.append(claim)
    return True


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


@dataclass(frozen=True)
class Run:
    """One run of ansible-playbook: exit status, what it printed, and the counters of its recap by host."""

    rc: int
    output: str
    recap: dict[str, dict[str, int]]

    @property
    def changed(self) -> int:
        """Changed tasks over all hosts."""
        return sum(counters["changed"] for counters in self.recap.values())

    def ok(self) -> Run:
        """This run, or an assertion error with the end of what it printed."""
        assert self.rc == 0, f"ansible-playbook ended with {self.rc}:\n{self.output[-6000:]}"
        return self


def said(run: Run) -> str:
    """Return what a run printed, in one line: Ansible wraps what is long."""
    return " ".join(run.output.split())


@dataclass
class Cluster:
    """An inventory of the product that runs on this machine, in a folder and a range of ports of its own."""

    inventory: Path
    directory: Path
    port_base: int
    variables: dict[str, Any] = field(default_factory=dict)
    #: Where ansible-playbook is, another one than that of this environment to test with another version.
    programs: Path = BIN

    def __post_init__(self) -> None:
        hosts = yaml.safe_load((self.inventory / "hosts.yml").read_text())
        self.identities: dict[str, int] = {
            host: identity
            for group in hosts.values()
            for host, variables in (group.get("hosts") or {}).items()
            if (identity := self.identity(variables or {})) is not None
        }

    def identity(self, variables: dict[str, Any]) -> int | None:
        """The number of a node, from which its ports follow; None for a host that is no node with a number."""
        return variables.get("kafka_node_id") or variables.get("zookeeper_id")

    @property
    def nodes(self) -> list[str]:
        """Inventory names of all nodes."""
        return list(self.identities)

    def port(self, node: str, offset: int = 0) -> int:
        """A port of a node: offset 0 for clients, 1 for brokers, 2 for controllers."""
        return self.port_base + 10 * self.identities[node] + offset

    @property
    def bootstrap_servers(self) -> list[str]:
        """host:port of every broker for clients."""
        return [f"127.0.0.1:{self.port(node)}" for node in self.nodes if not node.startswith("controller")]

    def command(self, playbook: str, *arguments: str, **variables: Any) -> list[str]:
        """The command line of a run; variables become an extra-vars file beside the cluster."""
        merged = {
            "kafka_local_dir": str(self.directory),
            "kafka_port_base": self.port_base,
            "spark_validation_enabled": False,
            # A node of a busy machine may take long to start; no test judges how long.
            "kafka_start_timeout": 400,
            "kafka_jvm_options": NODE_OPTIONS,
            **self.variables,
            **variables,
        }
        self.directory.mkdir(parents=True, exist_ok=True)
        extra = self.directory / "extra-vars.yml"
        extra.write_text(yaml.safe_dump(merged))
        return [
            str(self.programs / "ansible-playbook"),
            playbook,
            "-i",
            str(self.inventory),
            "-e",
            f"@{extra}",
            *arguments,
        ]

    def playbook(self, playbook: str = "site.yml", *arguments: str, **variables: Any) -> Run:
        """Runs a playbook to its end, however long it takes while it prints."""
        done = heard(self.command(playbook, *arguments, **variables), cwd=ROOT, env=environment(self.programs))
        return Run(done.returncode, done.stdout, parse_recap(done.stdout))

    def begin(self, playbook: str = "site.yml", *arguments: str, **variables: Any) -> subprocess.Popen[str]:
        """Starts a playbook in a session of its own, to be killed as a whole; its output has to be read."""
        return subprocess.Popen(
            self.command(playbook, *arguments, **variables),
            cwd=ROOT,
            env=environment(self.programs),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def start_files(self, node: str) -> str:
        """The text of all that a node would start with now."""
        current = self.directory / "config" / node / "current"
        return "".join(path.read_text() for path in sorted(current.iterdir()) if path.is_file())

    def is_proven(self, node: str) -> bool:
        """Whether a node has been whole with what it would start with now, and so has nothing else to go back to."""
        config = self.directory / "config" / node
        return (config / "proven").resolve() == (config / "current").resolve()

    def record(self, node: str) -> Path:
        """The start record of a node."""
        return self.directory / "run" / node / "started"

    def pid(self, node: str) -> int:
        """The process id in the start record of a node."""
        return int((self.record(node) / "pid").read_text())

    def pids(self) -> dict[str, int]:
        """The process ids of all nodes."""
        return {node: self.pid(node) for node in self.nodes}

    def has_started_again(self, node: str, before: int) -> bool:
        """Whether another process of the node runs; while one starts, its record is away for a moment."""
        try:
            return self.pid(node) != before and self.alive(node)
        except (OSError, ValueError):
            return False

    def alive(self, node: str) -> bool:
        """Whether the recorded process runs (and is no zombie)."""
        try:
            return _runs(self.pid(node))
        except (OSError, ValueError):
            return False

    def supervisorctl(self, *words: str) -> str:
        """What supervisorctl prints."""
        configuration = self.directory / "config" / "supervisor" / "supervisord.conf"
        done = subprocess.run(
            [str(BIN / "supervisorctl"), "-c", str(configuration), *words], capture_output=True, text=True, check=False
        )
        return done.stdout

    def counts_as_running(self, node: str) -> bool:
        """Whether supervisord counts the start of a node as a success (startsecs)."""
        return "RUNNING" in self.supervisorctl("status", self.service(node))

    def is_server(self, node: str) -> bool:
        """Whether a node is a server of ZooKeeper."""
        return node.startswith("zookeeper")

    def service(self, node: str) -> str:
        """The name of a node's service."""
        return f"{'zookeeper' if self.is_server(node) else 'kafka'}-{node}"

    def stop(self, node: str) -> None:
        """Stops a node in order; it stays stopped."""
        self.supervisorctl("stop", self.service(node))
        if self.alive(node):  # A supervisord that was killed left it behind.
            os.kill(self.pid(node), signal.SIGTERM)
        until(lambda: not self.alive(node), f"{node} to stop")

    def start(self, node: str) -> None:
        """Starts a stopped node, and waits until it listens."""
        self.supervisorctl("start", self.service(node))
        until(lambda: self.listens(node), f"{node} to listen", 180)

    def listens(self, node: str) -> bool:
        """Whether a node takes connections."""
        address = ("127.0.0.1", self.port(node, 2 if node.startswith("controller") else 0))
        with contextlib.suppress(OSError), socket.create_connection(address, 1):
            return True
        return False

    def kill(self, node: str) -> None:
        """SIGKILL; supervisord starts the node again by itself."""
        os.kill(self.pid(node), signal.SIGKILL)

    @contextlib.contextmanager
    def frozen(self, node: str) -> Iterator[None]:
        """A node that is stopped as by a debugger or a machine that hangs: it takes connections and never answers."""
        with paused(self.pid(node)):
            yield

    def kill_supervisord(self) -> None:
        """SIGKILL to the supervisor: from now on nobody restarts a node that dies."""
        pid = int((self.directory / "run" / "supervisord.pid").read_text())
        os.kill(pid, signal.SIGKILL)

    def tool(self, name: str, *words: str) -> str:
        """What one of Kafka's own operator tools prints, run against all brokers."""
        launcher = next((self.directory / "install" / "releases").glob(f"*/bin/{name}"))
        command = [str(launcher), "--bootstrap-server", ",".join(self.bootstrap_servers), *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def destroy(self) -> None:
        """Ends every process of this cluster at once: its data is thrown away anyway."""
        with contextlib.suppress(OSError, ValueError):
            supervisord = int((self.directory / "run" / "supervisord.pid").read_text())
            # A page or a canary too: without it they would go on.
            programs = _children(supervisord)
            self.kill_supervisord()
            for pid in programs:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        for node in self.nodes:
            if self.alive(node):
                self.kill(node)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def _children(parent: int) -> list[int]:
    """The processes that a process has started, those alone."""
    found = Path(f"/proc/{parent}/task/{parent}/children")
    return [int(pid) for pid in found.read_text().split()]


def parse_recap(output: str) -> dict[str, dict[str, int]]:
    """The counters that ansible-playbook prints at its end, by host."""
    end = output.rpartition("PLAY RECAP")[2]
    return {
        host: {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", counters)}
        for host, counters in RECAP.findall(end)
    }


def environment(programs: Path = BIN) -> dict[str, str]:
    """The environment of a run: the repository's own virtual environment and configuration."""
    return {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
        # A test may ask for any task by its name, also for one that has nothing to show.
        "ANSIBLE_STDOUT_CALLBACK": "ansible.builtin.default",
        "ANSIBLE_DISPLAY_SKIPPED_HOSTS": "false",
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_FORCE_COLOR": "0",
    }


def read_until(run: subprocess.Popen[str], said: str) -> str:
    """Reads what a run prints, up to the line that says this, and returns it; a task is named once it is done."""
    assert run.stdout is not None
    lines = []
    for line in run.stdout:
        lines.append(line)
        if said in line:
            return "".join(lines)
    raise AssertionError(f"the run ended and never said {said!r}: {''.join(lines)[-4000:]}")


def kill(run: subprocess.Popen[str]) -> None:
    """SIGKILL to all processes of a run that has a session of its own."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(run.pid, signal.SIGKILL)
    run.wait()


def until(condition: Any, what: str, timeout: float = 60) -> None:
    """Waits for a condition; an assertion error says what did not happen."""
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, f"waited {timeout} s for {what}"
        time.sleep(0.1)


def hosts_file(directory: Path, groups: dict[str, dict[str, dict[str, Any]]], variables: dict[str, Any]) -> Path:
    """Writes an inventory: groups of hosts with their variables, and variables of all."""
    (directory / "group_vars").mkdir(parents=True, exist_ok=True)
    (directory / "hosts.yml").write_text(yaml.safe_dump({name: {"hosts": hosts} for name, hosts in groups.items()}))
    (directory / "group_vars" / "all.yml").write_text(yaml.safe_dump(variables))
    return directory


def local_variables(inventory: str = "local") -> dict[str, Any]:
    """The variables that a shipped local inventory sets for all hosts, to build another one from."""
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "inventories" / inventory / "group_vars" / "all.yml").read_text())
    return loaded
