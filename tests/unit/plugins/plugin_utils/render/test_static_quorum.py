# SPDX-License-Identifier: GPL-3.0-or-later
"""A static quorum keeps its voters in the properties of its nodes: without them its controllers could not vote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node.quorum import quorum
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.static_quorum import for_static, is_static
from tests.support.inventory_data import view

BOOTSTRAP, VOTERS = "controller.quorum.bootstrap.servers", "controller.quorum.voters"
# As Kafka 4.3.1 writes them (QuorumStateData, versions 0 and 1).
STATIC = (
    '{"clusterId":"","leaderId":1,"leaderEpoch":3,"votedId":-1,"appliedOffset":0,'
    '"currentVoters":[{"voterId":1},{"voterId":2},{"voterId":3}],"data_version":0}'
)
DYNAMIC = '{"leaderId":1,"leaderEpoch":3,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}'


def asked(*directories: str | None, leader: int | None = 1) -> dict[str, Any]:
    """What a cluster answered whose voters 1, 2 and so on have these directories."""
    voters = [{"id": number, "directory_id": one} for number, one in enumerate(directories, 1)]
    return {"nodes": [], "quorum": {"leader_id": leader, "voters": voters, "error": None}}


def disk(static: bool | None) -> dict[str, Any]:
    return {"quorum": {"static": static}}


def properties(host: str, answer: dict[str, Any], *found: bool | None, **variables: Any) -> dict[str, Any]:
    """The properties of a node of three controllers and one broker, by an answer and by disks of controllers."""
    hosts = {
        name: {"kafka_node_id": number, "ansible_host": f"10.0.0.{number}", "__common_node_info": disk(told)}
        for number, (name, told) in enumerate(zip("abcd", [*found, None, None, None, None], strict=False), 1)
    }
    hosts["a"]["__common_registered"] = answer
    seen = view(hosts, controllers=list("abc"), brokers=["d"], host=host, kafka_log_dirs=["/d"], **variables)
    return dict(seen["properties"])


@pytest.mark.parametrize("host", ["a", "d"], ids=["controller", "broker"])
def test_a_static_quorum_keeps_its_voters_in_the_properties_of_each_node(host: str) -> None:
    found = properties(host, asked(None, None, None))
    assert found[VOTERS] == ["1@10.0.0.1:9093", "2@10.0.0.2:9093", "3@10.0.0.3:9093"]
    assert BOOTSTRAP not in found
    assert "controller.listener.names" in found


def test_a_dynamic_one_and_one_of_which_nothing_is_known_have_servers_to_ask() -> None:
    for answer in (asked("x", "y", "z"), {}, {"failed": True, "msg": "silent"}):
        found = properties("a", answer)
        assert (VOTERS in found, BOOTSTRAP in found) == (False, True)


def test_a_cluster_that_does_not_answer_is_known_by_its_disks() -> None:
    assert VOTERS in properties("d", {}, True, True)
    assert VOTERS in properties("d", asked(None, leader=None), True)


def test_the_answer_wins_over_disks_which_follow_with_the_next_election() -> None:
    assert not is_static(asked("x", "y"), [disk(True), disk(True)])
    assert is_static(asked(None, None), [disk(None)])
    assert not is_static({}, [disk(True), disk(False), disk(None), {}, {"quorum": None}])


def test_check_mode_foresees_the_files_that_come_behind_a_dynamic_quorum_and_no_other_run_does() -> None:
    run = {"_common_changes_voters": True, "ansible_check_mode": True, "kafka_dynamic_quorum": "true"}
    assert BOOTSTRAP in properties("a", asked(None, None, None), **run)
    for name in run:
        assert VOTERS in properties("a", asked(None, None, None), **{**run, name: False}), name


def test_other_voters_than_the_quorum_has_are_never_written() -> None:
    with pytest.raises(ValueError, match="where they are 1, 2; the inventory has the controllers 1, 2, 3; fix: "):
        properties("a", asked(None, None))


def test_a_node_of_zookeeper_mode_has_neither() -> None:
    assert for_static({"zookeeper.connect": "z:2181"}, ["1@a:1"]) == {"zookeeper.connect": "z:2181"}


@pytest.mark.parametrize(
    ("state", "static"),
    [(STATIC, True), (DYNAMIC, False), ('{"currentVoters":[],"data_version":0}', None), ("{}", None), (None, None)],
    ids=["static", "dynamic", "joins", "no version", "never started"],
)
def test_the_disk_of_a_controller_tells_for_which_quorum_it_was_written(
    tmp_path: Path, state: str | None, static: bool | None
) -> None:
    (tmp_path / "meta.properties").write_text("")
    if state is not None:
        (tmp_path / "__cluster_metadata-0").mkdir()
        (tmp_path / "__cluster_metadata-0" / "quorum-state").write_text(state)
    assert (quorum(str(tmp_path)) or {})["static"] is static
