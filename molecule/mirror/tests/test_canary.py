"""The canary as a service of systemd: by TLS, a login and ACLs at both ends, over the line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from tests.support.centres import PATIENCE, Mirror
from tests.support.machines import Machine, docker, eventually
from tests.support.traffic import producing

HOST, PORT = "mirror1", 9407
ASK = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=10).read().decode())"


def told(path: str) -> str:
    """What the canary answers on its own machine."""
    return docker("exec", HOST, "python3", "-c", ASK, f"http://127.0.0.1:{PORT}{path}")


def status() -> dict[str, Any]:
    """Its verdict."""
    found: dict[str, Any] = json.loads(told("/status"))
    return found


def value(name: str, *labels: str) -> float:
    """The greatest value of a series with these labels; -1 where there is none."""
    lines = [line for line in told("/metrics").splitlines() if re.match(rf"{name}[{{ ]", line)]
    return max((float(line.split()[-1]) for line in lines if all(one in line for one in labels)), default=-1.0)


def test_one_of_the_mirrors_runs_it_as_a_user_without_rights(mirrors: list[Machine]) -> None:
    wanted = ("systemctl", "list-units", "mirror-canary-*", "--state=active", "--no-legend")
    assert [one.name for one in mirrors if one.run(*wanted).strip()] == [HOST]
    (first,) = (one for one in mirrors if one.name == HOST)
    shown = first.run("systemctl", "show", f"mirror-canary-{HOST}", "--property=User", "--value")
    assert shown.strip() == "streamops-canary"


def test_events_come_through_and_nothing_is_wrong(note: Callable[[str], None]) -> None:
    # The tests before it cut the line.
    eventually(lambda: status()["status"] == "OK" and value("streamops_canary_events", 'state="arrived"') > 0,
               "a canary that finds nothing wrong", 2 * PATIENCE)  # fmt: skip
    note(status()["line"])
    assert value("streamops_canary_events", 'state="missing"') == 0
    # A partition on each broker of the source, each with its events.
    assert value("streamops_canary_last_arrived_seconds", 'partition="2"') >= 0


def test_it_may_look_for_lost_records_and_names_those_that_the_source_deleted(
    mirror: Mirror, mirrors: list[Machine], note: Callable[[str], None]
) -> None:
    eventually(lambda: 0 <= value("streamops_canary_gap_look_age_seconds") < 60, "a look", 2 * PATIENCE)
    assert value("streamops_canary_gap_records") == 0
    topic = mirror.source.make("orders.purged")
    with producing(mirror.source.servers, topic, settings=mirror.source.settings) as ledger:
        eventually(lambda: len(ledger.acknowledged) >= 1000, "records", 120)
    mirror.complete(topic, ledger)
    for one in mirrors:
        one.run("systemctl", "stop", one.service, timeout=120)
    try:
        # A look that knows how far the mirror came is kept.
        eventually(lambda: value("streamops_canary_gap_look_age_seconds") > 20, "an older look", 60)
        eventually(lambda: value("streamops_canary_gap_look_age_seconds") < 10, "a look behind the stop", 60)
        with producing(mirror.source.servers, topic, settings=mirror.source.settings) as more:
            eventually(lambda: len(more.acknowledged) >= 1000, "more records", 120)
        admin = AdminClient({**mirror.source.settings, "bootstrap.servers": ",".join(mirror.source.servers)})
        partitions = admin.list_topics(topic, timeout=30).topics[topic].partitions
        for future in admin.delete_records([TopicPartition(topic, one, -1) for one in partitions]).values():
            future.result(30)
        lost = len(more.acknowledged)
        eventually(lambda: value("streamops_canary_gap_records", f'topic="{topic}"') == lost, f"{lost} lost", 90)
    finally:
        for one in mirrors:
            one.run("systemctl", "start", one.service)
    assert f"{lost} records of the source will never be mirrored" in status()["line"]
    note(status()["line"])
