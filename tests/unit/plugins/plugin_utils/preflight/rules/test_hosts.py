# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules on what hosts answered by table: one mistake in good answers gives exactly its own violation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.build import build_node
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Node
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_hosts
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.host import Host, host_of

GIB = 1024**3
ID, OTHER_ID = "MkU3OEVBNTcwNTJENDM2Qg", "p1i3TnVbRHmcGWhFS1Pexg"
SYSTEM = {
    "name": "Debian GNU/Linux 12 (bookworm)",
    "java_package": "openjdk-17-jre-headless",
    "selinux": "disabled",
    "config_type": "",
}
#: A machine of Red Hat's family, as it is installed.
ENFORCING = {**SYSTEM, "selinux": "enforcing", "config_type": "etc_t"}


def disk(node_id: int | None, **changes: Any) -> dict[str, Any]:
    """A disk as node_info tells it: of this node, formatted and used, or empty for None."""
    used = node_id is not None
    return {
        "path": "/data",
        "metadata": True,
        "exists": used,
        "empty": not used,
        "meta_properties": {"cluster.id": ID, "node.id": str(node_id), "directory.id": f"dir{node_id}"}
        if used
        else None,
        "quorum_state": used,
        "started": used,
        "cut_format": False,
        "entries": [],
        "free_bytes": 50 * GIB,
        "total_bytes": 100 * GIB,
        "free_inodes": 1_000_000,
        "mount": "/data",
        "device": "8:1",
        "read_only": False,
        "error": None,
        **changes,
    }


def second_disk(**changes: Any) -> dict[str, Any]:
    """Another used disk of node 2."""
    meta = {"cluster.id": ID, "node.id": "2", "directory.id": "another"}
    return disk(2, **{"path": "/data/two", "metadata": False, "meta_properties": meta, **changes})


def info(node_id: int, *disks: dict[str, Any], running: bool = True, **changes: Any) -> dict[str, Any]:
    """What node_info returns on a good host."""
    return {
        "disks": list(disks or [disk(node_id)]),
        "process": {"running": running, "pid": 100 + node_id if running else None},
        "ports": {"9092": {"pid": 100 + node_id, "command": "java", "ours": True, "note": ""} if running else None},
        "java": {"path": "/usr/bin/java", "version": 17, "full": "17.0.15", "error": None},
        "system": SYSTEM,
        **changes,
    }


def clock(offset: float | None, **changes: Any) -> dict[str, Any]:
    """What node_info says of the clock of a good host whose clock is off by this."""
    return {
        "offset": offset,
        "uncertainty": 0.01,
        "synchronized": True,
        "service": "chronyd",
        "problem": "",
        **changes,
    }


def host(n: int, answer: dict[str, Any] | None = None, **changes: Any) -> Host:
    """Combined node kafkaN of cluster blue; a good answer unless another is given."""
    good = Host(
        name=f"kafka{n}",
        cluster="blue",
        machine=f"10.0.0.{n}",
        node_id=n,
        roles=("broker", "controller"),
        cluster_id="",
        version="4.3.1",
        production=True,
        min_free_mib=1024,
        min_free_inodes=10_000,
        require_mount=True,
        installs_java=False,
        accepted=(),
        info=info(n) if answer is None else answer,
        clock=clock(0.0),
    )
    return replace(good, **changes)


def answers(second: Host) -> list[Host]:
    """Three hosts of which the second one is given."""
    return [host(1), second, host(3)]


def fresh(n: int) -> Host:
    """A host on which nothing is installed yet."""
    return host(n, info(n, disk(None), running=False))


def held(by: dict[str, Any], running: bool = False) -> dict[str, Any]:
    """An answer whose port 9092 is held by something else."""
    holder = {"ours": False, "note": "", "command": "nginx: master", "pid": 4711, **by}
    return info(2, running=running, ports={"9092": holder})


def left(kind: str, **who: Any) -> dict[str, Any]:
    """What node_info found beside a node: the files of kafka node 2 of cluster blue, named broker2."""
    config = "/etc/kafka/broker2"
    path = {"note": f"{config}/has-data", "service": "/etc/systemd/system/kafka-broker2.service"}[kind]
    return {
        "kind": kind, "path": path, "name": "broker2", "product": "kafka", "node_id": "2", "cluster": "blue",
        "cluster_id": None, "config_dir": config, **who,
    }  # fmt: skip


