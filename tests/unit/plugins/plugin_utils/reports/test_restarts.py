"""A restart on one line."""

from __future__ import annotations

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.restarts import (
    restart_line,
    restart_plan,
    restart_words,
    stop_plan,
)

CHANGED = {"kind": "property", "name": "queued.max.requests", "from": "500", "to": "600"}


def test_a_restart_says_why_and_how_long() -> None:
    line = restart_line("kafka2", [CHANGED], 14.2, 18.7)
    assert line == "kafka2 restarted (queued.max.requests: 500 -> 600), down 14s, back in sync 19s"


def test_a_mirror_has_no_replicas() -> None:
    assert restart_line("mirror1", [], 75, None) == ("mirror1 restarted (requested by kafka_restart_force), down 1m15s")


def test_each_kind_of_reason_has_its_words() -> None:
    reasons = [
        {"kind": "jvm", "name": "-Xmx", "from": None, "to": "2g"},
        {"kind": "file", "name": "/etc/kafka/kafka1/tls/keystore.pem", "from": "a", "to": None},
        {"kind": "record", "name": "process", "from": "none", "to": "a start"},
    ]
    words = "JVM option -Xmx: (not set) -> 2g, file keystore.pem changed, started by something else"
    assert restart_words(reasons) == words


def test_a_long_value_is_left_out() -> None:
    assert restart_words([{**CHANGED, "to": "x" * 100}]) == "queued.max.requests changed"


def test_many_reasons_are_counted() -> None:
    assert restart_words([CHANGED] * 5).endswith("queued.max.requests: 500 -> 600, 2 more")


def test_a_plan_says_what_the_gate_says() -> None:
    assert stop_plan("kafka2") == "kafka2 would stop, and stay down when its machine boots"
    assert stop_plan("kafka2", ["server 2 is unreachable"]).endswith("boots; not now: server 2 is unreachable")
    assert restart_plan("kafka2", [CHANGED]) == "kafka2 would restart (queued.max.requests: 500 -> 600)"
    shut = [{"what": "3 partitions are under-replicated"}, "server 2 is unreachable"]
    assert restart_plan("kafka2", [CHANGED], shut).endswith(
        "; not now: 3 partitions are under-replicated; server 2 is unreachable"
    )
