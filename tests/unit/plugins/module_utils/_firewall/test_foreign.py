"""Other firewalls of a machine: which of their chains refuse what we allow, and how sure that is."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._firewall.foreign import blocked, legacy_finding

RULES = [{"port": 9092, "sources": ["10.0.0.1", "10.1.0.0/16", "fd00::1"], "comment": "kafka1 CLIENT"}]
ACCEPT, DROP, REJECT = {"accept": None}, {"drop": None}, {"reject": {"type": "icmpx", "expr": "admin-prohibited"}}


def match(left: dict[str, Any], right: Any, op: str = "==") -> dict[str, Any]:
    return {"match": {"op": op, "left": left, "right": right}}


def dport(right: Any, op: str = "==") -> dict[str, Any]:
    return match({"payload": {"protocol": "tcp", "field": "dport"}}, right, op)


def saddr(right: Any, protocol: str = "ip") -> dict[str, Any]:
    return match({"payload": {"protocol": protocol, "field": "saddr"}}, right)


def meta(key: str, right: Any) -> dict[str, Any]:
    return match({"meta": {"key": key}}, right)


def state(right: Any) -> dict[str, Any]:
    return match({"ct": {"key": "state"}}, right, "in")


def jump(target: str, how: str = "jump") -> dict[str, Any]:
    return {how: {"target": target}}


def ruleset(
    *rules: tuple[str, list[dict[str, Any]]], policy: str = "accept", more: tuple[Any, ...] = (), **base: Any
) -> dict[str, Any]:
    """A table with the base chain `input` and every other chain that a rule stands in."""
    table = {"family": "inet", "table": "theirs", **base}
    chains = [{**table, "name": "input", "hook": "input", "type": "filter", "prio": 0, "policy": policy}]
    chains += [{**table, "name": name} for name in dict.fromkeys(chain for chain, _expr in rules) if name != "input"]
    listed = [
        {"rule": {**table, "chain": chain, "handle": handle, "expr": expr}}
        for handle, (chain, expr) in enumerate(rules, 1)
    ]
    sets = [{kind: {**table, **item}} for kind, item in more]
    return {"nftables": [{"metainfo": {}}, *({"chain": chain} for chain in chains), *sets, *listed]}


def refused(found: dict[str, Any]) -> dict[str, bool]:
    """Source -> whether it is certain, of all that is refused."""
    return {source: one["certain"] for one in blocked(found, RULES) for source in one["sources"]}


ALL = {"10.0.0.1": True, "10.1.0.0/16": True, "fd00::1": True}
TEN = {"prefix": {"addr": "10.0.0.0", "len": 8}}


@pytest.mark.parametrize(
    ("rules", "policy", "expected"),
    [
        pytest.param([], "accept", {}, id="accepts all"),
        pytest.param([], "drop", ALL, id="drops all"),
        pytest.param([[dport(22), ACCEPT]], "drop", ALL, id="lets another port in"),
        pytest.param([[dport({"set": [22, 9092]}), ACCEPT]], "drop", {}, id="lets ours in by a set"),
        pytest.param([[dport({"range": [9000, 9100]}), ACCEPT]], "drop", {}, id="lets ours in by a range"),
        pytest.param([[dport({"set": [{"range": [1, 9091]}]}), ACCEPT]], "drop", ALL, id="a range in a set beside it"),
        pytest.param([[dport(22, "!="), DROP]], "accept", ALL, id="drops all but another port"),
        pytest.param([[saddr(TEN), ACCEPT]], "drop", {"fd00::1": True}, id="lets a network in"),
        pytest.param([[saddr("fd00::1", "ip6"), DROP]], "accept", {"fd00::1": True}, id="drops one address"),
        pytest.param([[meta("nfproto", "ipv6"), DROP]], "accept", {"fd00::1": True}, id="drops a protocol"),
        pytest.param([[meta("l4proto", "udp"), DROP]], "accept", {}, id="drops another protocol"),
        pytest.param([[meta("l4proto", {"set": ["tcp", "udp"]}), DROP]], "accept", ALL, id="drops TCP"),
        pytest.param([[state(["established", "related"]), ACCEPT], [REJECT]], "accept", ALL, id="rejects what is new"),
        pytest.param([[state(["new"]), ACCEPT], [REJECT]], "accept", {}, id="lets in what is new"),
        pytest.param([[meta("iifname", "lo"), ACCEPT]], "drop", ALL, id="lets loopback in"),
        pytest.param([[{"counter": {}}, {"log": None}, DROP]], "accept", ALL, id="counts, logs, drops"),
    ],
)
def test_a_new_connection_is_led_through_the_rules(rules: Any, policy: str, expected: dict[str, bool]) -> None:
    assert refused(ruleset(*(("input", rule) for rule in rules), policy=policy)) == expected


UNSURE = dict.fromkeys(ALL, False)


@pytest.mark.parametrize(
    ("rules", "policy", "expected"),
    [
        pytest.param([[meta("iifname", "eth0"), ACCEPT]], "drop", UNSURE, id="lets an interface in"),
        pytest.param([[{"xt": {"type": "match", "name": "multiport"}}, ACCEPT]], "drop", UNSURE, id="xt accepts"),
        pytest.param([[{"xt": {"type": "match", "name": "conntrack"}}, DROP]], "accept", {}, id="xt drops"),
        pytest.param([[{"limit": {"rate": 5}}, DROP]], "accept", {}, id="drops above a rate"),
        pytest.param(
            [[saddr({"prefix": {"addr": "10.1.2.0", "len": 24}}), ACCEPT]], "drop",
            {"10.0.0.1": True, "10.1.0.0/16": False, "fd00::1": True}, id="lets a part of a network in",
        ),
    ],
)  # fmt: skip
def test_a_rule_that_cannot_be_judged_makes_the_finding_uncertain(
    rules: Any, policy: str, expected: dict[str, bool]
) -> None:
    assert refused(ruleset(*(("input", rule) for rule in rules), policy=policy)) == expected


def test_jumps_come_back_and_gotos_do_not() -> None:
    let_in = ("side", [dport(9092), ACCEPT])
    assert refused(ruleset(("input", [jump("side")]), let_in, policy="drop")) == {}
    back = ("side", [dport(22), ACCEPT])
    assert refused(ruleset(("input", [jump("side")]), ("input", [ACCEPT]), back, policy="drop")) == {}
    assert refused(ruleset(("input", [jump("side", "goto")]), ("input", [ACCEPT]), back, policy="drop")) == ALL
    assert refused(ruleset(("input", [jump("side")]), ("side", [{"return": None}]), ("side", [DROP]))) == {}


def test_sets_and_verdict_maps_with_names_are_followed() -> None:
    port = {"payload": {"protocol": "tcp", "field": "dport"}}
    named = ("set", {"name": "open", "elem": [22, {"elem": {"val": 9092, "comment": "kafka"}}]})
    assert refused(ruleset(("input", [dport("@open"), ACCEPT]), policy="drop", more=(named,))) == {}
    inline = {"vmap": {"key": port, "data": {"set": [[22, ACCEPT], [9092, jump("kafka")]]}}}
    assert refused(ruleset(("input", [inline]), ("kafka", [DROP]))) == ALL
    mapped = ("map", {"name": "verdicts", "elem": [[9092, {"accept": None}]]})
    by_name = {"vmap": {"key": port, "data": "@verdicts"}}
    assert refused(ruleset(("input", [by_name]), policy="drop", more=(mapped,))) == {}
    zones = {"vmap": {"key": {"meta": {"key": "iifname"}}, "data": {"set": [["eth0", jump("kafka")]]}}}
    assert refused(ruleset(("input", [zones]), ("kafka", [ACCEPT]), policy="drop")) == UNSURE


def test_a_table_of_one_protocol_is_asked_about_that_one_only() -> None:
    assert refused(ruleset(policy="drop", family="ip")) == {"10.0.0.1": True, "10.1.0.0/16": True}
    assert refused(ruleset(policy="drop", family="ip6")) == {"fd00::1": True}
    assert refused(ruleset(policy="drop", family="bridge")) == {}


def test_our_own_table_and_chains_that_are_no_filter_are_left_out() -> None:
    assert refused(ruleset(policy="drop", table="streamops_kafka")) == {}
    found = ruleset(policy="drop")
    found["nftables"][1]["chain"]["hook"] = "forward"
    assert refused(found) == {}


@pytest.mark.parametrize(
    ("table", "chain", "owner"),
    [("firewalld", "input", "firewalld"), ("filter", "ufw-user-input", "ufw"), ("mine", "side", "nftables")],
)
def test_a_finding_names_who_most_likely_wrote_it_and_what_to_do(table: str, chain: str, owner: str) -> None:
    rules = [("input", [jump(chain)])] if chain != "input" else []
    (found,) = blocked(ruleset(*rules, (chain, [dport(9092), DROP]), table=table), RULES)
    assert found["owner"] == owner
    assert found["message"].startswith(f"chain input of table inet {table} ({owner}) refuses port 9092 (kafka1 CLIENT)")
    assert "from 10.0.0.1, 10.1.0.0/16, fd00::1" in found["message"]
    assert f"of chain {chain} says drop" in found["message"]


def test_legacy_rules_are_named_when_they_refuse_something() -> None:
    saved = "*filter\n:INPUT {} [0:0]\n:FORWARD DROP [0:0]\n-A INPUT -p tcp --dport 22 -j ACCEPT\n"
    assert legacy_finding([], None) is None
    assert legacy_finding(["nat"], None) is None
    assert legacy_finding(["filter"], saved.format("ACCEPT")) is None
    assert "without iptables-legacy-save nobody can tell" in str(legacy_finding(["filter"], None))
    assert "the first: :INPUT DROP [0:0]" in str(legacy_finding(["filter"], saved.format("DROP")))
    assert "-j REJECT" in str(legacy_finding(["filter"], saved.format("ACCEPT") + "-A INPUT -j REJECT\n"))
