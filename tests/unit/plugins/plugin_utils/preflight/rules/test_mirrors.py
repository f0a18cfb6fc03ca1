# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirrors by table: good inventories of every shape break no row, each mistake gives exactly its own message."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import KEYS
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.variables import UNDEFINED
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.mirror_flows import complete, flows
from tests.support.preflight_inventories import CLUSTER, LISTENERS, combined, expect, node
from tests.support.preflight_mirrors import SECURED, flow, mirror, mirrored
from tests.unit.plugins.plugin_utils.preflight.rules.test_shape import JUNK

ALL = {"topics": [".*"]}
FAR = {"name": "FAR", "port": 9095, "protocol": "PLAINTEXT", "purpose": "clients"}
TWO = {"mirror1": {"kafka_cluster_name": "dc_b"}, "mirror2": {"kafka_cluster_name": "dc_b"}}


def together(**changes: dict[str, Any]) -> Inventory:
    """Two mirrors of dc_b on one machine, with variables of their own."""
    mirrors = {name: {**TWO[name], "ansible_host": "10.9.0.1", **changes.get(name, {})} for name in TWO}
    return mirrored(flow(), mirrors=mirrors)


def without(inventory: Inventory, variable: str, reason: str) -> Inventory:
    """The inventory with a variable of the mirror that could not be templated."""
    (one,) = inventory.mirrors
    broken = replace(one, variables={**one.variables, variable: UNDEFINED}, undefined={variable: reason})
    return replace(inventory, mirrors=(broken,))


GOOD: dict[str, Inventory] = {
    "no mirrors": combined(),
    "one way": mirrored(flow()),
    "everything one way": mirrored(flow(**ALL, topics_exclude=["tmp.*"])),
    "active-active": mirrored(flow(**ALL), flow("dc_b", "dc_a", **ALL)),
    "hub": mirrored(flow("a", "hub", **ALL), flow("b", "hub", **ALL), clusters="a b hub"),
    "fan-out": mirrored(flow("hub", "a", **ALL), flow("hub", "b", **ALL), clusters="hub a b"),
    "chain": mirrored(flow("a", "b", **ALL), flow("b", "c", **ALL), clusters="a b c"),
    "every pair of four": mirrored(
        *(flow(one, other, **ALL) for one in "abcd" for other in "abcd" if one != other), clusters="a b c d"
    ),
    "a release without MirrorMaker": mirrored(flow(), kafka_version="4.4.0"),
    "moving house": mirrored(flow(**ALL, policy="identity", sync_topic_acls=True)),
    "two nodes": mirrored(flow(), mirrors=TWO),
    "two on a machine": together(mirror2={"mirror_maker_rest_port": 8444}),
    "two that listen nowhere": mirrored(
        flow(engine="legacy"),
        mirrors={name: {**TWO[name], "ansible_host": "10.9.0.1"} for name in TWO},
        kafka_version="3.9.2",
    ),
    "legacy": mirrored(
        flow(engine="legacy", streams=4), mirrors={"m": {"kafka_cluster_name": "dc_b", "kafka_version": "3.9.2"}}
    ),
    "exactly once": mirrored(flow(exactly_once="enabled", config={"producer.acks": "all"})),
    "named listener": mirrored(
        flow(), hosts={"dc_a": {"kafka_listeners": [*LISTENERS, FAR], "mirror_listener": "FAR"}}
    ),
    "secured": mirrored(flow(), **SECURED),
    "waiting": mirrored(flow(enabled=False)),
    "listeners made of ids": without(mirrored(flow()), "kafka_listeners", "'kafka_node_id' is undefined"),
    "an address of its own": mirrored(
        flow(),
        hosts={
            "dc_b": {
                "kafka_listeners": [{**one, "host": "10.0.0.9"} for one in LISTENERS],
                # A router leads what they advertise to it.
                "preflight_accept": [*CLUSTER["preflight_accept"], "advertised_translated"],
            }
        },
        mirrors={"m": {"kafka_cluster_name": "dc_b", "ansible_host": "10.2.0.1", "mirror_maker_rest_port": 9092}},
    ),
    "native": mirrored(flow(config={"tasks.max": 4}), mirror_maker_config={"dc_a.consumer.fetch.min.bytes": 1}),
}


@pytest.mark.parametrize("name", GOOD)
def test_a_good_inventory_breaks_no_row(name: str) -> None:
    assert [one.sentence() for one in check_inventory(GOOD[name])] == []


