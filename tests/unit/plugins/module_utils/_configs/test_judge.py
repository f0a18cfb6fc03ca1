"""Letting Kafka judge: every bad key is told, though Kafka names one at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._configs.judge import judge_configs


def picky(changes: Mapping[str, Mapping[str, str | None]]) -> dict[str, Any]:
    """A cluster that refuses keys starting with bad and, like Kafka, names the first of each entity only."""
    bad = {name: [key for key in config if key.startswith("bad")] for name, config in changes.items()}
    return {name: ("INVALID_CONFIG", keys[0]) if keys else None for name, keys in bad.items()}


def test_every_bad_key_of_every_entity_is_told() -> None:
    changes = {"a": {"bad1": "x", "good": "y", "bad2": None}, "b": {"good": "1"}, "c": {"bad3": "z"}}
    told = {(name, why) for name, _code, why in judge_configs(picky, changes)}
    assert told == {("a", "bad1"), ("a", "bad2"), ("c", "bad3")}


def test_what_is_bad_only_together_is_told_as_kafka_tells_it() -> None:
    def together(changes: Mapping[str, Mapping[str, str | None]]) -> dict[str, Any]:
        return {name: ("INVALID_CONFIG", "together") if len(config) > 1 else None for name, config in changes.items()}

    assert judge_configs(together, {"a": {"x": "1", "y": "2"}}) == [("a", "INVALID_CONFIG", "together")]
