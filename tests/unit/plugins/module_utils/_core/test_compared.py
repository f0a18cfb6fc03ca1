# SPDX-License-Identifier: GPL-3.0-or-later
"""Which values of properties are sets, and which lists mean something by their order."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.compared import (
    JUDGED_BY_PROPERTY,
    declare,
    form,
    forms,
    same,
    same_file,
)
from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import to_text
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.security import PLAIN_MODULE

JAAS = "listener.name.client.plain.sasl.jaas.config"


@pytest.mark.parametrize(
    ("key", "before", "after"),
    [
        ("controller.quorum.bootstrap.servers", "a:1,b:1,c:1", "c:1,a:1,b:1"),
        ("controller.quorum.voters", "1@a:1,2@b:1", "2@b:1, 1@a:1"),
        ("super.users", "User:a;User:CN=x,O=y", "User:CN=x,O=y;User:a"),
        ("bootstrap.servers", "a:1,[::1]:1", "[::1]:1,a:1"),
        ("dc_a.bootstrap.servers", "a:1,b:1", "b:1,a:1"),
        ("zookeeper.connect", "a:1,b:1/kafka/one", "b:1,a:1/kafka/one"),
        ("max.connections.per.ip.overrides", "10.0.0.1:5,10.0.0.2:5", "10.0.0.2:5,10.0.0.1:5"),
        ("clusters", "dc_b,dc_a", "dc_a,dc_b"),
        (JAAS, f'{PLAIN_MODULE} user_a="1 2" user_b="\\"";', f'{PLAIN_MODULE} user_b="\\"" user_a="1 2";'),
    ],
)
def test_these_are_sets(key: str, before: str, after: str) -> None:
    assert same(key, before, after)
    assert form(key, form(key, before)) == form(key, after)
    assert forms(declare({key: before})) == forms(declare({key: after}))
    old, new = (f"# note\n{to_text({key: value, 'x': 1})}" for value in (before, after))
    for name in JUDGED_BY_PROPERTY:
        assert same_file(f"/etc/kafka/{name}", old, new)
    # Its digest would give a reason to restart, so it must be replaced.
    assert not same_file("producer.properties", old, new)


@pytest.mark.parametrize(
    ("key", "before", "after"),
    [
        ("ssl.cipher.suites", "A,B", "B,A"),
        ("ssl.enabled.protocols", "TLSv1.3,TLSv1.2", "TLSv1.2,TLSv1.3"),
        ("interceptor.classes", "a.A,b.B", "b.B,a.A"),
        ("log.dirs", "/a,/b", "/b,/a"),
        # A set to Kafka. Its first is what our own clients use, and the restart has all clients log in anew, so that
        # the brokers count them (docs/tls-sasl.md, "Moving clients to another mechanism").
        ("listener.name.client.sasl.enabled.mechanisms", "PLAIN,OAUTHBEARER", "OAUTHBEARER,PLAIN"),
        ("listeners", "A://:1,B://:2", "B://:2,A://:1"),
        ("metric.reporters", "a.A,b.B", "b.B,a.A"),
        ("ssl.principal.mapping.rules", "RULE:a,DEFAULT", "DEFAULT,RULE:a"),
        ("zookeeper.connect", "a:1,b:1/one", "a:1,b:1/two"),
        ("super.users", "User:a;User:b", "User:a"),
        ("bootstrap.servers", "a:1,a:1", "a:1"),
        (JAAS, f'{PLAIN_MODULE} user_a="1" user_b="2";', f'{PLAIN_MODULE} user_a="2" user_b="1";'),
        (JAAS, 'x.Module required password="b" a="c";', 'x.Module required a="c" password="b";'),
    ],
)
def test_these_are_not(key: str, before: str, after: str) -> None:
    assert not same(key, before, after)
    assert forms(declare({key: before})) != forms(declare({key: after}))
    assert not same_file("server.properties", to_text({key: before}), to_text({key: after}))


def test_a_property_that_is_gone_is_no_order() -> None:
    assert same("super.users", None, None)
    assert not same("super.users", None, "")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("super.users=a;b\n", "# note\nsuper.users=b;a\n"),
        ("# a\nx=1\n", "# b\nx=1\n"),
        ("super.users=a;b\n", "other.users=b;a\n"),
        ("-Da=1,2\n", "-Da=2,1\n"),
        ("x=\\u12\n", "x=\\u21\n"),
    ],
)
def test_all_else_in_a_file_is_a_difference(before: str, after: str) -> None:
    assert not same_file("server.properties", before, after)
    assert same_file("server.properties", before, before)


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("jvm.options", "-Dhttp.nonProxyHosts=localhost\\|10.*\n", "-Dhttp.nonProxyHosts=localhost|10.*\n"),
        ("jvm.options", "-Dfoo=bar\n", "-Dfoo= bar\n"),
        ("jvm.options", "-Dmy.bootstrap.servers=a,b\n", "-Dmy.bootstrap.servers=b,a\n"),
        ("arguments", "orders.eu\n", "orders\\.eu\n"),
        ("log4j2.yaml", "  - a: 1\n    b: 2\n", "  - a: 1\n  b: 2\n"),
        ("server.properties", "x=1\\\ny=2\n", "x=1\ny=2\n"),
    ],
)
def test_what_is_no_set_is_compared_as_it_is_written(name: str, before: str, after: str) -> None:
    assert not same_file(name, before, after)


def test_an_address_twice_counts_as_kafka_counts_it() -> None:
    key = "max.connections.per.ip.overrides"
    assert not same(key, "10.0.0.1:5,10.0.0.1:100", "10.0.0.1:100,10.0.0.1:5")
    assert same(key, "10.0.0.2:1,10.0.0.1:5,10.0.0.1:100", "10.0.0.1:100,10.0.0.2:1")
