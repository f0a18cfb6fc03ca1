# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The plan of an upgrade: which node goes from which release to which, in the order of the roll, on one screen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ...module_utils._core.cves import numbers
from ..findings import finding_lines, refusal_lines, refused
from .model import BACK, FINALIZE, ClusterFacts, NodeFacts, Outcome, findings_of

#: What happens to a node.
DONE, RESTARTS, STARTS, UNKNOWN, REFUSED = "done", "restarts", "starts", "unknown", "refused"
#: What a row says of it, where that is more than the word; {after} is the release that the node is to have.
_WORDS = {
    STARTS: "stopped, starts with it",
    REFUSED: (
        "refused: it did not come back with its last files of {after}; change them, or add "
        "-e kafka_retry_generation=true"
    ),
}
#: How many rows and findings fit on one screen; the rest is counted.
MOST_ROWS, MOST_FINDINGS = 30, 12


@dataclass(frozen=True)
class Row:
    """One node of a plan; place is its turn, 0 for a node that has its release already."""

    place: int
    host: str
    node_id: int | None
    kind: str
    before: str
    after: str
    does: str
    leads: bool = False


@dataclass(frozen=True)
class Plan:
    """What an upgrade would do and what its checks found."""

    cluster: str
    action: str
    rows: tuple[Row, ...]
    outcomes: tuple[Outcome, ...]
    features: str
    proof: str = ""

    @property
    def left(self) -> tuple[Row, ...]:
        """The nodes that do not have their release yet."""
        return tuple(row for row in self.rows if row.does != DONE)


def make_plan(facts: ClusterFacts, outcomes: Sequence[Outcome]) -> Plan:
    """Return the plan of a cluster: nodes in the order of the roll, those that have their release first."""
    done = [_row(facts, node, 0) for node in facts.nodes if node.runs == node.target]
    waiting = [_row(facts, node, place) for place, node in enumerate(in_turn(facts), start=1)]
    return Plan(facts.name, facts.action, (*done, *waiting), tuple(outcomes), features_text(facts), proof_text(facts))


def in_turn(facts: ClusterFacts) -> list[NodeFacts]:
    """Return the nodes that are to change, in the order of playbooks/_roll.yml.

    Stopped ones start before it. Servers of ZooKeeper, controllers and brokers follow by their ids, and whoever is the
    active controller comes last of all (the leader of an ensemble too, which only its own gate knows).
    """
    ranks = ("zookeeper", "controller", "broker")

    def turn(node: NodeFacts) -> tuple[bool, bool, int, int]:
        rank = next(number for number, role in enumerate(ranks) if role in node.roles)
        return node.running, _leads(facts, node), rank, node.node_id or 0

    return sorted((node for node in facts.nodes if node.runs != node.target), key=turn)


def features_text(facts: ClusterFacts) -> str:
    """Return the finalised features with their levels, empty where there are none or they are not known."""
    features = (facts.info or {}).get("features") or {}
    return ", ".join(f"{name} {level}" for name, level in sorted(features.items()))


def proof_text(facts: ClusterFacts) -> str:
    """Say whether the roll is proven, and why it is not; empty where no node of Kafka restarts."""
    if not any(node.running and node.runs != node.target for node in facts.kafka):
        return ""
    if facts.proven:
        return "records are written while nodes restart, and read again"
    brokers = [node for node in facts.kafka if "broker" in node.roles]
    single = "the cluster has one broker, which is down while it restarts"
    return f"none: {single if len(brokers) == 1 else 'kafka_prove is false'}"


def progress(rows: Iterable[Row], noun: str = "node") -> str:
    """Say how many nodes have their release: 2 of 6 nodes have 4.3.1."""
    rows = list(rows)
    wanted = list(dict.fromkeys(row.after for row in rows))
    done = [row for row in rows if row.does == DONE]
    return f"{len(done)} of {len(rows)} {noun}s {'has' if len(done) == 1 else 'have'} {' or '.join(wanted)}"


def plan_lines(plan: Plan) -> list[str]:
    """Return the plan on one screen."""
    return [
        *_headline(plan),
        *_rows(plan),
        *map(outcome_line, plan.outcomes),
        *([f"Proof        {plan.proof}"] if plan.proof else []),
        *([f"Features     {plan.features}; they stay as they are"] if plan.features else []),
        *lines_of(plan.outcomes),
    ]


