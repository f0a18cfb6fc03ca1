# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Clients that use versions of the protocol which Kafka 4.0 removed (KIP-896): no broker of 4.x answers them.

Brokers count their requests since they started. Asked twice, they tell who came between.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from ...module_utils._core.cves import numbers
from ...module_utils._core.names import capped
from ..findings import NOTE, REFUSE, Finding
from .model import BACK, ClusterFacts, NodeFacts, OldRequests, Outcome, names

ACCEPT_OLD, WATCH = "kafka_upgrade_accept_old_clients", "kafka_upgrade_watch_seconds"
#: The first release that counts them, and the one that does not answer them any more.
COUNTS, REMOVED = (3, 7), (4,)


def clients(facts: ClusterFacts) -> Outcome:
    """Refuse clients that the target does not answer any more, unless they are accepted; note what is not known."""
    asked = [node for node in facts.kafka if _must_be_asked(facts, node)]

    def found() -> Iterator[Finding]:
        by_client: dict[str, list[tuple[NodeFacts, OldRequests]]] = {}
        for node in asked:
            for one in node.old_requests or ():
                by_client.setdefault(one.client, []).append((node, one))
        for client, seen in by_client.items():
            yield _too_old(facts, client, seen)
        yield from _unknown(asked)

    return Outcome("Clients", _fine(facts, asked), tuple(found()))


def old_requests(first: Mapping[str, Any], last: Mapping[str, Any]) -> tuple[OldRequests, ...]:
    """Return the requests that came between two answers of the module deprecated_requests, or all without the first.

    A broker that started anew between them counts from 0.
    """
    same = first.get("since") == last["since"]
    before = {_key(one): one["count"] for one in first.get("requests") or ()} if same else {}
    more = [(one, int(one["count"]) - int(before.get(_key(one), 0))) for one in last["requests"]]
    return tuple(
        OldRequests(_client(one), f"{one['api']} v{one['api_version']}", count) for one, count in more if count > 0
    )


def _must_be_asked(facts: ClusterFacts, node: NodeFacts) -> bool:
    """Tell whether a node is a broker that goes from a release that answers them to one that does not."""
    goes = bool(node.runs) and numbers(node.runs) < REMOVED <= numbers(node.target)
    return goes and facts.action != BACK and "broker" in node.roles


def _key(request: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(request[key] for key in ("software", "software_version", "api", "api_version"))


def _client(request: Mapping[str, Any]) -> str:
    """Name the software of a client; old ones tell none, and Kafka says unknown."""
    told = [one for one in (request["software"], request["software_version"]) if one and one != "unknown"]
    return " ".join(told) or "of unknown software"


def _too_old(facts: ClusterFacts, client: str, seen: list[tuple[NodeFacts, OldRequests]]) -> Finding:
    counts: dict[str, int] = {}
    for _node, one in seen:
        counts[one.request] = counts.get(one.request, 0) + one.count
    nodes = list({node.host: node for node, _one in seen}.values())
    requests = capped([f"{request} {count} times" for request, count in sorted(counts.items())], 4)
    what = (
        f"a client {client} is too old for Kafka {facts.target} (KIP-896): {requests} on {names(nodes)} "
        f"{_window(facts, nodes)}"
    )
    if facts.old_clients:
        return Finding(NOTE, f"{what}. {ACCEPT_OLD} accepts that it fails")
    fix = "bring it to Kafka 2.1 or later (see docs/upgrade.md)"
    gone = f"if it is gone, look again with -e {WATCH}=600" if not facts.watched else ""
    consent = f"if it may fail, add -e {ACCEPT_OLD}=true"
    return Finding(REFUSE, what, "; ".join(filter(None, (fix, gone, consent))))


def _unknown(asked: list[NodeFacts]) -> Iterator[Finding]:
    """Note which brokers did not tell, and why."""
    by_reason: dict[str, list[NodeFacts]] = {}
    for node in asked:
        counts = numbers(node.runs) >= COUNTS
        if node.silence or (counts and node.old_requests is not None):
            continue
        reason = "it does not run" if not node.running else node.uncounted or "it was not asked"
        if not counts:
            reason = f"Kafka {node.runs} does not count them"
        by_reason.setdefault(reason, []).append(node)
    for reason, nodes in by_reason.items():
        yield Finding(NOTE, f"whether clients of {names(nodes)} are too old is not known: {reason}")


def _fine(facts: ClusterFacts, asked: list[NodeFacts]) -> str:
    told = [node for node in asked if node.old_requests is not None]
    if not asked:
        return "nothing changes for them"
    return f"none too old {_window(facts, told)}" if told else "not known"


def _window(facts: ClusterFacts, nodes: list[NodeFacts]) -> str:
    """Say over which time requests were counted: of several brokers, since the last one of them started."""
    if facts.watched:
        return f"within {facts.watched} s"
    since = max((node.counted_since for node in nodes if node.counted_since), default=None)
    if since is None:
        return "since it started"
    return f"since {datetime.fromtimestamp(since, UTC):%Y-%m-%d %H:%M} UTC"
