"""No value of a secret is shown, wherever it stands; what is none stays readable."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._adopt import masks as subject


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("-Djavax.net.ssl.trustStorePassword=pa=ss\"w'ord", "-Djavax.net.ssl.trustStorePassword=********"),
        ("sasl.jaas.config=org.x.PlainLoginModule required password=\"a b\";", "sasl.jaas.config=********"),
        ("-javaagent:/a.jar=user=me,password=hunter2,host=x", "-javaagent:/a.jar=user=me,password=********"),
        ("-Dhttp.proxy=http://me:hunter2@proxy:80/", "-Dhttp.proxy=http://me:********@proxy:80/"),
        ("-Dssl.keystore.password=", "-Dssl.keystore.password="),
        ("ssl.key.password=${file:/etc/secrets:key}", "ssl.key.password=${file:/etc/secrets:key}"),
        ("ssl.key.password=${file:/etc/secrets:key}x", "ssl.key.password=********"),
        ("-Dlog4j.configuration=file:/etc/log4j.conf", "-Dlog4j.configuration=file:/etc/log4j.conf"),
        ("-XX:MaxGCPauseMillis=20", "-XX:MaxGCPauseMillis=20"),
        ("", ""),
    ],
)  # fmt: skip
def test_words(word: str, shown: str) -> None:
    assert subject.masked_word(word) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("-Da=b  -Dx.password=one two three -Dc=d", "-Da=b  -Dx.password=******** -Dc=d"),
        ("-Dx.password= secret -Dc=d", "-Dx.password=******** -Dc=d"),
        ("-Dx.password=a -Dy.password=b", "-Dx.password=******** -Dy.password=********"),
        ("\"-Dx.secret=a b\" '-Dc=d'", "\"-Dx.secret=******** '-Dc=d'"),
        ("-Xmx4g\t-Xms4g", "-Xmx4g\t-Xms4g"),
        ("  ", "  "),
    ],
)
def test_texts(text: str, shown: str) -> None:
    assert subject.masked_text(text) == shown


def test_values_by_their_names() -> None:
    properties = {
        "ssl.keystore.password": "changeit",
        "ssl.key.password": "${env:KEY_PASSWORD}",
        "listener.name.sasl.plain.sasl.jaas.config": 'x required password="y";',
        "ssl.truststore.password": "",
        "log.dirs": "/data/a,/data/b",
        "metrics.url": "https://u:p@h/",
    }
    assert subject.masked(properties) == {
        "ssl.keystore.password": "********",
        "ssl.key.password": "${env:KEY_PASSWORD}",
        "listener.name.sasl.plain.sasl.jaas.config": "********",
        "ssl.truststore.password": "",
        "log.dirs": "/data/a,/data/b",
        "metrics.url": "https://u:********@h/",
    }
    names = ["listener.name.sasl.plain.sasl.jaas.config", "metrics.url", "ssl.keystore.password"]
    assert subject.secrets(properties) == names


def test_a_long_text_takes_no_time() -> None:
    text = "-Dx.password=" + "a=" * 50_000 + " -Dc=d " + "b" * 50_000
    assert subject.masked_text(text) == "-Dx.password=******** -Dc=d " + "b" * 50_000


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("listeners", "BROKER://:9091,TOKEN://:9096"),
        ("advertised.listeners", "TOKEN://k1:9096"),
        ("listener.security.protocol.map", "TOKEN:SASL_PLAINTEXT,BROKER:SSL"),
        ("controller.quorum.voters", "1@secrets1:9093"),
        ("controller.quorum.bootstrap.servers", "secrets1:9093"),
        ("west.bootstrap.servers", "passwords.example.com:9092"),
        ("zookeeper.connect", "tokens1:2181/kafka"),
    ],
)
def test_names_of_listeners_and_hosts_are_no_secrets(key: str, value: str) -> None:
    assert subject.masked({key: value}) == {key: value}
