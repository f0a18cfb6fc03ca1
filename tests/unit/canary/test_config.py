"""Settings that cannot be used are refused with the fix of each, before anything is asked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._core.service_settings import CANARY_NUMBERS
from canary.config import config_of
from canary.ledger import MOST, WINDOW

WAY = {"path": "a->b", "origin": "a", "writer": "a->b", "source": "a", "topic": "t", "copy": "a.t"}
FLOW = {"source": "a", "target": "b", "topics": ["t"]}
GIVEN: dict[str, Any] = {
    "cluster": "b",
    "clusters": {"a": {"bootstrap_servers": ["a:9092"]}, "b": {"bootstrap_servers": ["b:9092"]}},
    "routes": [WAY],
}


def test_defaults() -> None:
    config = config_of(json.dumps(GIVEN))
    assert (config.host, config.port, config.interval) == ("127.0.0.1", 9407, 60)
    assert (config.limits.late, config.limits.missing) == (120, 21600)


def test_an_account_holds_all_events_until_they_are_missing() -> None:
    _default, least, _most = CANARY_NUMBERS["interval"]
    assert WINDOW / least <= MOST
    assert CANARY_NUMBERS["missing_after"][2] <= WINDOW / 2


def test_flows_into_its_cluster_are_watched() -> None:
    config = config_of(json.dumps({**GIVEN, "flows": [{**FLOW, "untouched_source": True}]}))
    assert [(one.pair, one.topics, one.untouched_source) for one in config.flows] == [("a->b", ("t",), True)]
    assert config_of(json.dumps(GIVEN)).flows == ()


def test_only_events_of_a_first_flow_into_its_cluster_are_written() -> None:
    chain = {**WAY, "path": "x->a->b", "origin": "x", "writer": "x->a"}
    config = config_of(json.dumps({**GIVEN, "routes": [WAY, chain]}))
    assert [one.path for one in config.own] == ["a->b"]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"clusters": {}}, "clusters is no object"),
        ({"cluster": "c"}, 'cluster is "c"'),
        ({"routes": []}, "routes is no list"),
        ({"routes": [{**WAY, "source": "c"}]}, 'source "c" is not in clusters'),
        ({"routes": [{**WAY, "more": "x"}]}, "routes[0] is no object of texts"),
        ({"routes": [{**WAY, "topic": 1}]}, "routes[0] is no object of texts"),
        ({"interval": 4}, "interval is 4. Set a whole number from 5 to 3600"),
        ({"offset_flush": 0}, "offset_flush is 0"),
        ({"flows": {}}, "flows is no list"),
        ({"flows": [{**FLOW, "topics": "t"}]}, "flows[0].topics is"),
        ({"flows": [{**FLOW, "untouched_source": "no"}]}, "flows[0].untouched_source is"),
        ({"flows": [{**FLOW, "source": "b", "target": "a"}]}, "flows[0] b->a does not lead"),
        ({"flows": [{**FLOW, "source": "c"}]}, "flows[0] c->b does not lead"),
        ({"missing_after": 90000}, "missing_after is 90000"),
        ({"port": True}, "port is true"),
        ({"host": "example.com"}, "host is"),
        ({"hots": "x"}, '"hots" is unknown'),
    ],
)
def test_what_is_wrong_is_named(values: dict[str, Any], words: str) -> None:
    with pytest.raises(RefusedError) as caught:
        config_of(json.dumps({**GIVEN, **values}))
    assert words in str(caught.value)


def test_a_setting_that_stands_twice_is_named() -> None:
    with pytest.raises(RefusedError, match='"interval" stands twice in one object'):
        config_of(json.dumps(GIVEN)[:-1] + ', "interval": 5, "interval": 60}')


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(RefusedError):
        config_of(text)
