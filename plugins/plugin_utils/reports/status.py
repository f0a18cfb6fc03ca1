# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The verdict on a running cluster, and what a run changed in it, for people and for monitoring."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...module_utils._core.names import capped
from ...module_utils._features.levels import KRAFT
from ...module_utils._health.model import DEGRADED, DOWN, NOTE, OK, phrases
from ...module_utils._health.node_rules import of_start_files
from ...module_utils._node.adopted import NOBODY, OLD, OURS, RETURNED, TAKEN, Told

#: How many names a line shows.
SHOWN = 5


def verdict_line(cluster: str, health: Mapping[str, Any]) -> str:
    """Return the first line of a status: OK, DEGRADED or DOWN, and why; ``health`` is what cluster_health returned."""
    why = phrases(health["findings"])
    if health["status"] == OK:
        counts = health["cluster"]["counts"]
        why = [f"{counts['nodes']} brokers up, {counts['partitions']} partitions in sync"]
    return f"{health['status']:<12} {cluster}: {'; '.join(why)}"


def finding_lines(findings: Iterable[Mapping[str, str]]) -> list[str]:
    """Return what to do about each finding, and what notes say; findings with one next step share a line."""
    found = list(findings)
    steps: dict[str, list[str]] = {}
    for finding in found:
        steps.setdefault(finding["next_step"], []).append(finding["kind"])
    return [
        *(f"Note         {finding['what']}" for finding in found if finding["severity"] == NOTE),
        *(f"Next         {', '.join(dict.fromkeys(kinds))}: {step}" for step, kinds in steps.items()),
    ]