def refusal_text(cluster: str, action: str, outcomes: Iterable[Outcome]) -> str:
    """Return all reasons why the upgrade cannot begin, each with its fix; empty where it can."""
    reasons = refusal_lines(findings_of(outcomes))
    if not reasons:
        return ""
    what = {BACK: "taken back", FINALIZE: "finalised"}.get(action, "upgraded")
    count = f"{len(reasons)} reason{'s' * (len(reasons) != 1)}"
    return "\n".join([f"Cluster {cluster} cannot be {what} now, for {count}. Nothing was changed.", *reasons])


def left_lines(plan: Plan, before: str, known: Collection[str]) -> list[str]:
    """Return what is left to do once all nodes have their release.

    before -- the release that the cluster came from, empty where it is not known; known -- those that can be installed
    """
    lines = [_of_kinds(plan, "Upgrade", progress)]
    if plan.action == BACK or not plan.features:
        return lines
    lines.append(
        f"Features     {plan.features}: an upgrade raises none. Raise them once you need no way back, by playbook "
        "upgrade, -e kafka_upgrade=finalize"
    )
    if before and before not in known:
        lines.append(f"Way back     none: this collection does not have Kafka {before}")
    elif before:
        fix = f"kafka_version: {before} in the inventory, playbook upgrade, -e kafka_upgrade=back"
        lines.append(f"Way back     until then: {fix}")
    return lines


def release_before(facts: ClusterFacts) -> str:
    """Return the oldest release that a node runs which is to change; empty where none is."""
    runs = {node.runs for node in facts.kafka if node.runs and node.runs != node.target}
    return min(runs, key=numbers, default="")


def _row(facts: ClusterFacts, node: NodeFacts, place: int) -> Row:
    does = RESTARTS if node.running else STARTS
    if place == 0:
        does = DONE
    elif not node.runs:
        does = UNKNOWN
    elif node.refuses:
        does = REFUSED
    return Row(place, node.host, node.node_id, node.kind, node.runs, node.target, does, _leads(facts, node))


def _leads(facts: ClusterFacts, node: NodeFacts) -> bool:
    return node.is_kafka and node.node_id is not None and (facts.info or {}).get("controller_id") == node.node_id


def _headline(plan: Plan) -> list[str]:
    word = "Back" if plan.action == BACK else "Upgrade"
    return [_of_kinds(plan, word, lambda rows, noun: f"{_path(rows)} ({progress(rows, noun)})")]


def _of_kinds(plan: Plan, word: str, text: Callable[[Sequence[Row], str], str]) -> str:
    """Return one line about the nodes of Kafka and, where there are any, the servers of ZooKeeper."""
    kinds = {"node": [row for row in plan.rows if "zookeeper" not in row.kind]}
    kinds["server"] = [row for row in plan.rows if "zookeeper" in row.kind]
    parts = [text(rows, noun) for noun, rows in kinds.items() if rows]
    return f"{word:<12} {plan.cluster}: {'; ZooKeeper '.join(parts)}"


def _path(rows: Sequence[Row]) -> str:
    before = [one or "unknown" for one in dict.fromkeys(row.before for row in rows if row.does != DONE)]
    after = " or ".join(dict.fromkeys(row.after for row in rows))
    return f"{' and '.join(before)} -> {after}" if before else after


def _rows(plan: Plan) -> Iterator[str]:
    for row in plan.rows[:MOST_ROWS]:
        turn = f"{row.place}." if row.place else "-"
        who = f"{row.host} (id {row.node_id}, {row.kind})"
        leads = ", leads now, so last" if row.leads and row.place and row.does != REFUSED else ""
        does = _WORDS.get(row.does, row.does).format(after=row.after)
        change = row.after if row.does == DONE else f"{row.before or 'unknown'} -> {row.after}"
        yield f"Node {turn:<7} {who} {change}, {does}{leads}"
    if len(plan.rows) > MOST_ROWS:
        yield f"             and {len(plan.rows) - MOST_ROWS} more nodes"


def outcome_line(outcome: Outcome) -> str:
    """Return what a check found on one line."""
    bad = len(refused(outcome.findings))
    noted = len(outcome.findings) - bad
    counts = [f"{bad} refused"] * bool(bad) + [f"{noted} noted"] * bool(noted)
    return f"Check        {outcome.check}: {', '.join(counts) or outcome.fine}"


def lines_of(outcomes: Iterable[Outcome]) -> list[str]:
    """Return a line for each finding, as many as fit on a screen."""
    lines = finding_lines(findings_of(outcomes))
    more = len(lines) - MOST_FINDINGS
    return lines if more <= 0 else [*lines[:MOST_FINDINGS], f"             and {more} more"]
