# SPDX-License-Identifier: GPL-3.0-or-later
"""What the callback of this collection shows of a run, and where modules of a cluster run; no cluster is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.support.cluster import BIN, ROOT, environment

NOWHERE: dict[str, Any] = {"bootstrap_servers": ["127.0.0.1:1"], "request_timeout": 3}


def shown(
    folder: Path, plays: list[dict[str, Any]], *arguments: str, callback: str = "streamops.kafka.operator"
) -> str:
    """What a run of these plays on two hosts that are this machine printed, without its recap."""
    playbook = folder / "play.yml"
    common: dict[str, Any] = {"gather_facts": False, "connection": "local"}
    python = {"ansible_python_interpreter": sys.executable}
    playbook.write_text(
        yaml.safe_dump([{**common, **play, "vars": {**python, **play.get("vars", {})}} for play in plays])
    )
    done = subprocess.run(
        [str(BIN / "ansible-playbook"), "-i", "kafka1,kafka2,", str(playbook), *arguments],
        cwd=ROOT,
        env={**environment(), "ANSIBLE_STDOUT_CALLBACK": callback},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "PLAY RECAP" in done.stdout, done.stderr
    return done.stdout.partition("PLAY RECAP")[0]


def test_only_what_changes_or_reports_is_shown(tmp_path: Path) -> None:
    (tmp_path / "included.yml").write_text(yaml.safe_dump([{"ansible.builtin.debug": {"msg": ["one", "two"]}}]))
    plays: list[dict[str, Any]] = [
        {"name": "A play without hosts", "hosts": "{{ [] }}"},
        {"name": "A play without a word", "hosts": "all", "tasks": [{"ansible.builtin.assert": {"that": "true"}}]},
        {
            "name": "A play that does something",
            "hosts": "all",
            "tasks": [
                {"name": "Skip", "ansible.builtin.debug": {"msg": "never"}, "when": "false"},
                {
                    "name": "Include",
                    "ansible.builtin.include_tasks": "included.yml",
                    "when": "inventory_hostname == 'kafka1'",
                },
                {
                    "name": "Loop",
                    "ansible.builtin.debug": {"msg": "{{ item }}"},
                    "loop": ["three", "four"],
                    "when": "inventory_hostname == 'kafka1'",
                },
                {"name": "Change", "ansible.builtin.command": "true", "when": "inventory_hostname == 'kafka2'"},
            ],
        },
    ]
    lines = [line.rstrip("* ") for line in shown(tmp_path, plays).splitlines() if line]
    assert lines == [
        "PLAY [A play that does something]",
        "[kafka1] one",
        "[kafka1] two",
        "[kafka1] three",
        "[kafka1] four",
        "TASK [Change]",
        "changed: [kafka2]",
    ]
    everything = shown(tmp_path, plays, "-v")
    for word in ("A play without hosts", "A play without a word", "included: ", "skipping: ", "ok: [kafka1]"):
        assert word in everything


def test_a_module_without_a_cluster_runs_on_the_control_node_for_that_of_the_role(tmp_path: Path) -> None:
    # No host has this Python, nor may the run become anybody: what answers is the control node.
    there = {"ansible_python_interpreter": "/nowhere/python", "ansible_become": True, "ansible_become_user": "nobody"}
    play = {"hosts": "kafka1", "vars": {**there, "_kafka_connection": NOWHERE}}
    for module in ("topics", "cluster_info", "leader_election"):
        options = {"topics": [{"name": "orders", "partitions": 1}]} if module == "topics" else {}
        task = {f"streamops.kafka.{module}": options}
        assert "Kafka cluster 127.0.0.1:1: no bootstrap server answered" in _joined(
            shown(tmp_path, [{**play, "tasks": [task]}])
        )


def test_a_module_that_names_a_cluster_runs_where_its_task_says(tmp_path: Path) -> None:
    other = {"bootstrap_servers": ["127.0.0.1:2"], "request_timeout": 3, "topics": []}
    said = []
    for python in (sys.executable, "/nowhere/python"):
        there = {"ansible_python_interpreter": python, "_kafka_connection": NOWHERE}
        play = {"hosts": "kafka1", "vars": there, "tasks": [{"streamops.kafka.cluster_info": other}]}
        said.append(_joined(shown(tmp_path, [play])))
    assert "Kafka cluster 127.0.0.1:2: no bootstrap server answered" in said[0]
    assert "/nowhere/python" in said[1]


def _joined(output: str) -> str:
    return " ".join(output.split())
