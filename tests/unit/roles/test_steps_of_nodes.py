"""Single steps of roles, with real processes that stand for nodes: what they must refuse, leave as it is, or undo."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.streamops.kafka.plugins.module_utils._node import adopted, adopted_look
from ansible_collections.streamops.kafka.plugins.module_utils._node.generations import CURRENT, FAILED, Generations
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.paths import socket_near
from ansible_collections.streamops.kafka.plugins.plugin_utils.run_names import place, started
from tests.support.cluster import BIN, ROOT, Cluster, Run, free_port_base, until

PROGRAM = "[program:{service}]\ncommand = /bin/sleep 600\nstartsecs = 0\n"


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Cluster]:
    """Three nodes of one supervisord, each a process that does nothing and has a start record."""
    cluster = Cluster(ROOT / "inventories" / "local", tmp_path / "c", free_port_base(), {"kafka_start_timeout": 1})
    supervisor, run = cluster.directory / "config" / "supervisor", cluster.directory / "run"
    supervisor.mkdir(parents=True)
    run.mkdir()
    socket = socket_near(f"{run}/supervisor.sock")
    (supervisor / "supervisord.conf").write_text(
        f"[supervisord]\nlogfile = {run}/supervisord.log\npidfile = {run}/supervisord.pid\n"
        f"[unix_http_server]\nfile = {socket}\n"
        "[rpcinterface:supervisor]\nsupervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface\n"
        f"[supervisorctl]\nserverurl = unix://{socket}\n"
        + "".join(PROGRAM.format(service=cluster.service(node)) for node in cluster.nodes)
    )
    os.spawnl(os.P_WAIT, str(BIN / "supervisord"), "supervisord", "-c", str(supervisor / "supervisord.conf"))
    try:
        until(lambda: len(pids(cluster)) == len(cluster.nodes), "supervisord to run all")
        for node, pid in pids(cluster).items():
            cluster.record(node).mkdir(parents=True)
            (cluster.record(node) / "pid").write_text(f"{pid}\n")
            (cluster.record(node) / "start_time").write_text(f"{started(pid)}\n")
        yield cluster
    finally:
        cluster.supervisorctl("shutdown")
        until(lambda: not any(map(cluster.alive, cluster.nodes)), "the nodes to end")


def pids(cluster: Cluster) -> dict[str, int]:
    """The processes that supervisord runs, by node."""
    found = re.findall(r"^kafka-(\w+) +RUNNING +pid (\d+),", cluster.supervisorctl("status"), re.MULTILINE)
    return {node: int(pid) for node, pid in found}


def writes(text: str) -> Callable[[str], object]:
    """How a generation is filled with one file."""
    return lambda at: Path(at, "server.properties").write_text(text)


def step(cluster: Cluster, tasks_from: str, rescued: bool = False, **variables: Any) -> Run:
    """Run one file of tasks of the roles on the first node; C(rescued) behind a task that failed."""
    role = {"name": "streamops.kafka._common", "tasks_from": tasks_from}
    task = {"name": "Run the step", "ansible.builtin.include_role": role}
    fail = {"name": "Fail", "ansible.builtin.fail": {"msg": "it did not come back"}}
    tasks = [{"name": "Fail, and run the step", "block": [fail], "rescue": [task]}] if rescued else [task]
    cluster.directory.mkdir(exist_ok=True)
    play = cluster.directory / "play.yml"
    play.write_text(yaml.safe_dump([{"hosts": "kafka1", "gather_facts": False, "tasks": tasks}]))
    return cluster.playbook(str(play), **variables)


def test_a_step_beside_a_run_that_has_the_lock_is_refused_and_leaves_the_lock(machine: Cluster) -> None:
    lock = hold(machine)
    before = lock.read_text()
    looked = step(machine, "lock/look.yml")
    assert looked.rc != 0
    assert "another run is changing it (site.yml), anna@north" in " ".join(looked.output.split())
    assert lock.read_text() == before


def hold(cluster: Cluster) -> Path:
    """The lock of the cluster, which another run has that lives as long as this test."""
    lock = cluster.directory / "config" / "local.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    run = f"{place()} {os.getpid()} {started(os.getpid())}"
    lock.write_text(json.dumps({"run": run, "owner": "anna@north", "purpose": "site.yml", "seconds": 5000}))
    return lock


@pytest.mark.parametrize(
    ("needs_no_machine", "is_held", "told"),
    [
        (False, False, "/proc/nowhere/local.lock: this run cannot keep it there (No such file or directory)"),
        (True, False, "This run needs no machine and goes on"),
        (True, True, "another run is changing it (site.yml), anna@north"),
    ],
)
def test_only_a_run_that_needs_no_machine_goes_on_where_the_lock_cannot_be_written(
    needs_no_machine: bool, is_held: bool, told: str, tmp_path: Path
) -> None:
    cluster = Cluster(ROOT / "inventories" / "local", tmp_path / "c", free_port_base())
    where = {} if is_held else {"kafka_config_dir": "/proc/nowhere"}
    if is_held:
        hold(cluster)
    run = step(cluster, "lock/take.yml", _common_needs_no_machine=needs_no_machine, **where)
    assert told in " ".join(run.output.split())
    assert (run.rc == 0) == (needs_no_machine and not is_held), run.output[-3000:]


def test_a_node_whose_gate_is_shut_is_not_stopped(machine: Cluster) -> None:
    # No node answers, so no stop can be known to be safe.
    out = step(machine, "out.yml", kafka_gate_timeout=0)
    assert out.rc != 0
    assert "Gate | Check that the node can be stopped" in out.output
    assert machine.alive("kafka1"), out.output[-3000:]
    assert (machine.directory / "config" / "local.lock").read_text() == ""


def test_supervisord_runs_on_for_the_nodes_of_others(machine: Cluster) -> None:
    before = machine.pids()
    machine.supervisorctl("stop", machine.service("kafka1"))
    ended = step(machine, "stop/machine.yml").ok()
    assert "supervisord runs on for kafka-kafka2, kafka-kafka3" in ended.output
    assert machine.alive("kafka2")
    assert machine.alive("kafka3")
    assert machine.pids() == before


def test_a_node_that_does_not_come_back_gets_the_files_with_which_it_was_whole(machine: Cluster) -> None:
    found = Generations(str(machine.directory / "config" / "kafka1"))
    (machine.directory / "config" / "kafka1").mkdir()
    for name in ("1", "2"):
        found.stage(name, writes(f"a={name}\n"))
        found.switch()
        if name == "1":
            found.prove()
    before = pids(machine)
    # As those who come here say it.
    callers = {"_common_back_others": "All other nodes are untouched.", "_common_back_waits": False}
    failed = step(machine, "roll/failed.yml", rescued=True, **callers)
    assert failed.rc != 0
    assert (found.name(CURRENT), found.name(FAILED)) == ("1", "2"), failed.output[-3000:]
    assert "it did not come back" in found.why_failed()
    assert "kafka1 IS NOT BACK" in failed.output, failed.output[-3000:]
    after = pids(machine)
    assert after.pop("kafka1") != before.pop("kafka1"), "it was started with them"
    assert after == before


class Old:
    """A process that something else started with the class of Kafka and a file of its own, and its claim."""

    def __init__(self, directory: Path, phase: str = adopted.CLAIMED) -> None:
        directory.mkdir(parents=True)
        self.properties = directory / "server.properties"
        self.properties.write_text("node.id=1\n")
        words = ["-c", "import time; time.sleep(600)", "kafka.Kafka", str(self.properties)]
        self.argv = (sys.executable, *words)
        self.claim: adopted.Claim = {
            "manager": "none",
            "main_class": "kafka.Kafka",
            "properties_file": str(self.properties),
            "name": "",
            "enabled": False,
            "control": "",
        }
        how = adopted.Start(self.argv, str(directory), {"PATH": os.environ["PATH"]})
        self.node = adopted.claimed(self.claim, how)
        self.text = adopted.dump(self.node).replace('"claimed"', json.dumps(phase))

    def start(self) -> int:
        """Start it, and return its number."""
        return subprocess.Popen(self.argv, start_new_session=True).pid

    @property
    def pid(self) -> int | None:
        """Return the number of its process, however it was started."""
        return adopted_look.old_process(self.node)

    def end(self) -> None:
        """End it, whoever started it."""
        if (pid := self.pid) is not None:
            os.kill(pid, 9)
        until(lambda: self.pid is None, "the old process to end")


@pytest.fixture
def old(tmp_path: Path) -> Iterator[Old]:
    """The old process of a node; it does not run yet."""
    process = Old(tmp_path / "old")
    yield process
    process.end()


def write_file(cluster: Cluster, old: Old, phase: str = adopted.CLAIMED) -> Path:
    """Write who ran kafka1 before."""
    path = cluster.directory / "config" / "kafka1" / adopted.FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(old.text.replace('"claimed"', json.dumps(phase)))
    return path


def known(phase: str, runs: str) -> dict[str, Any]:
    """Return what node_info told of a node that something else ran."""
    return {"phase": phase, "runs": runs, "service": "a process without a service ()", "logs_dir": ""}


def look(phase: str, runs: str) -> dict[str, Any]:
    """Return what the look of a run left behind, as far as these steps read it."""
    return {"__common_node_info": {"adopted": known(phase, runs), "process": {"running": True}, "restart_reasons": []}}


def test_the_old_service_stops_and_starts_its_node(machine: Cluster, old: Old) -> None:
    write_file(machine, old)
    began = old.start()
    before = pids(machine)
    step(machine, "service/adopted/stop.yml").ok()
    assert old.pid is None
    step(machine, "service/adopted/stop.yml").ok()
    step(machine, "service/adopted/start.yml").ok()
    assert old.pid not in (None, began)
    assert pids(machine) == before, "ours was not touched"


def test_a_node_that_was_not_whole_since_it_was_taken_over_goes_to_its_old_service(machine: Cluster, old: Old) -> None:
    write_file(machine, old)
    before = pids(machine)
    callers = {"_common_back_others": "All other nodes are untouched.", "_common_back_waits": False}
    failed = step(machine, "roll/failed.yml", rescued=True, **callers, **look("claimed", "old"))
    assert failed.rc != 0
    # Nothing listens here.
    assert "kafka1 IS NOT BACK" in failed.output, failed.output[-3000:]
    assert "it did not come back" in failed.output
    assert old.pid is not None, failed.output[-3000:]
    assert pids(machine) == {node: pid for node, pid in before.items() if node != "kafka1"}


def test_a_node_that_could_not_be_given_back_is_ours_again(machine: Cluster, old: Old) -> None:
    write_file(machine, old, "returned")
    old.start()
    machine.supervisorctl("stop", machine.service("kafka1"))
    callers = {"_common_back_others": "", "_common_back_waits": False, "_common_gives_back": True}
    failed = step(machine, "roll/failed.yml", rescued=True, **callers, **look("returned", "ours"))
    assert failed.rc != 0
    assert old.pid is None, failed.output[-3000:]
    assert "kafka1" in pids(machine), failed.output[-3000:]


def test_a_node_that_was_taken_over_whole_does_not_go_to_its_old_service(machine: Cluster, old: Old) -> None:
    write_file(machine, old, "taken")
    callers = {"_common_back_others": "", "_common_back_waits": False}
    failed = step(machine, "roll/failed.yml", rescued=True, **callers, **look("taken", "ours"))
    assert failed.rc != 0
    assert "There are no start files to go back to" in " ".join(failed.output.split())
    assert old.pid is None
    assert "kafka1" in pids(machine)


def test_a_stop_for_good_stops_what_runs(machine: Cluster, old: Old) -> None:
    write_file(machine, old)
    old.start()
    # Ours ran before; its start record is left.
    with subprocess.Popen(["true"]) as ended:
        (machine.record("kafka1") / "pid").write_text(f"{ended.pid}\n")
    step(machine, "stop.yml").ok()
    assert old.pid is None


def test_a_node_that_is_given_back_is_marked_before_anything_stops(machine: Cluster, old: Old) -> None:
    path = write_file(machine, old, "taken")
    path.chmod(0o644)
    step(machine, "adopt_back.yml").ok()
    assert json.loads(path.read_text())["phase"] == "returned"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert old.pid is None
    assert "kafka1" in pids(machine), "it waits for its turn"


def test_a_node_without_the_file_cannot_be_given_back(machine: Cluster) -> None:
    refused = step(machine, "adopt_back.yml")
    assert refused.rc != 0
    assert "The nodes of this inventory cannot be given back" in " ".join(refused.output.split())
    assert "kafka1" in pids(machine)


def test_who_ran_a_node_is_forgotten_with_a_confirmation_alone(machine: Cluster, old: Old) -> None:
    path = write_file(machine, old, "taken")
    refused = step(machine, "adopt_finish.yml", kafka_adopt_confirmed="back")
    assert refused.rc != 0
    assert "no node can be given back to the service that ran it before" in " ".join(refused.output.split())
    assert path.exists()
    step(machine, "adopt_finish.yml", kafka_adopt_confirmed="finish").ok()
    assert not path.exists()
    assert old.properties.exists()