def renamed(*beside: dict[str, Any]) -> Host:
    return replace(fresh(2), beside=beside, roles=("broker",))


NO_JAVA = {"path": "", "version": None, "full": "", "error": "no java in JAVA_HOME or on the search path"}
OLD_JAVA = {"path": "/usr/bin/java", "version": 11, "full": "11.0.2", "error": None}
FOREIGN = {"cluster.id": OTHER_ID, "node.id": "2", "directory.id": "d"}

GOOD = [
    answers(host(2, names_version=False)),
    answers(host(2)),
    [fresh(1), fresh(2), fresh(3)],
    # A first installation that was cut goes on.
    [host(1, info(1, disk(1, quorum_state=False, started=False), running=False)), fresh(2), fresh(3)],
    answers(host(2, info(2, running=False))),
    answers(host(2, cluster_id=ID)),
    answers(host(2, info(2, java=NO_JAVA), installs_java=True)),
    answers(host(2, info(2, system={**ENFORCING, "config_type": "bin_t"}))),
    answers(host(2, info(2, system={**ENFORCING, "selinux": "permissive"}))),
    answers(host(2, info(2, system=ENFORCING), started_by_systemd=False)),
    [host(n, info(n, java=OLD_JAVA), version="3.9.2") for n in (1, 2, 3)],
    [host(n, info(n, version="3.9.2")) for n in (1, 2, 3)],
    [host(n, info(n, version="4.3.2")) for n in (1, 2, 3)],
    [host(n, info(n, version="4.3.1"), version="3.9.2", features={"metadata.version": 21}) for n in (1, 2, 3)],
    answers(host(2, info(2, disk(2, mount="/")), require_mount=False)),
    answers(host(2, info(2, disk(2, free_bytes=None, free_inodes=None, device=None, read_only=None)))),
    answers(host(2, info(2, disk(2), second_disk(device="8:2")))),
    answers(host(2, info(2, disk(2), second_disk()), require_mount=False, production=False)),
    answers(host(2, clock=clock(0.05))),
    answers(renamed(left("note", cluster="red"), left("service", cluster="red"))),
    answers(renamed(left("note", node_id="9"), left("service", node_id="9"))),
    # As far as the question tells, this clock may be right.
    answers(host(2, clock=clock(1.5, uncertainty=1.45))),
    answers(host(2, clock=clock(0.0, synchronized=False), production=False)),
    answers(host(2, clock=clock(0.0, synchronized=False), accepted=("clock_not_synchronized",))),
]

