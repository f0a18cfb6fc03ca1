"""A changed firewall in a real kernel: who puts the previous table back, and what loads at boot in each case."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._firewall.text import table_text
from tests.support.cluster import BIN, ROOT, Run, environment, parse_recap, until
from tests.support.networks import Namespace, missing, network

MISSING = missing()
# In continuous integration nobody would see a skip: there the tests fail where they cannot run.
pytestmark = pytest.mark.skipif(MISSING is not None and not os.environ.get("CI"), reason=f"real kernel: {MISSING}")

MODULE = "streamops.kafka.firewall"
KAFKA1, KAFKA2, KAFKA3 = "10.78.0.1", "10.78.0.2", "10.78.0.3"
# Peers connect to the first address of a machine; kafka3 has a second one, which it does not connect from.
HOSTS = {"kafka1": [f"{KAFKA1}/24"], "kafka2": [f"{KAFKA2}/24"], "kafka3": [f"{KAFKA3}/24", "10.78.0.33/24"]}
CLIENT, INTER, CONTROLLER = 9092, 9094, 9093
PORTS = [CLIENT, INTER, CONTROLLER]
RULE = {"port": INTER, "address": "", "purpose": "brokers", "comment": "kafka1 INTER"}
FIRST: list[dict[str, Any]] = [{**RULE, "sources": [KAFKA2, KAFKA3]}]
CHANGED: list[dict[str, Any]] = [{**RULE, "sources": [KAFKA2]}]
WRONG: list[dict[str, Any]] = [{**RULE, "sources": ["10.78.0.33"]}]


@pytest.fixture(scope="module")
def cabled() -> Iterator[dict[str, Namespace]]:
    with network(HOSTS, PORTS) as made:
        yield made


@pytest.fixture
def machines(cabled: dict[str, Namespace]) -> dict[str, Namespace]:
    """All machines, none of which filters anything yet."""
    for one in cabled.values():
        one.run("nft", "flush", "ruleset")
    return cabled


@pytest.fixture
def module(machines: dict[str, Namespace], tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Runs the module on kafka1."""

    def run(rules: list[dict[str, Any]], state: str, *, fails: bool = False, **more: Any) -> dict[str, Any]:
        check = more.pop("check", False)
        places = {"path": str(tmp_path / "firewall.nft"), "trial_directory": str(tmp_path / "trial")}
        result = machines["kafka1"].module(MODULE, {"rules": rules, "state": state, **places, **more}, check=check)
        assert result["failed"] == fails, result
        return result

    return run


@pytest.fixture
def table(machines: dict[str, Namespace]) -> Callable[[], str]:
    """The rules of kafka1 as its kernel has them; empty without a table."""
    return lambda: machines["kafka1"].run("nft", "--stateless", "list", "ruleset")


def ended(directory: Path) -> bool:
    """Whether no trial is left."""
    return not list((directory / "trial").iterdir())


def test_the_first_table_goes_away_when_nothing_confirms_it(module: Any, table: Any, tmp_path: Path) -> None:
    assert module(FIRST, "trial", trial_seconds=5)["changed"]
    assert str(INTER) in table()
    assert not (tmp_path / "firewall.nft").exists(), "a reboot would load a table that nothing has proven"
    until(lambda: table() == "", "no table")
    until(lambda: ended(tmp_path), "the end of the trial")
    told = module(FIRST, "confirmed", fails=True)["msg"]
    assert "not confirmed in time" in told
    assert not (tmp_path / "firewall.nft").exists()


def test_the_previous_table_comes_back_as_it_was(module: Any, table: Any, machines: Any, tmp_path: Path) -> None:
    module(FIRST, "present")
    machines["kafka1"].run("nft", "insert", "rule", "inet", "streamops_kafka", f"port_{INTER}", "accept")
    before, file = table(), (tmp_path / "firewall.nft").read_text()
    module(CHANGED, "trial", trial_seconds=5)
    assert table() != before
    until(lambda: table() == before, "the previous table")
    assert (tmp_path / "firewall.nft").read_text() == file


def test_a_confirmed_table_stays_and_loads_at_boot(module: Any, table: Any, tmp_path: Path) -> None:
    module(FIRST, "present")
    assert module(CHANGED, "trial", trial_seconds=8)["listening"] == [INTER]
    loaded = table()
    assert (tmp_path / "firewall.nft").read_text() == table_text(FIRST)
    assert module(CHANGED, "confirmed")["changed"]
    assert (tmp_path / "firewall.nft").read_text() == table_text(CHANGED)
    assert ended(tmp_path)
    time.sleep(8)
    assert table() == loaded
    assert not module(CHANGED, "trial")["changed"]
    assert ended(tmp_path), "a run without a change began a trial"


