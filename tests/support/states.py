# SPDX-License-Identifier: GPL-3.0-or-later
"""States of a cluster as a table (states.yml), and each row made: what the module, the page and Prometheus then see."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.info import describe
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.log_sizes import Disk, LogDirs
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import (
    Broker,
    Partition,
    Quorum,
    Snapshot,
    Voter,
)
from ansible_collections.streamops.kafka.plugins.module_utils._groups.model import together
from ansible_collections.streamops.kafka.plugins.module_utils._health.look import judged
from ansible_collections.streamops.kafka.plugins.module_utils._health.model import Groups, Limits, State
from ansible_collections.streamops.kafka.plugins.plugin_utils.monitoring.rules import table as alerts_table
from page.cluster import cluster_of
from page.core.exposition import Family, exposition
from page.expected import Expected
from page.known.freshness import is_current
from page.known.metrics import families_of, families_of_polls
from page.known.picture import Picture, Polls
from tests.support.attributed import at_fault

#: The time at which all are asked, in seconds from the beginning of a state; Prometheus looks every minute.
NOW = 45 * 60
STALE_AFTER = 300
_DAY = 86_400
_DISK = 10**11
_SILENT = "no bootstrap server answered"
_THROTTLE = {"kind": "broker", "name": "1", "key": "leader.replication.throttled.rate", "value": "5"}
_MINUTES = NOW // 60 + 1


#: The alerts that wake a person; nothing mutes them.
CRITICAL = frozenset(alert.name for alert in alerts_table() if alert.severity == "critical")


@dataclass(frozen=True)
class Row:
    """One row of the table; C(says) has what status.yml, the page, its /health and its metric say."""

    name: str
    says: Mapping[str, str]
    facts: Mapping[str, Any] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()
    page_kinds: tuple[str, ...] = ()
    status_kinds: tuple[str, ...] = ()
    alerts: frozenset[str] = frozenset()

    @property
    def cluster(self) -> str:
        """The name of its cluster."""
        return re.sub(r"[^a-z]+", "-", self.name)


@cache
def table() -> dict[str, Row]:
    """Return the rows by name."""
    read = yaml.safe_load(Path(__file__).with_suffix(".yml").read_text())
    return {
        name: Row(
            name,
            row["says"],
            row.get("facts", {}),
            *(tuple(row.get(key, ())) for key in ("kinds", "page_kinds", "status_kinds")),
            frozenset(row.get("alerts", ())),
        )
        for name, row in read.items()
    }


@dataclass(frozen=True)
class Made:
    """A row made: its cluster as it answers, and what follows from that."""

    row: Row

    @property
    def facts(self) -> Mapping[str, Any]:
        """Those of the row."""
        return self.row.facts

    @property
    def poll(self) -> str:
        """How polls went."""
        return str(self.facts.get("poll", "ok"))

    @property
    def down(self) -> list[int]:
        """The brokers that are down."""
        return [*self.facts.get("down", ())]

    @property
    def mute(self) -> dict[int, str]:
        """The brokers that did not answer at their own address in two looks, with what happened."""
        return {one: f"no answer of kafka{one}:9092" for one in self.facts.get("mute", ())}

    @property
    def dead(self) -> set[int]:
        """The nodes whose metrics nobody reads."""
        return {*self.down, *self.mute, *self.facts.get("unanswered", ())}

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """Its brokers by the inventory, and its controllers where they are others."""
        roles = ["broker"] if self.facts.get("separate") or self.zookeepers else ["broker", "controller"]
        brokers = [{"host": f"kafka{one}", "node_id": one, "roles": roles} for one in (1, 2, 3)]
        others = [{"host": f"controller{one}", "node_id": one, "roles": ["controller"]} for one in (4, 5, 6)]
        every = [*brokers, *(others if self.facts.get("separate") else ())]
        return [one for one in every if one["node_id"] != self.facts.get("stranger")]

    @property
    def controller(self) -> int | None:
        """The active controller."""
        found = self.facts.get("controller", 4 if self.facts.get("separate") else 1)
        return None if self.facts.get("quorum_error") else found

    @property
    def zookeepers(self) -> Mapping[str, Any]:
        """Which servers of an ensemble of ZooKeeper are up, and why it has no quorum; empty in another mode."""
        return dict(self.facts.get("zookeepers", {}))

    def partitions(self) -> list[Partition]:
        """Its partitions with who leads them and who is in sync."""
        empty = self.facts.get("empty", ())
        usual = {
            "name": "orders",
            "replicas": [[one for one in some if one not in empty] for some in ([1, 2, 3], [2, 3, 1], [3, 1, 2])] * 4,
            "min": 2,
        }
        return [
            self._partition(topic["name"], index, replicas, topic["min"])
            for topic in (usual, *self.facts.get("topics", ()))
            for index, replicas in enumerate(topic["replicas"])
        ]

    def _partition(self, topic: str, index: int, replicas: list[int], least: int) -> Partition:
        alive = [one for one in replicas if one not in self.down]
        skewed = self.facts.get("skew", {}).get(replicas[0])
        leader = next(iter(alive[1:] if skewed else alive), None)
        late = self.facts.get("lagging", ())
        isr = [one for one in alive if one == leader or one not in late]
        if leader in self.facts.get("cut_off", ()):
            isr = [one for one in isr if one == leader]
        return Partition(topic, index, leader, tuple(replicas), tuple(isr or replicas[-1:]), least, False)

    def snapshot(self) -> Snapshot:
        """The cluster as it tells of itself."""
        brokers = tuple(Broker(one, f"kafka{one}", 9092, None, one in self.down) for one in (1, 2, 3))
        return Snapshot("id", self.controller, brokers, tuple(self.partitions()), self._quorum())

    def _quorum(self) -> Quorum | None:
        if self.zookeepers:
            return None
        if self.facts.get("quorum_error"):
            return Quorum.unknown(self.facts["quorum_error"])
        late = self.facts.get("behind", {})
        usual = (4, 5, 6) if self.facts.get("separate") else (1, 2, 3)
        voters = tuple(
            Voter(one, "now", 9, 0, late[one] * 1000 if one in late else 100) for one in self.facts.get("voters", usual)
        )
        others = tuple(Voter(one, "before", 5, 4, 1000 * ago) for one, ago in self.facts.get("observers", ()))
        return Quorum(self.controller, 7, 9, voters, others)

    def state(self, is_page: bool) -> State:
        """What a look of status.yml, or a poll of the page, finds."""
        facts = self.facts
        given: dict[str, Any] = {
            "nodes": self.nodes,
            "versions": facts.get("versions", {}),
            "groups": self._seen(is_page),
        }
        if self.zookeepers:
            ensemble = [f"server {one} is unreachable" for one in (1, 2, 3) if one not in self.zookeepers["up"]]
            lost = self.zookeepers["why"]
            given |= {
                "ensemble_lost": lost,
                **({} if is_page else {"ensemble": [*ensemble, *([lost] if lost else [])]}),
            }
        given |= {} if is_page else {"unclean": facts.get("unclean", ())}
        if host := facts.get("edited"):
            files = {host: {"failed": None, "why_failed": "", "staged": None, "edited": ["jvm.options"]}}
            given |= {} if is_page else {"start_files": files}
        if self.poll == "down":
            return State(None, _SILENT, **given)
        days = facts.get("days", {})
        info = describe(self.snapshot(), partitions=is_page, log_dirs=self._disks())
        for node in info["nodes"]:
            node["no_answer"] = self.mute.get(node["id"], "")
        return State(
            info,
            **given,
            silent=self.mute,
            leaderless=facts.get("leaderless", False),
            throttles=[_THROTTLE] if facts.get("throttle") else (),
            certificates={
                one: {"server": f"kafka{one}:9092", "days_left": left, "error": ""} for one, left in days.items()
            },
            failed_log_dirs=facts.get("failed_dirs", {}),
            **{key: facts[key] for key in ("moving", "recorded", "untold", "unsteady") if key in facts},
            attributions=at_fault(self.snapshot()) if facts.get("cut_off") else (),
        )

    def _disks(self) -> dict[int, LogDirs]:
        free = {one: int(_DISK * self.facts.get("free", {}).get(one, 0.5)) for one in (1, 2, 3)}
        return {
            one: LogDirs({}, _DISK, _DISK - left, (Disk(_DISK, left),))
            for one, left in free.items()
            if one not in self.dead
        }

    # -- groups ------------------------------------------------------------------------------------------------------

    @property
    def watched(self) -> list[str]:
        """The groups that must be there."""
        return ["billing"] if self.facts.get("group", {}).get("watched") else []

    def groups(self) -> list[dict[str, Any]]:
        """Its groups as group_info returns them."""
        about = self.facts.get("group")
        if not about or not about.get("there", True):
            return []
        lag, members = about["lag"], about["members"]
        known = {"partition": 0, "committed": 7, "start": 0, "end": 7 + lag, "lag": lag, "state": "known"}
        topics = [{"name": "orders", "lag": lag, "lag_unknown": 0, "partitions": [known]}]
        assigned = [{"topic": "orders", "partitions": [0]}]
        member = {"id": "m", "client_id": "c", "host": "/h", "instance_id": None, "assignment": assigned}
        return [
            {
                "name": "billing", "type": "classic", "state": "Stable" if members else "Empty", "coordinator": 1,
                "member_count": members, "members": [member] * members, "error": None, "lag": lag, "behind": lag,
                "lag_unknown": 0, "topics": topics,
            }
        ]  # fmt: skip

    def _seen(self, is_page: bool) -> Groups:
        found = self.groups()
        if not is_page:
            return Groups([one for one in found if one["name"] in self.watched], watched=self.watched)
        seconds = 60.0 * self.facts.get("group", {}).get("minutes", 0)
        stands = {one["name"]: {"orders": seconds} for one in found if seconds}
        return Groups(found, {}, self.watched, True, stands, {one["name"]: seconds for one in found if seconds})

    # -- what looks see ----------------------------------------------------------------------------------------------

    def status(self) -> dict[str, Any]:
        """What the module cluster_health returns."""
        return judged(self.state(False), Limits())

    @property
    def polls(self) -> Polls:
        """How the polls of the page went."""
        polls = Polls(NOW - 30.0 if self.poll == "none" else 0.0, 0 if self.poll == "none" else 90)
        if self.poll == "down":
            return replace(polls, failed=90, error=_SILENT, is_down=True)
        return replace(polls, failed=90, error="its user has no right") if self.poll == "failed" else polls

    def picture(self) -> Picture | None:
        """The last picture of the page: of before, where no poll has succeeded since."""
        if self.poll == "none":
            return None
        made = self if self.poll != "down" else Made(Row(self.row.name, {}))
        expected = Expected(
            [{**node, "version": self.facts.get("versions", {}).get(node["host"])} for node in made.nodes]
        )
        health = judged(made.state(True), Limits())
        groups = made.groups()
        cluster = cluster_of(self.row.cluster, ["kafka1:9092"], expected, health, together(groups, {}))
        taken = NOW - 7.0 if self.poll == "ok" else 0.0
        alive = 3 - len(made.down) - len(made.mute)
        return Picture(taken, 0.4, 12, alive, 0, {}, groups, cluster, watched=made.watched)

    # -- what Prometheus reads ---------------------------------------------------------------------------------------

    def exposition(self) -> str:
        """The text of /metrics of the page."""
        polls, picture = self.polls, self.picture()
        told: list[list[Family]] = [families_of_polls(self.row.cluster, polls, picture, NOW, STALE_AFTER)]
        if picture and is_current(polls, picture, NOW, STALE_AFTER):
            told.append(families_of(self.row.cluster, picture, 1000))
        return exposition(told)

    def series(self) -> dict[str, str]:
        """All series that Prometheus has of it, in the notation of promtool: those of the page and of its nodes."""
        found = {}
        for line in self.exposition().splitlines():
            if not line.startswith("#"):
                name, _blank, value = line.rpartition(" ")
                found[name] = self._over_time(name, value)
        return {**found, **dict(self._of_nodes())}

    def _over_time(self, name: str, value: str) -> str:
        commits = self.facts.get("group", {}).get("commits", 0)
        if name.startswith("kafka_lag_last_poll") and self.poll in ("ok", "none"):
            return f"0+60x{_MINUTES}"
        if name.startswith("kafka_consumergroup_current_offset") and commits:
            return f"0+{commits}x{_MINUTES}"
        return _steady(float(value))

    def _of_nodes(self) -> Iterator[tuple[str, str]]:
        own, facts, partitions = f'cluster="{self.row.cluster}"', self.facts, self.partitions()
        for node in self.nodes:
            one = node["node_id"]
            labels = f'{own},instance="{node["host"]}:7071",node="{node["host"]}",job="kafka"'
            yield f"up{{{labels}}}", _steady(float(one not in self.dead))
            if one in self.dead:
                continue
            yield f"process_start_time_seconds{{{labels}}}", _steady(0)
            yield from (
                (f"{name}{{{labels}}}", _steady(value)) for name, value in self._of_node(one, partitions).items()
            )
            if facts.get("unsteady"):
                yield f"kafka_server_raft_metrics_current_epoch{{{labels}}}", f"7+15x{_MINUTES}"
            counted = "kafka_controller_controllerstats_uncleanleaderelections_total"
            yield f"{counted}{{{labels}}}", f"0x5 {len(facts.get('unclean', ()))}x{_MINUTES}"
            if one in facts.get("flapping", ()):
                yield f"kafka_server_replicamanager_isrshrinks_total{{{labels}}}", f"0+1x{_MINUTES}"
        for one in (1, 2, 3) if self.zookeepers else ():
            labels = f'{own},instance="zookeeper{one}:7072",job="zookeeper"'
            yield f"up{{{labels}}}", _steady(float(one in self.zookeepers["up"]))
        for one, days in facts.get("days", {}).items():
            labels = f'{own},instance="kafka{one}:9092",job="blackbox"'
            yield f"probe_ssl_earliest_cert_expiry{{{labels}}}", _steady(NOW + days * _DAY)
        for one, disk in self._disks().items():
            labels = f'{own},instance="kafka{one}:9100",mountpoint="/var/lib/kafka",job="node"'
            yield f"node_filesystem_avail_bytes{{{labels}}}", _steady(disk.disks[0].usable_bytes)
            yield f"node_filesystem_size_bytes{{{labels}}}", _steady(_DISK)
        if facts.get("silent_mirror"):
            labels = f'source="{self.row.cluster}",target="copy",job="mirror"'
            yield f"kafka_connect_mirror_mirrorsourceconnector_record_count{{{labels}}}", _steady(9)
            yield f"kafka_server_brokertopicmetrics_messagesin_total{{{own}}}", f"0+600x{_MINUTES}"

    def _of_node(self, node: int, partitions: list[Partition]) -> dict[str, float]:
        """The gauges of Kafka at one node, by the definitions of Kafka."""
        led = [one for one in partitions if one.leader == node]
        leads = self.controller == node
        late = self.facts.get("behind", {}).get(node, 0)
        manager, control = "kafka_server_replicamanager_", "kafka_controller_kafkacontroller_"
        log = "kafka_log_"
        return {
            f"{manager}leadercount": len(led),
            f"{manager}underreplicatedpartitions": sum(len(one.isr) < len(one.replicas) for one in led),
            f"{manager}underminisrpartitioncount": sum(len(one.isr) < one.needed for one in led),
            f"{manager}reassigningpartitions": 0,
            f"{control}activecontrollercount": leads,
            f"{control}offlinepartitionscount": leads * sum(one.leader is None for one in partitions),
            f"{control}fencedbrokercount": leads * len(self.down),
            f"{control}globalpartitioncount": leads * len(partitions),
            f"{control}preferredreplicaimbalancecount": leads
            * sum(one.leader != one.replicas[0] for one in partitions),
            f"{log}logmanager_offlinelogdirectorycount": len(self.facts.get("failed_dirs", {}).get(node, ())),
            f"{log}logcleaner_deadthreadcount": node in self.facts.get("cleaner_dead", ()),
            "kafka_server_raft_metrics_high_watermark": 1_000_000 - 100 * late,
            **({} if self.facts.get("unsteady") else {"kafka_server_raft_metrics_current_epoch": 7}),
        }


def _steady(value: float) -> str:
    """Return a series that stays as it is."""
    return f"{value:g}x{_MINUTES}" if abs(value) < 1000 else f"{int(value)}x{_MINUTES}"


def alerts_of(rows: Mapping[str, Row], said: str) -> dict[str, Counter[str]]:
    """Return by row how many alerts of each name promtool found, of what it said where it was told to expect none."""
    by_cluster = {row.cluster: name for name, row in rows.items()}
    found: dict[str, Counter[str]] = {name: Counter() for name in rows}
    for part in said.split("alertname: ")[1:]:
        name = re.match(r"\w+", part)
        assert name, part
        for cluster in re.findall(r'(?:cluster|source)="([^"]*)"', part.split("got:")[1]):
            found[by_cluster[cluster]][name[0]] += 1
    return found
