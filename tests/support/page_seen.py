# SPDX-License-Identifier: GPL-3.0-or-later
"""What pollers of the page may have, made up: a hurt cluster with hostile names, one that is stale, one without a
picture, one whose polls fail; and the real application over it, served in a thread."""

from __future__ import annotations

import contextlib
import http.client
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import uvicorn

from ansible_collections.streamops.kafka.plugins.module_utils._configs.values import (
    OF_TOPIC,
    Behind,
    TopicConfigs,
    TopicValue,
)
from ansible_collections.streamops.kafka.plugins.module_utils._logs.model import Log
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_drill.model import Outcome
from page.alerts.told import Told as ToldAlerts
from page.hosts import names_served
from page.known.brokers import BrokerConfigs, Setting, Told
from page.known.details import ACLS, CONFIGS, DRILLS, QUOTAS, USERS, Details
from page.known.history import History, followed
from page.known.newest import Newest, covered_by
from page.known.picture import Picture, Polls
from page.known.poller import Seen
from page.known.rates import Rates, rates_between
from page.web import application
from tests.support.cluster import free_port_base, until
from tests.support.page import Answer, ask
from tests.support.status_seen import DRILL, finding, group, hurt, partition, topic, well

STALE_AFTER = 300
HOSTILE = [
    "</td></table><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "a/b/../c",
    "..",
    ".",
    "",
    "=1+1",
    "100%25",
    "a?b#c&d=e",
    "\u202egnp.exe",
    "\u05d0\u05d1\u05d2\u0645\u0631\u062d\u0628\u0627",
    "\u2066\u200f\u0000\x1b[31m\u2028",
    "\ud800",
    "first\r\nsecond\n",
    "x" * 249,
    "\U0001f4a5" * 60,
]

#: Flows: one that lives, one whose topics keep their names and that sends no heartbeats, two with an end that the page
#: does not show, one into a cluster that is stale, and one into a cluster that was not seen yet.
FLOWS = (
    Flow("orders", "copy", (".*",)),
    Flow("copy", "orders", (".*",), policy="identity", heartbeats=False),
    Flow("invoices", "orders", ("0001",)),
    Flow("orders", "far", ("orders",)),
    Flow("orders", "payments", ("orders",)),
    Flow("orders", "begins", ("orders",)),
)


def position(index: int, committed: int | None, lag: int | None, **more: Any) -> dict[str, Any]:
    """How far a group is in a partition."""
    state = "no_offset" if committed is None else "known"
    return {
        "partition": index,
        "committed": committed,
        "start": 0,
        "end": 1_204_911,
        "lag": lag,
        "state": state,
        **({"lag_from_earliest": 1_204_911} if committed is None else {}),
        **more,
    }


def positioned(name: str, lag: int, of: str = "orders") -> dict[str, Any]:
    """A group with three positions in a topic."""
    some = [position(0, 600, lag), position(1, None, None),
            position(2, 3, 9, start=5, lost=2, state="before_start")]  # fmt: skip
    topics = [{"name": of, "lag": lag + 9, "lag_unknown": 1, "partitions": some}]
    assigned = [{"topic": of, "partitions": [0, 1]}]
    member = {"id": "m-1", "client_id": name, "host": "/192.0.2.7", "instance_id": None, "assignment": assigned}
    idle = {**member, "client_id": "idle", "assignment": []}
    return group(name, lag + 9, behind=lag + 9 + 1_204_911, topics=topics, coordinator=2, members=[member, idle])


def moves(*names: str) -> dict[str, Any]:
    """Moves of the first partition of these topics from the broker 1 to 4, and of one whose bytes are unknown."""
    some = [
        {"topic": name, "partition": 0, "from": [1, 2, 3], "to": [2, 3, 4], "adding": [4], "removing": [1],
         "size_bytes": 4_200_000_000, "copied_bytes": 1_100_000_000 * number} for number, name in enumerate(names)
    ]  # fmt: skip
    last = {**some[0], "partition": 1, "to": [2, 3], "adding": [], "size_bytes": None, "copied_bytes": None}
    throttles = [{"kind": "broker", "name": "4", "key": "follower.replication.throttled.rate", "value": "50000000"}]
    return {"known": True, "partitions": [*some, last], "recorded": 40, "throttles": throttles}