def test_a_table_is_put_back_at_once_when_a_run_asks_for_it(module: Any, table: Any, tmp_path: Path) -> None:
    module(FIRST, "present")
    before = table()
    module(CHANGED, "trial")
    assert module([], "reverted")["changed"]
    assert table() == before
    assert ended(tmp_path)
    assert (tmp_path / "firewall.nft").read_text() == table_text(FIRST)
    assert not module([], "reverted")["changed"]


@pytest.mark.parametrize(
    "wanted", [CHANGED, *(pytest.param(other, marks=pytest.mark.full) for other in (FIRST, WRONG))]
)
def test_a_run_after_one_that_broke_off_takes_over_its_trial(
    module: Any, table: Any, tmp_path: Path, wanted: list[dict[str, Any]]
) -> None:
    module(FIRST, "present")
    before = table()
    module(CHANGED, "trial", trial_seconds=60)
    assert module(wanted, "present", check=True)["changed"], "nothing would keep the table from going away"
    module(wanted, "trial", trial_seconds=2)
    until(lambda: table() == before, "the table of before both runs")
    until(lambda: ended(tmp_path), "the end of the trial")
    if module(wanted, "trial", trial_seconds=60)["changed"]:
        module(wanted, "confirmed")
    assert (tmp_path / "firewall.nft").read_text() == table_text(wanted)


def test_a_firewall_that_is_switched_off_ends_a_trial(module: Any, table: Any, tmp_path: Path) -> None:
    module(FIRST, "trial", trial_seconds=60)
    assert module([], "present")["changed"]
    assert table() == ""
    assert ended(tmp_path)


def test_check_mode_starts_and_ends_no_trial(module: Any, table: Any, tmp_path: Path) -> None:
    assert module(FIRST, "trial", check=True)["changed"]
    assert table() == ""
    assert not (tmp_path / "trial").exists()
    module(FIRST, "trial", trial_seconds=60)
    loaded = table()
    assert not module(FIRST, "confirmed", check=True)["changed"]
    assert not module([], "reverted", check=True)["changed"]
    assert table() == loaded
    assert not ended(tmp_path)
    module([], "reverted")


def test_another_table_that_replaced_the_one_on_trial_is_not_confirmed(
    module: Any, machines: Any, tmp_path: Path
) -> None:
    module(FIRST, "trial", trial_seconds=60)
    machines["kafka1"].run("nft", "flush", "ruleset")
    assert "another program replaced it" in module(FIRST, "confirmed", fails=True)["msg"]
    assert not (tmp_path / "firewall.nft").exists()
    module([], "reverted")


def test_what_nft_refuses_on_trial_leaves_the_previous_table(module: Any, table: Any, tmp_path: Path) -> None:
    module(FIRST, "present")
    before = table()
    assert "Nothing was changed" in module([{"port": 70000, "sources": []}], "trial", fails=True)["msg"]
    assert table() == before
    assert not (tmp_path / "trial").exists()


def test_peers_tell_which_ports_take_no_connection(machines: dict[str, Namespace]) -> None:
    machines["kafka1"].run("nft", table_text(WRONG))
    tries = [{"host": "kafka1", "address": KAFKA1, "port": port, "purpose": "brokers"} for port in (INTER, CLIENT)]
    tried = machines["kafka2"].module("streamops.kafka.firewall_proof", {"tries": [*tries, {**tries[0], "port": 9}]})
    errors = [(one["port"], one["error"]) for one in tried["unreached"]]
    assert errors == [(INTER, "Connection refused"), (9, "Connection refused")]


# Runs what Ansible runs on a host in its namespace.
CONNECTION = """
DOCUMENTATION = "name: namespace\\noptions: {name: {vars: [{name: ansible_namespace}]}}"
from ansible.plugins.connection.local import Connection as Local
class Connection(Local):
    transport = "namespace"
    def exec_command(self, cmd, in_data=None, sudoable=True):
        return super().exec_command(f"ip netns exec {self.get_option('name')} {cmd}", in_data, sudoable)
"""
PLAY = f"""
- hosts: kafka_brokers
  gather_facts: false
  any_errors_fatal: true
  module_defaults:
    {MODULE}: {{path: "{{{{ place }}}}/firewall.nft", trial_directory: "{{{{ place }}}}/trial"}}
  vars:
    place: "{{{{ inventory_dir }}}}/{{{{ inventory_hostname }}}}"
  tasks:
    - name: Bring the firewalls
      ansible.builtin.include_role: {{name: streamops.kafka._common, tasks_from: service/systemd/firewall_table.yml}}
"""


