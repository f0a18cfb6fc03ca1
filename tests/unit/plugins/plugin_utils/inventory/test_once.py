"""An answer is kept in the process of a task, and nowhere else."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from itertools import count
from multiprocessing.connection import Connection

import pytest

from ansible_collections.streamops.kafka.plugins.filter.nodes import cluster_nodes
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.once import once

GROUPS = {"brokers": ["a"], "controllers": ["a"]}
NAMES = {"cluster": "one", "brokers": "brokers", "controllers": "controllers"}
DEFAULTS = {"kafka_cluster_name": "one", "kafka_listeners": []}


def in_a_task(work: Callable[[], object]) -> object:
    """What C(work) gives in a process forked as Ansible forks one for a task."""
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)

    def send(end: Connection) -> None:
        end.send(work())

    process = fork.Process(target=send, args=(there,))
    process.start()
    answer = here.recv()
    process.join()
    return answer


def test_the_process_of_a_run_computes_each_time() -> None:
    numbers = count()
    assert [once("same", lambda: next(numbers)) for _ in range(3)] == [0, 1, 2]


def test_the_process_of_a_task_computes_once_for_each_question() -> None:
    numbers = count()
    asked = in_a_task(lambda: [once(question, lambda: next(numbers)) for question in ("one", "two", "one", "two")])
    assert asked == [0, 1, 0, 1]


def test_the_next_task_computes_anew() -> None:
    facts = {"value": 1}
    assert in_a_task(lambda: once("fact", lambda: facts["value"])) == 1
    facts["value"] = 2
    assert in_a_task(lambda: once("fact", lambda: facts["value"])) == 2


@pytest.mark.parametrize(("names", "hosts"), [({"cluster": "two"}, ["a"]), ({}, ["b"])], ids=["cluster", "hosts"])
def test_other_clusters_and_other_hosts_are_other_questions(names: dict[str, str], hosts: list[str]) -> None:
    hostvars = {"a": {"kafka_node_id": 1}, "b": {"kafka_node_id": 2}}

    def both() -> list[list[int]]:
        asked = ((GROUPS, NAMES), ({**GROUPS, "brokers": hosts, "controllers": hosts}, {**NAMES, **names}))
        return [[node["node_id"] for node in cluster_nodes(hostvars, *each, DEFAULTS)] for each in asked]

    assert in_a_task(both) == [[1], [] if names else [2]]
