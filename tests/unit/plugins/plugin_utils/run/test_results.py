# SPDX-License-Identifier: GPL-3.0-or-later
"""What tasks of a run have left on their hosts, by what it is about."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.run.results import HostRun, Results


def test_what_no_task_has_left_is_an_empty_mapping_or_an_error() -> None:
    left = {"a": {"__common_gate": {"refusals": []}, "__common_sync_seconds": 0}, "b": {"kafka_acls": [1]}}
    results = Results(left.__getitem__, "b")
    assert (results.of("a").gate, results.of("a").sync_seconds, results.of("b").gate) == ({"refusals": []}, 0, {})
    assert (results.of("b").read("kafka_acls"), results.own.read("kafka_acls")) == ([1], [1])
    with pytest.raises(ValueError, match="no task of this run has left __common_gate on b"):
        _missing = results.own.gate


def test_it_is_read_when_it_is_asked_for() -> None:
    left = {"a": dict[str, object]()}
    run = HostRun("a", left.__getitem__)
    assert run.look == {}
    left["a"]["__common_node_info"] = {"version": "4.4.0"}
    assert run.look == {"version": "4.4.0"}
