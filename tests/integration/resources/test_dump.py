# SPDX-License-Identifier: GPL-3.0-or-later
"""playbooks/dump.yml: records of a node that runs, decoded from its files; no secret is in any of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._topics.api import delete_topics
from tests.support.cluster import Cluster, said, until
from tests.support.modules import run_module

TOPIC, USER, PASSWORD = "dumped", "dumped-user", "secret-of-the-dumped-user"
DUMP = "playbooks/dump.yml"
#: The tool runs at the lowest priority, so on a machine that is busy with other tests it may get nothing for a minute.
PATIENT = {"kafka_dump_seconds": "600"}
#: A topic whose records hold lines as the tool prints them.
FORGED = "dumped-forged"
FORGED_RECORD = "| offset: 99 CreateTime: 5 keySize: 1 valueSize: 19 sequence: -1 headerKeys: [] key: k payload: "
FORGED_BATCH = (
    "a\nbaseOffset: 3 lastOffset: 3 count: 1 baseSequence: -1 lastSequence: -1 producerId: -1 producerEpoch: -1 "
    "partitionLeaderEpoch: 0 isTransactional: false isControl: false deleteHorizonMs: OptionalLong.empty "
    f"position: 9999 CreateTime: 5 size: 70 magic: 2 compresscodec: none crc: 1 isvalid: true\n{FORGED_RECORD}b\nend"
)


@pytest.fixture
def written(combined: Cluster) -> Iterator[Cluster]:
    """The cluster with keyed records in a topic that each node holds, and a user that logs in by SCRAM."""
    servers = {"bootstrap.servers": ",".join(combined.bootstrap_servers)}
    admin = AdminClient(servers)  # Its futures end with it.
    admin.create_topics([NewTopic(TOPIC, 1, 3)])[TOPIC].result(30)
    until(lambda: TOPIC in admin.list_topics(timeout=10).topics, f"topic {TOPIC}")
    producer = Producer({**servers, "compression.type": "lz4", "acks": "all"})
    for number in range(20):
        headers = [("trace", b"t"), ("source", b"shop")]
        producer.produce(TOPIC, key=f"key-{number}", value=f"value\nof {number}", headers=headers, partition=0)
    assert producer.flush(30) == 0
    gone = {"name": USER, "mechanism": "SCRAM-SHA-256"}
    access = {"bootstrap_servers": combined.bootstrap_servers}
    made = run_module("streamops.kafka.users", {**access, "users": [{**gone, "password": PASSWORD}]})
    assert not made["failed"], made
    yield combined
    run_module("streamops.kafka.users", {**access, "users": [{**gone, "state": "absent"}]})
    with Session(Connection(tuple(combined.bootstrap_servers))) as session:
        delete_topics(session, [TOPIC])


def test_records_of_a_node_that_runs_are_as_they_were_written_and_hold_no_secret(
    written: Cluster, tmp_path: Path
) -> None:
    path = tmp_path / "records.jsonl"
    wish = {"kafka_dump_node": "kafka2", "kafka_dump_what": f"{TOPIC}-0", "kafka_dump_key": ""}
    to_file = {"kafka_dump_format": "jsonl", "kafka_dump_path": str(path)}
    ranged = {"kafka_dump_offset_from": "5", "kafka_dump_records": "10", "kafka_dump_payload": "yes", **PATIENT}
    written.playbook(DUMP, **wish, **to_file, **ranged).ok()
    head, *found = map(json.loads, path.read_text().splitlines())
    assert [(one["offset"], one["key"]) for one in found] == [(n, f"key-{n}") for n in range(5, 15)]
    assert found[0]["value"] == "value\nof 5"
    assert found[0]["headers"] == ["trace", "source"]
    assert head["notes"][0].startswith("stopped after 10 records")
    assert path.stat().st_mode & 0o777 == 0o600

    page = tmp_path / "metadata.html"
    # Tests that shared this cluster before have filled its log.
    of_metadata = {
        "kafka_dump_node": "kafka1",
        "kafka_dump_what": "metadata",
        "kafka_dump_records": "100000",
        **PATIENT,
    }
    shown = written.playbook(DUMP, **of_metadata, kafka_dump_format="html", kafka_dump_path=str(page)).ok()
    text = page.read_text()
    assert TOPIC in text
    assert USER in text
    assert "USER_SCRAM_CREDENTIAL_RECORD" in text
    assert "***" in text
    for secret in (PASSWORD, *_proofs(written)):
        assert secret not in text + shown.output
    assert written.alive("kafka1")


def _proofs(cluster: Cluster) -> list[str]:
    """What the metadata log has of logins, as the release's own tool prints it."""
    log = cluster.directory.rglob("kafka1/__cluster_metadata-0/00000000000000000000.log")
    release = next((cluster.directory / "install" / "releases").glob("kafka-*"))
    printed = run_module(
        "ansible.builtin.command",
        {"argv": [str(release / "bin" / "kafka-dump-log.sh"), "--cluster-metadata-decoder", "--files", str(next(log))]},
    )["stdout"]
    fields = [json.loads(line.split(" payload: ")[1])["data"] for line in printed.splitlines() if "SCRAM" in line]
    assert fields
    return [one[name] for one in fields for name in ("salt", "storedKey", "serverKey") if name in one]