def cluster(topics: int = 120, names: list[str] | None = None) -> dict[str, Any]:
    """A hurt cluster with many topics, and topics and groups of hostile names."""
    named = HOSTILE if names is None else names
    found = hurt("orders")
    many = [topic(one) for one in [*(f"invoices.{number:04d}" for number in range(topics)), *named]]
    every = [*found["topics"], *({**one, "partitions": [partition(one["name"], 0, [1, 2, 3])]} for one in many)]
    sized = [{**one, "size_bytes": 10**6 * number if number else None} for number, one in enumerate(every)]
    for one in sized:
        one["partitions"] = [{**row, "size_bytes": 4_200_000_000} for row in one["partitions"] or ()]
    groups = [positioned("search-index", 1_204_311), *(positioned(one, 7, one) for one in named)]
    told = [*found["groups"]["groups"][::2], *groups]
    down = finding("broker_down", "degraded", "broker kafka3.example.com (id 3) is down")
    running = finding("move_running", "note", "partitions are being moved", next_step="wait until they have ended")
    worse = [*found["findings"], down, running, *(finding("hostile", "note", one, next_step=one) for one in named[:4])]
    return {
        **found,
        "topics": sized,
        "groups": {**found["groups"], "groups": told},
        "findings": worse,
        "moves": moves("orders", *named),
    }


def grants(*names: str) -> dict[str, Any]:
    """Users, ACLs and quotas: of a service, of everybody, and of these names."""
    read = {"principal": "User:billing", "host": "*", "permission": "allow", "operation": "read",
            "resource_type": "topic", "resource": "invoices.", "pattern_type": "prefixed"}  # fmt: skip
    deny = {**read, "principal": "User:*", "permission": "deny", "operation": "write", "host": "192.0.2.7",
            "resource": "*", "pattern_type": "literal"}  # fmt: skip
    named = [{**read, "principal": f"User:{one}", "resource": one, "pattern_type": "literal"} for one in names]
    quotas: list[dict[str, Any]] = [
        {"entity": [{"type": "user", "name": None}], "limits": {"consumer_byte_rate": 1048576.0}},
        {"entity": [{"type": "user", "name": "billing"}, {"type": "client-id", "name": None}],
         "limits": {"producer_byte_rate": 2097152.0, "request_percentage": 12.5}},
        *({"entity": [{"type": "client-id", "name": one}], "limits": {"made_up_rate": 1.0}} for one in names),
    ]  # fmt: skip
    users = [{"name": one, "mechanisms": {"SCRAM-SHA-512": 8192}} for one in ("billing", *names)]
    return {USERS: users, ACLS: [read, deny, *named], QUOTAS: quotas}


def configs(topics: Sequence[str], *hostile: str) -> TopicConfigs:
    """Configurations: one topic sets three, brokers set one, and these names stand for settings and values too."""
    own = {"retention.ms": TopicValue("86400000", "LONG", OF_TOPIC),
           "segment.bytes": TopicValue("1048576", "INT", OF_TOPIC, behind=Behind("log.segment.bytes", "9", "DEFAULT")),
           "password": TopicValue(None, "PASSWORD", OF_TOPIC, True),
           **{name: TopicValue(name, source=OF_TOPIC) for name in hostile}}  # fmt: skip
    inherited = {
        "retention.ms": TopicValue("604800000", "LONG"),
        "min.insync.replicas": TopicValue(
            "2", "INT", "STATIC_BROKER", behind=Behind("min.insync.replicas", "1", "DEFAULT")
        ),
        "flush.ms": TopicValue("9223372036854775807", "LONG"),
    }  # fmt: skip
    return TopicConfigs({**{name: {} for name in topics}, "orders": own}, inherited)