SHAPE: list[tuple[dict[str, Any], list[str]]] = [
    ({"topics": "orders"}, ["mirror_flows[0].topics", "a list of regular expressions"]),
    ({"topics": []}, ["mirror_flows[0].topics", "is required"]),
    ({"topics": ["a("]}, ["mirror_flows[0].topics", "no regular expression"]),
    ({"topics": ["a,b"]}, ["mirror_flows[0].topics", "has a comma"]),
    ({"topic": ["a"]}, ["mirror_flows[0].topic:", "is not known"]),
    ({"policy": "none"}, ["mirror_flows[0].policy", "default, identity"]),
    ({"config": ["a=b"]}, ["mirror_flows[0].config", "a mapping of native properties"]),
    ({"streams": 4}, ["mirror_flows[0].streams", "belongs to engine legacy"]),
]


@pytest.mark.parametrize(("changes", "parts"), SHAPE)
def test_a_flow_of_the_wrong_shape_is_named_alone(changes: dict[str, Any], parts: list[str]) -> None:
    expect(mirrored(flow(**changes)), "bad_flow", *parts)


BAD: dict[str, tuple[Inventory, str, list[str]]] = {
    "no list": (
        mirrored(mirror_flows="a to b"),
        "wrong_type",
        ["mirror_flows: the value has", "found: text, allowed: a list"],
    ),
    "no mapping": (mirrored("a to b", flow()), "bad_flow", ["mirror_flows[0]", "is a mapping", "found str"]),
    "neither true nor false": (
        mirrored(flow(enabled="perhaps")),
        "unclear_value",
        ["mirror_flows[0].enabled", "true or false"],
    ),
    "no number": (
        mirrored(flow(engine="legacy", streams="many")),
        "unclear_value",
        ["mirror_flows[0].streams", "a whole number"],
    ),
    "the second one": (mirrored(flow(), flow("dc_b", "dc_a", policy=1)), "bad_flow", ["mirror_flows[1].policy"]),
    "not one setting": (
        mirrored(flow("a", "c", exactly_once="enabled"), flow("b", "c"), clusters="a b c"),
        "bad_flow",
        ["flows into c differ in exactly_once"],
    ),
    "hosts disagree": (
        mirrored(flow(), hosts={"dc_a2": {"mirror_flows": []}}),
        "flows_disagree",
        ["dc_a2", "dc_a->dc_b on dc_a1, dc_a3", "no flow on dc_a2", "group_vars/all"],
    ),
    "source unknown": (
        mirrored(flow("dc_aa")),
        "unknown_cluster",
        ["mirror_flows[0].source", "no broker", "found: dc_aa", "perhaps dc_a is meant"],
    ),
    "target unknown": (
        mirrored(flow(), flow("dc_a", "mars")),
        "unknown_cluster",
        ["mirror_flows[1].target", "found: mars, allowed: dc_a, dc_b"],
    ),
    "nobody mirrors": (
        mirrored(flow(), mirrors={}),
        "target_without_mirror",
        ["no mirror copies into dc_b", "mirror_makers"],
    ),
    "idle mirror": (
        mirrored(flow(), mirrors={**TWO, "idle": {"kafka_cluster_name": "dc_a"}}),
        "mirror_without_flow",
        ["idle: kafka_cluster_name", "found: dc_a, allowed: dc_b"],
    ),
    "no flow at all": (
        mirrored(mirrors={"idle": {"kafka_cluster_name": "dc_a"}}),
        "mirror_without_flow",
        ["idle: kafka_cluster_name", "mirror_flows has none"],
    ),
    "no such listener": (
        mirrored(flow(), hosts={"dc_a": {"mirror_listener": "BROKER"}}),
        "no_mirror_listener",
        ["dc_a1, dc_a2, dc_a3: mirror_listener", "found: BROKER, allowed: CLIENT"],
    ),
    "no listener for clients": (
        mirrored(flow(), hosts={"dc_b": {"kafka_listeners": LISTENERS[1:]}}),
        "no_mirror_listener",
        ["dc_b1, dc_b2, dc_b3: kafka_listeners", "no listener with purpose clients"],
    ),
    "no port": (
        mirrored(flow(), mirrors={"m": {"kafka_cluster_name": "dc_b", "mirror_maker_rest_port": "http"}}),
        "unclear_value",
        ["m: mirror_maker_rest_port", "found: 'http', allowed: a whole number in digits, from 1 to 65535"],
    ),
    "one port": (together(), "rest_port_taken", ["mirror1, mirror2: mirror_maker_rest_port", "found: 8443"]),
    "port of a broker": (
        mirrored(
            flow(),
            mirrors={"m": {"kafka_cluster_name": "dc_b", "ansible_host": "10.2.0.1", "mirror_maker_rest_port": 9092}},
        ),
        "rest_port_taken",
        ["dc_b1, m: mirror_maker_rest_port", "found: 9092"],
    ),
    "no cluster": (
        mirrored(flow(), mirrors={**TWO, "m": {"kafka_cluster_name": ""}}),
        "no_cluster_name",
        ["m: kafka_cluster_name"],
    ),
    "version": (
        mirrored(flow(), mirrors={"m": {"kafka_cluster_name": "dc_b", "kafka_version": "3.4.0"}}),
        "unsupported_version",
        ["m: kafka_version", "3.9.2"],
    ),
    "release": (
        mirrored(flow(), mirrors={"m": {"kafka_cluster_name": "dc_b", "mirror_maker_kafka_version": "4.4.0"}}),
        "release_without_mirror_maker",
        ["m: mirror_maker_kafka_version", "found: 4.4.0", "set it to 4.3.1, or install from Apache's archive"],
    ),
    "unknown release": (
        mirrored(flow(), mirrors={"m": {"kafka_cluster_name": "dc_b", "mirror_maker_kafka_version": "4.9.0"}}),
        "unsupported_version",
        ["m: mirror_maker_kafka_version", "found: '4.9.0'"],
    ),
    "word": (
        mirrored(flow(), mirrors={"m": {"kafka_cluster_name": "dc_b", "kafka_service_manager": "init"}}),
        "unknown_word",
        ["m: kafka_service_manager"],
    ),
    "heap": (
        mirrored(flow(), mirrors={"m": {"kafka_cluster_name": "dc_b", "mirror_maker_heap_size": "big"}}),
        "bad_heap_size",
        ["m: mirror_maker_heap_size", "found: 'big'"],
    ),
    "small heap": (
        mirrored(flow(), mirrors={"m": {"kafka_cluster_name": "dc_b", "mirror_maker_heap_size": "512"}}),
        "heap_cannot_start",
        ["m: mirror_maker_heap_size", "found: '512', which is bytes", "3m or more"],
    ),
    "directory": (
        mirrored(flow(), mirrors={"m": {"kafka_cluster_name": "dc_b", "kafka_data_dir": "data"}}),
        "bad_directory",
        ["m: kafka_data_dir"],
    ),
    "no properties": (
        mirrored(flow(), mirrors={"m": {"kafka_cluster_name": "dc_b", "mirror_maker_config": ["a"]}}),
        "wrong_type",
        ["m: mirror_maker_config", "allowed: a dict"],
    ),
    "weak secret": (mirrored(flow(), **{**SECURED, "mirror_password": "changeme"}), "weak_secret", ["mirror_password"]),
    "placeholder": (
        mirrored(flow(), **{**SECURED, "mirror_password": "CHANGE-ME"}),
        "placeholder",
        ["mirror_password"],
    ),
    "two protocols": (
        mirrored(
            flow(),
            hosts={
                "dc_a2": {
                    "kafka_listeners": [{**LISTENERS[0], "protocol": "SSL"}, *LISTENERS[1:]],
                    "kafka_tls_source": "files",
                    "kafka_admin_certificate_file": "/a",
                    "kafka_admin_key_file": "/b",
                }
            },
        ),
        "mirror_protocols_differ",
        ["brokers differ in how mirrors", "PLAINTEXT on dc_a1, dc_a3; SSL on dc_a2"],
    ),
    "port made of an id": (
        without(mirrored(flow()), "mirror_maker_rest_port", "'kafka_node_id' is undefined"),
        "undefined_value",
        ["mirror_dc_b: mirror_maker_rest_port", "cannot be templated"],
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_each_mistake_is_named_alone(name: str) -> None:
    inventory, rule, parts = BAD[name]
    expect(inventory, rule, *parts)


def test_a_certificate_of_a_mirror_names_the_address_that_its_peers_reach() -> None:
    good = {
        "errors": [],
        "fits_key": True,
        "in_order": True,
        "faults": [],
        "days_left": 90,
        "common_name": "mirror_dc_b",
    }
    good.update(subject="CN=mirror_dc_b", days_until=0, usages=["serverAuth", "clientAuth"], signs=True)
    # Java takes no name with an underscore for one of a host.
    own = {"kafka_cluster_name": "dc_b", "ansible_host": "mirror-b.example"}
    inventory = mirrored(flow(), mirrors={"mirror_dc_b": own}, **SECURED)
    for names, rules in ((["DNS:mirror-b.example"], []), (["DNS:another.example"], ["certificate_names"])):
        (one,) = inventory.mirrors
        shown = replace(inventory, mirrors=(replace(one, certificate={**good, "names": names}),))
        assert [found.name for found in check_inventory(shown)] == rules


def test_a_host_is_a_mirror_or_a_node() -> None:
    good = mirrored(flow(), mirrors={})
    both = replace(good.nodes[3], mirror=True)
    expect(
        replace(good, nodes=(*good.nodes[:3], both, *good.nodes[4:])),
        "mirror_and_node_on_one_host",
        "dc_b1: mirror_makers",
        "ansible_host",
    )


def test_a_misspelt_variable_of_mirrors_is_a_warning() -> None:
    inventory = mirrored(flow(), mirrors={"m": {"kafka_cluster_name": "dc_b", "mirror_maker_task_max": 3}})
    inventory = replace(inventory, known_variables=("mirror_maker_tasks_max", "mirror_flows"))
    expect(
        inventory,
        "misspelt_variable",
        "m: mirror_maker_task_max",
        "perhaps mirror_maker_tasks_max is meant",
        level="warning",
    )


def test_what_is_undefined_in_a_flow_is_named_once_and_hides_no_other_flow() -> None:
    listed = [flow("dc_b", "dc_a", topics=UNDEFINED), flow(policy="none")]
    inventory = mirrored(mirror_flows=listed, mirrors=TWO)
    assert not complete(inventory)
    assert [one.variable for one in check_inventory(inventory)] == ["mirror_flows[1].policy"]


def test_flows_are_those_that_run() -> None:
    inventory = mirrored(flow(), flow("dc_b", "dc_a", enabled=False), flow("dc_a", "dc_a"), flow("x", topics="y"))
    assert [one.pair for one in flows(inventory)] == ["dc_a->dc_b"]


BOTH_ENDS = [f"{name}{n}" for name in ("dc_a", "dc_b") for n in (1, 2, 3)]


def limited(*hosts: str, **common: Any) -> Inventory:
    """Two mirrors, of which a run with --limit takes these hosts."""
    inventory = mirrored(flow(), mirrors=TWO, **common)
    return replace(inventory, limit=",".join(hosts), play_hosts=tuple(hosts))


@pytest.mark.parametrize(
    "hosts", [["mirror1", *BOTH_ENDS], BOTH_ENDS, BOTH_ENDS[:3], ["mirror1", "mirror2", *BOTH_ENDS]]
)
def test_a_limit_may_take_single_mirrors_or_none(hosts: list[str]) -> None:
    assert check_inventory(limited(*hosts)) == []


def test_a_limit_to_a_mirror_takes_both_ends_too() -> None:
    expect(
        limited("mirror1"),
        "limit_without_ends",
        "mirror1: --limit takes the mirror without dc_a and dc_b",
        "other mirrors may",
    )
    expect(
        limited("mirror1", *BOTH_ENDS[3:]),
        "limit_without_ends",
        "takes the mirror without dc_a ",
        "all hosts of dc_a and dc_b",
    )
    expect(limited("mirror1", *BOTH_ENDS[:4]), "limit_splits_cluster", "dc_b2, dc_b3", "a part of cluster dc_b")
    assert check_inventory(limited("mirror1", preflight_allow_limit=True)) == []


FLOW = st.dictionaries(st.sampled_from([*KEYS, "name"]), JUNK | st.sampled_from(["dc_a", "dc_b", "identity", "legacy"]))
VARIABLES = st.sampled_from(["mirror_flows", "mirror_user", "mirror_listener", "mirror_maker_config",
                             "mirror_maker_rest_port", "kafka_version", "kafka_cluster_name"])  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(listed=st.lists(FLOW | JUNK, max_size=3))
def test_no_flow_whatsoever_makes_the_rules_crash(listed: list[Any]) -> None:
    check_inventory(mirrored(mirror_flows=listed, mirrors=TWO))
    check_inventory(mirrored(mirror_flows=[*listed, flow(), flow("dc_b", "dc_a")], mirrors=TWO))


@settings(max_examples=200, deadline=None)
@given(variable=VARIABLES, value=JUNK | st.just(UNDEFINED))
def test_no_value_whatsoever_makes_the_rules_crash(variable: str, value: Any) -> None:
    check_inventory(mirrored(flow(), **{"mirrors": TWO, variable: value}))
    check_inventory(Inventory((node("kafka1", 1),), mirrors=(mirror("m", **{variable: value}),)))