ERRORS: list[tuple[Host, str, list[str]]] = [
    (
        host(2, node_id=7),
        "disk_of_other_node",
        ["kafka2: /data", "node.id 2 on the disk", "node.id 7 (kafka_node_id)", "back to 2"],
    ),
    (
        host(2, info(2, disk(2, meta_properties=FOREIGN))),
        "disk_of_other_cluster",
        ["kafka2: /data", OTHER_ID, ID, "most disks"],
    ),
    (
        host(2, info(2, disk(2, meta_properties={"cluster.id": ID, "broker.id": "2"}, quorum_state=False))),
        "disk_of_other_cluster",
        ["ZooKeeper mode broker (broker.id 2)"],
    ),
    (
        host(
            2,
            info(
                2,
                disk(2),
                disk(2, path="/new", device="8:2", meta_properties=None, empty=True, metadata=False, started=False),
                running=False,
            ),
        ),
        "disk_lost_data",
        ["kafka2: /new", "an empty directory beside others"],
    ),
    (
        host(2, info(2, disk(None), running=False)),
        "disk_lost_data",
        ["kafka2: /data", "a controller without data", "replace_node"],
    ),
    (
        host(2, info(2, version="4.3.1"), version="3.9.2", features={"metadata.version": 30, "group.version": 1}),
        "version_behind",
        [
            "kafka2: kafka_version: the node runs Kafka 4.3.1, and 3.9.2 would not start",
            "3.9.2, where the cluster has finalised group.version 1, metadata.version 30",
            "set kafka_version to the version that runs",
        ],
    ),
    (
        host(2, info(2, version="4.3.1"), version="4.4.0", names_version=False),
        "upgrade_by_default",
        [
            "kafka2: kafka_version: the node runs Kafka 4.3.1, and the inventory names no release",
            "this run would make it 4.4.0",
            "set kafka_version: 4.3.1; to upgrade, name the new release and run upgrade.yml",
        ],
    ),
    (
        host(2, info(2, version="4.3.1"), version="3.9.2"),
        "version_behind",
        ["its cluster could not be asked whether 3.9.2 takes its data", "start the cluster with it first"],
    ),
    (
        renamed(left("note"), left("service")),
        "renamed_host",
        [
            "kafka2: inventory_hostname: a node with the same id of cluster blue",
            "was installed on the machine as broker2",
            "the note /etc/kafka/broker2/has-data; the service file /etc/systemd/system/kafka-broker2.service",
            "name the host broker2 again",
            "To rename a host",
        ],
    ),
    (
        host(2, beside=[left("service")]),
        "renamed_host",
        ["the service of this node under its old name broker2 is still on the machine", "remove it"],
    ),
    (
        host(2, info(2, names={"kafka1.example.com": ["10.0.0.1"], "kafka3.example.com": []})),
        "unresolvable_node",
        ["kafka2: kafka_listeners", "kafka3.example.com is not known there", "advertised_host"],
    ),
    (
        host(2, info(2, names={"kafka1": ["127.0.1.1", "fe80::1%eth0"]})),
        "unresolvable_node",
        ["kafka1 is 127.0.1.1 there"],
    ),
    (host(2, held({})), "port_taken", ["kafka2: port 9092", "pid 4711 (nginx: master)", "another port"]),
    (
        host(2, info(2, disk(2), adopted={"phase": "returned", "runs": "old", "service": "systemd kafka.service"})),
        "given_back",
        ["systemd kafka.service, which runs it", "kafka_adopt=take"],
    ),
    (
        host(2, info(2, disk(2), adopted={"phase": "returned", "runs": "ours", "service": "systemd kafka.service"})),
        "given_back",
        ["is still run by this collection", "kafka_adopt=back"],
    ),
    (host(2, held({})), "port_taken", ["a node that others installed is taken over by adopt.yml"]),
    (host(2, held({"pid": 101}), machine="10.0.0.1"), "port_taken", ["pid 101 (node kafka1)"]),
    (host(2, held({"pid": None, "note": "run as root to learn it"})), "port_taken", ["run as root to learn it"]),
    (host(2, held({}, running=True)), "port_taken", ["pid 4711"]),
    (
        host(2, info(2, disk(2, error="cannot be read: Permission denied"))),
        "unusable_disk",
        ["Permission denied", "owner and mode"],
    ),
    (
        host(2, info(2, disk(None, empty=False, exists=True, entries=["photos"]), running=False), roles=("broker",)),
        "unusable_disk",
        ["files without meta.properties (photos)"],
    ),
    (
        host(2, info(2, disk(2, free_bytes=10 * 1024**2))),
        "full_disk",
        ["kafka2: /data", "10 MiB free", "1024 MiB or more"],
    ),
    (host(2, info(2, disk(2, free_inodes=900))), "full_disk", ["kafka2: /data", "900 inodes free", "10000 or more"]),
    (
        host(2, info(2, disk(2, read_only=True))),
        "read_only_disk",
        ["kafka2: /data", "/data is mounted read-only", "kernel's log"],
    ),
    (
        host(2, info(2, disk(2), second_disk())),
        "unmounted_disk",
        ["kafka2: /data, /data/two", "on one file system", "device 8:1", "one directory for each disk"],
    ),
    (host(2, info(2, disk(2, mount="/"))), "unmounted_disk", ["on the root file system", "kafka_require_mount"]),
    (
        host(2, info(2, java=NO_JAVA)),
        "no_java",
        ["kafka2: kafka_java_home", "no java in", "Java 17 or newer for Kafka 4.3.1"],
    ),
    # Of its system no package is known that brings Java.
    (
        host(2, info(2, java=NO_JAVA, system={**SYSTEM, "name": "Alpine Linux v3.22", "java_package": ""})),
        "no_java",
        ["no java in", "(Alpine Linux v3.22)", "set kafka_java_package to the package", "kafka_java_home"],
    ),
]


