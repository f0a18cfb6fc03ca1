# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a broker runs with the properties that it had before it was taken over."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._brokers import properties_look
from ansible_collections.streamops.kafka.plugins.module_utils._brokers.properties import PropertiesDifferError
from ansible_collections.streamops.kafka.plugins.module_utils._configs.values import ConfigValue

FILE, LIVE, FOR_ALL = "STATIC_BROKER", "DYNAMIC_BROKER", "DYNAMIC_DEFAULT_BROKER"
SESSION: Any = None
Told = Mapping[str, ConfigValue]


def number(value: str, source: str = FILE, **by_source: str) -> ConfigValue:
    """Return a number of a broker as Kafka tells it."""
    return ConfigValue(value, "INT", source, by_source=by_source or {source: value})


def secret(source: str = FILE) -> ConfigValue:
    """Return a secret, of which Kafka tells no value."""
    return ConfigValue(None, "PASSWORD", source, sensitive=True, by_source={source: None})


def look(monkeypatch: pytest.MonkeyPatch, now: Told, before: Any = None, planned: Any = ()) -> dict[str, Any]:
    """Run the module with a broker that tells this."""
    monkeypatch.setattr(properties_look, "describe_configs", lambda _session, _kind, wanted: dict.fromkeys(wanted, now))
    params = {"broker": 1, "before": before, "planned": planned}
    return properties_look.broker_properties(SESSION, params, True, False)


def through(monkeypatch: pytest.MonkeyPatch, before: Told, after: Told, planned: Any = ()) -> dict[str, Any]:
    """Take what a broker tells, as a variable of Ansible keeps it, and compare it with what it tells later."""
    kept = json.loads(json.dumps(look(monkeypatch, before)["properties"]))
    return look(monkeypatch, after, kept, planned)


def test_a_broker_with_the_same_properties_is_proven(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {"num.io.threads": number("8", "DEFAULT"), "ssl.key.password": secret(), "broker.rack": ConfigValue(None)}
    # Said in the file now, in place of Kafka's own default: it means the same.
    result = through(monkeypatch, before, {**before, "num.io.threads": number("8")})
    assert (result["identical"], result["planned"], result["changed"]) == (3, [], False)
    assert result["line"] == (
        "broker 1: 3 properties identical (1 secrets among them, of which only that they are set is known), "
        "0 differ as planned"
    )


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [("super.users", ConfigValue("User:a;User:b"), ConfigValue("User:b;User:a")),
     ("log.dirs", ConfigValue("/a,/b", "LIST"), ConfigValue("/b, /a", "LIST")),
     ("auto.create.topics.enable", ConfigValue("True", "BOOLEAN"), ConfigValue("true", "BOOLEAN"))],
)  # fmt: skip
def test_a_value_that_means_the_same_is_identical(
    name: str, before: ConfigValue, after: ConfigValue, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert through(monkeypatch, {name: before}, {name: after})["identical"] == 1


def test_what_the_plan_named_may_differ_and_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {"num.io.threads": number("8"), "queued.max.requests": number("500")}
    after = {"num.io.threads": number("16"), "queued.max.requests": number("500"), "listener.name.a.x": number("1")}
    # A planned name that comes to the same is identical.
    planned = ["num.io.threads", "queued.max.requests", "listener.name.a.x"]
    result = through(monkeypatch, before, after, planned)
    assert (result["identical"], result["planned"]) == (1, ["listener.name.a.x", "num.io.threads"])
    assert result["line"].endswith("1 properties identical, 2 differ as planned (listener.name.a.x, num.io.threads)")


@pytest.mark.parametrize("planned", ["broker.id", "node.id"])
def test_an_id_that_kafka_drew_and_the_inventory_says_is_planned_by_both_its_names(
    planned: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Kafka gives each of the two names the value of the other (KafkaConfig.populateSynonyms).
    before = {name: number("-1", "DEFAULT") for name in ("broker.id", "node.id")}
    after = {name: number("1001") for name in before}
    assert through(monkeypatch, before, after, [planned])["planned"] == ["broker.id", "node.id"]
    with pytest.raises(PropertiesDifferError, match=r"node\.id: -1 -> 1001"):
        through(monkeypatch, before, after, ["num.io.threads"])


@pytest.mark.parametrize(
    ("name", "before", "after", "change"),
    [("num.io.threads", number("8"), number("16"), "8 -> 16"),
     ("broker.rack", ConfigValue("a"), ConfigValue(None), "a -> (not set)"),
     ("broker.rack", ConfigValue("a"), ConfigValue(""), "a -> (empty)"),
     ("ssl.key.password", secret(), secret("DEFAULT"), "(secret) -> (not set)"),
     # Kafka hides what it does not know, and does not tell what is gone.
     ("my.plugin.url", secret(), None, "(secret) -> (not set)"),
     # A name that tells of a secret is never shown, whatever Kafka takes it for.
     ("my.password", None, ConfigValue("hunter2", "STRING", FILE), "(not set) -> (secret)"),
     ("leader.replication.throttled.rate", None, number("9", LIVE), "(not set) -> 9")],
)  # fmt: skip
def test_what_nobody_planned_is_named_with_both_values_and_never_a_secret(
    name: str, before: ConfigValue | None, after: ConfigValue | None, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = [{} if value is None else {name: value} for value in (before, after)]
    with pytest.raises(PropertiesDifferError) as refused:
        through(monkeypatch, *told, planned=["another"])
    assert f"\n- {name}: {change}\n" in refused.value.message
    assert "hunter2" not in refused.value.message


def test_a_live_setting_that_goes_away_with_the_run_counts_as_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    live = {"num.io.threads": number("16", LIVE, **{LIVE: "16", FILE: "8"})}
    with pytest.raises(PropertiesDifferError, match=r"num\.io\.threads: 16 -> 8"):
        through(monkeypatch, live, live)
    # Written down, it is the same; what is set for all brokers wins over the file and stays.
    written = {"num.io.threads": number("16", LIVE, **{LIVE: "16", FILE: "16"})}
    assert through(monkeypatch, live, written)["identical"] == 1
    for_all = {"num.io.threads": number("16", LIVE, **{LIVE: "16", FOR_ALL: "16", FILE: "8"})}
    assert through(monkeypatch, live, for_all)["identical"] == 1


def test_a_live_setting_that_no_file_says_and_one_of_the_whole_cluster_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {
        "log.cleaner.threads": number("2", LIVE),
        "min.insync.replicas": number("2", LIVE, **{LIVE: "2", FILE: "1"}),
    }
    assert through(monkeypatch, values, values)["identical"] == 2
