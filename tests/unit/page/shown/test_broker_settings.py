"""What the page of a broker says of its settings: value, origin, and what holds without it."""

from __future__ import annotations

from page.known.brokers import Setting
from page.shown.broker_settings import broker_defaults_table, broker_setting_rows, broker_settings_table

ROWS = broker_setting_rows(
    {
        "broker.rack": Setting("a", "STATIC_BROKER"),
        "log.retention.ms": Setting("3600000", "DYNAMIC_BROKER", False, ("STATIC_BROKER", "7200000")),
        "message.max.bytes": Setting("2000000", "DYNAMIC_DEFAULT_BROKER", False, ("DEFAULT", "1048588")),
        "num.io.threads": Setting("8", "DEFAULT"),
        "ssl.key.password": Setting(None, "STATIC_BROKER", True),
        "new.in.kafka": Setting("1", "UNKNOWN"),
    }
)


def test_what_was_set_at_run_time_comes_first_with_what_holds_without_it() -> None:
    table = broker_settings_table(ROWS, "As of noon.")
    assert [[(one.text, one.more) for one in row] for row in table.rows] == [
        [("log.retention.ms", ""), ("3600000", "1 hour"), ("7200000", "2 hours, its server.properties"),
         ("set at run time for this broker", "")],
        [("message.max.bytes", ""), ("2000000", "2.0 MB"), ("1048588", "1.0 MB, Kafka's default"),
         ("set at run time for all brokers", "")],
        [("broker.rack", ""), ("a", ""), ("none of this name", ""), ("its server.properties", "")],
        [("ssl.key.password", ""), ("sensitive, not shown", ""), ("sensitive, not shown", ""),
         ("its server.properties", "")],
        [("new.in.kafka", ""), ("1", ""), ("none of this name", ""), ("UNKNOWN", "")],
    ]  # fmt: skip
    assert table.note.endswith("As of noon.")


def test_defaults_are_apart_and_what_is_not_known_says_why() -> None:
    assert [[one.text for one in row] for row in broker_defaults_table(ROWS).rows] == [["num.io.threads", "8"]]
    assert [one["from"] for one in ROWS] == ["file", "broker", "cluster", "unknown", "default", "file"]
    unknown = broker_settings_table(None, "", "It did not answer.")
    assert (list(unknown.rows), unknown.empty, list(broker_defaults_table(None).rows)) == ([], "It did not answer.", [])
