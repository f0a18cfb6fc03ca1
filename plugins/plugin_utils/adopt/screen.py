# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The screen of adopt.yml: clusters that others installed, their nodes, what does not fit together, the next step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...module_utils._node.installed import KAFKA, ZOOKEEPER
from ..findings import REFUSE, Finding, finding_lines, refused
from ..guards.foreign import ForeignNode, Machine, foreign_nodes, our_nodes
from ..reports.group_lines import shown
from .asked import Answer, Question, answer_line, contradictions
from .clusters import END_ITS_WAY, ON_ITS_WAY, ForeignCluster, clusters_of
from .machines import Said, divided
from .nodes import disagreements

#: Characters of a reason: a trace of Python would be the whole screen.
_REASON = 300


@dataclass(frozen=True)
class Looked:
    """What the machines of a run told.

    machines -- by host; silent -- by host why nothing is known of it; notes -- on hosts that are one machine.
    """

    machines: Mapping[str, Machine]
    silent: Mapping[str, str]
    nodes: Sequence[ForeignNode]
    clusters: Sequence[ForeignCluster]
    notes: Sequence[Finding] = ()


def looked(results: Mapping[str, Machine], said: Mapping[str, Said] | None = None) -> Looked:
    """Sort what a run has of each host: the result of adoption_info, or of a host that did not answer.

    said -- by host what the inventory says of its node, by which hosts of one machine are told apart
    """
    machines, notes = divided({host: result for host, result in results.items() if "processes" in result}, said or {})
    silent = {host: _why(result) for host, result in results.items() if host not in machines}
    nodes = foreign_nodes(machines)
    return Looked(machines, silent, nodes, clusters_of(nodes, our_nodes(machines)), notes)


def _why(result: Machine) -> str:
    """Return why nothing is known of a host, on one line."""
    kind = "it cannot be reached" if result.get("unreachable") else "the look failed"
    # Where no module ran at all, the shell of the host says why (no Python, no room), and Ansible's words do not.
    said = str(result.get("module_stderr") or result.get("msg") or "")
    words = " ".join(said.split()).removeprefix("Task failed: ").rstrip(".")
    return f"{kind}: {words[:_REASON]}" if words else kind


def all_findings(look: Looked, answers: Sequence[Answer | Question | None]) -> list[Finding]:
    """Return all that was found, refusals first. answers -- of each cluster, None of a product that is not asked."""
    listed = [
        *_silent_hosts(look),
        *look.notes,
        *disagreements(look.machines, look.nodes),
        *(
            finding
            for cluster, told in zip(look.clusters, answers, strict=True)
            if told is not None
            for finding in contradictions(cluster, told)
        ),
    ]
    return sorted(listed, key=lambda finding: finding.level != REFUSE)


def _silent_hosts(look: Looked) -> Iterator[Finding]:
    for host, why in look.silent.items():
        yield Finding(REFUSE, f"{host} was not looked at: {why}", "make it reachable, or take it out of this inventory")


def screen_lines(
    look: Looked,
    answers: Sequence[Answer | Question | None],
    findings: Sequence[Finding],
    inventory: Sequence[str] = (),
    step: str = "",
) -> list[str]:
    """Return the screen.

    inventory -- lines about files of an inventory; step -- what comes next, empty for what follows from the look
    """
    lines = [f"Looked at    {_counted(look)}"]
    for cluster, told in zip(look.clusters, answers, strict=True):
        lines.append(f"{_head(cluster):<12} {_cluster_words(cluster)}")
        lines += [f"Node         {_node_words(node)}" for node in cluster.nodes]
        if isinstance(told, Answer):
            lines.append(f"Asked        {answer_line(told)}")
    for node in look.nodes:
        if node.is_contained:
            lines.append(f"Container    {node.host}: {node.product}, process {node.told['pid']}, {node.service}")
    lines += [*inventory, *finding_lines(findings), f"Next step    {step or _next_step(look, findings)}"]
    # Whoever may add an ACL or a quota of a cluster chooses a name that stands here.
    return [shown(line) for line in lines]


def _counted(look: Looked) -> str:
    """Return how much was seen."""
    hosts = _number(len(look.machines), "host")
    nodes = _number(len(look.nodes), "process") if look.nodes else "no process"
    missing = f"; {_number(len(look.silent), 'host')} could not be looked at" if look.silent else ""
    return f"{hosts}, {nodes} of Kafka, ZooKeeper or MirrorMaker that others installed{missing}"


def _number(count: int, word: str) -> str:
    plural = f"{word}es" if word.endswith("s") else f"{word}s"
    return f"{count} {word if count == 1 else plural}"


def _head(cluster: ForeignCluster) -> str:
    if cluster.product == KAFKA:
        return "Cluster"
    return "Ensemble" if cluster.product == ZOOKEEPER else "Mirror"


def _cluster_words(cluster: ForeignCluster) -> str:
    parts = [cluster.mode, cluster.quorum, cluster.releases, _number(len(cluster.nodes), "node")]
    return f"{cluster.title}: {'; '.join(part for part in parts if part)}"


def _node_words(node: ForeignNode) -> str:
    """Return who a node is, what it runs, who manages it, and where its data and its listeners are."""
    told = node.told
    number = "id not known" if node.node_id is None else f"id {node.node_id}"
    paths = ", ".join(place["path"] for place in told["dirs"]) or "not known"
    data = [] if node.product not in (KAFKA, ZOOKEEPER) else [f"data {paths}"]
    who = [", ".join(node.roles), *([number] if data else [])]
    parts = [*who, told["release"]["summary"], f"{node.service}, user {told['user']}", *data, _listening(node)]
    return f"{node.host}: {'; '.join(parts)}"


def _listening(node: ForeignNode) -> str:
    """Return where a node listens: by its properties, else by the ports that its process has."""
    named = node.told["properties"].get("listeners", "").replace(" ", "") if node.product == KAFKA else ""
    if named:
        return f"listens {named.replace(',', ', ')}"
    ports = ", ".join(str(port) for port in node.told["ports"])
    return f"listens on ports {ports}" if ports else "listeners not known"


def _next_step(look: Looked, findings: Sequence[Finding]) -> str:
    """Return what an operator does next."""
    if refused(findings):
        return "clear what is refused, and run this again; nothing was changed"
    if not look.nodes and our_nodes(look.machines):
        return "none: this collection runs what runs on these hosts already; nothing was changed"
    if not look.nodes:
        return "name the hosts of the cluster in this inventory, and run this again as root; nothing was changed"
    modes = {cluster.mode for cluster in look.clusters if cluster.product == KAFKA}
    if not modes:
        return (
            "an inventory is written of a cluster of Kafka: name its hosts in this inventory too, or write that of "
            "mirrors by hand (docs/mirroring.md); nothing was changed"
        )
    if modes == {ON_ITS_WAY}:
        return f"{END_ITS_WAY}; nothing was changed"
    return (
        "write the inventory of the cluster with -e kafka_adopt=inventory -e kafka_adopt_inventory=DIR, and take its "
        "nodes over with it (docs/adopt.md); nothing was changed"
    )