def test_unmounted_disks_of_all_nodes_are_no_first_installation() -> None:
    notes = {n: f"/etc/kafka/kafka{n}/has-data" for n in (1, 2)}
    hosts = [host(n, info(n, disk(None), running=False, traces=[note])) for n, note in notes.items()]
    found = check_hosts([*hosts, fresh(3)])
    assert [(one.name, one.level, one.hosts) for one in found] == [
        ("disk_lost_data", "error", ("kafka1",)),
        ("disk_lost_data", "error", ("kafka2",)),
    ]
    assert notes[1] in found[0].found
    assert "mount them, run again" in found[0].fix


def test_hosts_that_were_all_renamed_are_no_first_installation() -> None:
    hosts = [
        replace(fresh(n), beside=[left("note", node_id=str(n), name=f"broker{n}", path=f"/c/broker{n}/has-data")])
        for n in (1, 2, 3)
    ]
    found = check_hosts(hosts)
    assert [(one.name, one.level, one.hosts) for one in found] == [
        ("renamed_host", "error", (f"kafka{n}",)) for n in (1, 2, 3)
    ]
    assert "installed on the machine as broker1" in found[0].what


def named(n: int, cluster: str, **changes: Any) -> Host:
    """A host whose note says that it is a node of this cluster."""
    note = {"path": f"/etc/kafka/kafka{n}/has-data", "product": "kafka", "node_id": str(n), "cluster": cluster}
    return host(n, info(n, installed_as=note), **changes)


def test_a_cluster_that_was_renamed_is_named_once_with_both_names() -> None:
    (found,) = check_hosts([named(n, "green") for n in (1, 2, 3)])
    assert (found.name, found.level, found.hosts) == ("renamed_cluster", "error", ("kafka1", "kafka2", "kafka3"))
    assert found.what == "the nodes of cluster blue were installed as nodes of cluster green"
    assert found.found == "green in /etc/kafka/kafka1/has-data"
    assert "kafka_accept_former_cluster_name=green" in found.fix


def test_a_new_name_may_be_accepted_for_the_old_one_that_is_named() -> None:
    assert check_hosts([named(n, "green", former_cluster="green") for n in (1, 2, 3)]) == []
    assert check_hosts([named(n, "green", former_cluster="red") for n in (1, 2, 3)])
    assert check_hosts([named(n, "blue") for n in (1, 2, 3)]) == []


def test_files_of_the_inventorys_own_hosts_on_a_machine_are_not_left_by_others() -> None:
    def node(name: str, address: str) -> Node:
        known = {"kafka_config_dir": "/etc/kafka", "kafka_data_dir": "/var/lib/kafka", "ansible_host": address}
        return build_node(name, controller=True, broker=True, variables=known, undefined={})

    data = {**left("note"), "kind": "data", "config_dir": None, "path": "/var/lib/kafka/broker2"}
    beside = [left("note"), left("service"), data]
    own = node("kafka2", "10.0.0.2")
    assert host_of(own, info(2, beside=beside), [own, node("broker2", "10.0.0.2")]).beside == []
    assert host_of(own, info(2, beside=beside), [own, node("broker2", "10.0.0.9")]).beside == beside


def test_brokers_that_have_data_have_had_an_ensemble() -> None:
    meta = {"cluster.id": ID, "broker.id": "11", "version": "0"}
    broker = host(
        11,
        info(11, disk(11, meta_properties=meta), running=False),
        mode="zookeeper",
        roles=("broker",),
        version="3.9.2",
    )
    empty = info(1, disk(None, path="/zk", myid=None, epoch=None), running=False)
    server = host(1, empty, mode="zookeeper", roles=("zookeeper",), version="3.9.5")
    assert check_hosts([server]) == []
    found = check_hosts([server, broker])
    assert [(one.name, one.hosts) for one in found] == [("disks_of_ensemble", ("kafka1",))]
    assert "data of kafka11 in /data" in found[0].found


@pytest.mark.parametrize("hosts", GOOD)
def test_good_answers_break_no_row(hosts: list[Host]) -> None:
    assert check_hosts(hosts) == []


