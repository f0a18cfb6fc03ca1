# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of topics that Kafka takes."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.names import (
    allowed_instead,
    is_part_of_name,
)


@pytest.mark.parametrize("name", ["a", "orders.v1", "_A-9", "...", "n" * 249])
def test_a_legal_name(name: str) -> None:
    assert allowed_instead(name) is None
    assert is_part_of_name(name)


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("", "letters"),
        ("a b", "letters"),
        ("ä", "letters"),
        ("a\n", "letters"),
        (".", "other than"),
        ("..", "other than"),
        ("n" * 250, "at most 249 characters (this one has 250)"),
    ],
)
def test_an_illegal_name_with_what_is_allowed_instead(name: str, allowed: str) -> None:
    assert allowed in (allowed_instead(name) or "")
    assert is_part_of_name(name) is (name in (".", ".."))
