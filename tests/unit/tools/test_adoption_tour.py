# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster that ./quickstart --adopt makes is the one that its inventory describes, and what the tour says of it."""

from __future__ import annotations

import argparse
import contextlib
import os
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.inventory.manager import InventoryManager
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar
from ansible.vars.manager import VariableManager

from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import parse
from tests.support.cluster import ROOT
from tests.support.inventory_data import view

TOOL: dict[str, Any] = runpy.run_path(str(ROOT / "tools" / "adoption_tour"))
ERROR = TOOL["TourError"]


@pytest.fixture
def others(tmp_path: Path) -> Any:
    """The cluster of others, of which nothing is there yet."""
    return TOOL["Others"](tmp_path, 20000)


def variables(host: str) -> dict[str, Any]:
    """Return the variables of a host of the inventory, with their expressions filled in, below /r/.run/adopt."""
    loader = DataLoader()
    inventory = InventoryManager(loader, [str(ROOT / TOOL["INVENTORY"])])
    known = VariableManager(loader, inventory).get_vars(host=inventory.get_host(host))
    assert known["kafka_port_base"] == TOOL["PORT_BASE"]
    # The expression of the port needs a filter of this collection.
    own = {"kafka_local_dir": "/r/.run/adopt", "node_port": known["kafka_port_base"] + 10 * known["kafka_node_id"]}
    templar = Templar(loader, {**known, **own, "ansible_playbook_python": "/v/bin/python"})
    read = ("kafka_", "ansible_host")
    return {name: templar.template(value) for name, value in {**known, **own}.items() if name.startswith(read)}


def test_the_inventory_describes_the_nodes_that_are_made() -> None:
    nodes = TOOL["nodes_of"](Path("/r/.run/adopt"), TOOL["PORT_BASE"])
    hosts = yaml.safe_load((ROOT / TOOL["INVENTORY"] / "hosts.yml").read_text())["kafka_brokers"]["hosts"]
    assert {host: given["kafka_node_id"] for host, given in hosts.items()} == TOOL["NODES"]
    of_hosts = {host: variables(host) for host in hosts}
    for node in nodes:
        theirs, given = parse(TOOL["properties"](node, nodes)), of_hosts[node.name]
        assert [str(path) for path in given["kafka_log_dirs"]] == [theirs["log.dirs"]]
        model = view(of_hosts, brokers=list(hosts), controllers=list(hosts), host=node.name)
        ours = model["manifest"]["wanted"]["properties"]
        assert {key: ours.get(key) for key in theirs} == theirs
        # Bounds of this collection, which the page of a take-over shows as what changes.
        assert ours.keys() - theirs.keys() == {
            "advertised.listeners", "auto.create.topics.enable", "max.connections.per.ip",
            "max.connections.per.ip.overrides", "queued.max.request.bytes", "replica.fetch.backoff.ms",
            "unclean.leader.election.enable",
        }  # fmt: skip


def test_files_of_the_others_are_not_where_ours_are_written() -> None:
    given, (node, *_rest) = variables("kafka1"), TOOL["nodes_of"](Path("/r/.run/adopt"), TOOL["PORT_BASE"])
    ours = [given[f"kafka_{name}_dir"] for name in ("install", "config", "data", "log", "run")]
    assert not [place for place in ours if node.properties_file.is_relative_to(place)]
    assert all(Path(place).is_relative_to("/r/.run/adopt") for place in ours)


def test_each_voter_has_a_directory_id_of_its_own_that_is_no_option(others: Any) -> None:
    voters = TOOL["first_voters"](others.nodes).split(",")
    assert [voter.rpartition(":")[0] for voter in voters] == [
        "1@127.0.0.1:20011", "2@127.0.0.1:20021", "3@127.0.0.1:20031",
    ]  # fmt: skip
    ids = {voter.rpartition(":")[2] for voter in voters} | {TOOL["new_id"]() for _ in range(500)}
    assert len(ids) == 503
    assert {len(drawn) for drawn in ids} == {22}
    assert not any(drawn.startswith("-") for drawn in ids)


def test_of_a_long_output_the_reports_are_shown_once() -> None:
    shown = ["[kafka1] kafka1 would restart", "[kafka2] ok"]
    other = ["PLAY [x] ***", "--- before", "+[kafka2] a line of a diff"]
    output = "\n".join([*other, shown[0], "changed: [kafka1]", *shown])
    assert TOOL["reported"](output) == shown


def test_only_variables_are_given_to_a_program_that_takes_no_other_arguments() -> None:
    words = ["-e", "a=1", "--check", "--extra-vars", "b=2", "--limit", "x"]
    assert TOOL["extra_vars"](words) == ["-e", "a=1", "--extra-vars", "b=2"]


def test_the_longest_silence_is_between_two_acknowledgements() -> None:
    written = TOOL["Written"]()
    for number, error, now in [(0, None, 100.0), (1, None, 100.5), (2, "timed out", 101.0), (3, None, 103.0)]:
        written.note(number, error, now)
    assert (written.acknowledged, written.failed, written.silent) == ({0, 1, 3}, 1, 2.5)


