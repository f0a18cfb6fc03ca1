# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole chain from a cluster to a person: three nodes with metrics, the page, Prometheus, Alertmanager, a receiver.

A play makes a state true, and says when each mouth told of it: in polls of the page and in evaluations of Prometheus,
which a slow machine makes no more of.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.monitoring.routes import alertmanager
from ansible_collections.streamops.kafka.plugins.plugin_utils.render import metrics
from tests.support.alertmanager import Alertmanager, Receiver
from tests.support.modules import run_module
from tests.support.page import Page
from tests.support.prometheus import Prometheus, prometheus
from tests.support.states import CRITICAL, Row
from tests.support.trio import IDS, Trio

#: The name of the cluster.
CLUSTER = "orders"
#: Bounds of a play: what is told is told within so many polls of the page (two looks, and one that was under way), and
#: alerts within so many evaluations of their rules after the page or the scrape that they read.
POLLS, EVALUATIONS = 4, 20
#: Seconds after which a play is given up; a poll of frozen brokers takes ten.
PATIENCE = 300
#: What fires only once a picture is old, which is not judged here: tests of the rules hold it.
LATE = frozenset(("KafkaLagStale",))
#: Times of routes are that much shorter, as those of rules are.
FASTER = 10
_STATUS = f'streamops_page_cluster_status{{cluster="{CLUSTER}",status="'


@dataclass(frozen=True)
class Said:
    """What all who watch say at one moment; `told` are the critical alerts that the receiver knows to fire."""

    page: str
    health: str
    metric: str
    first: str
    alerts: frozenset[str]
    told: frozenset[str]
    polls: int
    evaluations: int


@dataclass
class TimeLine:
    """When each mouth first said what it should: polls and evaluations since the beginning."""

    began: Said
    at: dict[str, tuple[int, int]] = field(default_factory=dict)

    def note(self, mouth: str, now: Said) -> None:
        """Note that a mouth says it now; the first time counts."""
        self.at.setdefault(mouth, (now.polls - self.began.polls, now.evaluations - self.began.evaluations))

    def __str__(self) -> str:
        """Show it as a line."""
        return ", ".join(f"{mouth} {polls} polls {rules} evaluations" for mouth, (polls, rules) in self.at.items())


class Chain:
    """All of it, running; nodes are hurt through `trio`, others through `page`, `manager` and `receiver`."""

    def __init__(self, trio: Trio, page: Page, watch: Prometheus, manager: Alertmanager, receiver: Receiver) -> None:
        self.trio, self.page, self.watch, self.manager, self.receiver = trio, page, watch, manager, receiver
        #: Critical alerts that stand until somebody has looked, whatever state the cluster is in by now.
        self.standing: frozenset[str] = frozenset()

    def said(self) -> Said:
        """Ask all; a page that does not answer says nothing."""
        health, numbers = self.page.get("health"), self.page.get("metrics").text
        overview = (self.page.get("?format=json").json() or {}) if health.status else {}
        shown = next(iter(overview.get("clusters", ())), {})
        findings = shown.get("findings") or [{"kind": ""}]
        said = re.search(re.escape(_STATUS) + r'(\w+)"} 1(?:\.0)?$', numbers, re.M)
        polls = re.search(r"^kafka_lag_polls_total\{[^}]*\} (\S+)$", numbers, re.M)
        return Said(
            str(shown.get("status", "")),
            f"{health.status} {(health.json() or {}).get('status', '')}",
            said[1] if said else "",
            # A page that gets no answer shows that before what it found last.
            "cluster_unreachable" if shown.get("state") == "down" else str(findings[0]["kind"]),
            frozenset(self.watch.firing()),
            frozenset(self.receiver.firing()),
            int(float(polls[1])) if polls else 0,
            evaluations(self.watch),
        )

    def status(self) -> Mapping[str, Any]:
        """What the module of status.yml says."""
        return run_module("streamops.kafka.cluster_health", {**self.asked, "nodes": nodes()})

    @property
    def asked(self) -> dict[str, Any]:
        """How the cluster is asked."""
        return {"bootstrap_servers": self.trio.bootstrap_servers, "request_timeout": 5}

    def plays(self, row: Row) -> TimeLine:
        """Wait until all mouths say what a row of the table says, and the receiver was told of what wakes a person."""
        return self._told(
            row.name,
            page=lambda now: now.page == row.says["page"],
            health=lambda now: now.health == row.says["health"],
            metric=lambda now: now.metric == row.says["metric"],
            first=lambda now: not row.kinds or now.first == row.kinds[0],
            alerts=lambda now: row.alerts - LATE <= now.alerts,
            told=lambda now: row.alerts & CRITICAL <= now.told,
        )

    def rests(self) -> TimeLine:
        """Wait until all say that all is well again, and the receiver was told that all critical alerts have ended."""

        def is_well(now: Said) -> bool:
            # As auto.leader.rebalance.enable would, which is off here: on a busy machine a broker that is back may miss
            # a heartbeat and lose what it leads once more.
            if now.first == "leaders_skewed":
                self.trio.give_leaders_back()
            return now.page == ("ALERT" if self.standing else "OK")

        return self._told(
            "at rest",
            page=is_well,
            health=lambda now: now.health == "200 ok",
            metric=lambda now: now.metric == "OK",
            alerts=lambda now: now.alerts & CRITICAL == self.standing,
            told=lambda now: now.told & CRITICAL == self.standing,
        )

    def _told(self, what: str, **mouths: Callable[[Said], bool]) -> TimeLine:
        """Wait until all mouths say it at once; return when each of them said it first."""
        line, deadline = TimeLine(self.said()), time.monotonic() + PATIENCE
        while True:
            now = self.said()
            says = [mouth for mouth, is_said in mouths.items() if is_said(now)]
            for mouth in says:
                line.note(mouth, now)
            if len(says) == len(mouths):
                return line
            assert time.monotonic() < deadline, f"{what}: {line}; now {now}"
            time.sleep(0.3)