@pytest.mark.parametrize(("second", "rule", "parts"), ERRORS)
def test_each_bad_answer_is_named_alone(second: Host, rule: str, parts: list[str]) -> None:
    violations = check_hosts(answers(second))
    assert [(one.name, one.level, one.hosts) for one in violations] == [(rule, "error", ("kafka2",))]
    assert [part for part in parts if part not in violations[0].sentence()] == []


def test_a_host_that_did_not_answer_is_named_and_the_others_are_still_judged() -> None:
    why = "Failed to connect to the host via ssh: Connection refused"
    hosts = [replace(host(1), info=None, clock=None, silence=why), host(2, node_id=7), fresh(3)]
    violations = check_hosts(hosts)
    assert [(one.name, one.hosts) for one in violations] == [
        ("disk_of_other_node", ("kafka2",)),
        ("no_answer", ("kafka1",)),
    ]
    assert violations[1].found == why


def test_emptied_disks_of_two_of_three_voters_are_refused() -> None:
    violations = check_hosts([fresh(1), fresh(2), host(3)])
    assert [(one.name, one.hosts) for one in violations] == [("disk_lost_data", ("kafka1", "kafka2"))]


def test_the_inventorys_cluster_id_is_held_against_every_disk() -> None:
    violations = check_hosts([replace(host(n), cluster_id=OTHER_ID) for n in (1, 2, 3)])
    assert [(one.name, one.hosts) for one in violations] == [("disk_of_other_cluster", ("kafka1", "kafka2", "kafka3"))]
    assert ID in violations[0].found
    assert OTHER_ID in violations[0].allowed


def test_one_disk_copied_to_two_nodes_is_refused() -> None:
    copied = {"cluster.id": ID, "node.id": "2", "directory.id": "dir1"}
    violations = check_hosts(answers(host(2, info(2, disk(2, meta_properties=copied)))))
    assert [(one.name, one.hosts) for one in violations] == [("disk_of_other_cluster", ("kafka2",))]


def test_old_java_is_refused_for_kafka_4_on_all_nodes_at_once() -> None:
    violations = check_hosts([host(n, info(n, java=OLD_JAVA)) for n in (1, 2, 3)])
    assert [(one.name, one.hosts) for one in violations] == [("no_java", ("kafka1", "kafka2", "kafka3"))]
    assert "Java 11 (/usr/bin/java)" in violations[0].found


def test_mixed_java_is_a_warning_that_says_who_has_which() -> None:
    newer = {"path": "/usr/bin/java", "version": 21, "full": "21.0.1", "error": None}
    violations = check_hosts(answers(host(2, info(2, java=newer))))
    assert [(one.name, one.level) for one in violations] == [("mixed_java", "warning")]
    assert violations[0].found == "17 on kafka1, kafka3; 21 on kafka2"


def test_a_start_script_that_selinux_may_refuse_is_a_warning_with_the_commands() -> None:
    enforcing = [host(n, info(n, system=ENFORCING), config_dir="/etc/kafka") for n in (1, 2, 3)]
    violations = check_hosts(enforcing)
    assert [(one.name, one.level) for one in violations] == [("selinux_start_script", "warning")]
    assert "etc_t on /etc/kafka" in violations[0].found
    assert "semanage fcontext -a -t bin_t" in violations[0].fix
    assert check_hosts([replace(one, accepted=("selinux_start_script",)) for one in enforcing]) == []


JAVA = {"kafka_service_manager": "systemd", "kafka_java_home": "", "kafka_java_package": "auto"}


@pytest.mark.parametrize(
    ("variables", "system", "package"),
    [
        (JAVA, SYSTEM, "openjdk-17-jre-headless"),
        (JAVA, {**SYSTEM, "java_package": ""}, ""),
        (JAVA, None, ""),
        # What the inventory says wins, on a system that is not known too.
        ({**JAVA, "kafka_java_package": "temurin-25-jre"}, {**SYSTEM, "java_package": ""}, "temurin-25-jre"),
        ({**JAVA, "kafka_java_package": ""}, SYSTEM, ""),
        ({**JAVA, "kafka_java_home": "/opt/java"}, SYSTEM, ""),
        ({**JAVA, "kafka_service_manager": "supervisor"}, SYSTEM, ""),
    ],
)
def test_what_brings_java_to_a_machine_without_it(
    variables: dict[str, Any], system: dict[str, Any] | None, package: str
) -> None:
    node = build_node("kafka2", controller=True, broker=True, variables=variables, undefined={})
    assert node.java_package(system) == package
    assert host_of(node, info(2, system=system) if system else None).installs_java is bool(package)