def test_a_lost_record_ends_the_tour_and_one_that_failed_and_is_there_does_not() -> None:
    written = TOOL["Written"]({0, 1, 2}, 1)
    first, second = TOOL["account"](written, {0, 1, 2, 3})
    assert first.startswith("3 records were acknowledged before and meanwhile, 1 failed; all of them can be read")
    assert second.endswith(" 0.0 s.")
    with pytest.raises(ERROR, match="2 acknowledged records cannot be read, the first is 1"):
        TOOL["account"](written, {0})


def test_what_happened_is_said_of_the_nodes_that_moved() -> None:
    theirs, mixed, ours = ({"a": a, "b": b} for a, b in ((True, True), (False, True), (False, False)))
    taken, back = TOOL["taken_words"], TOOL["back_words"]
    assert taken(theirs, ours)[0].startswith("a, b ran as processes")
    assert taken(mixed, ours)[0].startswith("b ran as processes")
    assert taken(ours, ours) == ["The nodes were ours already: nothing was stopped."]
    assert back(ours, theirs)[0].startswith("a, b run again")
    assert back(theirs, theirs) == ["The nodes were given back already: nothing was stopped."]


def test_a_file_of_the_old_installation_that_changed_ends_the_tour() -> None:
    words = TOOL["unchanged_words"]
    assert words({"x": "1", "y": "2"}, {"x": "1", "y": "2"}) == [
        "The 2 files of the old installation are as they were (SHA-256)."
    ]
    for after in ({"x": "1"}, {"x": "1", "y": "3"}, {"x": "1", "y": "2", "z": "4"}):
        with pytest.raises(ERROR, match=r"have changed: [yz]"):
            words({"x": "1", "y": "2"}, after)


@contextlib.contextmanager
def fake(node: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process with the command line of a node."""
    node.properties_file.parent.mkdir(parents=True)
    node.properties_file.write_text("node.id=1\n")
    words = [sys.executable, "-c", "import time; time.sleep(600)", TOOL["MAIN"], "config/server.properties"]
    child = subprocess.Popen(words, cwd=node.home)
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def test_only_processes_of_the_others_are_ended(others: Any, tmp_path: Path) -> None:
    stranger = TOOL["nodes_of"](tmp_path / "another", 20000)[0]
    with fake(others.nodes[0]) as own, fake(stranger) as another:
        assert others.pids() == {"kafka1": own.pid, "kafka2": None, "kafka3": None}
        others.stop()
        assert own.wait(10) == -15
        assert another.poll() is None
    assert set(others.run().values()) == {False}


def test_a_node_that_a_take_over_has_begun_with_is_not_started_by_hand_again(
    others: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for node in others.nodes:
        assert not others.is_ours(node)
        (others.directory / "config" / node.name).mkdir(parents=True)
        assert others.is_ours(node)
    monkeypatch.setattr(subprocess, "Popen", None)
    others.start()


def test_a_port_of_something_else_is_refused_before_anything_starts(
    others: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    monkeypatch.setitem(TOOL["Others"].start.__globals__, "listens", lambda port: port == 20021)
    with pytest.raises(ERROR, match="something else has the port 20021") as refused:
        others.start()
    assert refused.value.status == 2


@pytest.mark.parametrize("manager", ["none", "systemd"])
def test_below_a_service_nothing_is_taken_over(others: Any, monkeypatch: pytest.MonkeyPatch, manager: str) -> None:
    known = TOOL["Others"].refuse_a_service.__globals__
    monkeypatch.setitem(known, "process", lambda pid, files: {"service": {"manager": manager, "name": "ci.service"}})
    with fake(others.nodes[0]) as own:
        if manager == "none":
            others.refuse_a_service()
            assert own.poll() is None
        else:
            with pytest.raises(ERROR, match=r"below a service \(systemd ci.service\)"):
                others.refuse_a_service()
            assert own.wait(10) == -15


def test_what_was_cut_before_the_first_start_is_made_anew(others: Any) -> None:
    assert not others.is_made
    (others.directory / "theirs").mkdir()
    (others.directory / "theirs" / "made").touch()
    assert others.is_made


def test_the_command_line() -> None:
    given: argparse.Namespace = TOOL["arguments"](["up", "--port-base", "7000", "--", "-e", "a=1"])
    assert (given.what, given.port_base, given.arguments) == ("up", 7000, ["-e", "a=1"])
    assert TOOL["arguments"](["back"]).arguments == TOOL["arguments"](["back", "--"]).arguments == []
    tour = TOOL["Tour"](given)
    assert tour.again == "playbooks/status.yml -i inventories/adopted -e kafka_port_base=7000"
    assert TOOL["Tour"](TOOL["arguments"](["up"])).again == "playbooks/status.yml -i inventories/adopted"


def test_nothing_is_given_back_that_was_never_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert TOOL["main"](["back", "--directory", str(tmp_path)]) == 2
    assert "no cluster was taken over here" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--back"], "--back goes with --adopt"),
        (["--adopt", "--watch"], "--adopt has an inventory of its own"),
        (["--adopt", "--inventory", "local_isolated"], "--adopt has an inventory of its own"),
    ],
)
def test_quickstart_refuses_what_does_not_go_together(words: list[str], said: str) -> None:
    run = subprocess.run([ROOT / "quickstart", *words], env=os.environ, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert said in run.stderr
