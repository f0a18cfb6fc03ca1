"""What the page shows of real brokers: their settings with their origin, their disks, and how fast logs grow."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import describe_quorum, take_snapshot
from ansible_collections.streamops.kafka.plugins.module_utils._configs.api import BROKER, alter_configs
from ansible_collections.streamops.kafka.plugins.module_utils._metadata.model import ASKED
from page.expected import Expected
from page.known.agreement import EVERY as POLLS
from page.known.poller import Poller
from page.poll import take
from page.poll_brokers import NODE_SECONDS, agreement
from page.shown.brokers import broker
from page.shown.sheet import state_of
from page.shown.wanted import Wanted
from tests.support.cluster import Cluster, until
from tests.support.groups import produce
from tests.support.moves import administering, topic_of

EVERY, OWN = "log.cleaner.backoff.ms", "log.cleaner.io.buffer.load.factor"
TOPIC, RECORDS = "page-grows", 30


@pytest.fixture
def changed(combined: Cluster) -> Iterator[int]:
    """A broker with a setting of its own beside one of all brokers, which it takes while it runs."""
    number = combined.identities["kafka1"]
    wanted: dict[str, dict[str, str | None]] = {"": {EVERY: "16000"}, str(number): {OWN: "0.8"}}
    with administering(combined) as session:
        for one, some in wanted.items():
            alter_configs(session, BROKER, {one: some})
        try:
            yield number
        finally:
            for one, some in wanted.items():
                alter_configs(session, BROKER, {one: dict.fromkeys(some)})


def test_brokers_tell_their_settings_and_disks_and_logs_how_fast_they_grow(combined: Cluster, changed: int) -> None:
    servers = combined.bootstrap_servers
    connection = Connection.from_params({"bootstrap_servers": servers, "request_timeout": 30})
    poller = Poller("orders", lambda last: take("orders", connection, Expected(), 120, last, 0), 30, 1000)

    def seen(number: int) -> dict[str, Any]:
        """What the page of a broker has for machines."""
        sheet = broker(state_of("orders", poller.seen, time.time(), 300), str(number), Wanted())
        assert sheet
        return dict(sheet.data)

    def sources() -> dict[str, str]:
        poller.poll()
        assert poller.seen.polls.error == ""
        return {one["name"]: one["from"] for one in seen(changed)["config"]}

    until(lambda: (sources()[EVERY], sources()[OWN]) == ("cluster", "broker"), "the settings to be told", 60)
    config = {one["name"]: one for one in seen(changed)["config"]}
    assert (config[EVERY]["value"], config[EVERY]["without"]) == ("16000", {"value": "15000", "source": "DEFAULT"})
    assert (config["log.dirs"]["from"], config["log.cleaner.threads"]["from"]) == ("file", "default")
    assert len(config) > 200
    assert [one for one in config.values() if one["sensitive"] and (one["value"], one["without"]) != (None, None)] == []

    with topic_of(combined, TOPIC, {0: [changed]}, 1):
        poller.poll()
        produce(servers, TOPIC, 1, RECORDS)
        poller.poll()
        rates, found = poller.seen.rates, seen(changed)
        assert rates.seconds
        grown = rates.topic(TOPIC)
        assert (round((grown.records or 0) * rates.seconds), grown.records_unknown) == (RECORDS, 0)
        assert (grown.bytes or 0) * rates.seconds >= RECORDS
        assert (found["broker"]["growth"]["records_per_second"] or 0) * rates.seconds >= RECORDS - 1
        led = [(one["topic"], one["partition"]) for one in found["partitions"] if one["role"] == "leader"]
        assert (TOPIC, 0) in led

    for number in combined.identities.values():
        one = seen(number)["broker"]
        held = seen(number)["partitions"]
        assert (len(held), sum(row["role"] == "leader" for row in held)) == (one["replicas"], one["leaders"])
        assert [Path(disk["path"]).is_dir() for disk in one["log_dirs"]] == [True]
        assert one["quorum_role"].startswith(("active controller", "voter"))


def test_brokers_agree_on_the_metadata_and_one_that_hangs_is_named_in_bounded_time(combined: Cluster) -> None:
    connection = Connection.from_params({"bootstrap_servers": combined.bootstrap_servers, "request_timeout": 30})
    first = take("orders", connection, Expected(), 120)
    found = first.cluster["metadata"]
    assert (found["agree"], found["polls_ago"], found["silent"], found["differences"]) == (True, 0, [], [])
    assert found["line"].startswith("all 3 nodes agree at offset ")
    assert set(found["compared"]) == {one for one, kinds in ASKED.items() if "broker" in kinds} - {"acls"}
    assert found["not_compared"] == {"acls": "the cluster has no authorizer"}
    assert found["controllers_not_asked"] == sorted(combined.identities.values())
    second = take("orders", connection, Expected(), 120, first, 600)
    assert second.cluster["metadata"] == {**found, "polls_ago": 1}

    frozen = next(node for node in combined.nodes if combined.identities[node] != first.cluster["controller_id"])
    others = [f"127.0.0.1:{combined.port(node)}" for node in combined.nodes if node != frozen]
    with Session(Connection(tuple(others), request_timeout=10)) as session:
        quorum = describe_quorum(session)
        snapshot = take_snapshot(session, quorum, min_insync=False)
        with combined.frozen(frozen):
            began = time.monotonic()
            held = agreement(session, snapshot, {TOPIC}, {**found, "polls_ago": POLLS - 1}, 60)
            took = time.monotonic() - began
    assert held
    name = f"broker {combined.identities[frozen]}"
    assert (held["agree"], held["silent"]) == (False, [name])
    assert held["line"].startswith("2 of 3 nodes agree at offset ")
    assert f"{name} does not answer" in held["line"]
    assert NODE_SECONDS <= took < 2 * NODE_SECONDS
