"""One job as AWX runs it: a container of the execution environment that gets all by standard input, and is removed.

AWX sends a private data directory to `ansible-runner worker` in a container without root, HOME or disk of its own, and
reads events from its output (its container groups do exactly so: awx/main/tasks/receptor.py). The project is mounted
for reading only, since what a job writes there is lost, and must not be needed.
"""

from __future__ import annotations

import base64
import io
import json
import re
import shlex
import subprocess
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import ansible_runner

from tests.support.awx_inventory import program
from tests.support.awx_words import Login, Template, Vault, prompts, variables, words
from tests.support.ssh_machines import LABEL, USER, Machines

ROOT = Path(__file__).resolve().parents[2]
IMAGE = "streamops-kafka-ee:checkout"
#: Where the image has the collection; that of this checkout is mounted over it, since an image takes minutes.
INSTALLED = "/usr/share/ansible/collections/ansible_collections/streamops/kafka"
#: What this machine trusts, so that Maven trusts it too where a proxy shows a certificate of its own.
TRUSTED = Path("/etc/ssl/certs")
#: Seconds after which a job is ended: no job of a test may take longer.
LONGEST = 1500
#: Answers of a survey for site.yml: a node of a busy machine may take long to start, and the proof takes minutes.
SITE = {"spark_validation_enabled": "no", "kafka_start_timeout": "400"}
#: The machine credential of the jobs.
LOGIN = Login(USER)
Event = Mapping[str, Any]


@dataclass(frozen=True)
class Job:
    """One job that ended: exit status (None when its container was killed), what it printed, its events, its stats."""

    rc: int | None
    events: list[Event] = field(repr=False)
    output: str = field(repr=False)

    @property
    def stats(self) -> Mapping[str, Any]:
        """What the recap counts: ok, changed, failures, dark... each by host."""
        return next((one["event_data"] for one in self.events if one["event"] == "playbook_on_stats"), {})

    @property
    def artifacts(self) -> Mapping[str, Any]:
        """What set_stats left for the next job of a workflow."""
        found: Mapping[str, Any] = self.stats.get("artifact_data", {})
        return found

    @property
    def changed(self) -> int:
        """Changed tasks over all hosts."""
        return sum(self.stats.get("changed", {}).values())

    def tasks(self) -> list[str]:
        """The names of the tasks that began, in their order."""
        return [one["event_data"]["task"] for one in self.events if one["event"] == "playbook_on_task_start"]

    @property
    def told(self) -> str:
        """What the job printed, without colours and line breaks."""
        return " ".join(re.sub(r"\x1b\[[\d;]*m", "", self.output).split())

    def refused(self) -> str:
        """What a job printed that had to fail before it changed anything."""
        assert self.rc not in (None, 0), self.output[-4000:]
        assert self.changed == 0, self.output[-4000:]
        return self.told

    def ok(self) -> Job:
        """This job, or an assertion error with the end of what it printed."""
        assert self.rc == 0, f"the job ended with {self.rc}:\n{self.output[-8000:]}"
        return self


def template(name: str) -> Template:
    """Return the job template of this name, without its prefix, or one for a playbook that only tests have."""
    if name.endswith(".yml"):
        return {"name": name, "playbook": name, "become_enabled": True}
    shipped = json.loads((ROOT / "awx" / "export.json").read_text())["job_templates"]
    return next(one for one in shipped if one["name"] == f"Kafka {name}")


