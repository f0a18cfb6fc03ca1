"""The tasks of a roll that ask nodes at what they advertise, run alone on a cluster of a test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tests.support.cluster import Cluster, Run

#: An address of this machine that no listener binds.
ELSEWHERE = "127.0.0.9"
PLAY = [
    {
        "hosts": "kafka_brokers",
        "gather_facts": False,
        "any_errors_fatal": True,
        "tasks": [
            {"ansible.builtin.include_role": {"name": "streamops.kafka._common", "tasks_from": "roll/answers.yml"}}
        ],
    }
]


def listeners(cluster: Cluster, changed: str, **change: Any) -> list[dict[str, Any]]:
    """The listeners of a cluster, one of them advertised in another way than the nodes have it."""
    given = cluster.variables.get("kafka_listeners")
    if given is None:
        given = yaml.safe_load((cluster.inventory / "group_vars" / "all.yml").read_text())["kafka_listeners"]
    return [{**one, **change} if one["name"] == changed else one for one in given]


def ask(cluster: Cluster, directory: Path, *arguments: str, **variables: Any) -> Run:
    """Run the tasks on these nodes."""
    playbook = directory / "play.yml"
    playbook.write_text(yaml.safe_dump(PLAY))
    return cluster.playbook(str(playbook), *arguments, **variables)