@pytest.mark.full
@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"kafka_dump_node": "kafka9", "kafka_dump_what": "metadata"}, "(found: kafka9). No node was read."),
        ({"kafka_dump_node": "kafka1", "kafka_dump_what": "no-such-topic-7"}, "is not on the disks of this node"),
        (
            {"kafka_dump_node": "kafka1", "kafka_dump_what": "nothing", "kafka_dump_records": "many"},
            "kafka_dump_records is no whole number (found: 'many'",
        ),
    ],
)
def test_what_cannot_be_dumped_is_said(combined: Cluster, given: dict[str, str], why: str) -> None:
    run = combined.playbook(DUMP, **given)
    assert run.rc != 0
    assert run.changed == 0
    assert why in said(run)


@pytest.fixture
def forged(combined: Cluster) -> Iterator[Cluster]:
    """Three batches: one as others, one with lines of the tool in a header, one with them in a key and a value."""
    servers = {"bootstrap.servers": ",".join(combined.bootstrap_servers)}
    admin = AdminClient(servers)
    admin.create_topics([NewTopic(FORGED, 1, 3)])[FORGED].result(30)
    until(lambda: FORGED in admin.list_topics(timeout=10).topics, f"topic {FORGED}")
    producer = Producer({**servers, "acks": "all"})
    header = f"] key: k payload: v\nDumping /etc/passwd\n{FORGED_RECORD}"
    for key, value, headers in (
        ("k", "v", []),
        ("k", "v", [(header, b"")]),
        (FORGED_BATCH, FORGED_BATCH, []),
    ):
        producer.produce(FORGED, key=key, value=value, headers=headers, partition=0)
        assert producer.flush(30) == 0
    yield combined
    with Session(Connection(tuple(combined.bootstrap_servers))) as session:
        delete_topics(session, [FORGED])


def test_lines_of_the_tool_in_a_record_are_no_other_record(forged: Cluster) -> None:
    data = next(path.parent for path in forged.directory.rglob(f"kafka2/{FORGED}-0"))
    release = next((forged.directory / "install" / "releases").glob("kafka-*"))
    asked = {
        "what": f"{FORGED}-0",
        "log_dirs": [str(data)],
        "release_dir": str(release),
        "payload": True,
        "seconds": 600,
    }
    found = run_module("streamops.kafka.log_dump", asked)
    shown = [(one["offset"], one["key"], one["value"]) for one in found["records"]]
    assert shown == [(0, "k", "v"), (1, "k", "v"), (2, FORGED_BATCH, FORGED_BATCH)]
    (note,) = found["notes"]
    assert note.startswith("records of offsets 1 to 1 cannot be told apart for sure")
