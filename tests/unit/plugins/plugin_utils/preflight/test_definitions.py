# SPDX-License-Identifier: GPL-3.0-or-later
"""Verdicts on single values; tests/integration/install/test_definitions.py asks Kafka's own parser the same."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._release.releases import releases
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.definitions import (
    BROKER_KEYS,
    TOPIC_KEYS,
    Definition,
)

ONCE = Definition("LIST", values=("a", "b"), once=True, empty=False)
#: By definition what it takes, what it refuses, and what it says of itself.
VERDICTS: list[tuple[Definition, list[str], list[str], str]] = [
    (Definition("BOOLEAN"), ["true", "FALSE", " True\t"], ["yes", "1", "", "truee"], "true or false"),
    (
        Definition("INT", least=1),
        ["1", "+7", " 2147483647 "],
        ["0", "2147483648", "1.0", "1e3", "0x10", "1_000", "", "true"],
        "a whole number from 1 to 2147483647",
    ),
    (Definition("SHORT"), ["-32768"], ["32768"], "a whole number from -32768 to 32767"),
    (
        Definition("LONG"),
        ["9223372036854775807"],
        ["9223372036854775808"],
        "a whole number from -9223372036854775808 to",
    ),
    (Definition("INT", least=1, most=9, other=-1), ["-1", "9"], ["0", "10", "-2"], "from 1 to 9, or -1"),
    (
        Definition("DOUBLE", least=0, most=1),
        ["0", "1.", ".5", "5e-1", "0.5d", "NaN", "0x1p-1"],
        ["1.1", "-0.1", "Infinity", "inf", "nan", "half", "", "1e999"],
        "a number from 0 to 1",
    ),
    (Definition("DOUBLE"), ["1e999", "-Infinity", "0x1p9999"], ["x"], "a number"),
    (Definition("STRING", values=("a", "b")), ["a", " b "], ["A", "", "a,b"], "one of a, b"),
    (Definition("STRING", values=("A",), any_case=True), ["a", "A"], ["b"], "one of A"),
    (Definition("STRING", empty=False), ["a"], ["", " "], "text that is not empty"),
    (Definition("STRING"), ["", "a"], [], ""),
    (ONCE, ["a", "a , b"], ["", "a,a", "a,", "c"], "at least one, of a, b, each once"),
    (Definition("LIST", values=("a",)), ["", "a,a"], ["a,", "b"], "of a"),
    (Definition("LIST", once=True), ["", "x,y"], ["x,x", "x,,y"], "a list with commas, each once"),
    (Definition("PASSWORD"), ["", "x"], [], ""),
    (Definition("CLASS"), ["org.example.Plugin"], [], ""),
]


@pytest.mark.parametrize(("definition", "good", "bad", "said"), VERDICTS)
def test_a_definition_takes_what_kafka_parses(
    definition: Definition, good: list[str], bad: list[str], said: str
) -> None:
    assert [text for text in good if not definition.takes(text)] == []
    assert [text for text in bad if definition.takes(text)] == []
    assert said in definition.allowed


def test_each_version_has_its_own() -> None:
    assert BROKER_KEYS.keys() == TOPIC_KEYS.keys() == {one.version for one in releases()}
    assert BROKER_KEYS["4.3.1"]["num.io.threads"] == Definition("INT", least=1, default=8)
    assert BROKER_KEYS["3.9.2"]["log.cleanup.policy"].once is False
    assert TOPIC_KEYS["4.3.1"]["cleanup.policy"] == Definition("LIST", values=("compact", "delete"), once=True)
