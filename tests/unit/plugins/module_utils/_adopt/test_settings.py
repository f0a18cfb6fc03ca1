"""The properties that a process runs with, and the files that they name."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._adopt import settings as subject
from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import PropertiesError

#: As a role writes it, with JKS stores.
TEXT = """\
# Kafka
broker.id=1
log.dirs=/data/a, \\
    /data/b
listeners=SSL://:9093
ssl.keystore.location=/etc/kafka/ssl/kafka.keystore.jks
ssl.keystore.password=changeit
listener.name.internal.ssl.truststore.location=ssl/trust.p12
ssl.key.password=${file:/etc/secrets:key}
broker.id=2
"""


def test_each_property_has_its_line_and_overrides_count_before_it() -> None:
    properties = subject.settings("/etc/kafka/server.properties", TEXT, {"listeners": "PLAINTEXT://:9092"})
    assert subject.values(properties)["broker.id"] == "2"
    origins = subject.origins(properties)
    assert origins["log.dirs"] == "/etc/kafka/server.properties:3"
    assert origins["broker.id"] == "/etc/kafka/server.properties:10"
    assert (properties["listeners"].value, origins["listeners"]) == ("PLAINTEXT://:9092", "--override")
    assert subject.secret_names(subject.values(properties)) == ["ssl.key.password", "ssl.keystore.password"]


def test_hostile_texts() -> None:
    assert subject.settings("/p", "", {}) == {}
    assert subject.values(subject.settings("/p", "a\\=b=c\\\n\n \u00fc:=:\r\nx\\", {})) == {
        "a=b": "c",
        "\u00fc": "=:",
        "x": "",
    }
    with pytest.raises(PropertiesError, match="line 2"):
        subject.settings("/p", "a=b\nc=\\u12", {})  # fmt: skip


@pytest.mark.parametrize(
    ("product", "text", "dirs", "metadata"),
    [
        ("kafka", TEXT, ["/data/a", "/data/b"], ""),
        ("kafka", "log.dir=data/../x", ["/opt/kafka/x"], ""),
        ("kafka", "", ["/tmp/kafka-logs"], ""),
        ("kafka", "log.dirs=/d\nmetadata.log.dir=/m\nprocess.roles=broker", ["/d"], "/m"),
        ("kafka", "log.dirs=/d\nmetadata.log.dir=/m", ["/d"], ""),
        ("zookeeper", "dataDir=/z\ndataLogDir=/l", ["/z", "/l"], ""),
        ("zookeeper", "dataDir=/z\ndataLogDir=/z", ["/z"], ""),
        ("mirror", "log.dirs=/d", [], ""),
    ],
)
def test_where_data_is(product: str, text: str, dirs: list[str], metadata: str) -> None:
    values = subject.values(subject.settings("/p", text, {}))
    assert subject.data_dirs(product, values, "/opt/kafka") == (dirs, metadata)


def test_stores_of_properties_and_of_the_jvm() -> None:
    values = subject.values(subject.settings("/p", TEXT, {"ssl.truststore.location": "${file:/s:t}"}))
    values["ssl.quorum.trustStore.location"] = "/z.pem"
    system = {"javax.net.ssl.trustStore": "/j.jks", "java.security.auth.login.config": "jaas.conf"}
    assert subject.store_files(values, system, "/opt/kafka") == [
        "/etc/kafka/ssl/kafka.keystore.jks",
        "/opt/kafka/ssl/trust.p12",
        "/z.pem",
        "/j.jks",
    ]
    assert subject.login_files(system, "/opt/kafka") == ["/opt/kafka/jaas.conf"]


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"\xfe\xed\xfe\xed\x00\x00\x00\x02", "JKS"),
        (b"\xce\xce\xce\xce", "JKS"),
        (b"0\x82\x0a\x00\x02\x01\x03", "PKCS12"),
        (b"Bag Attributes\n-----BEGIN CERTIFICATE-----\n", "PEM"),
        (b"", None),
        (b"hello", None),
    ],
)
def test_stores_are_known_by_their_content(head: bytes, kind: str | None) -> None:
    assert subject.store_kind(head) == kind


def test_a_relative_path_without_its_directory_stays() -> None:
    assert subject.absolute("config/server.properties", "") == "config/server.properties"
    assert subject.absolute("/a/../b", "") == "/b"
