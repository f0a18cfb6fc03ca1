"""The files for people who will use a cluster."""

from __future__ import annotations

from ansible_collections.streamops.kafka.plugins.plugin_utils.render.client_bundle import (
    bundle_directories,
    bundle_users,
    client_bundle,
)
from tests.support.inventory_data import view

SECURED = {
    "bootstrap_servers": ["kafka1:9092", "kafka2:9092"],
    "security_protocol": "SASL_SSL",
    "sasl_username": "admin",
    "sasl_password": "the administrator's",
}
USERS = [{"name": "orders", "password": "of-orders"}, {"name": "old", "password": "x", "mechanism": "SCRAM-SHA-256"}]


def texts(**other: object) -> dict[str, str]:
    files = client_bundle(USERS, {**SECURED, **other}, "/bundle", "CERTIFICATES")
    return {one["path"]: one["content"] for one in files}


def test_each_user_gets_a_folder_with_everything_but_the_password() -> None:
    found = texts()
    names = {"java.properties", "librdkafka.properties", "spark.properties", "ca.pem"}
    assert set(found) == {f"/bundle/{user}/{name}" for user in ("orders", "old") for name in names}
    assert [one["path"] for one in bundle_directories(USERS, "/bundle")] == ["/bundle/orders", "/bundle/old"]
    for text in found.values():
        assert "of-orders" not in text
        assert "administrator" not in text


def test_java_reads_the_password_from_the_environment() -> None:
    java = texts()["/bundle/orders/java.properties"]
    assert 'username="orders" password="${env:KAFKA_PASSWORD}";' in java
    assert "config.providers=env" in java
    assert "bootstrap.servers=kafka1:9092,kafka2:9092" in java


def test_each_client_gets_its_own_words() -> None:
    found = texts()
    assert "sasl.username=orders" in found["/bundle/orders/librdkafka.properties"]
    assert "set sasl.password in the program" in found["/bundle/orders/librdkafka.properties"]
    assert "kafka.security.protocol=SASL_SSL" in found["/bundle/orders/spark.properties"]
    assert "sasl.mechanism=SCRAM-SHA-256" in found["/bundle/old/java.properties"]


def test_who_shows_a_certificate_is_told_where_to_put_it() -> None:
    found = {
        one["path"]: one["content"]
        for one in client_bundle([{"name": "orders"}], {**SECURED, "security_protocol": "SSL"}, "/bundle", "CAS")
    }
    assert "ssl.keystore.location=client.pem" in found["/bundle/orders/java.properties"]
    assert "kafka.ssl.keystore.type=PEM" in found["/bundle/orders/spark.properties"]
    assert "ssl.key.location=client.pem" in found["/bundle/orders/librdkafka.properties"]
    assert all("client.pem is not here" in text for path, text in found.items() if path.endswith(".properties"))
    assert not [text for text in found.values() if "password" in text or "sasl" in text]


def test_without_tls_there_is_no_certificate_and_no_word_of_passwords() -> None:
    found = texts(security_protocol="PLAINTEXT")
    assert "/bundle/orders/ca.pem" not in found
    assert "password" not in found["/bundle/orders/java.properties"]


def test_who_is_to_be_removed_gets_no_folder_and_nobody_brings_a_password() -> None:
    users = [{"name": "b", "state": "present", "mechanism": "SCRAM-SHA-256"}, {"name": "gone", "state": "absent"}]
    settings = {"kafka_users": [*users, {"name": "a", "password": "x"}], "kafka_tls_client_names": ["c"]}
    plain, tls = ({"listeners": [{"purpose": "clients", "protocol": one}]} for one in ("SASL_SSL", "SSL"))
    assert bundle_users(plain, settings) == [{"name": "a"}, {"name": "b", "mechanism": "SCRAM-SHA-256"}]
    assert bundle_users(tls, settings) == [{"name": "c"}]


def test_the_model_writes_a_folder_below_that_of_the_cluster() -> None:
    variables = {"kafka_node_id": 1, "kafka_users": USERS, "kafka_resources_client_bundle_dir": "/b"}
    bundle = view({"k": variables}, brokers=["k"])["client_bundle"]
    assert [one["path"] for one in bundle["directories"]] == ["/b/kafka/orders", "/b/kafka/old"]
    assert len(bundle["files"]) == 6
