"""What the page of a topic says of its settings: value, what holds without it, and where it is from."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._configs.values import Behind, TopicConfigs, TopicValue
from page.shown.settings import defaults_table, setting_rows, settings_table

TOPIC = "DYNAMIC_TOPIC"


def told(own: TopicValue | None, inherited: TopicValue | None, key: str = "retention.ms") -> TopicConfigs:
    """The configurations of one topic, orders."""
    return TopicConfigs({"orders": {key: own} if own else {}}, {key: inherited} if inherited else {})


def cells(configs: TopicConfigs) -> list[tuple[str, str]]:
    """The only row that the page shows: its texts with their second lines."""
    (row,) = settings_table(setting_rows(configs, "orders")).rows
    return [(one.text, one.more) for one in row[1:]]


def test_without_a_value_of_its_own_a_topic_has_what_the_others_have() -> None:
    behind = Behind("log.retention.hours", "24", "STATIC_BROKER")
    own = TopicValue("3600000", "LONG", TOPIC, behind=behind)
    both = told(own, TopicValue("86400000", "LONG", "STATIC_BROKER"))
    assert cells(both) == [("3600000", "1 hour"), ("86400000", "1 day, the file of a broker"), ("this topic", "")]
    (alone,) = setting_rows(told(own, None), "orders")
    assert alone["without"] == {"name": "log.retention.hours", "value": "24", "source": "STATIC_BROKER"}
    assert cells(told(own, None))[1] == ("log.retention.hours = 24", "the file of a broker")
    assert cells(told(TopicValue("1", source=TOPIC), None))[1] == ("not known", "")


def test_defaults_of_kafka_are_not_among_what_was_changed() -> None:
    configs = told(None, TopicValue("604800000", "LONG"))
    rows = setting_rows(configs, "orders")
    assert [(one["name"], one["from"], one["without"]) for one in rows] == [("retention.ms", "default", None)]
    table = settings_table(rows)
    assert (list(table.rows), "Kafka's defaults" in table.empty) == ([], True)
    unknown = settings_table(None, "", "It is new since then.")
    assert (list(unknown.rows), unknown.note, unknown.empty) == ([], "", "It is new since then.")
    assert settings_table(rows, "As of noon.").note.endswith("end of this page. As of noon.")


def test_a_setting_is_among_what_was_changed_or_among_the_defaults_and_never_in_both() -> None:
    own = {"retention.ms": TopicValue("1", "LONG", TOPIC), "password": TopicValue(None, "PASSWORD", TOPIC, True)}
    inherited = {
        "retention.ms": TopicValue("604800000", "LONG"),
        "flush.ms": TopicValue("60000", "LONG"),
        "min.insync.replicas": TopicValue("2", "INT", "DYNAMIC_DEFAULT_BROKER"),
    }
    rows = setting_rows(TopicConfigs({"orders": own}, inherited), "orders")
    usual = defaults_table(rows, "As of noon.")
    assert [[(one.text, one.more) for one in row[1:]] for row in usual.rows] == [
        [("60000", "1 minute"), ("Kafka's default", "")]
    ]
    changed = [(row[0].text, row[3].text) for row in settings_table(rows).rows]
    assert changed == [
        ("password", "this topic"),
        ("retention.ms", "this topic"),
        ("min.insync.replicas", "all brokers"),
    ]
    assert (usual.note, list(defaults_table(None).rows)) == ("As of noon.", [])


def test_of_a_sensitive_value_nothing_is_said_and_a_long_one_is_cut() -> None:
    secret = TopicValue(None, "PASSWORD", TOPIC, True, Behind("k", None, "STATIC_BROKER"))
    assert cells(told(secret, None, "k"))[0] == ("sensitive, not shown", "")
    assert cells(told(secret, None, "k"))[1] == ("sensitive, not shown", "the file of a broker")
    long = ",".join(f"{number}:1" for number in range(9000))
    text = cells(told(TopicValue(long, source=TOPIC), None, "leader.replication.throttled.replicas"))[0][0]
    assert len(text) < 350
    assert text.endswith(f"... ({len(long):,} characters)")


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [("retention.ms", "-1", ("-1", "")), ("retention.ms", "90000", ("90000", "1.5 minutes")),
     ("retention.ms", "999", ("999", "")), ("retention.ms", "9223372036854775807", ("9223372036854775807", "")),
     ("retention.bytes", "5000000000", ("5000000000", "5.0 GB")), ("retention.ms", "\u0661" * 5, ("\u0661" * 5, "")),
     ("cleanup.policy", "", ("(empty)", "")), ("cleanup.policy", None, ("not set", ""))],
)  # fmt: skip
def test_numbers_of_time_and_size_are_said_for_people_too(key: str, value: str | None, shown: tuple[str, str]) -> None:
    assert cells(told(TopicValue(value, source=TOPIC), None, key))[0] == shown


def test_what_a_newer_broker_adds_is_shown_with_the_names_that_it_has() -> None:
    (row,) = setting_rows(told(TopicValue("1", source="UNKNOWN"), None, "k"), "orders")
    assert (row["from"], row["source"]) == ("unknown", "UNKNOWN")