def start_file_lines(seen: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return what is to be said of start files, by host as node_info returns them; nothing where all is in order."""
    return finding_lines([finding.as_dict() for finding in of_start_files(seen)])


def adopted_lines(adopted: Mapping[str, Told]) -> list[str]:
    """Say of nodes that something else ran before who has them now; by host as node_info returns it."""
    hosts: dict[str, list[str]] = {}
    for host, node in adopted.items():
        hosts.setdefault(_adopted_words(node), []).append(host)
    return [f"Adopted      {', '.join(names)}: {words}" for words, names in hosts.items()]


def _adopted_words(node: Told) -> str:
    """Say of a node where it stands between its old service and ours, and what goes on from there."""
    if node["phase"] == RETURNED:
        goes_on = "" if node["runs"] == OLD else " (adopt.yml -e kafka_adopt=back goes on)"
        words = {OLD: "given back", OURS: "not given back yet", NOBODY: "does not run; to be given back"}[node["runs"]]
        return f"{words} to {node['service']}{goes_on}"
    if node["runs"] == OLD:
        return f"still run by {node['service']} (adopt.yml -e kafka_adopt=take goes on)"
    if node["phase"] == TAKEN:
        return f"taken over from {node['service']}, can be given back (adopt.yml -e kafka_adopt=back)"
    if node["runs"] == NOBODY:
        return f"does not run; to be taken over from {node['service']} (adopt.yml -e kafka_adopt=take goes on)"
    return f"taken over from {node['service']}, and not whole yet (adopt.yml -e kafka_adopt=take goes on)"


def ensemble_lines(cluster: str, info: Mapping[str, Any], names: Mapping[int, str]) -> list[str]:
    """Return how an ensemble of ZooKeeper is: OK, DEGRADED or, without a quorum, DOWN, and why, then each server.

    ``info`` is what zookeeper_info returned, ``names`` are the servers of the inventory by id.
    """
    servers = info["servers"]
    if info["problems"]:
        status = DOWN if info.get("lost") else DEGRADED
        verdict = f"{status:<12} ensemble of {cluster}: {'; '.join(info['problems'])}"
    else:
        leader = names.get(info["leader_id"], info["leader_id"])
        verdict = f"OK           ensemble of {cluster}: {len(servers)} servers up, {leader} leads"
    return [verdict, f"ZooKeeper    {'; '.join(_server(one, names) for one in servers)}"]


def _server(server: Mapping[str, Any], names: Mapping[int, str]) -> str:
    told = [server["state"], *([f"version {server['version']}"] if server["version"] else []), server["error"]]
    return f"{names.get(server['id'], server['address'])} (id {server['id']}, {', '.join(filter(None, told))})"


def running_versions(versions: Mapping[str, str | None]) -> str:
    """Return the version that the nodes of a cluster run; None for one that is not known.

    Of several, as in the middle of an upgrade, each says on how many nodes it runs, and on which.
    """
    by_version: dict[str, list[str]] = {}
    for host, version in versions.items():
        by_version.setdefault(version or "", []).append(host)
    unknown = by_version.pop("", [])
    if not by_version:
        return "of unknown version"
    told = [
        version if len(by_version) == 1 else f"{version} on {len(on)} of {len(versions)} nodes ({capped(on, SHOWN)})"
        for version, on in by_version.items()
    ]
    return ", ".join([*told, *([f"unknown on {capped(unknown, SHOWN)}"] if unknown else [])])


def cluster_lines(
    cluster: str, version: str, info: Mapping[str, Any], nodes: Sequence[Mapping[str, Any]], servers: Sequence[str]
) -> list[str]:
    """Return what a person wants to know of a cluster, a line each.

    ``version`` is what its nodes run (`running_versions`), ``servers`` its bootstrap list.
    """
    counts, quorum = info["counts"], info.get("quorum")
    topics = sorted(topic["name"] for topic in info["topics"] if not topic["internal"])
    return [
        f"Cluster      {cluster}, Kafka {version}, id {info['cluster_id']}",
        f"Bootstrap    {','.join(servers)}",
        f"Nodes        {'; '.join(node_lines(nodes, info['nodes']))}",
        f"Controller   {_controller(info['controller_id'], quorum)}",
        f"Topics       {short_list(topics)}",
        f"Replication  {counts['partitions']} partitions, {counts['under_replicated']} under-replicated, "
        f"{counts['offline']} offline",
    ]


def feature_lines(info: Mapping[str, Any]) -> list[str]:
    """Return which features are below what all nodes could run; ``info`` is what features_info returned, or failed.

    kraft.version is left out: it is raised for a dynamic quorum, not after an upgrade.
    """
    who = "all nodes that answered" if info.get("unknown") else "all nodes"
    return [
        f"Features     {one['name']} {one['finalized_name'] or one['finalized']} although {who} could run "
        f"{one['max_name'] or one['max']}"
        for one in info.get("features") or ()
        if one["below"] and one["name"] != KRAFT
    ]


def metadata_lines(compared: Mapping[str, Any]) -> list[str]:
    """Return whether the nodes agree on the metadata, and where not, who differs in what.

    ``compared`` is what metadata_compare returned, or failed; empty where it was not called.
    """
    if "lines" not in compared:
        why = str(compared.get("msg") or "").partition("\n")[0]
        return [f"Metadata     not compared: {why}"] if why and not compared.get("skipped") else []
    shown = compared["lines"][:1] if compared["agree"] else compared["lines"][: SHOWN + 1]
    return [f"Metadata     {line}" for line in shown]


def _controller(node: int | None, quorum: Mapping[str, Any] | None) -> str:
    """Name the active controller, with its epoch where there is a quorum: with ZooKeeper it is a broker without one."""
    if quorum and quorum.get("error"):
        return "unknown"
    if node is None:
        return "none"
    return f"node {node} in epoch {quorum['leader_epoch']}" if quorum else f"node {node}"


def node_lines(nodes: Iterable[Mapping[str, Any]], registered: Iterable[Mapping[str, Any]]) -> list[str]:
    """A few words about each node for people; `registered` are the brokers as cluster_info lists them."""
    words = {broker["id"]: _standing(broker) for broker in registered}
    lines = []
    for node in nodes:
        state = ""
        if "broker" in node["roles"]:
            state = words.get(node["node_id"], ", not registered")
        lines.append(f"{node['host']} (id {node['node_id']}, {' and '.join(node['roles'])}{state})")
    return lines


def _standing(broker: Mapping[str, Any]) -> str:
    """Return what is wrong with a registered broker, behind a comma; empty where nothing is."""
    if broker.get("no_answer"):
        return ", does not answer"
    return ", fenced" if broker["fenced"] else ""


def change_lines(
    changes: Mapping[str, Mapping[str, Any]], files: Sequence[str], restarted: Sequence[str], check: bool = False
) -> list[str]:
    """Say what a run changed, or would in check mode.

    ``changes`` are the results of modules by what they are about, ``files`` and ``restarted`` names of nodes.
    """
    done = [phrase for subject, result in changes.items() for phrase in _changed(subject, result)]
    if files:
        done.append(f"files of {capped(files, SHOWN)}")
    lines = [f"{'Would change' if check else 'Changed     '} {'; '.join(done)}"] if done else []
    return lines + ([f"Restarted    {capped(restarted)}"] if restarted else [])


def short_list(names: Sequence[str]) -> str:
    """Return how many names there are, and the first ones."""
    return f"{len(names)} ({capped(names, SHOWN)})" if names else "none"


def _changed(subject: str, result: Mapping[str, Any]) -> Iterator[str]:
    """Each field of a module's result that names or counts what changed."""
    for field in ("created", "grown", "configured", "updated", "altered", "added", "removed", "deleted"):
        value = result.get(field)
        if value:
            yield f"{subject} {field}: {capped(value, SHOWN) if isinstance(value, list) else value}"
    if result.get("settings"):
        yield f"{subject} set on {capped(sorted(result['settings']), SHOWN)}"
