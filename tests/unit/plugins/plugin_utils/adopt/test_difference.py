# SPDX-License-Identifier: GPL-3.0-or-later
"""What kafka_config must say so that nothing changes when a node is taken over."""

from __future__ import annotations

from ansible_collections.streamops.kafka.plugins.plugin_utils.adopt.difference import KAFKAS, THEIRS, Kept, difference


def test_what_both_have_is_not_written_down_also_in_another_order() -> None:
    ours = {"min.insync.replicas": "2", "super.users": "User:a;User:b"}
    assert difference(ours, {"min.insync.replicas": "2", "super.users": "User:b;User:a"}, {}, ()).kept == ()


def test_theirs_wins_over_ours_and_what_we_do_not_know_stays() -> None:
    found = difference({"num.io.threads": "8"}, {"num.io.threads": "16", "my.plugin.url": "x"}, {}, ())
    assert found.kept == (
        Kept("my.plugin.url", "x", THEIRS, None),
        Kept("num.io.threads", "16", THEIRS, "8"),
    )


def test_where_ours_would_change_what_kafka_does_by_itself_that_is_written_down() -> None:
    found = difference(
        {"auto.create.topics.enable": "false", "offsets.topic.replication.factor": "3"},
        {},
        {"auto.create.topics.enable": "true", "offsets.topic.replication.factor": "3"},
        (),
    )
    assert found.kept == (Kept("auto.create.topics.enable", "true", KAFKAS, "false"),)


def test_a_property_of_which_nobody_tells_what_holds_is_named() -> None:
    assert difference({"max.connections.per.ip": "500"}, {}, {}, ()).unknown == ("max.connections.per.ip",)


def test_an_empty_value_that_holds_is_written_as_empty() -> None:
    found = difference(
        {"max.connections.per.ip.overrides": "10.0.0.1:9"}, {}, {"max.connections.per.ip.overrides": None}, ()
    )
    assert found.kept == (Kept("max.connections.per.ip.overrides", "", KAFKAS, "10.0.0.1:9"),)


def test_no_secret_is_written_down() -> None:
    found = difference({}, {"ssl.keystore.password": "hunter2"}, {}, ())
    assert found.kept == (Kept("ssl.keystore.password", None, THEIRS, None),)
    assert "hunter2" not in repr(found)


def test_what_other_variables_say_is_left_out() -> None:
    found = difference({"node.id": "1"}, {"broker.id": "1", "log.dirs": "/d"}, {}, ("node.id", "broker.id", "log.dirs"))
    assert (found.kept, found.unknown) == ((), ())
