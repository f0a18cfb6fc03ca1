"""Records of a topic, read from real brokers by the service as a process: what a reader gets, and what stays behind."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from page.login import digest
from tests.support.cluster import Cluster
from tests.support.groups import make_topic
from tests.support.page import Answer, Page

PASSWORD = "a reader"
SECRET = "hunter2-4711"
#: A time that retention keeps.
BASE = round(time.time() * 1000) - 3_600_000


def write(servers: list[str], topic: str, values: list[Any], **settings: Any) -> Producer:
    """Write values as JSON into partition 0, with times a second apart; the producer."""
    producer = Producer({"bootstrap.servers": ",".join(servers), **settings})
    if "transactional.id" in settings:
        producer.init_transactions(60)
        producer.begin_transaction()
    for at, value in enumerate(values):
        data = value if isinstance(value, bytes | None) else json.dumps(value).encode()
        producer.produce(
            topic, data, f"k{at}", 0, timestamp=BASE + 1000 * at, headers=[("trace", b"00-4b"), ("password", b"x")]
        )
    assert producer.flush(60) == 0
    return producer


@pytest.fixture(scope="module")
def page(combined: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The service with one who reads records, and one who does not."""
    users = {"ann": digest(PASSWORD, b"s" * 16), "bob": digest("another", b"t" * 16)}
    settings = {
        "clusters": {"orders": {"bootstrap_servers": combined.bootstrap_servers, "request_timeout": 10}},
        "users": users,
        "records": {"readers": ["ann"], "topics": ["shown.*"], "masked": ["password"]},
        "interval": 600,
    }
    with Page(tmp_path_factory.mktemp("service"), settings, ("ann", PASSWORD)) as one:
        one.wait_until(lambda: one.get("metrics").status == 200, "the service to listen")
        yield one


def records(page: Page, topic: str, query: str = "") -> dict[str, Any]:
    """What a reader gets of a topic as JSON."""
    answer = page.get(f"clusters/orders/topics/{topic}/records?format=json&{query}")
    assert answer.status == 200, answer.text
    return dict(answer.json())


def offsets(page: Page, topic: str, query: str = "") -> list[int]:
    return [one["offset"] for one in records(page, topic, query)["records"]]