def test_a_port_whose_owner_a_running_node_cannot_see_is_a_warning() -> None:
    violations = check_hosts(answers(host(2, held({"pid": None, "note": "cannot be seen"}, running=True))))
    assert [(one.name, one.level) for one in violations] == [("port_taken", "warning")]


def test_a_full_disk_can_be_accepted_by_name() -> None:
    full = host(2, info(2, disk(2, free_bytes=0)), accepted=("full_disk",))
    assert [(one.name, one.level) for one in check_hosts(answers(full))] == [("full_disk", "warning")]


def test_two_directories_on_one_disk_are_a_warning_where_no_mount_is_required() -> None:
    both = info(2, disk(2), second_disk())
    violations = check_hosts(answers(host(2, both, require_mount=False)))
    assert [(one.name, one.level) for one in violations] == [("shared_disk", "warning")]


CLOCKS: list[tuple[list[Host], str, str, tuple[str, ...], list[str]]] = [
    (
        answers(host(2, clock=clock(5.0))),
        "clocks_apart",
        "error",
        ("kafka2",),
        ["differ by at least 4.98 s", "kafka1 +0.00 s (± 0.01), kafka2 +5.00 s (± 0.01)", "chrony"],
    ),
    (
        answers(host(2, clock=clock(-2.0))),
        "clocks_apart",
        "error",
        ("kafka2",),
        ["differ by at least 1.98 s", "kafka2 -2.00 s"],
    ),
    (answers(host(2, clock=clock(5.0), production=False)), "clocks_apart", "error", ("kafka2",), []),
    # Neither is far from the middle, both are from each other.
    (
        [host(1, clock=clock(-0.7)), host(2), host(3, clock=clock(0.7))],
        "clocks_apart",
        "error",
        ("kafka1", "kafka3"),
        ["1.38 s"],
    ),
    (answers(host(2, clock=clock(0.3))), "clocks_apart", "warning", ("kafka2",), ["differ by at least 0.28 s"]),
    (
        [host(n, clock=clock(-30.0)) for n in (1, 2, 3)],
        "control_node_clock",
        "warning",
        ("kafka1", "kafka2", "kafka3"),
        ["the control node has another time", "kafka1 -30.00 s", "not valid yet"],
    ),
    (
        answers(host(2, clock=clock(0.0, synchronized=False))),
        "clock_not_synchronized",
        "warning",
        ("kafka2",),
        ["nothing keeps the clock right", "chronyd runs, but has no source"],
    ),
    (
        answers(host(2, clock=clock(0.0, synchronized=False, service=""))),
        "clock_not_synchronized",
        "warning",
        ("kafka2",),
        ["no time service is seen", "in a container on the machine below"],
    ),
    (
        answers(host(2, clock=clock(None, problem="date printed '17'"))),
        "unknown_clock",
        "warning",
        ("kafka2",),
        ["could not be judged", "date printed '17'"],
    ),
    (
        answers(host(2, clock=clock(0.0, synchronized=None, problem="the kernel does not tell"))),
        "unknown_clock",
        "warning",
        ("kafka2",),
        ["could not be judged", "the kernel does not tell"],
    ),
]


@pytest.mark.parametrize(("hosts", "rule", "level", "named", "parts"), CLOCKS)
def test_clocks_are_judged_by_what_is_certain(
    hosts: list[Host], rule: str, level: str, named: tuple[str, ...], parts: list[str]
) -> None:
    violations = check_hosts(hosts)
    assert [(one.name, one.level, one.hosts) for one in violations] == [(rule, level, named)]
    assert [part for part in parts if part not in violations[0].sentence()] == []


