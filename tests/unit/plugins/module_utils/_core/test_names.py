# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of topics that Kafka takes, and what strays into names and passwords."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.names import (
    allowed_instead,
    is_part_of_name,
    stray,
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


@pytest.mark.parametrize("text", ["", " ", "\n", "secret", "two words", "Пароль é", "日本", "a\\nb", "\"'#;="])
def test_what_may_stand_in_it_does(text: str) -> None:
    # Nothing at all has a rule of its own.
    assert stray(text) == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x\n", "ends with a line end"),
        ("x\r\n", "ends with a line end"),
        ("x \n", "ends with a line end"),
        ("x\u2028", "ends with a line end"),
        ("x ", "ends with white space"),
        ("x\u00a0", "ends with white space"),
        (" x", "begins with white space"),
        ("\nx", "begins with white space"),
        ("a\nb", "holds a control character"),
        ("a\x00b", "holds a control character"),
        ("x\x1b", "holds a control character"),
    ],
)
def test_what_strayed_into_it_is_told(text: str, said: str) -> None:
    assert stray(text) == said
