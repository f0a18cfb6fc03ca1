"""The queries that examples of modules show find in recorded results what their tasks say."""

from __future__ import annotations

import importlib
import os
import re
from typing import Any

import pytest
import yaml

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.info import describe
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Partition, Snapshot
from tests.support.status_seen import GROUPS

MODULES = "ansible_collections.streamops.kafka.plugins.modules"
HELD = {"orders": [(1, 2, 3), (2,)], "payments": [(1, 2, 3)]}


def documented(module: str, key: str) -> Any:
    """Return the sample of a value that a module returns."""
    return yaml.safe_load(importlib.import_module(f"{MODULES}.{module}").RETURN)[key]["sample"]


def cluster() -> dict[str, Any]:
    """Return what cluster_info tells of two topics, one of them with a partition of one replica."""
    partitions = tuple(
        Partition(name, index, replicas[0], replicas, replicas, 1, False)
        for name, held in HELD.items()
        for index, replicas in enumerate(held)
    )
    return describe(Snapshot("c", 1, (), partitions, None))


RESULTS: dict[str, tuple[dict[str, Any], Any]] = {
    "cluster_info": (cluster(), ["orders"]),
    "group_info": (GROUPS, [{"group": "search-index", "lag": 1_204_311}]),
    "metadata_compare": (
        {"differences": documented("metadata_compare", "differences")},
        [{"subject": "topics", "apart": ["broker 3"]}],
    ),
    "mirror_gaps": ({"gaps": documented("mirror_gaps", "gaps")}, [["orders", 0, 20]]),
}


@pytest.mark.parametrize("module", RESULTS)
def test_the_query_of_an_example_finds_what_its_task_says(module: str) -> None:
    if not os.environ.get("CI"):
        pytest.importorskip("jmespath")
    from ansible_collections.community.general.plugins.filter.json_query import json_query

    examples = yaml.safe_load(importlib.import_module(f"{MODULES}.{module}").EXAMPLES)
    registered = {task["register"] for task in examples if "register" in task}
    texts = [str(task["ansible.builtin.debug"]["msg"]) for task in examples if "ansible.builtin.debug" in task]
    found = [re.search(r"(\w+) \| community\.general\.json_query\('(.+)'\)", text) for text in texts]
    queries = [(query[1], query[2]) for query in found if query]
    assert len(queries) == 1
    data, expected = RESULTS[module]
    assert queries[0][0] in registered
    assert json_query(data, queries[0][1]) == expected
