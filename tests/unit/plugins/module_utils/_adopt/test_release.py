"""Releases by the names of their jars, and by digests against the locks that this collection carries."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._adopt import release as subject
from ansible_collections.streamops.kafka.plugins.module_utils._release import lock

ROOT = Path(__file__).resolve().parents[5]
LOCKS = [lock.parse(path.read_text(), path.name) for path in sorted((ROOT / "roles/_common/files").glob("*.lock.json"))]
KAFKA = next(one for one in LOCKS if (one.name, one.version) == ("kafka", "4.3.1"))
PATHS = [f"/opt/kafka/libs/{name}" for name in sorted(KAFKA.digests)]
DIGESTS = {path: KAFKA.digests[path.rpartition("/")[2]] for path in PATHS}


def test_a_release_as_apache_published_it() -> None:
    more = [*PATHS, "/opt/kafka/libs/kafka-streams-4.3.1.jar"]
    known = subject.release("kafka", more, {**DIGESTS, more[-1]: "0" * 64}, LOCKS)
    assert known == subject.Release("4.3.1", "apache", "/opt/kafka", compared=True, added=1)
    assert known.summary == "4.3.1 as Apache published it"


def test_jars_that_differ_are_named() -> None:
    core = next(path for path in PATHS if "/kafka-clients-" in path)
    known = subject.release("kafka", PATHS[1:], {**DIGESTS, core: "0" * 64}, LOCKS)
    assert known.differing == ("kafka-clients-4.3.1.jar",)
    assert known.missing == (PATHS[0].rpartition("/")[2],)
    assert known.summary == (
        "4.3.1, but 1 of its jars differ from what Apache published and 1 of Apache's jars are not there"
    )
    fewer = subject.release("kafka", PATHS[1:], DIGESTS, LOCKS)
    assert fewer.summary == "4.3.1, but 1 of Apache's jars are not there"


def test_unread_jars_are_neither_the_same_nor_missing() -> None:
    known = subject.release("kafka", PATHS, {}, LOCKS)
    assert (known.compared, known.differing, known.missing) == (False, (), ())
    assert "by its name" in known.summary
    assert "by its name" in subject.release("kafka", ["/k/libs/kafka_2.13-3.5.0.jar"], {}, LOCKS).summary


@pytest.mark.parametrize(
    ("path", "version", "vendor", "directory"),
    [
        ("/usr/share/java/kafka/kafka_2.13-7.6.0-ccs.jar", "7.6.0-ccs", "confluent", "/usr/share/java/kafka"),
        ("/usr/share/java/kafka/kafka_2.13-7.6.0-ce.jar", "7.6.0-ce", "confluent", "/usr/share/java/kafka"),
        ("/cdh/kafka/libs/kafka_2.13-3.4.1.7.1.9.0-387.jar", "3.4.1.7.1.9.0-387", "cloudera", "/cdh/kafka"),
        ("/k/libs/kafka_2.11-2.2.1-cdh6.3.2.jar", "2.2.1-cdh6.3.2", "cloudera", "/k"),
        ("/hdp/kafka/libs/kafka_2.11-2.0.0.3.1.4.0-315.jar", "2.0.0.3.1.4.0-315", "hortonworks", "/hdp/kafka"),
        ("/opt/kafka/libs/kafka_2.13-3.7.0.redhat-00007.jar", "3.7.0.redhat-00007", "redhat", "/opt/kafka"),
        ("/k/libs/kafka_2.13-4.0.0-acme-1.jar", "4.0.0-acme-1", "unknown", "/k"),
        ("/k/libs/kafka_2.12-1.1.1.jar", "1.1.1", "apache", "/k"),
        ("/k/libs/log4j-1.2.17.jar", "", "", ""),
    ],
)  # fmt: skip
def test_builds_by_their_names(path: str, version: str, vendor: str, directory: str) -> None:
    known = subject.release("kafka", [path], {path: "0" * 64}, LOCKS)
    assert (known.version, known.vendor, known.dir) == (version, vendor, directory)
    assert known.differing == ()


def test_the_core_tells_the_version_and_no_sources_do() -> None:
    paths = ["/k/libs/kafka-clients-3.0.0.jar", "/k/libs/kafka_2.13-9.9.9-sources.jar", "/k/libs/kafka_2.13-3.9.2.jar"]
    assert subject.core("kafka", paths) == (paths[2], "3.9.2")
    assert subject.core("connect", paths[:1]) == (paths[0], "3.0.0")
    assert subject.core("zookeeper", [*paths, "/k/libs/zookeeper-jute-3.8.4.jar", "/k/libs/zookeeper-3.8.4.jar"]) == (
        "/k/libs/zookeeper-3.8.4.jar",
        "3.8.4",
    )


def test_a_class_path_with_directories() -> None:
    entries = [
        "/usr/bin/../share/java/kafka/*",
        "/etc/kafka",
        "/a/b/../x.jar",
        "/usr/share/java/kafka/b.jar",
        "/gone/*",
    ]
    assert subject.directories(entries) == ["/usr/share/java/kafka", "/gone"]
    listings = {"/usr/share/java/kafka": ["b.jar", "a.jar", "LICENSE"]}
    assert subject.jars(entries, listings) == [
        "/usr/share/java/kafka/a.jar",
        "/usr/share/java/kafka/b.jar",
        "/a/x.jar",
    ]