def test_a_reader_gets_what_is_in_a_topic_masked_and_nothing_is_left_behind(combined: Cluster, page: Page) -> None:
    servers = combined.bootstrap_servers
    admin = AdminClient({"bootstrap.servers": ",".join(servers)})
    groups = {one.id for one in admin.list_groups(timeout=30)}
    topic, gaps, wide = "shown.orders", "shown.gaps", "shown.wide"
    make_topic(servers, topic, 1)
    for codec in ("none", "gzip", "snappy", "lz4"):
        write(
            servers, topic, [{"n": at, "user": {"Password": SECRET}} for at in range(30)], **{"compression.type": codec}
        )
    write(servers, topic, [b"password=" + SECRET.encode(), None, b"\x00\xff" + SECRET.encode()])

    found = records(page, topic)
    assert [one["offset"] for one in found["records"]] == [*range(122, 72, -1)]
    hidden, null, text = found["records"][:3]
    assert [one["value"]["form"] for one in (hidden, null, text)] == ["hidden", "null", "hidden"]
    (one,) = [one for one in found["records"] if one["offset"] == 119]
    assert (one["partition"], one["timestamp_type"], one["key"]["form"]) == (0, "CreateTime", "hidden")
    assert json.loads(one["value"]["text"]) == {"n": 29, "user": {"Password": "***"}}
    assert [(header["name"], header["value"]["text"]) for header in one["headers"]] == [
        ("trace", "00-4b"), ("password", "***"),
    ]  # fmt: skip
    assert offsets(page, topic, "from=oldest") == [*range(50)]
    assert offsets(page, topic, "from=offset&offset=115&partition=0") == [*range(115, 123)]
    assert offsets(page, topic, "from=offset&offset=500&partition=0") == []
    assert offsets(page, topic, f"from=time&time={BASE + 29_000}")[0] == 29
    for show in ("auto", "json", "text", "hex"):
        for query in (f"show={show}&from=oldest", f"show={show}"):
            answer = page.get(f"clusters/orders/topics/{topic}/records?{query}")
            assert (answer.status, answer.headers["cache-control"]) == (200, "no-store")
            assert SECRET not in answer.text
            assert SECRET.encode().hex(" ") not in answer.text
            assert "<script" not in answer.text

    # What was deleted, open and aborted transactions, and markers.
    make_topic(servers, gaps, 1)
    write(servers, gaps, [{"n": at} for at in range(100)])
    admin.delete_records([TopicPartition(gaps, 0, 90)])[TopicPartition(gaps, 0, 90)].result(60)

    def ends_at(offset: int) -> None:
        """Wait until the log ends there: markers come after the end of their transaction was answered."""
        place = TopicPartition(gaps, 0)
        ends = lambda: admin.list_offsets({place: OffsetSpec.latest()})[place].result(60).offset  # noqa: E731
        page.wait_until(lambda: ends() == offset, f"offset {offset}")

    write(servers, gaps, [{"n": 1}] * 5, **{"transactional.id": "page-commits"}).commit_transaction(60)
    ends_at(106)
    write(servers, gaps, [{"n": 2}] * 200, **{"transactional.id": "page-aborts"}).abort_transaction(60)
    ends_at(307)
    write(servers, gaps, [{"n": 3}] * 2)
    ends_at(309)
    seen = [*range(90, 105), 307, 308]
    assert offsets(page, gaps) == seen[::-1]
    assert offsets(page, gaps, "from=oldest") == seen
    assert offsets(page, gaps, "isolation=read_uncommitted")[:4] == [308, 307, 305, 304]
    still_open = write(servers, gaps, [{"n": 4}], **{"transactional.id": "page-opens"})
    write(servers, gaps, [{"n": 5}])
    assert offsets(page, gaps)[0] == 308
    assert offsets(page, gaps, "isolation=read_uncommitted")[0] == 310
    still_open.abort_transaction(60)

    # Partitions, of which each has its share, and values that are larger than what is shown.
    make_topic(servers, wide, 6)
    producer = Producer({"bootstrap.servers": ",".join(servers)})
    for at in range(60):
        producer.produce(wide, json.dumps(["x" * 30_000]).encode(), partition=at % 6, timestamp=BASE + at)
    assert producer.flush(60) == 0
    some = records(page, wide)
    assert Counter(one["partition"] for one in some["records"]).keys() == set(range(6))
    assert len(some["records"]) == 50
    assert {(len(one["value"]["text"]), one["value"]["size"]) for one in some["records"]} == {(16_384, 30_004)}

    # Who may not, and one at a time.
    assert page.get("clusters/orders/topics/other/records").status == 403
    assert page.get("clusters/orders/topics/shown.none/records").status == 404
    assert page.get(f"clusters/orders/topics/{topic}/records?partition=7").status == 404
    answers: list[Answer] = []
    threads = [
        threading.Thread(target=lambda: answers.append(page.get(f"clusters/orders/topics/{wide}/records")))
        for _one in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert {one.status for one in answers} == {200, 429}
    assert all(one.headers["retry-after"] == "5" for one in answers if one.status == 429)

    assert {one.id for one in admin.list_groups(timeout=30)} == groups
    assert f"user ann reads records of topic {topic} of cluster orders from newest of all partitions" in page.log
    assert f"user ann got of topic {topic} of cluster orders 50 records (0: 73-122)" in page.log
    assert SECRET not in page.log
    assert "Traceback" not in page.log
    for name in (topic, gaps, wide):
        admin.delete_topics([name])[name].result(60)