def broker_configs(taken: float, *hostile: str) -> BrokerConfigs:
    """What three brokers told: of the first all sources, hostile names and a secret; the last one did not answer."""
    settings = {
        "log.retention.ms": Setting("3600000", "DYNAMIC_BROKER", False, ("STATIC_BROKER", "7200000")),
        "message.max.bytes": Setting("2000000", "DYNAMIC_DEFAULT_BROKER", False, ("DEFAULT", "1048588")),
        "log.dirs": Setting("/var/lib/kafka/a,/var/lib/kafka/b", "STATIC_BROKER", False, ("DEFAULT", None)),
        "ssl.key.password": Setting(None, "STATIC_BROKER", True),
        **{f"made.up.{number}": Setting(str(number), "DEFAULT") for number in range(250)},
    }
    named = {one: Setting(one, "STATIC_BROKER") for one in hostile}
    why = {3: "This was not told: broker 3 did not answer. Next step: look at its log."}
    return BrokerConfigs({1: Told(taken - 300, {**settings, **named}), 2: Told(taken - 900, settings)}, why)


def picture(
    of: Mapping[str, Any], age: float, told: Mapping[str, Any] | None = None, hostile: Sequence[str] = ()
) -> Picture:
    """A picture that was taken so many seconds ago, with details of five minutes before."""
    topics = [one["name"] for one in of["topics"]]
    logs = {name: {number: Log(5, 1_204_911) for number in range(3)} for name in topics}
    why = {} if told else {ACLS: "This cluster has no authorizer. Next step: set kafka_authorizer."}
    parts = {CONFIGS: configs(topics, *hostile), **(told or {USERS: [], QUOTAS: []})}
    taken = time.time() - age
    told_at = dict.fromkeys(parts, taken - 300)
    own = broker_configs(taken, *hostile) if hostile else None
    details = Details(**parts, asked=taken - 300, told=told_at, why=why, brokers=own)
    return Picture(taken, 0.4, 12, 3, 0, logs, of["groups"]["groups"], of, details)


def newest(seen: Picture, cluster: str, mirrored: Mapping[str, float | None]) -> Picture:
    """The picture with the newest records of topics of flows: by topic the age in seconds, None for no record."""
    asked = seen.taken
    times = {name: {index: None if age is None else round((asked - age) * 1000) for index in range(3)}
             for name, age in mirrored.items()}  # fmt: skip
    logs = {name: dict.fromkeys(range(3), Log(0, 0 if age is None else 9)) for name, age in mirrored.items()}
    newest = Newest(asked, covered_by(FLOWS, cluster, mirrored), times)
    return replace(seen, newest=newest, logs={**seen.logs, **logs})


def with_mirrors(found: dict[str, Seen]) -> dict[str, Seen]:
    """The same clusters with mirrored topics, and copy: there one of orders is missing, one empty, every third late."""
    names = sorted(one["name"] for one in _cluster(found["orders"])["topics"])
    there = {f"orders.{name}": 7200.5 if at % 3 == 0 else 3.0 for at, name in enumerate(names)}
    del there["orders.invoices.0001"]
    ages: dict[str, Mapping[str, float | None]] = {
        "orders": dict.fromkeys(names, 2.0),
        "copy": {**there, "orders.invoices.0002": None, "orders.heartbeats": 1.8, "own": 1.0},
        "payments": {"orders.heartbeats": 900.0},
    }
    drills: dict[str, Mapping[str, Outcome | str | None]] = {
        "copy": {"orders->copy": drill(50)},
        "orders": {
            "copy->orders": drill(0, "not drained: orders lacks records.", HOSTILE[0]),
            "invoices->orders": None,
        },
    }
    copied = {**well("copy"), "topics": [topic(name) for name in ages["copy"]]}
    there_too = {**found, "copy": Seen(found["orders"].polls, picture(copied, 12))}
    return {
        name: replace(one, picture=drilled(newest(one.picture, name, ages[name]), drills.get(name)))
        if one.picture and name in ages
        else one
        for name, one in there_too.items()
    }


