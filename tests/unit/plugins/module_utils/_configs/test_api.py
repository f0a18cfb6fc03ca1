# SPDX-License-Identifier: GPL-3.0-or-later
"""Which broker is asked for a configuration, and how an entry of an answer is read."""

from __future__ import annotations

from types import SimpleNamespace

from ansible_collections.streamops.kafka.plugins.module_utils._configs.api import BROKER, TOPIC, _by_node, _config_value


def test_a_broker_is_asked_for_itself_and_any_one_for_topics_and_the_default() -> None:
    assert _by_node(BROKER, ["1", "", "2"]) == {1: ["1"], None: [""], 2: ["2"]}
    assert _by_node(TOPIC, ["1", "orders"]) == {None: ["1", "orders"]}


def synonym(name: str, value: str, source: int) -> SimpleNamespace:
    """A further place where a value of this or of a related key is set."""
    return SimpleNamespace(name=name, value=value, source=source)


def test_an_entry_keeps_its_value_type_source_and_what_lies_below() -> None:
    below = [synonym("retention.ms", "60", 1), synonym("log.retention.ms", "70", 4)]
    entry = SimpleNamespace(
        name="retention.ms", value="60", config_type=5, config_source=1, is_sensitive=False, synonyms=below
    )
    value = _config_value(entry)
    assert (value.value, value.kind, value.source, value.sensitive) == ("60", "LONG", "DYNAMIC_TOPIC", False)
    assert value.by_source == {"DYNAMIC_TOPIC": "60"}


def test_a_secret_is_marked_and_what_a_newer_broker_adds_is_not_guessed() -> None:
    entry = SimpleNamespace(name="k", value=None, config_type=99, config_source=99, is_sensitive=True, synonyms=None)
    value = _config_value(entry)
    assert (value.kind, value.source, value.sensitive, value.by_source) == ("STRING", "UNKNOWN", True, {})
