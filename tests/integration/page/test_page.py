"""The service as a process of its own beside a real broker."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from email.message import Message
from pathlib import Path

import pytest

from tests.support.cluster import ROOT, free_port_base, until
from tests.support.groups import commit, make_topic
from tests.support.lone_broker import LoneBroker
from tests.support.prometheus import promtool_reads

#: Runs the service where neither Ansible nor confluent-kafka can be imported.
_ALONE = (
    "import sys; sys.modules.update(ansible=None, confluent_kafka=None); import page.serve as s; s.main(sys.argv[1:])"
)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, kafka_release: Callable[[str], Path]) -> Iterator[LoneBroker]:
    """One broker with a group that lags."""
    one = LoneBroker(kafka_release("4.3.1"), tmp_path_factory.mktemp("page"), free_port_base())
    one.format("MkU3OEVBNTcwNTJENDM2Qk")
    one.start()
    try:
        make_topic(one.bootstrap_servers, "orders", 2, records=10)
        commit(one.bootstrap_servers, 'the "group"', {("orders", 0): 4})
        yield one
    finally:
        one.kill()


@pytest.fixture(scope="module")
def page(broker: LoneBroker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its address."""
    directory = tmp_path_factory.mktemp("service")
    port = free_port_base()
    kafka = {"bootstrap_servers": broker.bootstrap_servers, "request_timeout": 3}
    config = {"kafka": kafka, "port": port, "interval": 2, "poll_timeout": 10, "stale_after": 5}
    (directory / "page.json").write_text(json.dumps(config))
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'collections'}"}
    with (directory / "log").open("w") as log:
        command = [sys.executable, "-c", _ALONE, str(directory / "page.json")]
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        address = f"http://127.0.0.1:{port}"
        try:
            until(lambda: get(f"{address}/health")[0] == 200, "the first picture")
        except AssertionError:
            raise AssertionError((directory / "log").read_text()[-3000:]) from None
        yield address
    finally:
        process.terminate()
        process.wait(60)


def get(url: str, method: str = "GET") -> tuple[int, str, Message]:
    """Status (0 when nothing listens), text and headers."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, method=method), timeout=30) as answer:
            return answer.status, answer.read().decode(), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), error.headers
    except urllib.error.URLError:
        return 0, "", Message()


def value(text: str, series: str) -> float:
    found = re.search(rf"^{re.escape(series)} (\S+)$", text, re.MULTILINE)
    assert found, (series, text)
    return float(found[1])


def test_a_scrape_has_the_lag_of_a_group_and_promtool_takes_it(page: str) -> None:
    status, text, headers = get(f"{page}/metrics")
    group = r'consumergroup="the \"group\"",topic="orders",partition="0"'
    assert (status, headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert value(text, f"kafka_consumergroup_lag{{{group}}}") == 6
    assert value(text, f"kafka_consumergroup_current_offset{{{group}}}") == 4
    assert value(text, 'kafka_topic_partition_current_offset{topic="orders",partition="1"}') == 10
    assert value(text, "kafka_brokers") == 1
    assert value(text, "kafka_lag_poll_requests") <= 12
    assert promtool_reads(text) == (0, "")


def test_only_get_is_answered_and_every_answer_has_the_headers(page: str) -> None:
    for method, path, wanted in (("GET", "metrics", 200), ("POST", "metrics", 405), ("HEAD", "health", 405),
                                 ("GET", "none", 404), ("DELETE", "health", 405)):  # fmt: skip
        status, _text, headers = get(f"{page}/{path}", method)
        assert status == wanted, (method, path)
        assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["server"] is None


def test_scrapes_do_not_make_polls(page: str) -> None:
    began = time.monotonic()
    polls = [value(get(f"{page}/metrics")[1], "kafka_lag_polls_total") for _scrape in range(50)]
    assert polls[-1] - polls[0] <= (time.monotonic() - began) / 2 + 1


def test_a_broker_that_stops_leaves_the_picture_which_ages(broker: LoneBroker, page: str) -> None:
    before = get(f"{page}/metrics")[1]
    broker.kill()
    try:
        until(lambda: get(f"{page}/health")[0] == 503, "the picture to be stale")
        text = get(f"{page}/metrics")[1]
        assert value(text, "kafka_lag_poll_failures_total") > value(before, "kafka_lag_poll_failures_total")
        assert value(text, "kafka_lag_picture_age_seconds") > 5
        assert value(text, 'kafka_topic_partition_current_offset{topic="orders",partition="1"}') == 10
        assert "127.0.0.1" not in get(f"{page}/health")[1]
    finally:
        broker.start()
    until(lambda: get(f"{page}/health")[0] == 200, "a new picture")
