# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What the health of a cluster is judged by, and the form of a finding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

from .._cluster.attribution import Attribution
from .._cluster.snapshot import InFlight, Key, Partition
from .consequences import Consequences, consequences, down_brokers

OK, DEGRADED, DOWN = "OK", "DEGRADED", "DOWN"
#: How much a finding weighs: the cluster does not serve, serves with less than it should, or needs attention later.
FATAL, SERIOUS, NOTE = "down", "degraded", "note"
#: The kinds of which others follow, however grave these are: partitions without a leader wait for a broker or a disk.
CAUSES = frozenset(("cluster_unreachable", "broker_down", "log_dir_offline", "ensemble", "ensemble_lost"))
#: How many names a finding shows.
SHOWN = 5
#: Next steps.
SITE = "ansible-playbook streamops.kafka.site -i INVENTORY"
BALANCE = "ansible-playbook streamops.kafka.rebalance -i INVENTORY -e plan_only=true"


@dataclass(frozen=True)
class HealthFinding:
    """One thing that is not as it should be, as cluster_health and the page return and count it.

    It judges a cluster that nobody is about to change: by its kind metrics count it and alerts name it. A reason
    against a change is a Finding (plugin_utils/findings.py).

    ``what`` is a phrase that is complete by itself, ``found`` and ``allowed`` its figures, ``next_step`` the first
    command or playbook, ``severity`` one of FATAL, SERIOUS and NOTE.
    """

    kind: str
    severity: str
    what: str
    found: str
    allowed: str
    next_step: str

    def as_dict(self) -> dict[str, str]:
        """Return the finding as a module returns it."""
        return asdict(self)


@dataclass(frozen=True)
class Limits:
    """The thresholds; each field is an option of the module cluster_health, with the same default.

    ``max_imbalance_percent`` -- of a broker's preferred partitions that others may lead, as
    leader.imbalance.per.broker.percentage of Kafka. ``min_disk_free`` -- the part of a disk that must be free, up to
    ``enough_disk_free_bytes``: what moves of replicas leave free too. ``max_quorum_lag`` -- seconds after which a voter
    or observer that has not caught up is behind; it fetches at least every 500 ms (controller.quorum.fetch.timeout.ms
    is 2 s). ``min_certificate_days`` -- days that a certificate must still hold.
    """

    max_imbalance_percent: float = 10.0
    min_disk_free: float = 0.15
    enough_disk_free_bytes: int = 75 * 1000**3
    max_quorum_lag: int = 30
    min_certificate_days: int = 30

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Limits:
        """Return the thresholds in a module's parameters."""
        return cls(**{name: params[name] for name in cls.__dataclass_fields__})


