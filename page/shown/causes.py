"""What pages show of what is wrong: findings by kind, those about one subject or broker, and what was not asked."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ansible_collections.streamops.kafka.plugins.module_utils._core.names import capped
from ansible_collections.streamops.kafka.plugins.module_utils._health.model import NOTE
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_view import Row


def findings_about(findings: Iterable[Row], number: int, hosts: Iterable[str]) -> list[Row]:
    """Return the findings whose sentence or figure names a broker by its id or by one of its hosts, in their order.

    A sentence that names only some of many brokers, and how many more, is found for those that it names.
    """
    forms = [rf"(?<![\w.-])(?:broker|controller|node|voter) {number}(?![\w-])", rf"\(id {number}\)"]
    forms += [rf"(?<![\w.-]){re.escape(host)}(?![\w-]|\.\w)" for host in sorted(set(filter(None, hosts)))]
    named = re.compile("|".join(forms))
    return [one for one in findings if named.search(str(one["what"])) or named.search(str(one["found"]))]


#: Findings of one kind that a page shows at once; others are closed until a reader opens them.
OF_A_KIND = 3
#: Kinds that the one line on other pages of a cluster names.
_NAMED = 3
#: By the list of cluster_info that a partition is in, the kind of the finding that counts it.
_PARTITIONS = {
    "offline": "partitions_offline",
    "under_min_isr": "under_min_isr",
    "under_replicated": "under_replicated",
}
#: Kinds of findings on brokers that partitions lack, which count these partitions
#: (module_utils/_health/consequences.py); and that on a leader from which nobody copies.
_ON_BROKERS = frozenset(("broker_down", "ghost_broker", "broker_not_copying", "pair_not_copying", "catching_up"))
_ON_LEADERS = frozenset(("broker_cut_off",))


@dataclass(frozen=True)
class Cause:
    """Findings of one kind and severity: those that a page shows, and C(further) ones."""

    kind: str
    shown: Sequence[Row]
    further: Sequence[Row] = ()


def causes(findings: Iterable[Row]) -> list[Cause]:
    """Return findings by kind in the order that they have: many of one kind hide no other."""
    some = []
    for (kind, _severity), alike in groupby(findings, key=lambda finding: (finding["kind"], finding["severity"])):
        every = [*alike]
        some.append(Cause(kind, every[:OF_A_KIND], every[OF_A_KIND:]))
    return some


def in_a_line(findings: Sequence[Row]) -> str:
    """Return how many findings there are, notes apart as in the verdict, and their gravest kinds; empty without one."""
    if not findings:
        return ""
    notes = sum(finding["severity"] == NOTE for finding in findings)
    counts = (("finding", len(findings) - notes), ("note", notes))
    counted = " and ".join(f"{count:,} {word}{'' if count == 1 else 's'}" for word, count in counts if count)
    kinds = [*dict.fromkeys(str(finding["kind"]) for finding in findings)]
    return f"{counted} ({capped(kinds, _NAMED)})"


def about_group(findings: Iterable[Row], name: str) -> list[Row]:
    """Return the findings on a group: their sentence begins with it (module_utils/_health/group_rules.py)."""
    return [finding for finding in findings if finding["what"].startswith(f"group {name} has ")]


def about_topic(cluster: Row, name: str) -> list[Row]:
    """Return the findings that count partitions of a topic, and those on brokers that these lack or wait for.

    Where all that partitions lack has findings of its own, the finding that counts partitions is about others alone.
    """
    findings: Sequence[Row] = cluster.get("findings") or ()
    kinds: set[str] = set()
    causing: list[Row] = []
    for key, kind in _PARTITIONS.items():
        for row in cluster.get(key) or ():
            if row["topic"] == name:
                on_leader = _on(cluster, [row.get("leader")], _ON_LEADERS)
                on = {broker: _on(cluster, [broker], _ON_BROKERS) for broker in {*row["replicas"]} - {*row["isr"]}}
                causing += [*on_leader, *(finding for some in on.values() for finding in some)]
                # Those without a leader are always counted, and those in sync last are what they wait for.
                if key == "offline":
                    causing += _on(cluster, row["isr"], _ON_BROKERS)
                if key == "offline" or not (on_leader or (on and all(on.values()))):
                    kinds.add(kind)
    topic: Row = next((topic for topic in cluster.get("topics") or () if topic["name"] == name), {})
    # Nobody marks a broker that is frozen: what it leads by the metadata is served by nobody.
    causing += _on(cluster, {row.get("leader") for row in topic.get("partitions") or ()}, frozenset(("broker_down",)))
    return [finding for finding in findings if finding["kind"] in kinds or finding in causing]


def _on(cluster: Row, brokers: Iterable[int | None], kinds: Collection[str]) -> list[Row]:
    """Return the findings of these kinds on brokers."""
    some = [finding for finding in cluster.get("findings") or () if finding["kind"] in kinds]
    if not some:
        return []
    hosts = {node["node_id"]: node["host"] for node in cluster.get("inventory") or ()}
    return [
        finding
        for broker in brokers
        if broker is not None
        for finding in findings_about(some, broker, [hosts[broker]] if broker in hosts else [])
    ]


def unasked(cluster: Row) -> Iterator[str]:
    """Yield what of the last poll could not be asked, though no finding that makes it worse says so."""
    groups = cluster.get("groups") or {}
    if silent := groups.get("silent_brokers"):
        yield f"the groups of broker {capped([str(broker['id']) for broker in silent], _NAMED)}"
    elif groups and not groups.get("known", True):
        yield "groups"
    if failed := [str(group["name"]) for group in groups.get("groups") or () if group.get("error")]:
        yield f"group {capped(failed, _NAMED)}"
    if (cluster.get("quorum") or {}).get("error"):
        yield "the quorum"
