"""Java .properties: what Kafka reads is what was meant."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.module_utils._core.compared import declare
from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import (
    READ_ENCODING,
    PropertiesError,
    config_text,
    is_secret,
    parse,
    to_text,
    value_text,
)

AWKWARD = st.text(st.one_of(st.sampled_from(" =:#!\\\n\r\t\fu"), st.characters(codec="utf-16")), max_size=12)


@given(st.dictionaries(AWKWARD, AWKWARD, max_size=6))
def test_any_text_reads_back_as_it_was_printed(properties: dict[str, str]) -> None:
    assert parse(to_text(properties)) == properties


@given(st.dictionaries(AWKWARD, AWKWARD, max_size=4))
def test_printed_text_is_ascii_and_has_one_line_per_key(properties: dict[str, str]) -> None:
    text = to_text(properties)
    assert text.encode("ascii").decode(READ_ENCODING) == text
    assert text.count("\n") == len(properties)


@given(st.text(st.characters(blacklist_characters="\\"), max_size=200))
def test_text_without_escapes_always_parses(text: str) -> None:
    assert all(isinstance(value, str) for value in parse(text).values())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=1", {"a": "1"}),
        ("a = 1", {"a": "1"}),
        ("a:1", {"a": "1"}),
        ("a 1", {"a": "1"}),
        ("a", {"a": ""}),
        ("  a==1", {"a": "=1"}),
        ("a=1\r\nb=2\rc=3\n", {"a": "1", "b": "2", "c": "3"}),
        ("# a=1\n! b=2\n\n   \nc=3", {"c": "3"}),
        ("a=1,\\\n    2,\\\n\t3", {"a": "1,2,3"}),
        ("a=x\\\\\nb=y", {"a": "x\\", "b": "y"}),
        ("a\\ b\\=c=1", {"a b=c": "1"}),
        ("a=tab\\tnew\\nodd\\q", {"a": "tab\tnew\noddq"}),
        ("a=\\u00e9\\uD83D\\uDE00", {"a": "é😀"}),
        ("a=1\na=2", {"a": "2"}),
        ("a=trailing  ", {"a": "trailing  "}),
        ("listeners=CLIENT://:9092,CONTROLLER://:9093", {"listeners": "CLIENT://:9092,CONTROLLER://:9093"}),
        ("a=end\\", {"a": "end"}),
    ],
)
def test_parses_what_java_parses(text: str, expected: dict[str, str]) -> None:
    assert parse(text) == expected


def test_a_malformed_escape_names_its_line() -> None:
    with pytest.raises(PropertiesError, match=r"line 2: malformed escape"):
        parse("a=1\nb=\\u12")


def test_prints_sorted_with_booleans_numbers_and_lists_as_kafka_writes_them() -> None:
    text = to_text({"z": True, "a": ["broker", "controller"], "n": 3, "f": 0.5, "e": "", "o": False})
    assert text == "a=broker,controller\ne=\nf=0.5\nn=3\no=false\nz=true\n"


def test_values_stay_readable_and_only_what_must_be_is_escaped() -> None:
    text = to_text({"listeners": "A://h:1", "spaced": " x", "path": "C:\\k", "é key": "ü"})
    assert text == "listeners=A://h:1\npath=C:\\\\k\nspaced=\\ x\n\\u00E9\\ key=\\u00FC\n"


@pytest.mark.parametrize("value", [None, {"a": 1}, [[1]], [None]])
def test_refuses_what_is_no_property_and_names_the_key(value: object) -> None:
    with pytest.raises(PropertiesError, match=r"log\.dirs"):
        to_text({"log.dirs": value})


@pytest.mark.parametrize(
    ("key", "secret"),
    [
        ("ssl.keystore.password", True),
        ("ssl.keystore.key", True),
        ("listener.name.client.scram-sha-512.sasl.jaas.config", True),
        ("delegation.token.secret.key", True),
        ("sasl.oauthbearer.assertion.private.key.passphrase", True),
        ("node.id", False),
        ("ssl.keystore.location", False),
        ("log.cleaner.enable", False),
    ],
)
def test_secrets_are_known_by_their_key(key: str, secret: bool) -> None:
    assert is_secret(key) is secret


def test_declare_shows_values_but_never_a_secret() -> None:
    declared = declare({"node.id": 1, "ssl.key.password": "changeit", "ssl.keystore.password": "changeit"})
    assert declared["node.id"] == "1"
    assert "changeit" not in str(declared)
    assert declared["ssl.key.password"].startswith("sha256:")
    assert declared["ssl.key.password"] != declared["ssl.keystore.password"]


def test_declaring_twice_changes_nothing() -> None:
    once = declare({"ssl.key.password": "changeit", "a": [1, 2]})
    assert declare(once) == once


#: Values as YAML, JSON or a template give them, and their text.
TEXTS = [
    (True, "true"),
    (False, "false"),
    (-1, "-1"),
    (0.5, "0.5"),
    (1e3, "1000"),
    (6.048e8, "604800000"),
    # What a node runs with must not differ for a point.
    (1.0, "1.0"),
    (-1.0, "-1.0"),
    (1e-05, "1e-05"),
    ("6.048e+8", "6.048e+8"),
    ("a", "a"),
    (["b", 1, 2.0], "b,1,2.0"),
]


@pytest.mark.parametrize(("value", "text"), TEXTS)
def test_yaml_values_have_one_text_wherever_they_stand(value: Any, text: str) -> None:
    assert config_text("key", value) == value_text("key", value) == text


@pytest.mark.parametrize("key", ["inter.broker.protocol.version", "message.format.version"])
def test_a_version_is_no_number(key: str) -> None:
    assert config_text(key, 3.0) == value_text(key, 3.0) == "3.0"


def test_null_stays_null() -> None:
    assert config_text("key", None) is None


@pytest.mark.parametrize("value", [{"a": 1}, [[1]], [{"a": 1}], [None]])
def test_what_has_no_text_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="key: "):
        config_text("key", value)