def test_skewed_clocks_can_be_accepted_and_are_still_shown_when_they_are_far_apart() -> None:
    hosts = answers(host(2, clock=clock(5.0)))
    accepted = [replace(one, accepted=("clocks_apart",)) for one in hosts]
    assert [(one.name, one.level) for one in check_hosts(accepted)] == [("clocks_apart", "warning")]
    assert check_hosts([replace(one, accepted=("clocks_apart",)) for one in answers(host(2, clock=clock(0.3)))]) == []


def test_clusters_are_judged_apart() -> None:
    green = [replace(host(n), name=f"green{n}", cluster="green", machine=f"10.0.1.{n}") for n in (1, 2, 3)]
    assert check_hosts([fresh(1), fresh(2), fresh(3), *green]) == []


def busy(n: int, mbits: int, **changes: Any) -> Host:
    """A node on a link of 1,000 Mbit/s that carries so many of them one way."""
    told = {"interface": "eth0", "received_bytes_per_second": 0, "sent_bytes_per_second": mbits * 125_000}
    return host(n, info(n, disk(n), network=told), network_mbits=1000, **changes)


def test_a_link_with_little_room_is_a_warning_with_the_figure() -> None:
    found = check_hosts([busy(1, 750), busy(2, 800)])
    assert [(one.name, one.level, one.hosts) for one in found] == [("busy_network", "warning", ("kafka2",))]
    assert found[0].found == "eth0 carries 800 Mbit/s, 80 % of 1000"
    assert check_hosts([busy(1, 900, accepted=("busy_network",))]) == []


def test_a_machine_of_several_nodes_is_judged_once() -> None:
    found = check_hosts([busy(1, 900, machine="shared"), busy(2, 900, machine="shared")])
    assert [len(one.hosts) for one in found if one.name == "busy_network"] == [2]


def mirrors(**changes: Any) -> list[Host]:
    """A cluster and a mirror next to it, which has another Java and no data, whatever lies in its directories."""
    java = {"path": "/usr/bin/java", "version": 21, "full": "21.0.7", "error": None}
    found = info(9, disk(7), java=changes.pop("java", java))
    good = host(9, found, name="mirror1", roles=("mirror",), node_id=None, cluster_id="", **changes)
    return [host(1), host(2), host(3), good]


def test_a_mirror_has_a_clock_and_java_but_no_disks() -> None:
    assert check_hosts(mirrors()) == []
    found = check_hosts(mirrors(clock=clock(5.0), java=OLD_JAVA))
    assert [(one.name, one.hosts) for one in found] == [("clocks_apart", ("mirror1",)), ("no_java", ("mirror1",))]


@pytest.mark.parametrize(("changes", "joins"), [({}, False), ({"_common_changes_voters": True}, True)])
def test_a_controller_comes_only_in_a_run_that_changes_the_voters(changes: dict[str, Any], joins: bool) -> None:
    known = {"kafka_joining_controllers": ["kafka2"], "kafka_data_dir": "/var/lib/kafka", **changes}
    node = build_node("kafka2", controller=True, broker=False, variables=known, undefined={})
    assert host_of(node, info(2)).joins is joins


@pytest.mark.parametrize(("phase", "runs"), [("claimed", "old"), ("claimed", "nobody"), ("taken", "ours")])
def test_a_node_that_is_taken_over_is_none_of_others(phase: str, runs: str) -> None:
    found = {"phase": phase, "runs": runs, "service": "systemd kafka.service"}
    hosts = [host(1), host(3), host(2, info(2, disk(2), adopted=found))]
    assert [one for one in check_hosts(hosts) if one.name in ("given_back", "port_taken")] == []


@pytest.mark.parametrize("runs", ["ours", "nobody"])
def test_a_run_that_takes_nodes_over_takes_those_that_were_to_be_given_back_too(runs: str) -> None:
    returned = info(2, disk(2), adopted={"phase": "returned", "runs": runs, "service": "systemd kafka.service"})
    node = build_node("kafka2", controller=True, broker=True, variables={"_common_foresees_claim": True}, undefined={})
    assert host_of(node, returned).is_taken_over is True
    for is_taken_over, refused in ((True, []), (False, ["given_back"])):
        violations = check_hosts([host(1), host(3), host(2, returned, is_taken_over=is_taken_over)])
        assert [violation.name for violation in violations if violation.name == "given_back"] == refused
