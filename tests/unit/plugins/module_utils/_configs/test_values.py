"""Values: their text for Kafka, and when two of them are the same."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._configs.values import config_text, same_value
from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import value_text

#: Values as YAML, JSON or a template give them, and their text.
TEXTS = [
    (True, "true"),
    (False, "false"),
    (-1, "-1"),
    (0.5, "0.5"),
    (1e3, "1000"),
    (6.048e8, "604800000"),
    (-1.0, "-1"),
    (1e-05, "1e-05"),
    ("6.048e+8", "6.048e+8"),
    ("a", "a"),
    (["b", 1, 2.0], "b,1,2"),
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


@pytest.mark.parametrize(
    ("kind", "one", "other", "same"),
    [
        ("LONG", "1000", " 1000 ", True),
        ("LONG", "1000", "+1000", True),
        ("LONG", "-1", "1", False),
        ("LONG", "9007199254740993", "9007199254740992", False),
        ("LONG", "x", "1", False),
        ("DOUBLE", "0.5", "0.50", True),
        ("BOOLEAN", "True", "true", True),
        ("BOOLEAN", "true", "false", False),
        ("LIST", "delete,compact", "compact, delete", True),
        ("LIST", "delete", "compact,delete", False),
        ("STRING", "Producer", "producer", False),
        ("STRING", None, "", False),
        ("STRING", None, None, True),
    ],
)
def test_values_are_compared_by_their_type(kind: str, one: str | None, other: str | None, same: bool) -> None:
    assert same_value(kind, one, other) is same
