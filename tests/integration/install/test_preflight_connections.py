# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight over SSH connections: what the inventory decides asks no host, hosts that cannot be reached are named, and
clocks are judged as far as the connection lets them be known.

All nodes are on this machine. A stand-in for the ssh client runs what Ansible sends in a shell, as sshd would; for one
node it is the real client against a closed port, or it gives the shell a clock that goes wrong.
"""

from __future__ import annotations

import re
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.cluster import Cluster, Run
from tests.support.forms import short
from tests.support.modules import run_module
from tests.support.refused import (
    assert_refused_untouched,
    copy_of_local,
    preflight_only,
    saved,
)

SSH = """\
#!/bin/sh
# The last argument is the command for the other side.
for command; do :; done
exec /bin/sh -c "$command"
"""


def executable(path: Path, text: str) -> str:
    """A program of its own; its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def over_ssh(folder: Path, nodes: dict[str, dict[str, Any]], **more: Any) -> Cluster:
    """The local inventory over SSH connections, these nodes with variables of their own."""
    _inventory, hosts, variables = copy_of_local(folder)
    variables.update(ansible_connection="ssh", ansible_ssh_executable=executable(folder / "bin" / "ssh", SSH), **more)
    for name, own in nodes.items():
        hosts["kafka_brokers"]["hosts"][name].update(own)
    return saved(folder, hosts, variables)


def clock_off_by(folder: Path, offset: str) -> dict[str, Any]:
    """The variables of a node whose date is off."""
    executable(folder / "skewed" / "date", f'#!/bin/sh\nexec {shutil.which("date")} -d "{offset}" "$@"\n')
    ssh = SSH.replace("exec ", f"PATH={folder / 'skewed'}:$PATH exec ")
    return {"ansible_ssh_executable": executable(folder / "skewed" / "ssh", ssh)}


def told(run: Run) -> str:
    """What a run printed, without its line breaks."""
    return " ".join(run.output.split())


def without_third_node(folder: Path) -> Path:
    """The inventory of a cluster, with two of its three nodes."""
    path = folder / "inventory" / "hosts.yml"
    hosts = yaml.safe_load(path.read_text())
    del hosts["kafka_brokers"]["hosts"]["kafka3"]
    path.write_text(yaml.safe_dump(hosts))
    return path


LISTENERS = [
    {"name": "CLIENT", "port": "{{ 20000 + kafka_node_id }}", "purpose": "clients", "advertised_host": "0.0.0.0"},
    {"name": "BROKER", "port": "{{ 20010 + kafka_node_id }}", "purpose": "brokers", "protocol": "SSL"},
    {"name": "CONTROLLER", "port": "{{ 20020 + kafka_node_id }}", "purpose": "controllers"},
]
#: Mistakes of group variables, and the rule of each with words of its own message.
MISTAKES: list[tuple[dict[str, Any], dict[str, str]]] = [
    (
        {
            "kafka_profile": "production",
            "kafka_listeners": LISTENERS,
            "kafka_config": {
                "unclean.leader.election.enable": True,
                "offsets.topic.replication.factor": 5,
                "zookeeper.connect": "zookeeper1:2181",
                "allow.everyone.if.no.acl.found": True,
            },
            "kafka_topics": [
                {"name": "a", "replication_factor": 1, "config": {"min.insync.replicas": 2, "no.such.key": 1}},
            ],
        },
        {
            "even_quorum": "2 controllers",
            "min_isr_above_replicas": "min.insync.replicas",
            "unclean_election": "unclean.leader.election.enable",
            "more_internal_replicas_than_brokers": "offsets.topic.replication.factor",
            "unknown_topic_key": "no.such.key",
            "removed_property": "zookeeper.connect",
            "advertised_wildcard": "0.0.0.0",
            "no_tls_source": "listener BROKER has no certificate",
            "open_without_acl": "allow.everyone.if.no.acl.found",
        },
    ),
    ({"kafka_version": "2.8.2"}, {"unsupported_version": "2.8.2"}),
]