@dataclass(frozen=True)
class Groups:
    """What a look found of groups; without one there is no finding.

    ``seen`` are as group_info returns them, ``silent`` by id why brokers did not tell theirs, ``watched`` the names of
    kafka_groups_watched. ``is_whole`` says that all groups were looked at, not these alone. What only several looks can
    tell, in seconds: ``stands`` are by group and topic for how long nothing was committed although there were records
    to read, ``unread`` by group for how long it has had records to read, no member, and no commit.
    """

    seen: Sequence[Mapping[str, Any]] = ()
    silent: Mapping[int, str] = field(default_factory=dict)
    watched: Sequence[str] = ()
    is_whole: bool = False
    stands: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    unread: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class State:
    """What one look at a cluster found; what was not asked is empty and gives no finding.

    ``info`` is what cluster_info returns with sizes, None where the cluster did not answer (``unreachable`` says why).
    ``nodes`` are those of the inventory (host, node_id, roles); without any, nothing is compared with an inventory.
    ``throttles`` are those that no record of a move tells of (kind, name, key, value). ``moving`` are partitions under
    way, ``recorded`` how many partitions the record of an unfinished move has (None: there is no record).
    ``failed_log_dirs`` are paths by broker id. ``certificates`` are by broker id {server, days_left, error}.
    ``versions`` are what the hosts run, None where it is unknown. ``start_files`` are by host what node_info returns of
    them. ``unsteady`` is what the controllers themselves see of a quorum without a stable leader (controllers,
    epochs and what ``changed`` there last, as phrases), or the page by its polls; empty of any other.
    ``ensemble_lost`` is what was seen of an ensemble of ZooKeeper that had no quorum in any look for as long as one
    takes to elect, empty of any other. ``settings_unread`` says that no broker told the settings of topics, which in
    mode zookeeper they read from the ensemble. ``unclean`` are unclean elections (partition, at, when, leader, epoch).
    ``acknowledged`` is {at, when, by, epochs} of who has looked at those before, empty where nobody has. ``untold`` are
    questions without an answer.
    ``elsewhere`` are by id the brokers at whose address another node answers, with both. ``silent`` are by id those
    that did not answer at their own address in two looks one after the other, with what happened; ``leaderless`` says
    that in two looks no active controller had an answer. One look without an answer is ``untold``, or an error of the
    quorum.
    ``attributions`` say who is at fault for live replicas that are not in sync, or catches up.
    ``in_flight`` are the moves of ``moving`` in full, None where they are unknown; ``copied`` are by partition the
    bytes that its new brokers have, as far as they told. ``groups`` are those that were looked at. ``partitions`` are
    all of the cluster, with their min.insync.replicas. ``voter_racks`` are by id the racks of voters, of which Kafka
    knows none; ``survive_rack_loss`` says that the loss of any one rack shall leave quorum and partitions whole.
    """

    info: Mapping[str, Any] | None
    unreachable: str = ""
    nodes: Sequence[Mapping[str, Any]] = ()
    ensemble: Sequence[str] = ()
    ensemble_lost: str = ""
    settings_unread: bool = False
    unclean: Sequence[Mapping[str, Any]] = ()
    acknowledged: Mapping[str, Any] = field(default_factory=dict)
    throttles: Sequence[Mapping[str, Any]] = ()
    moving: Sequence[str] = ()
    recorded: int | None = None
    failed_log_dirs: Mapping[int, Sequence[str]] = field(default_factory=dict)
    certificates: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    versions: Mapping[str, str | None] = field(default_factory=dict)
    start_files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    unsteady: Mapping[str, Any] = field(default_factory=dict)
    mechanisms: tuple[str, ...] = ()
    untold: Sequence[str] = ()
    elsewhere: Mapping[int, str] = field(default_factory=dict)
    silent: Mapping[int, str] = field(default_factory=dict)
    leaderless: bool = False
    attributions: Sequence[Attribution] = ()
    in_flight: Mapping[Key, InFlight] | None = None
    copied: Mapping[Key, Mapping[int, int]] = field(default_factory=dict)
    groups: Groups = field(default_factory=Groups)
    partitions: Sequence[Partition] = ()
    voter_racks: Mapping[int, str] = field(default_factory=dict)
    survive_rack_loss: bool = False

    @property
    def seen(self) -> Mapping[str, Any]:
        """What cluster_info found; most rules run only where the cluster answered."""
        if self.info is None:
            raise AssertionError("a rule on a cluster that did not answer")
        return self.info

    @cached_property
    def down(self) -> Mapping[int, str]:
        """By id how brokers are down; each is a finding."""
        return down_brokers(self.nodes, self.seen["nodes"], self.silent)

    @cached_property
    def strangers(self) -> Sequence[Mapping[str, Any]]:
        """The registered brokers that the inventory does not have; each is a finding."""
        known = {node["node_id"] for node in self.nodes if "broker" in node["roles"]}
        return [broker for broker in self.seen["nodes"] if broker["id"] not in known] if known else ()

    @cached_property
    def consequences(self) -> Consequences:
        """The partitions that follow from brokers that are findings, which say so."""
        away = {*self.down, *(broker["id"] for broker in self.strangers if broker["fenced"]), *self.silent}
        return consequences(self.seen, away, self.attributions)

    def changed_last(self, node_ids: Iterable[int]) -> str:
        """Return what changed last in the start files of these nodes, as far as it is known; empty where it is not."""
        hosts = {node["host"] for node in self.nodes if node["node_id"] in set(node_ids)}
        changes = {host: (files or {}).get("last_change") for host, files in self.start_files.items() if host in hosts}
        return "; ".join(
            f"changed last on {host}: {', '.join(change['changes'])}" for host, change in changes.items() if change
        )

    def controller_name(self, node_id: int) -> str:
        """Return the host of a controller, or what it is called without an inventory."""
        return next((node["host"] for node in self.nodes if node["node_id"] == node_id), f"controller {node_id}")

    def name(self, node_id: int) -> str:
        """Return the host of a node, or what it is called without an inventory."""
        return next((node["host"] for node in self.nodes if node["node_id"] == node_id), f"broker {node_id}")


def place(kind: str, severity: str) -> int:
    """Return where a finding stands for people and in reports: causes first, then what is graver."""
    return 0 if kind in CAUSES else 1 + (FATAL, SERIOUS, NOTE).index(severity)


def is_of_what_is_down(kind: str, severity: str) -> bool:
    """Return whether a finding says that a broker or the cluster is down: then no advice is given."""
    return kind == "broker_down" or severity == FATAL


def status_of(findings: Iterable[HealthFinding]) -> str:
    """Return OK, DEGRADED or DOWN, by the gravest finding; notes alone leave a cluster OK."""
    found = {finding.severity for finding in findings}
    return DOWN if FATAL in found else DEGRADED if SERIOUS in found else OK


def fails(status: str, least: str) -> bool:
    """Return whether a status is a failure: ``least`` is never, down or degraded, which includes down."""
    return status in {"never": (), "down": (DOWN,), "degraded": (DOWN, DEGRADED)}[least]


def fail_on(settings: Mapping[str, Any]) -> str:
    """Return from which status on a run fails: status_fail_on, by default down; with status_strict degraded."""
    return "degraded" if settings.get("status_strict") else str(settings.get("status_fail_on") or "down")


def phrases(findings: Iterable[Mapping[str, str]]) -> list[str]:
    """Return what keeps a cluster from full service, a phrase each: all findings but notes."""
    return [finding["what"] for finding in findings if finding["severity"] != NOTE]