def evaluations(watch: Prometheus) -> int:
    """How often Prometheus has evaluated the rules of nodes."""
    with urllib.request.urlopen(f"{watch.address}/metrics", timeout=30) as answer:
        counts = re.findall(r"^prometheus_rule_group_iterations_total\{[^}]*\} (\S+)$", answer.read().decode(), re.M)
    return int(max(map(float, counts), default=0.0))


def nodes() -> list[dict[str, Any]]:
    """The nodes as an inventory has them."""
    return [{"host": f"kafka{number}", "node_id": number, "roles": ["broker", "controller"]} for number in IDS]


def hastened_routes(config: Mapping[str, Any]) -> dict[str, Any]:
    """The same configuration of Alertmanager with all its times shorter."""

    def shorter(found: re.Match[str]) -> str:
        seconds = int(found[1]) * {"s": 1, "m": 60}[found[2]]
        return f'"{max(1, seconds // FASTER)}s"'

    made: dict[str, Any] = json.loads(re.sub(r'"(\d+)([sm])"', shorter, json.dumps(config)))
    return made


def agent(directory: Path) -> Path:
    """The jar of the agent that serves a node's metrics."""
    wish = {"dest": str(directory), "lock": str(metrics.LOCK)}
    made = run_module("streamops.kafka.maven_jars", wish)
    assert not made["failed"], made
    return next(directory.glob("jmx_prometheus_javaagent-*.jar"))


@contextlib.contextmanager
def running(release: Path, directory: Path, enough_disk_free_bytes: int = 0) -> Iterator[Chain]:
    """All of it, begun with a topic of three replicas, and ended.

    enough_disk_free_bytes -- the limit of the page; with 0 no disk is full, however full those of this machine are.
    """
    jar = agent(directory / "agents")
    config = directory / "metrics.json"
    config.write_text(json.dumps(metrics.configuration(["broker", "controller"], {})))
    trio = Trio(release, directory / "nodes", agent=(jar, config))
    receiver = Receiver()
    team = {"name": "team", "webhook_configs": [{"url": receiver.url}]}
    dead = {"name": "dead", "webhook_configs": [{"url": f"{receiver.url}watchdog"}]}
    route: Any = {
        "receiver": "team",
        "group_by": ["cluster"],
        "routes": [{"matchers": ['alertname="KafkaWatchdog"'], "receiver": "dead"}],
    }
    (directory / "manager").mkdir()
    manager = Alertmanager(directory / "manager", hastened_routes(alertmanager(route, [team, dead])))
    with contextlib.ExitStack() as stack:
        stack.callback(receiver.end)
        stack.callback(trio.end)
        trio.begin()
        manager.start()
        stack.callback(manager.stop)
        limits = {
            "min_disk_free": 0.15 if enough_disk_free_bytes else 0.0,
            "enough_disk_free_bytes": enough_disk_free_bytes,
            "max_quorum_lag": 20,
        }
        settings = {
            "clusters": {CLUSTER: {"bootstrap_servers": trio.bootstrap_servers, "request_timeout": 3}},
            "interval": 1, "poll_timeout": 30, "stale_after": 60, "alertmanager": {"url": manager.url},
            "expected": {CLUSTER: {"nodes": nodes(), "limits": limits}},
        }  # fmt: skip
        (directory / "page").mkdir()
        page = stack.enter_context(Page(directory / "page", settings))
        page.wait_until(lambda: page.get("health").status == 200, "the first picture")
        kafka = {"targets": trio.metrics, "labels": {"cluster": CLUSTER}}
        jobs = [
            {"job_name": "kafka", "static_configs": [kafka]},
            {"job_name": "page", "honor_labels": True, "static_configs": [{"targets": [f"127.0.0.1:{page.port}"]}]},
            {"job_name": "alertmanager", "metrics_path": "/am/metrics",
             "static_configs": [{"targets": [manager.socket]}]},
        ]  # fmt: skip
        managers = [{"path_prefix": "/am", "static_configs": [{"targets": [manager.socket]}]}]
        choices = {"KafkaWatchdog": {"enabled": True}}
        watch = stack.enter_context(
            prometheus(directory / "prometheus", jobs, choices, every=3, alertmanagers=managers)
        )
        yield Chain(trio, page, watch, manager, receiver)
