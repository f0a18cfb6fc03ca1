# SPDX-License-Identifier: GPL-3.0-or-later
"""What a listener advertises against what it is bound to, on one machine and on several."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from tests.support.preflight_inventories import LISTENERS, combined, expect, isolated

ELSEWHERE, TRANSLATED, BOUND = "advertised_unbound", "advertised_translated", "bound_to_loopback"


def listener(place: int = 0, **changes: Any) -> list[dict[str, Any]]:
    """The good list with one changed entry."""
    return [{**entry, **(changes if index == place else {})} for index, entry in enumerate(LISTENERS)]


def alone(host: str, advertised: str) -> Inventory:
    """One combined node in development, whose clients find this."""
    own = {"kafka_listeners": listener(host=host, advertised_host=advertised)}
    own.update(kafka_profile="development", kafka_topics=[], kafka_config={}, ansible_host="10.0.0.1")
    return combined(count=1, **own)


def judged(inventory: Inventory) -> list[tuple[str, str]]:
    """The rules on addresses that it breaks; a lone node has others."""
    found = [(one.name, one.level) for one in check_inventory(inventory)]
    return [pair for pair in found if pair[0] in (ELSEWHERE, TRANSLATED, BOUND)]


@pytest.mark.parametrize(
    ("host", "advertised", "rule"),
    [
        ("127.0.0.1", "127.0.0.9", ELSEWHERE),
        ("127.0.0.9", "127.0.0.1", ELSEWHERE),
        ("::1", "127.0.0.1", ELSEWHERE),
        ("127.0.0.1", "10.0.0.1", ELSEWHERE),
        ("localhost", "10.0.0.1", ELSEWHERE),
        ("10.0.0.1", "127.0.0.1", ELSEWHERE),
        ("10.0.0.1", "localhost", ELSEWHERE),
        ("10.0.0.1", "203.0.113.7", TRANSLATED),
        ("fd00::1", "10.0.0.1", TRANSLATED),
        ("10.0.0.1", "10.0.0.1", None),
        ("[fd00::1]", "fd00:0::1", None),
        ("127.0.0.1", "127.0.0.1", None),
        ("127.0.0.1", "localhost", None),
        ("localhost", "127.0.0.1", None),
        ("", "127.0.0.9", None),
        ("0.0.0.0", "203.0.113.7", None),
        ("::", "10.0.0.1", None),
        # Names may lead anywhere.
        ("127.0.0.1", "kafka.example", None),
        ("kafka.example", "203.0.113.7", None),
    ],
)
def test_what_is_advertised_is_bound(host: str, advertised: str, rule: str | None) -> None:
    levels = {ELSEWHERE: "error", TRANSLATED: "warning"}
    assert judged(alone(host, advertised)) == ([(rule, levels[rule])] if rule else [])


def test_another_listener_for_clients_may_have_a_proxy_before_it() -> None:
    far = {**LISTENERS[0], "name": "FAR", "port": 9099, "host": "127.0.0.2", "advertised_host": "10.0.0.1"}
    own = {"kafka_listeners": [*LISTENERS, far], "ansible_host": "10.0.0.1", "kafka_topics": [], "kafka_config": {}}
    assert judged(combined(count=1, **own)) == [(ELSEWHERE, "warning")]


def test_the_address_that_is_advertised_by_default_counts() -> None:
    inventory = isolated(hosts={"broker4": {"kafka_listeners": listener(1, host="127.0.0.1")}})
    parts = ["broker4: kafka_listeners", "listener BROKER", "host 127.0.0.1, advertised_host 10.0.0.4"]
    expect(inventory, ELSEWHERE, *parts, "allowed: 127.0.0.1")


def test_controllers_are_judged_too() -> None:
    inventory = isolated(hosts={"controller1": {"kafka_listeners": listener(2, host="127.0.0.1")}})
    expect(inventory, ELSEWHERE, "controller1: kafka_listeners", "listener CONTROLLER")


def test_loopback_on_several_machines_keeps_its_own_rule() -> None:
    own = {"broker4": {"kafka_listeners": listener(1, host="127.0.0.1", advertised_host="127.0.0.9")}}
    expect(isolated(hosts=own), "advertised_loopback", "broker4")


def test_translation_may_be_accepted() -> None:
    own = {"kafka_listeners": listener(host="10.0.0.4", advertised_host="203.0.113.7")}
    inventory = isolated(hosts={"broker4": own})
    expect(inventory, TRANSLATED, "broker4", "preflight_accept: [advertised_translated]", level="warning")


@pytest.mark.parametrize("place", [0, 1, 2])
def test_nodes_of_other_machines_reach_what_is_theirs(place: int) -> None:
    own = {f"kafka{n}": {"kafka_listeners": listener(place, host="127.0.0.1", advertised_host=f"k{n}.example")}
           for n in (1, 2, 3)}  # fmt: skip
    inventory = combined(hosts=own)
    # What is for clients may have a proxy before it.
    assert judged(inventory) == ([] if place == 0 else [(BOUND, "error")])


# -- the address of another node -----------------------------------------------------------------------------------

OTHERS = "advertised_of_other"


def exchanged(first: str, second: str, place: int = 0, bound: tuple[str, str] = ("", ""), **more: Any) -> Inventory:
    """Combined nodes of which the first two advertise these, bound to those."""
    own = {
        "kafka1": {"kafka_listeners": listener(place, host=bound[0], advertised_host=first), **more},
        "kafka2": {"kafka_listeners": listener(place, host=bound[1], advertised_host=second), **more},
    }
    return combined(hosts=own)


def of_others(inventory: Inventory) -> list[str]:
    """What the rule says."""
    return [one.sentence() for one in check_inventory(inventory) if one.name == OTHERS]


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize(("first", "second"), [("10.0.0.2", "10.0.0.1"), ("kafka2", "KAFKA1")])
def test_two_nodes_that_exchange_their_addresses_are_both_named(place: int, first: str, second: str) -> None:
    found = of_others(exchanged(first, second, place))
    assert [sentence.partition(":")[0] for sentence in found] == ["kafka1", "kafka2"]
    assert f"listener {LISTENERS[place]['name']} advertises the address of kafka2" in found[0]


def test_what_another_node_is_bound_to_counts_on_one_machine_too() -> None:
    near = {"ansible_host": "127.0.0.1", "ansible_connection": "local"}
    loopback = ("127.0.1.1", "127.0.1.2")
    assert len(of_others(exchanged("127.0.1.2", "127.0.1.1", bound=loopback, **near))) == 2
    assert of_others(exchanged("127.0.1.1", "127.0.1.2", bound=loopback, **near)) == []
    # Each is alone at its port.
    shared = {name: {**near, "kafka_listeners": listener(port=port, host="127.0.0.1", advertised_host="127.0.0.1")}
              for name, port in (("kafka1", 9192), ("kafka2", 9292))}  # fmt: skip
    assert of_others(combined(hosts=shared)) == []


def test_an_address_of_another_node_at_a_port_that_it_does_not_open_may_be_a_proxy() -> None:
    own = {"kafka1": {"kafka_listeners": listener(port=9999, advertised_host="10.0.0.2")}}
    assert of_others(combined(hosts=own)) == []


def test_a_translated_port_is_a_warning_and_leads_to_no_other_node() -> None:
    own = {"kafka1": {"kafka_listeners": listener(advertised_port=19092)}}
    expect(combined(hosts=own), TRANSLATED, "found: port 9092, advertised_port 19092", level="warning")
    # Where another node opens what it advertises, clients come to that one.
    theirs = {"kafka1": {"kafka_listeners": listener(port=9999, advertised_host="10.0.0.2", advertised_port=9092)},
              "kafka2": {"kafka_listeners": listener(advertised_host="kafka.example")}}  # fmt: skip
    assert [sentence.partition(":")[0] for sentence in of_others(combined(hosts=theirs))] == ["kafka1"]


def test_nodes_behind_one_address_advertise_ports_of_their_own() -> None:
    def behind(*ports: int) -> set[str]:
        own = {
            f"kafka{number}": {"kafka_listeners": listener(advertised_host="gate.example", advertised_port=port)}
            for number, port in enumerate(ports, 1)
        }
        return {violation.name for violation in check_inventory(combined(hosts=own))}

    assert behind(19092, 29092, 39092) == {TRANSLATED}
    assert behind(19092, 19092, 39092) == {TRANSLATED, "advertised_twice"}


def test_what_both_advertise_has_its_own_rule() -> None:
    own = {"kafka1": {"kafka_listeners": listener(advertised_host="10.0.0.2")}}
    inventory = combined(hosts=own)
    assert of_others(inventory) == []
    assert "advertised_twice" in [one.name for one in check_inventory(inventory)]


def test_nodes_at_their_own_addresses_pass() -> None:
    assert of_others(exchanged("10.0.0.1", "kafka2")) == []
    assert of_others(combined()) == []
    assert of_others(isolated()) == []
