"""Values: their text for Kafka, and when two of them are the same."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._configs.values import config_text, same_value


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "true"), (False, "false"), (-1, "-1"), (0.5, "0.5"), (1e3, "1000"), ("a", "a"), (["b", 1], "b,1")],
)
def test_yaml_values_have_one_text(value: Any, text: str) -> None:
    assert config_text(value) == text


def test_null_stays_null() -> None:
    assert config_text(None) is None


@pytest.mark.parametrize("value", [{"a": 1}, [[1]], [{"a": 1}], object()])
def test_what_has_no_text_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="neither text"):
        config_text(value)


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
