# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines of a cluster that others installed, as the modules tell of them; docs/adopt.md shows the first cluster."""

from __future__ import annotations

from typing import Any

CLUSTER = "MkU3OEVBNTcwNTJENDM2Qg"
RELEASE = {
    "version": "4.3.1",
    "vendor": "apache",
    "summary": "4.3.1 as Apache published it",
    "differing": [],
    "missing": [],
}
PATCHED = {
    **RELEASE,
    "summary": "4.3.1, but 1 of its jars differ from what Apache published",
    "differing": ["kafka-clients-4.3.1.jar"],
}
#: What a process in a container tells, as the module returns it.
CONTAINED: dict[str, Any] = {
    "product": "kafka",
    "pid": 77,
    "ours": None,
    "user": "1000",
    "properties": {},
    "dirs": [],
    "release": {},
    "ports": [],
    "service": {"manager": "container", "name": "docker 3f2a91"},
}


def node(number: int, **other: Any) -> dict[str, Any]:
    """Return what adoption_info says of a combined node; properties of C(other) are added, those with None dropped."""
    properties: dict[str, Any] = {
        "process.roles": "broker,controller",
        "node.id": str(number),
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.bootstrap.servers": "kafka1:9093,kafka2:9093,kafka3:9093",
        "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
        "advertised.listeners": f"PLAINTEXT://kafka{number}:9092",
        **other.pop("properties", {}),
    }
    return {
        "product": "kafka",
        "pid": 800 + number,
        "ours": None,
        "user": "kafka",
        "properties": {key: value for key, value in properties.items() if value is not None},
        "dirs": [
            {
                "path": "/var/lib/kafka",
                "meta_properties": {"cluster.id": CLUSTER, "node.id": str(number), "version": "1"},
                "myid": None,
            }
        ],
        "service": {"manager": "systemd", "name": "kafka.service"},
        "release": RELEASE,
        "ports": [9092, 9093],
        **other,
    }


def server(number: int) -> dict[str, Any]:
    """Return what adoption_info says of a server of ZooKeeper."""
    members = {f"server.{member}": f"zk{member}:2888:3888" for member in (1, 2, 3)}
    return node(
        number,
        product="zookeeper",
        properties={"process.roles": None, "node.id": None, "listeners": None, "clientPort": "2181", **members},
        dirs=[{"path": "/var/lib/zookeeper", "meta_properties": None, "myid": str(number)}],
        ports=[2181],
        user="zookeeper",
        service={"manager": "none", "name": ""},
        release={**RELEASE, "version": "3.8.6", "summary": "3.8.6 as Apache published it"},
    )


def machine(*processes: dict[str, Any], unread: list[dict[str, str]] | None = None) -> dict[str, Any]:
    """Return what a machine tells."""
    return {"processes": list(processes), "unread": unread or []}


def three() -> dict[str, dict[str, Any]]:
    """Return three machines with a combined node each."""
    return {f"kafka{number}": machine(node(number)) for number in (1, 2, 3)}


def info(brokers: tuple[int, ...] = (1, 2, 3), voters: tuple[int, ...] = (1, 2, 3), **other: Any) -> dict[str, Any]:
    """Return what cluster_info says of a cluster."""
    return {
        "cluster_id": CLUSTER,
        "nodes": [{"id": number, "host": f"kafka{number}", "port": 9092, "fenced": False} for number in brokers],
        "quorum": {
            "leader_id": 2,
            "voters": [{"id": number} for number in voters],
            "observers": [],
            "error": None,
        },
        "features": {"metadata.version": 30, "kraft.version": 1},
        "counts": {"topics": 12, "partitions": 140, "under_replicated": 0, "offline": 0},
        **other,
    }


#: What features_info says of it.
FEATURES = {"features": [{"name": "metadata.version", "finalized_name": "4.3-IV0"}]}


def shown_on_the_page() -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return the machines and the answer of the screen that docs/adopt.md has."""
    machines = three()
    machines["kafka3"] = machine(node(3, release=PATCHED))
    machines["kafka4"] = {"unreachable": True, "msg": "Failed to connect to the host via ssh: Connection timed out"}
    answered = info(brokers=(1, 2, 3, 4))
    answered["nodes"][3]["fenced"] = True
    return machines, answered