def drill(days: int, *why: str) -> Outcome:
    """A drill that ended so many days ago; with a reason against it nothing was counted."""
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 86_400 * days - 60))
    return Outcome(at, "alice", why) if why else replace(DRILL, at=at)


def drilled(seen: Picture, drills: Mapping[str, Outcome | str | None] | None) -> Picture:
    """The picture with the last drills of flows; with None of drills that were not told."""
    asked = seen.details.asked or 0.0
    if drills is None:
        return replace(
            seen, details=replace(seen.details, why={**seen.details.why, DRILLS: "This was not told: no right."})
        )
    return replace(seen, details=replace(seen.details, drills=drills, told={**seen.details.told, DRILLS: asked}))


def _cluster(seen: Seen) -> Mapping[str, Any]:
    assert seen.picture
    return seen.picture.cluster


def lags(groups: Sequence[Mapping[str, Any]], polls: int = 120) -> History:
    """The lag of groups at the last polls, one every 30 s, with a time of which it was unknown."""
    found, now = History(), time.time()
    for number in range(polls):
        share = abs(polls / 3 - number) / polls
        some = []
        for one in groups:
            most = one.get("behind") or one["lag"] or 0
            some.append({"name": one["name"], "behind": None if 70 < number < 80 else int(most * share)})
        found = followed(found, some if number < polls - 1 else groups, now - 30 * (polls - number), False)
    return found


def grown(now: Picture) -> Rates:
    """The growth of logs in the 30 s before a picture; of every seventh topic retention removed something then."""
    named = [one["name"] for one in now.cluster["topics"]]
    before = {
        name: {at: Log(4 if number % 7 == 6 else log.start, log.end - 3000 * number - 7) for at, log in logs.items()}
        for number, (name, logs) in enumerate((name, now.logs[name]) for name in named)
    }
    topics = [
        {**one, "partitions": [{**row, "size_bytes": (row.get("size_bytes") or 10**6) - 10**6} for row in
                               one["partitions"] or ()]}
        for one in now.cluster["topics"]
    ]  # fmt: skip
    return rates_between(
        replace(now, clock=now.clock - 30, logs=before, cluster={**now.cluster, "topics": topics}), now
    )


def looked(names: list[str] | None = None) -> dict[str, Seen]:
    """What pollers have of six clusters."""
    why = "no bootstrap server answered (kafka1:9092: Connection refused). Check that the brokers run"
    began = time.time() - 900
    hostile = HOSTILE if names is None else names
    orders = picture(cluster(names=names), 7, grants(*hostile), hostile)
    found = {
        "quiet": Seen(Polls(began, 9), picture(well(), 12)),
        "orders": Seen(Polls(began, 9), orders, (), lags(orders.groups), grown(orders)),
        "payments": Seen(Polls(began, 9, 3, why), picture(well("payments"), 420)),
        "begins": Seen(Polls(time.time() - 4)),
        '</h2>"audit': Seen(Polls(began, 4, 4, why)),
    }
    return with_mirrors(found)


class Served:
    """The application in a thread, and a client of it."""

    def __init__(self, port: int) -> None:
        self.port = port

    def get(self, path: str, host: str = "") -> Answer:
        """Answer to one request; C(path) begins with a slash."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            return ask(connection, path.removeprefix("/"), "GET", {"Host": host} if host else {})
        finally:
            connection.close()


@contextlib.contextmanager
def served(
    look: Callable[[], Mapping[str, Seen]], reports: str = "", alerts: Callable[[], ToldAlerts] | None = None
) -> Iterator[Served]:
    """Serve the application of the page on a free port, with the reports of a directory, and alerts."""

    async def nothing() -> None:
        """Run nothing beside it."""

    port = free_port_base()
    inner = application(
        look, STALE_AFTER, None, nothing, names_served("127.0.0.1", False), reports, FLOWS, alerts=alerts
    )
    server = uvicorn.Server(uvicorn.Config(inner, port=port, log_level="critical", access_log=False, ws="none"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        until(lambda: server.started, "the page to listen", 120)
        yield Served(port)
    finally:
        server.should_exit = True
        thread.join(60)
