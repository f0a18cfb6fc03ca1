"""White space that belongs to neither a password nor a name."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.stray import stray


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
