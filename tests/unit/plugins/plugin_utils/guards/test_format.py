"""The format guard: what it formats, what it refuses, and the rules that hold whatever the disks say."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.format import format_plan, has_started

A, B = "clusteridAAAAAAAAAAAAA", "clusteridBBBBBBBBBBBBB"
DRAWN = "drawnidDDDDDDDDDDDDDDD"
# A broker of mode zookeeper, and what the second one writes on its disk.
CLASSIC: dict[str, Any] = {"mode": "zookeeper", "roles": "broker"}
BROKER_META = {"version": "0", "cluster.id": A, "broker.id": "2"}


def disk(path: str = "/data", cluster: str = "", node_id: int = 0, **other: Any) -> dict[str, Any]:
    """An empty disk, or with a cluster id a formatted one."""
    meta = {"version": "1", "cluster.id": cluster, "node.id": str(node_id)} if cluster else None
    plain = {
        "path": path,
        "metadata": path == "/data",
        "logs": True,
        "lost_and_found": False,
        "exists": True,
        "empty": not cluster,
        "meta_properties": meta,
        "quorum_state": False,
        "started": False,
        "cut_format": False,
        "entries": ["meta.properties"] if cluster else [],
        "error": None,
    }
    return {**plain, **other}


def node(number: int, *disks: dict[str, Any], roles: str = "broker,controller", **other: Any) -> dict[str, Any]:
    """A node; without disks it has one empty one."""
    named = {"host": f"kafka{number}", "node_id": number, "roles": roles.split(","), "running": False}
    return {**named, "disks": list(disks) or [disk()], **other}


def formatted(number: int, cluster: str = A, **other: Any) -> dict[str, Any]:
    return disk("/data", cluster, number, **other)


def used(number: int, cluster: str = A) -> dict[str, Any]:
    return formatted(number, cluster, quorum_state=True, started=True)


def kinds(plan: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["host"], one["kind"]) for one in plan["refusals"]]


def of_migration(*controllers: dict[str, Any], stage: str = "zookeeper") -> list[dict[str, Any]]:
    """Return a broker that came from ZooKeeper and has data, and controllers beside it."""
    meta = {**BROKER_META, "broker.id": "9"}
    data = disk(meta_properties=meta, empty=False, started=True, quorum_state=stage == "kraft")
    return [*controllers, node(9, data, roles="broker", running=True, mode=stage)]


def coming(number: int, *disks: dict[str, Any], mode: str = "migrating", **other: Any) -> dict[str, Any]:
    return node(number, *disks, roles="controller", mode=mode, **other)


def test_the_first_step_of_a_migration_formats_all_controllers_with_the_id_of_the_brokers() -> None:
    plan = format_plan(of_migration(coming(1), coming(2), coming(3)), "", [9], DRAWN)
    assert (plan["refusals"], plan["cluster_id"], plan["source"]) == ([], A, "disks")
    assert plan["format"] == ALL, "the broker keeps what it has"
    assert not any(plan["initial_controllers"].values()), "its quorum is a static one"


def test_controllers_of_a_migration_that_has_not_begun_are_left_alone() -> None:
    plan = format_plan(of_migration(*(coming(number, mode="left_alone") for number in (1, 2, 3))), "", [9], DRAWN)
    assert (plan["refusals"], plan["format"]) == ([], [])


def unstarted(number: int) -> dict[str, Any]:
    """A controller that a first step has formatted, and whose start a cut has forestalled."""
    return coming(number, formatted(number))


@pytest.mark.parametrize("registered", [[9], None], ids=["asked", "preflight"])
@pytest.mark.parametrize(
    ("controllers", "formats"),
    [
        # All are formatted before the first one starts, so whom a cut leaves empty has no neighbour that started.
        ([unstarted(1), coming(2), coming(3)], ["kafka2", "kafka3"]),
        ([unstarted(1), unstarted(2), unstarted(3)], []),
        ([coming(1, used(1), running=True), unstarted(2), unstarted(3)], []),
        ([coming(1, used(1)), coming(2, used(2), running=True), unstarted(3)], []),
        # The way back has set the metadata log of the second one aside, which keeps all else.
        (
            [unstarted(1), coming(2, formatted(2, started=True), traces=["/etc/kafka/kafka2/has-data"]), unstarted(3)],
            [],
        ),
    ],
    ids=["one_formatted", "none_started", "one_started", "two_started", "taken_back"],
)
def test_a_first_step_of_a_migration_that_was_cut_goes_on(
    controllers: list[dict[str, Any]], formats: list[str], registered: list[int] | None
) -> None:
    plan = format_plan(of_migration(*controllers), "", registered, DRAWN)
    assert (plan["refusals"], plan["format"]) == ([], formats)


def test_a_formatted_controller_of_a_migration_that_has_had_data_is_not_started_empty() -> None:
    lost = coming(2, formatted(2), traces=["/etc/kafka/kafka2/has-data"])
    plan = format_plan(of_migration(coming(1, used(1), running=True), lost), "", [9], DRAWN)
    assert kinds(plan) == [("kafka2", "empty_voter")]


@pytest.mark.parametrize("running", [True, False])
@pytest.mark.parametrize(("stage", "kinds_of"), [("zookeeper", []), ("migrating", []), ("kraft", ["new_disk"])])
def test_a_broker_of_zookeeper_has_nothing_in_a_directory_for_the_metadata_log_alone(
    stage: str, kinds_of: list[str], running: bool
) -> None:
    """It never uses that with ZooKeeper, and fills it itself in its first start with the migration flag."""
    metadata = disk("/metadata", metadata=True, logs=False)
    (broker,) = of_migration(stage=stage)
    nodes = [{**broker, "running": running, "disks": [{**broker["disks"][0], "metadata": False}, metadata]}]
    found = [kind for _host, kind in kinds(format_plan(nodes, "", [9], DRAWN))]
    assert found == (["running"] if kinds_of and running else kinds_of)
    lost = [{**nodes[0], "disks": [*nodes[0]["disks"], disk("/data2", metadata=False)]}]
    assert kinds(format_plan(lost, "", [9], DRAWN)), "an empty data directory is refused in each stage"


@pytest.mark.parametrize(
    ("controllers", "kind"),
    [
        ([coming(1, used(1), running=True), coming(2)], "empty_voter"),
        ([coming(1, used(1)), coming(2)], "empty_voter"),
        ([coming(1), coming(2, traces=["/etc/kafka/started"])], "vanished"),
    ],
    ids=["runs", "stopped", "has_had_data"],
)
def test_a_controller_that_lost_its_disk_during_a_migration_is_not_formatted(
    controllers: list[dict[str, Any]], kind: str
) -> None:
    plan = format_plan(of_migration(*controllers), "", [9], DRAWN)
    assert (kinds(plan), plan["format"]) == ([("kafka2", kind)], [])


@pytest.mark.parametrize("stage", ["migrating", "kraft", "kraft_isolated"])
def test_a_broker_that_came_from_zookeeper_keeps_its_meta_properties(stage: str) -> None:
    nodes = of_migration(coming(1, used(1), running=True, mode=stage), stage=stage)
    for disks in nodes[-1]["disks"]:
        disks["quorum_state"] = True
    plan = format_plan(nodes, "", [9], DRAWN)
    assert (plan["refusals"], plan["format"]) == ([], [])


@pytest.mark.parametrize("stage", ["zookeeper", "migrating", "kraft"])
def test_a_broker_without_data_is_not_started_in_any_stage_of_a_migration(stage: str) -> None:
    nodes = of_migration(coming(1, used(1), running=True), stage=stage)
    plan = format_plan([*nodes, node(2, roles="broker", mode=stage)], "", [2, 9], DRAWN)
    assert kinds(plan) == [("kafka2", "registered_broker")]


def test_controllers_of_brokers_without_an_id_are_not_formatted() -> None:
    plan = format_plan([coming(1), node(9, roles="broker", mode="zookeeper")], "", [], DRAWN)
    assert kinds(plan) == [("kafka1", "unknown_cluster")]


FRESH = [node(1), node(2), node(3)]
ALL = ["kafka1", "kafka2", "kafka3"]


@pytest.mark.parametrize(("given_id", "chosen", "source"), [("", DRAWN, "drawn"), (A, A, "inventory")])
def test_a_first_installation_formats_every_node_with_one_id(given_id: str, chosen: str, source: str) -> None:
    plan = format_plan(FRESH, given_id, None, DRAWN)
    assert (plan["cluster_id"], plan["source"], plan["first_installation"]) == (chosen, source, True)
    assert plan["format"] == ALL
    assert plan["initial_controllers"] == dict.fromkeys(ALL, True)
    assert plan["refusals"] == []


def test_a_first_installation_that_was_cut_goes_on_with_the_id_on_the_disks() -> None:
    plan = format_plan([node(1, formatted(1)), node(2), node(3)], "", None, DRAWN)
    assert (plan["cluster_id"], plan["source"], plan["format"]) == (A, "disks", ["kafka2", "kafka3"])
    assert plan["refusals"] == []


@pytest.mark.parametrize("mode", [{}, CLASSIC], ids=["kraft", "zookeeper"])
def test_a_broker_is_not_given_the_root_of_a_file_system(mode: dict[str, Any]) -> None:
    root = node(2, disk(lost_and_found=True), **mode)
    assert kinds(format_plan([node(1, **mode), root], "", None, DRAWN)) == [("kafka2", "file_system_root")]


def test_a_controller_and_a_disk_of_metadata_alone_may_have_it() -> None:
    controller = node(1, disk(lost_and_found=True), roles="controller")
    apart = node(2, disk(), disk("/metadata", logs=False, lost_and_found=True))
    assert format_plan([controller, apart], "", None, DRAWN)["refusals"] == []


def test_a_converged_cluster_has_nothing_to_format() -> None:
    plan = format_plan([node(number, used(number), running=True) for number in (1, 2, 3)], "", [1, 2, 3], DRAWN)
    assert (plan["format"], plan["refusals"], plan["first_installation"]) == ([], [], False)
    assert plan["source"] == "disks"


def test_isolated_brokers_of_a_first_installation_are_no_initial_controllers() -> None:
    plan = format_plan([node(1, roles="controller"), node(101, roles="broker")], "", None, DRAWN)
    assert plan["initial_controllers"] == {"kafka1": True, "kafka101": False}


def test_two_emptied_disks_of_three_are_refused_and_the_third_is_untouched() -> None:
    plan = format_plan([node(1, used(1)), node(2), node(3)], A, None, DRAWN)
    assert kinds(plan) == [("kafka2", "empty_voter"), ("kafka3", "empty_voter")]
    assert plan["format"] == []


def test_emptied_controllers_are_refused_while_a_broker_still_has_data() -> None:
    nodes = [node(1, roles="controller"), node(101, used(101), roles="broker")]
    assert kinds(format_plan(nodes, A, None, DRAWN)) == [("kafka1", "empty_voter")]


def test_a_foreign_disk_is_refused_with_both_ids_named() -> None:
    plan = format_plan([node(1, formatted(1, B)), node(2)], A, None, DRAWN)
    assert kinds(plan) == [("kafka1", "cluster_id")]
    assert B in plan["refusals"][0]["message"]
    assert A in plan["refusals"][0]["message"]
    assert plan["format"] == []


def test_without_an_id_in_the_inventory_the_odd_disk_out_is_named() -> None:
    plan = format_plan([node(1, used(1)), node(2, used(2)), node(3, used(3, B))], "", None, DRAWN)
    assert kinds(plan) == [("kafka3", "cluster_id")]


def test_a_changed_node_id_is_refused_with_both_ids_named() -> None:
    plan = format_plan([node(7, used(1))], A, None, DRAWN)
    assert kinds(plan) == [("kafka7", "node_id")]
    assert "node.id 1 on the disk" in plan["refusals"][0]["message"]
    assert "node.id 7 (kafka_node_id)" in plan["refusals"][0]["message"]


BAD_DISKS = [
    ("foreign_data", {"empty": False, "started": True, "entries": ["photos"]}),
    ("cut_format", {"empty": False, "cut_format": True, "entries": ["bootstrap.checkpoint"]}),
    ("unreadable", {"empty": False, "error": "cannot be read: Permission denied"}),
    (
        "zookeeper_data",
        {"empty": False, "started": True, "meta_properties": {"version": "0", "cluster.id": A, "broker.id": "1"}},
    ),
]


@pytest.mark.parametrize(("kind", "state"), BAD_DISKS)
def test_a_bad_disk_stops_the_formatting_of_all_nodes(kind: str, state: dict[str, Any]) -> None:
    plan = format_plan([node(1, disk(**state)), node(2)], "" if kind != "zookeeper_data" else A, None, DRAWN)
    assert ("kafka1", kind) in kinds(plan)
    assert plan["format"] == []
    assert plan["format_dirs"] == {}


def test_a_host_that_was_not_asked_stops_the_formatting_of_all_others() -> None:
    plan = format_plan([node(1), node(2, disks=None)], "", None, DRAWN)
    assert ("kafka2", "not_asked") in kinds(plan)
    assert plan["format"] == []


def test_a_copied_disk_is_refused() -> None:
    meta = {"version": "1", "cluster.id": A, "node.id": "1", "directory.id": "same"}
    nodes = [node(1, disk("/a", empty=False, meta_properties=meta), disk("/b", empty=False, meta_properties=meta))]
    assert kinds(format_plan(nodes, A, None, DRAWN)) == [("kafka1", "copied_disk")]


def test_two_hosts_with_one_id_are_refused() -> None:
    plan = format_plan([node(1), node(1, host="twin")], "", None, DRAWN)
    assert kinds(plan) == [("twin", "duplicate_id")]


@pytest.mark.parametrize(
    ("others", "kinds_found"),
    [([], []), ([node(2, disk("/data", A, 2, meta_properties=BROKER_META), **CLASSIC)], [("kafka1", "running")])],
    ids=["a first start that fails again and again", "its data was taken from under it"],
)
def test_a_broker_of_mode_zookeeper_that_runs_without_data(
    others: list[dict[str, Any]], kinds_found: list[tuple[str, str]]
) -> None:
    plan = format_plan([node(1, running=True, **CLASSIC), *others], "", None, DRAWN)
    assert kinds(plan) == kinds_found


TRACED: dict[str, Any] = {"traces": ["/etc/kafka/kafka1/has-data", "/var/log/kafka/kafka1/controller.log"]}


@pytest.mark.parametrize("given_id", ["", A])
@pytest.mark.parametrize("roles", ["broker", "controller", "broker,controller"])
def test_without_any_mount_a_cluster_that_has_run_is_not_founded_anew(roles: str, given_id: str) -> None:
    plan = format_plan([node(1, roles=roles, **TRACED), node(2), node(3, **TRACED)], given_id, None, DRAWN)
    assert kinds(plan) == [("kafka1", "vanished"), ("kafka3", "vanished")]
    assert plan["format"] == []
    said = plan["refusals"][0]["message"]
    for part in ("/data", *TRACED["traces"], "mount them, run again", "rm /etc/kafka/kafka1/has-data", "begin anew"):
        assert part in said
    assert "Nothing was formatted or deleted on any node" in said


def test_a_trace_is_no_obstacle_while_the_disks_are_there() -> None:
    plan = format_plan([node(1, formatted(1), **TRACED), node(2)], "", None, DRAWN)
    assert (kinds(plan), plan["format"]) == ([], ["kafka2"])


def test_a_running_cluster_knows_better_than_a_trace_whether_a_broker_is_new() -> None:
    nodes = [node(1, used(1), roles="controller", running=True), node(101, roles="broker", **TRACED)]
    assert format_plan(nodes, "", [102], DRAWN)["format"] == ["kafka101"]
    assert kinds(format_plan(nodes, "", None, DRAWN)) == [("kafka101", "unknown_broker")]


@pytest.mark.parametrize(
    ("nodes", "registered", "found"),
    [
        ([node(1, **CLASSIC, **TRACED), node(2, **CLASSIC)], None, [("kafka1", "vanished")]),
        ([node(1, running=True, **CLASSIC, **TRACED)], None, [("kafka1", "vanished")]),
        (
            [node(1, **CLASSIC, **TRACED), node(2, formatted(2, meta_properties=BROKER_META), **CLASSIC)],
            None,
            [("kafka1", "unknown_broker")],
        ),
        (
            [node(1, **CLASSIC, **TRACED), node(2, formatted(2, meta_properties=BROKER_META, started=True), **CLASSIC)],
            [2],
            [],
        ),
        (
            [node(2, formatted(2, meta_properties=BROKER_META, started=True), disk("/data2"), **CLASSIC)],
            None,
            [("kafka2", "new_disk")],
        ),
        ([node(2, formatted(2, meta_properties=BROKER_META), disk("/data2"), **CLASSIC)], None, []),
        (
            [node(1, **CLASSIC), node(2, formatted(2, meta_properties=BROKER_META, started=True), **CLASSIC)],
            None,
            [("kafka1", "unknown_broker")],
        ),
        ([node(1, **CLASSIC), node(2, formatted(2, meta_properties=BROKER_META), **CLASSIC)], None, []),
    ],
    ids=[
        "no mount",
        "started without its mounts",
        "cluster is silent",
        "known to be new",
        "one of two",
        "first start",
        "cluster is silent, and no trace",
        "first start of another broker was cut",
    ],
)
def test_a_broker_of_mode_zookeeper_that_has_had_data_is_not_started_without(
    nodes: list[dict[str, Any]], registered: Any, found: list[tuple[str, str]]
) -> None:
    assert kinds(format_plan(nodes, "", registered, DRAWN)) == found


def test_a_broker_of_mode_zookeeper_that_is_replaced_is_started_without_data() -> None:
    nodes = [node(1, **CLASSIC, **TRACED), node(2, formatted(2, meta_properties=BROKER_META), **CLASSIC)]
    assert kinds(format_plan(nodes, "", None, DRAWN, replacing="kafka1")) == []


@pytest.mark.parametrize(
    ("registered", "kind"),
    [([101], None), ([101, 102], "registered_broker"), (None, "unknown_broker")],
)
def test_a_broker_without_data_is_formatted_only_when_the_cluster_does_not_know_it(
    registered: list[int] | None, kind: str | None
) -> None:
    nodes = [
        node(1, used(1), roles="controller", running=True),
        node(101, used(101), roles="broker", running=True),
        node(102, roles="broker"),
    ]
    plan = format_plan(nodes, "", registered, DRAWN)
    assert kinds(plan) == ([("kafka102", kind)] if kind else [])
    assert plan["format"] == ([] if kind else ["kafka102"])
    assert plan["cluster_id"] == A
    assert not any(plan["initial_controllers"].values())


def test_a_new_combined_node_of_a_started_cluster_is_refused_since_it_is_a_voter() -> None:
    nodes = [*(node(number, used(number), running=True) for number in (1, 2, 3)), node(4)]
    assert kinds(format_plan(nodes, A, [1, 2, 3], DRAWN)) == [("kafka4", "empty_voter")]


def test_an_empty_disk_beside_a_used_one_is_refused() -> None:
    plan = format_plan([node(1, used(1), disk("/data2"))], A, None, DRAWN)
    assert kinds(plan) == [("kafka1", "new_disk")]
    assert plan["refusals"][0]["where"] == "/data2"


def test_a_first_format_that_was_cut_between_two_disks_goes_on_with_the_rest() -> None:
    plan = format_plan([node(1, formatted(1), disk("/data2")), node(2)], A, None, DRAWN)
    assert plan["refusals"] == []
    assert plan["format_dirs"] == {"kafka1": ["/data2"], "kafka2": ["/data"]}
    # The metadata directory, which carries the voter's directory id, is formatted already.
    assert plan["initial_controllers"] == {"kafka1": False, "kafka2": True}


def test_directories_that_vanished_under_a_running_process_are_refused() -> None:
    plan = format_plan([node(1, running=True), node(2)], A, None, DRAWN)
    assert ("kafka1", "running") in kinds(plan)
    assert plan["format"] == []


def test_a_running_cluster_whose_id_nobody_knows_is_refused() -> None:
    assert kinds(format_plan([node(9, roles="broker")], "", [1, 2], DRAWN)) == [("kafka9", "unknown_cluster")]


def test_one_replaced_voter_is_formatted_while_the_others_have_a_majority() -> None:
    plan = format_plan([node(1, used(1)), node(2, used(2)), node(3)], A, [1, 2, 3], DRAWN, replacing="kafka3")
    assert (plan["format"], plan["refusals"]) == (["kafka3"], [])
    assert plan["initial_controllers"] == {"kafka3": False}


def test_a_replaced_voter_is_refused_when_the_others_have_no_majority() -> None:
    plan = format_plan([node(1, used(1)), node(2), node(3)], A, None, DRAWN, replacing="kafka3")
    assert kinds(plan) == [("kafka2", "empty_voter"), ("kafka3", "no_majority")]


def test_a_controller_that_joins_is_formatted_without_initial_voters() -> None:
    nodes = [node(1, used(1)), node(2), node(3, formatted(3))]
    plan = format_plan(nodes, A, [1], DRAWN, joining=["kafka2", "kafka3"], voters=[1])
    assert (plan["format"], plan["refusals"]) == (["kafka2"], [])
    assert plan["initial_controllers"] == {"kafka2": False}


def test_a_controller_that_joins_must_be_no_broker_that_the_cluster_knows() -> None:
    def found(registered: list[int] | None) -> list[tuple[str, str]]:
        nodes = [node(1, used(1)), node(2)]
        return kinds(format_plan(nodes, A, registered, DRAWN, joining=["kafka2"], voters=[1]))

    assert found([1, 2]) == [("kafka2", "registered_broker")]
    assert found(None) == [("kafka2", "unknown_broker")]


@pytest.mark.parametrize("second", [disk(), formatted(2)], ids=["empty", "never started"])
@pytest.mark.parametrize(("voters", "kind"), [([1, 2, 3], "empty_voter"), (None, "unknown_voter")])
def test_a_voter_that_lost_its_disk_is_not_taken_for_one_that_joins(
    voters: list[int] | None, kind: str, second: dict[str, Any]
) -> None:
    nodes = [node(1, used(1)), node(2, second, roles="controller"), node(11, used(11), roles="broker")]
    plan = format_plan(nodes, A, [11], DRAWN, joining=["kafka2"], voters=voters)
    assert (kinds(plan), plan["format"]) == ([("kafka2", kind)], [])
    assert "Nothing was formatted" in plan["refusals"][0]["message"]


def test_a_new_controller_is_refused_outside_of_its_playbook_and_told_which_one() -> None:
    (refusal,) = format_plan([node(1, used(1)), node(2)], A, [1], DRAWN)["refusals"]
    assert refusal["kind"] == "empty_voter"
    assert "comes by playbooks/voters.yml" in refusal["message"]


def test_a_known_broker_with_a_new_disk_is_formatted_when_it_is_named_as_replaced() -> None:
    nodes = [node(1, used(1), roles="controller"), node(101, roles="broker")]
    assert format_plan(nodes, A, [101], DRAWN, replacing="kafka101")["format"] == ["kafka101"]


def test_a_missing_drawn_id_is_an_error_and_no_empty_cluster_id() -> None:
    with pytest.raises(ValueError, match="no cluster id"):
        format_plan(FRESH)


def test_every_refusal_says_where_what_is_allowed_and_the_fix() -> None:
    nodes = [node(1, used(1, B)), node(2), node(3, disk(empty=False, entries=["x"]))]
    for one in format_plan(nodes, A, None, DRAWN)["refusals"]:
        assert all(one[key] for key in ("host", "kind", "where", "found", "allowed", "fix"))
        assert one["message"].startswith(f"{one['host']}: ")
        assert "Nothing was formatted" in one["message"]


BARE: list[tuple[str, dict[str, Any], list[int] | None, list[tuple[str, str]]]] = [
    ("broker", {}, [101], []),
    ("broker", {}, [], []),
    ("broker", {}, None, []),
    ("broker", {}, [101, 102], [("kafka102", "registered_broker")]),
    ("broker", TRACED, [101], []),
    ("broker", TRACED, None, [("kafka102", "unknown_broker")]),
    ("broker", TRACED, [], [("kafka102", "vanished")]),
    ("broker,controller", {}, [101], []),
    ("broker,controller", {}, None, []),
    ("broker,controller", {}, [101, 102], [("kafka102", "empty_voter")]),
    ("broker,controller", TRACED, None, [("kafka102", "empty_voter")]),
    ("controller", TRACED, [101], [("kafka102", "empty_voter")]),
]


@pytest.mark.parametrize(("roles", "left", "registered", "found"), BARE, ids=str)
def test_a_formatted_node_that_never_started_is_as_empty_as_one_without_meta_properties(
    roles: str, left: dict[str, Any], registered: list[int] | None, found: list[tuple[str, str]]
) -> None:
    others = [node(number, used(number), roles="controller", running=True) for number in (1, 2)]
    bare = node(102, formatted(102), roles=roles, **left)
    plan = format_plan([*others, bare], A, registered, DRAWN)
    assert (kinds(plan), plan["format"]) == (found, [])
    assert kinds(format_plan([*others, bare], A, registered, DRAWN, replacing="kafka102")) == []


def test_a_bare_voter_is_replaced_only_while_the_others_have_a_majority() -> None:
    nodes = [node(1, used(1)), node(2, formatted(2), **TRACED), node(3, formatted(3), **TRACED)]
    assert kinds(format_plan(nodes, A, None, DRAWN, replacing="kafka3")) == [
        ("kafka2", "empty_voter"),
        ("kafka3", "no_majority"),
    ]


def test_a_first_installation_that_was_cut_while_nodes_started_goes_on() -> None:
    nodes = [node(1, used(1), running=True), node(2, formatted(2)), node(3, formatted(3))]
    for registered in (None, [], [1]):
        assert kinds(format_plan(nodes, A, registered, DRAWN)) == []


def test_where_no_quorum_has_formed_a_trace_says_that_an_empty_broker_had_data() -> None:
    nodes = [node(1, used(1), roles="controller", running=True), node(101, roles="broker", **TRACED)]
    assert kinds(format_plan(nodes, A, [], DRAWN)) == [("kafka101", "vanished")]
    assert format_plan([nodes[0], node(101, roles="broker")], A, [], DRAWN)["format"] == ["kafka101"]


@pytest.mark.parametrize(
    ("left", "registered", "found"),
    [
        ({}, None, []),
        ({}, [2], [("kafka2", "registered_broker")]),
        (TRACED, None, [("kafka2", "unknown_broker")]),
        (TRACED, [], [("kafka2", "unknown_broker")]),
        (TRACED, [3], []),
    ],
)
def test_a_broker_of_mode_zookeeper_with_nothing_but_meta_properties_has_no_data(
    left: dict[str, Any], registered: list[int] | None, found: list[tuple[str, str]]
) -> None:
    other = node(3, formatted(3, meta_properties={**BROKER_META, "broker.id": "3"}, started=True), **CLASSIC)
    nodes = [other, node(2, formatted(2, meta_properties=BROKER_META), **CLASSIC, **left)]
    assert kinds(format_plan(nodes, "", registered, DRAWN)) == found
    assert kinds(format_plan(nodes, "", registered, DRAWN, replacing="kafka2")) == []


DISKS = st.builds(
    lambda path, cluster, number, state: {**disk(path, cluster, number), **state},
    st.sampled_from(["/data", "/data2"]),
    st.sampled_from(["", A, B]),
    st.integers(1, 4),
    st.sampled_from(
        [{}, {}, {"quorum_state": True, "started": True, "empty": False}, *(state for _kind, state in BAD_DISKS)]
    ),
)
NODES = st.lists(
    st.builds(
        lambda number, disks, roles, running, traces: node(
            number, disks=disks, roles=roles, running=running, traces=traces
        ),
        st.integers(1, 4),
        st.lists(DISKS, min_size=1, max_size=2, unique_by=lambda one: one["path"]),
        st.sampled_from(["broker", "controller", "broker,controller"]),
        st.booleans(),
        st.sampled_from([[], ["/etc/has-data"]]),
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda one: one["host"],
)
ARGUMENTS = (
    NODES,
    st.sampled_from(["", A, B]),
    st.one_of(st.none(), st.lists(st.integers(1, 4), unique=True)),
    st.sampled_from(["", "kafka1", "kafka2"]),
)


@settings(max_examples=200)
@given(*ARGUMENTS)
def test_no_plan_formats_what_is_not_empty(nodes: Any, given_id: str, registered: Any, replacing: str) -> None:
    plan = format_plan(nodes, given_id, registered, DRAWN, replacing)
    for one in nodes:
        planned = plan["format_dirs"].get(one["host"], [])
        assert all(d["empty"] and not d["error"] for d in one["disks"] if d["path"] in planned)


@settings(max_examples=200)
@given(*ARGUMENTS)
def test_no_plan_leaves_two_cluster_ids(nodes: Any, given_id: str, registered: Any, replacing: str) -> None:
    plan = format_plan(nodes, given_id, registered, DRAWN, replacing)
    on_disks = {d["meta_properties"]["cluster.id"] for one in nodes for d in one["disks"] if d["meta_properties"]}
    if plan["format"]:
        assert on_disks <= {plan["cluster_id"]}
        assert plan["cluster_id"] == (given_id or plan["cluster_id"])
    if plan["source"] == "drawn" and plan["format"]:
        assert plan["first_installation"]


@settings(max_examples=200)
@given(*ARGUMENTS)
def test_no_plan_formats_a_voter_once_any_node_has_started_unless_it_is_the_one_replaced(
    nodes: Any, given_id: str, registered: Any, replacing: str
) -> None:
    plan = format_plan(nodes, given_id, registered, DRAWN, replacing)
    voters = {one["host"] for one in nodes if "controller" in one["roles"]}
    if any(has_started(one) for one in nodes):
        assert set(plan["format"]) & voters <= {replacing}
        assert not any(plan["initial_controllers"].values())


@settings(max_examples=200)
@given(*ARGUMENTS)
def test_no_first_installation_formats_beside_a_trace_of_an_earlier_one(
    nodes: Any, given_id: str, registered: Any, replacing: str
) -> None:
    plan = format_plan(nodes, given_id, registered, DRAWN, replacing)
    if plan["first_installation"] and plan["format"]:
        assert not any(one["traces"] for one in nodes if not any(d["meta_properties"] for d in one["disks"]))


@settings(max_examples=200)
@given(*ARGUMENTS)
def test_one_refusal_empties_the_plan(nodes: Any, given_id: str, registered: Any, replacing: str) -> None:
    plan = format_plan(nodes, given_id, registered, DRAWN, replacing)
    assert not (plan["refusals"] and plan["format"])
    assert plan["format"] == list(plan["format_dirs"])