@pytest.mark.parametrize(("mistakes", "rows"), MISTAKES, ids=["settings", "version"])
def test_what_the_inventory_decides_is_refused_before_any_host_is_asked(
    mistakes: dict[str, Any], rows: dict[str, str], tmp_path: Path
) -> None:
    cluster = over_ssh(tmp_path, {}, **mistakes)
    without_third_node(tmp_path)
    executable(tmp_path / "bin" / "ssh", f"#!/bin/sh\ntouch {tmp_path / 'asked'}\n")
    run = cluster.playbook()
    assert_refused_untouched(run, cluster)
    paragraphs = dict(re.findall(r"ERROR (\w+): (.*?)(?=(?:ERROR|WARNING) \w+: |Origin)", told(run)))
    assert {row: words for row, words in rows.items() if words not in paragraphs.get(row, "")} == {}
    assert not (tmp_path / "asked").exists()


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port of loopback on which nothing listens, kept from others while the test runs."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.mark.parametrize("node", short(["kafka1", "kafka2"], "kafka2"))
def test_a_host_that_cannot_be_reached_is_named_and_no_other_is_touched(
    node: str, tmp_path: Path, closed_port: int
) -> None:
    cluster = over_ssh(tmp_path, {node: {"ansible_ssh_executable": shutil.which("ssh"), "ansible_port": closed_port}})
    run = cluster.playbook()
    assert_refused_untouched(run, cluster)
    text = told(run)
    assert "1 error found before any change; nothing was touched." in text
    assert f"ERROR no_answer: - {node}: the host did not answer (found: " in text
    assert f"port {closed_port}: Connection refused" in text.split("ERROR no_answer", 1)[1]
    assert run.output.count("PLAY [") == 1


def test_a_name_that_other_nodes_cannot_resolve_is_refused(tmp_path: Path) -> None:
    addresses = {"kafka1": "192.0.2.1", "kafka2": "no-such-host.invalid", "kafka3": "192.0.2.3"}
    # On machines of their own, nodes listen on all addresses.
    everywhere = [{**one, "host": ""} for one in copy_of_local(tmp_path / "as_it_is")[2]["kafka_listeners"]]
    nodes = {node: {"ansible_host": address} for node, address in addresses.items()}
    cluster = over_ssh(tmp_path, nodes, kafka_listeners=everywhere)
    run = cluster.playbook()
    assert_refused_untouched(run, cluster)
    expected = "kafka1, kafka3: kafka_listeners: a node cannot find another by what it advertises"
    assert f"ERROR unresolvable_node: - {expected} (found: no-such-host.invalid" in told(run)


def test_the_clock_of_this_machine_is_off_by_nothing_as_far_as_it_can_be_known() -> None:
    found = run_module("streamops.kafka.node_info", {"clock": True})
    assert abs(found["clock"]["offset"]) <= found["clock"]["uncertainty"] + 0.001
    assert found["clock"]["synchronized"] in (True, False)
    assert not found["changed"]
    assert run_module("streamops.kafka.node_info", {})["clock"] is None


def test_clocks_that_are_apart_are_refused_with_every_offset(tmp_path: Path) -> None:
    cluster = over_ssh(tmp_path, {"kafka2": clock_off_by(tmp_path, "1 hour")})
    run = cluster.playbook()
    assert_refused_untouched(run, cluster)
    text = told(run)
    assert "ERROR clocks_apart: - kafka2: the clocks of cluster local differ by at least 3" in text
    assert re.search(r"kafka1 [+-]0\.\d\d s .± 0\.\d\d.", text)
    assert "kafka2 +3600.0" in text


@pytest.mark.full
def test_clocks_that_are_apart_can_be_accepted_and_are_then_shown(tmp_path: Path) -> None:
    cluster = over_ssh(tmp_path, {"kafka2": clock_off_by(tmp_path, "1 hour ago")}, preflight_accept=["clocks_apart"])
    run = preflight_only(cluster, tmp_path).ok()
    assert run.changed == 0
    assert "[WARNING]: clocks_apart: kafka2: the clocks of cluster local differ by at least" in told(run)
    assert "accepted by preflight_accept" in told(run)


@pytest.mark.full
def test_a_host_without_a_usable_date_is_a_warning(tmp_path: Path) -> None:
    off = clock_off_by(tmp_path, "now")
    executable(tmp_path / "skewed" / "date", "#!/bin/sh\necho 12:00\n")
    run = preflight_only(over_ssh(tmp_path, {"kafka3": off}), tmp_path).ok()
    assert "[WARNING]: unknown_clock: kafka3: the clock could not be judged (found: date printed '12:00'" in told(run)
