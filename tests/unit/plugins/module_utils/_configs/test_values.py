"""Values: when two of them are the same."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._configs.values import same_value


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
