"""What the module reassignment returns, and from where it plans."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError, StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.report import planned
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.look import snapshot_of_file

SNAPSHOT = {
    "nodes": [{"id": 1}, {"id": 2}, {"id": 3}],
    "topics": [{"name": "t", "partitions": [{"partition": n, "replicas": [1, 2]} for n in range(6)]}],
}
DEFAULTS: dict[str, Any] = {"rack_rule": "strict", "leaders": "auto", "concurrency": 5, "throttle": None}


def test_a_plan_shows_what_changes_from_and_to() -> None:
    found = planned(SNAPSHOT, {**DEFAULTS, "replication_factor": {"t": "3"}}, registered_only=True)
    assert found["moves"] == found["bound"] == 6
    assert found["diff"]["before"]["t-0"] == [1, 2]
    assert found["diff"]["after"]["t-0"] == [1, 2, 3]
    assert found["schedule"]["rounds_bound"] == 2


def test_numbers_may_be_text_as_ansible_gives_them() -> None:
    assert planned(SNAPSHOT, {**DEFAULTS, "replace": {"1": "3"}}, registered_only=True)["moves"] == 6


def test_only_a_file_may_be_planned_for_brokers_that_are_not_there() -> None:
    added = {**DEFAULTS, "add": [{"id": 4, "rack": None}]}
    assert planned(SNAPSHOT, added, registered_only=False)["moves"] == 6
    with pytest.raises(RefusedError) as error:
        planned(SNAPSHOT, added, registered_only=True)
    assert error.value.violations == ["add: broker 4 is not registered; start it first"]


def test_a_file_is_a_snapshot_or_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "snapshot.json"
    path.write_text(json.dumps(SNAPSHOT))
    assert planned(snapshot_of_file(str(path)), {**DEFAULTS, "drain": [1]}, registered_only=False)["moves"] == 6
    path.write_text("{")
    with pytest.raises(StreamopsError, match=r"snapshot .*snapshot\.json: cannot be read as JSON"):
        snapshot_of_file(str(path))