@pytest.fixture
def play(machines: dict[str, Namespace], tmp_path: Path) -> Callable[..., Run]:
    """Brings the firewalls of three combined nodes that are the machines."""

    def run(*words: str, **variables: Any) -> Run:
        hosts = {
            name: {
                "ansible_host": HOSTS[name][0].split("/")[0],
                "ansible_connection": "namespace",
                "ansible_namespace": machine.name,
                "ansible_python_interpreter": sys.executable,
                "kafka_node_id": int(name[-1]),
            }
            for name, machine in machines.items()
        }
        hosts["kafka3"].update(variables.pop("kafka3", {}))
        groups = {"kafka_brokers": {"hosts": hosts}, "kraft_controllers": {"hosts": {name: {} for name in hosts}}}
        common = {"kafka_firewall": True, "kafka_firewall_admin_addresses": ["10.78.0.9"], **variables}
        (tmp_path / "hosts.json").write_text(json.dumps({"all": {"vars": common, "children": groups}}))
        (tmp_path / "play.yml").write_text(PLAY)
        (tmp_path / "connection_plugins").mkdir(exist_ok=True)
        (tmp_path / "connection_plugins" / "namespace.py").write_text(CONNECTION)
        command = [
            str(BIN / "ansible-playbook"),
            "-i",
            str(tmp_path / "hosts.json"),
            str(tmp_path / "play.yml"),
            *words,
        ]
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return Run(done.returncode, done.stdout, parse_recap(done.stdout))

    return run


def files(directory: Path) -> list[str]:
    """The machines that load a table at boot."""
    return sorted(path.parent.name for path in directory.glob("*/firewall.nft"))


def test_one_machine_is_proven_before_the_others_which_follow(
    play: Any, machines: dict[str, Namespace], tmp_path: Path
) -> None:
    first = play().ok()
    assert files(tmp_path) == ["kafka1", "kafka2", "kafka3"]
    assert first.output.count("Load the table on trial]") == 2
    assert first.output.index("changed: [kafka1]") < first.output.index("changed: [kafka2]")
    assert not list(tmp_path.glob("*/trial/*"))
    assert machines["kafka2"].connect(KAFKA1, INTER) == "open"
    again = play().ok()
    assert again.changed == 0
    assert "on trial" not in again.output, "a run without a change proves nothing"
    planned = play("--check", "--diff", kafka_firewall_networks={"clients": ["10.78.0.0/24"]}).ok()
    assert "10.78.0.0/24" in planned.output
    assert planned.changed == 3
    assert play(kafka_firewall=False).ok().changed == 3
    assert files(tmp_path) == []


def test_a_peer_that_is_locked_out_is_named_and_the_others_are_left_untouched(
    play: Any, machines: dict[str, Namespace], tmp_path: Path
) -> None:
    run = play(kafka3={"kafka_firewall_addresses": ["10.78.0.33"]})
    assert run.rc != 0
    told = " ".join(run.output.split())
    assert "the changed table of kafka1 locks peers out: kafka3 cannot connect to port" in told
    for port in (f"{INTER} (brokers)", f"{CONTROLLER} (controllers)"):
        assert f"kafka3 cannot connect to port {port} at {KAFKA1}: Connection refused" in told
    assert "kafka2 cannot" not in told
    assert files(tmp_path) == []
    assert [one.run("nft", "list", "ruleset") for one in machines.values()] == ["", "", ""]


@pytest.mark.full
def test_peers_that_the_limit_leaves_out_prove_too(play: Any, tmp_path: Path) -> None:
    run = play("--limit", "kafka1", kafka3={"kafka_firewall_addresses": ["10.78.0.33"]})
    assert run.rc != 0
    assert f"kafka3 cannot connect to port {CONTROLLER}" in " ".join(run.output.split())
    unreachable = {"ansible_connection": "ssh", "ansible_host": "10.78.0.250", "ansible_ssh_timeout": 1}
    play("--limit", "kafka1", kafka3=unreachable).ok()
    assert files(tmp_path) == ["kafka1"]