@dataclass
class Jobs:
    """Job templates of one inventory: what AWX knows of its machines, the project that it has fetched, credentials."""

    machines: Machines
    groups: Mapping[str, Mapping[str, Mapping[str, Any]]]
    variables: dict[str, Any]
    project: Path
    collection: Path
    number: int = 0
    login: Login = LOGIN
    vaults: tuple[Vault, ...] = ()
    injected: Mapping[str, Any] = field(default_factory=dict)

    def inventory(self) -> str:
        """Return the script that AWX writes for an inventory; the order of hosts changes with every job, as there."""
        hosts = {host: dict(given) for group in self.groups.values() for host, given in group.items()}
        for host, given in hosts.items():
            given.setdefault("ansible_host", self.machines.addresses[host])
        said = {
            "all": {"vars": dict(self.variables), "children": list(self.groups)},
            **{name: {"hosts": self._as_found(group)} for name, group in self.groups.items()},
            "_meta": {"hostvars": {host: hosts[host] for host in self._as_found(hosts)}},
        }
        return program(said)

    def _as_found(self, hosts: Iterable[str]) -> list[str]:
        """Hosts in the order of AWX's database, which writes each of them anew when a job ends."""
        found = list(hosts)
        first = self.number % max(len(found), 1)
        return (found[first:] + found[:first])[:: -1 if self.number % 2 else 1]

    def run(self, name: str, *, limit: str = "", kill: Callable[[Event], bool] | None = None, **answers: str) -> Job:
        """Run a job template to its end, or until `kill` says so of an event.

        Args:
            name: Its name in awx/data/job_templates.yml without the prefix, or a playbook of the tests.
            limit: The limit of the template.
            kill: Whether the container is to be killed at this event.
            answers: Answers of a survey and other variables that a person gives, all of them text.
        """
        assert all(isinstance(answer, str) for answer in answers.values()), "the answers of a survey are text"
        self.number += 1
        launched = {**template(name), "limit": limit}
        with tempfile.TemporaryDirectory() as work:
            self._private_data(Path(work), variables(launched, answers, self.number))
            with tempfile.TemporaryFile() as payload:
                ansible_runner.run(
                    streamer="transmit", private_data_dir=work, _output=payload, playbook=launched["playbook"],
                    ident=str(self.number), settings={"suppress_ansible_output": True},
                    cmdline=shlex.join([*words(launched, self.login, self.vaults), *self._injected(Path(work))]),
                    passwords=prompts(self.login, self.vaults),
                )  # fmt: skip
                payload.seek(0)
                return self._work(payload, kill)

    def _private_data(self, directory: Path, extra: Mapping[str, Any]) -> None:
        """Write what AWX writes for a job; awx/main/tasks/jobs.py has the variables of the environment."""
        for name in ("inventory", "env"):
            (directory / name).mkdir()
        hosts = directory / "inventory" / "hosts"
        hosts.write_text(self.inventory())
        hosts.chmod(0o700)
        environment = {
            "ANSIBLE_FORCE_COLOR": "True",
            "ANSIBLE_HOST_KEY_CHECKING": "False",
            "ANSIBLE_INVENTORY_UNPARSED_FAILED": "True",
            "ANSIBLE_PARAMIKO_RECORD_HOST_KEYS": "False",
            "ANSIBLE_RETRY_FILES_ENABLED": "False",
            "ANSIBLE_SSH_CONTROL_PATH_DIR": "/runner/cp",
            "ANSIBLE_COLLECTIONS_PATH": "/runner/requirements_collections:~/.ansible/collections:"
            "/usr/share/ansible/collections",
            "AWX_HOST": "https://awx.example.com",
            "AWX_PRIVATE_DATA_DIR": "/runner",
            "JOB_ID": str(self.number),
        }
        (directory / "env" / "extravars").write_text(json.dumps(extra))
        (directory / "env" / "envvars").write_text(json.dumps(environment))
        key = directory / "env" / "ssh_key"
        key.write_text(self.machines.key)
        key.chmod(0o600)

    def _injected(self, directory: Path) -> list[str]:
        """Write the extra variables that credentials inject, and return the words that name them."""
        if not self.injected:
            return []
        (directory / "env" / "injected").write_text(json.dumps(self.injected))
        return ["-e", "@/runner/env/injected"]

    def _work(self, payload: IO[bytes], kill: Callable[[Event], bool] | None) -> Job:
        name = f"awx-job-{self.number}"
        command = [
            *("docker", "run", "--rm", "--interactive", "--name", name, "--label", LABEL, "--hostname", name),
            *("--user", "1000:0", "--network", self.machines.network),
            *("--volume", f"{self.project}:/runner/project:ro", "--volume", f"{self.collection}:{INSTALLED}:ro"),
            *("--volume", f"{TRUSTED}:{TRUSTED}:ro"),
            *(IMAGE, "ansible-runner", "worker", "--private-data-dir=/runner"),
        ]
        with subprocess.Popen(command, stdin=payload, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as worker:
            assert worker.stdout is not None
            clock = threading.Timer(LONGEST, _killed, [name])
            clock.start()
            try:
                return _read(worker.stdout, kill, lambda: _killed(name))
            finally:
                clock.cancel()
                _killed(name)
                worker.stdout.close()


def begins(task: str, host: str = "") -> Callable[[Event], bool]:
    """Make a judge of whether an event is the begin of a task on a host (on any, without its name)."""

    def judge(event: Event) -> bool:
        data = event.get("event_data", {})
        named = event["event"] == "runner_on_start" and task in data["task"]
        return named and host in ("", data["host"])

    return judge


def _killed(name: str) -> None:
    """Kill a container that may have ended by itself."""
    subprocess.run(["docker", "kill", name], capture_output=True, timeout=60, check=False)


def _read(stream: IO[bytes], kill: Callable[[Event], bool] | None, end: Callable[[], None]) -> Job:
    """Read what a worker writes until it ends; `end` is called where `kill` says so."""
    events: list[Event] = []
    printed: list[str] = []
    rc: int | None = None
    for said in _messages(stream):
        if isinstance(said, bytes):
            with zipfile.ZipFile(io.BytesIO(said)) as artifacts:
                rc = int(artifacts.read("rc")) if "rc" in artifacts.namelist() else rc
        elif "event" in said:
            events.append(said)
            printed.append(said.get("stdout") or "")
            if kill is not None and kill(said):
                end()
                kill = None
        elif "printed" in said or said.get("status") == "error":
            printed.append(str(said))
    return Job(rc, events, "\n".join(line for line in printed if line))


def _messages(stream: IO[bytes]) -> Iterator[dict[str, Any] | bytes]:
    """Yield the messages of ansible_runner/streaming.py: JSON lines, and archives in base 64 behind their size."""
    for line in stream:
        try:
            said = json.loads(line)
        except ValueError:
            said = {"printed": line.decode(errors="replace")}
        yield said
        if "zipfile" in said:
            yield base64.b64decode(stream.read((said["zipfile"] + 2) // 3 * 4))
