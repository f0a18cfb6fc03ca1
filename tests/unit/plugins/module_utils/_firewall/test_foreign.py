"""Other firewalls of a machine: which of their chains can refuse what we allow."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._firewall.foreign import blocking, legacy_finding

RULES = [
    {"port": 9092, "sources": ["10.0.0.1", "10.1.0.0/16", "fd00::1"], "comment": "kafka1 CLIENT"},
    {"port": 9094, "sources": ["10.0.0.1"], "comment": "kafka1 BROKER"},
]
ACCEPT, DROP, REJECT = {"accept": None}, {"drop": None}, {"reject": {"type": "icmpx", "expr": "admin-prohibited"}}
PORT = {"payload": {"protocol": "tcp", "field": "dport"}}
SSH = {"match": {"op": "==", "left": PORT, "right": 22}}


def jump(target: str, how: str = "jump") -> dict[str, Any]:
    return {how: {"target": target}}


def xt(kind: str, name: str) -> dict[str, Any]:
    return {"xt": {"type": kind, "name": name}}


def ruleset(
    *rules: tuple[str, list[dict[str, Any]]],
    policy: str = "accept",
    hook: str = "input",
    more: tuple[Any, ...] = (),
    **base: Any,
) -> dict[str, Any]:
    """A table with the base chain `input` and every other chain that a rule stands in."""
    table = {"family": "inet", "table": "theirs", **base}
    chains = [{**table, "name": "input", "hook": hook, "type": "filter", "prio": 0, "policy": policy}]
    chains += [{**table, "name": name} for name in dict.fromkeys(chain for chain, _expr in rules) if name != "input"]
    listed = [
        {"rule": {**table, "chain": chain, "handle": handle, "expr": expr}}
        for handle, (chain, expr) in enumerate(rules, 1)
    ]
    sets = [{kind: {**table, **item}} for kind, item in more]
    return {"nftables": [{"metainfo": {}}, *({"chain": chain} for chain in chains), *sets, *listed]}


def found(*args: Any, **how: Any) -> list[tuple[int, str]]:
    """Port and what refuses it."""
    return [(one["port"], one["by"]) for one in blocking(ruleset(*args, **how), RULES, ())]


@pytest.mark.parametrize(
    ("rules", "by"),
    [
        pytest.param([("input", [SSH, ACCEPT])], "", id="a rule that accepts"),
        pytest.param([("input", [SSH, DROP])], "rule 1 of chain input refuses", id="a rule that drops anything"),
        pytest.param([("input", [{"counter": {}}, REJECT])], "rule 1 of chain input refuses", id="reject"),
        pytest.param([("input", [jump("a")]), ("a", [DROP])], "rule 2 of chain a refuses", id="jump"),
        pytest.param([("input", [jump("a", "goto")]), ("a", [DROP])], "rule 2 of chain a refuses", id="goto"),
        pytest.param([("a", [DROP])], "", id="a chain that input does not reach"),
        pytest.param(
            [("input", [jump("a")]), ("a", [jump("b")]), ("b", [jump("a")]), ("b", [DROP])],
            "rule 4 of chain b refuses",
            id="jumps in a circle",
        ),
        pytest.param(
            [("input", [{"vmap": {"key": PORT, "data": {"set": [[22, ACCEPT], [9092, jump("a")]]}}}]), ("a", [DROP])],
            "rule 2 of chain a refuses",
            id="a verdict map that jumps",
        ),
        pytest.param([("input", [xt("target", "REJECT")])], "rule 1 of chain input refuses", id="REJECT of iptables"),
        pytest.param([("input", [{"xt": None}])], "rule 1 of chain input refuses", id="an extension without a name"),
        pytest.param([("input", [xt("target", "LOG")])], "", id="LOG of iptables"),
        pytest.param([("input", [xt("match", "conntrack"), ACCEPT])], "", id="a match of iptables"),
    ],
)
def test_any_rule_that_refuses_on_the_way_of_a_connection_is_found(rules: Any, by: str) -> None:
    assert found(*rules) == ([(9092, by), (9094, by)] if by else [])


def test_a_verdict_map_with_a_name_is_read() -> None:
    verdicts = ("map", {"name": "verdicts", "elem": [[22, ACCEPT], [23, DROP]]})
    addresses = ("set", {"name": "verdicts", "elem": ["10.0.0.1"]})
    asked = ("input", [{"vmap": {"key": PORT, "data": "@verdicts"}}])
    assert found(asked, more=(verdicts,)) == [(port, "rule 1 of chain input refuses") for port in (9092, 9094)]
    assert found(asked, more=(addresses,)) == []


@pytest.mark.parametrize("hook", ["ingress", "prerouting", "input"])
def test_a_chain_that_drops_by_policy_is_found_at_each_hook_of_an_incoming_connection(hook: str) -> None:
    assert found(policy="drop", hook=hook) == [(9092, "its policy is drop"), (9094, "its policy is drop")]


def test_what_no_incoming_connection_passes_is_left_out() -> None:
    for hook in ("forward", "output", "postrouting"):
        assert found(policy="drop", hook=hook) == []
    assert found(policy="drop", family="bridge") == []
    assert found(policy="drop", table="streamops_kafka") == []
    assert found(policy="drop", table="streamops_kafka", family="ip") != []


def test_a_table_of_one_protocol_concerns_the_sources_of_that_one() -> None:
    by_family = {family: blocking(ruleset(policy="drop", family=family), RULES, ()) for family in ("ip", "ip6")}
    assert [(one["port"], one["sources"]) for one in by_family["ip"]] == [
        (9092, ["10.0.0.1", "10.1.0.0/16"]),
        (9094, ["10.0.0.1"]),
    ]
    assert [(one["port"], one["sources"]) for one in by_family["ip6"]] == [(9092, ["fd00::1"])]


@pytest.mark.parametrize(
    ("table", "base", "chain", "owner", "name"),
    [
        ("firewalld", "filter_INPUT", "filter_IN_public", "firewalld", "firewalld"),
        ("filter", "INPUT", "ufw-user-input", "ufw", "ufw"),
        ("filter", "INPUT", "DOCKER-USER", "iptables", "iptables"),
        ("f2b-table", "f2b-chain", "side", "nftables", "inet f2b-table"),
    ],
)
def test_a_finding_names_the_firewall_the_ports_to_open_and_how_to_confirm_it(
    table: str, base: str, chain: str, owner: str, name: str
) -> None:
    theirs = ruleset(("input", [jump(chain)]), (chain, [DROP]), table=table)
    theirs["nftables"][1]["chain"]["name"] = theirs["nftables"][3]["rule"]["chain"] = base
    first, second = blocking(theirs, RULES, ())
    assert (first["table"], first["chain"], first["owner"]) == (f"inet {table}", base, owner)
    assert not first["checked"]
    assert first["message"] == second["message"]
    assert first["message"].startswith(f"{owner} (table inet {table}, chain {base}: rule 2 of chain {chain} refuses)")
    assert "TCP 9092 from 10.0.0.1, 10.1.0.0/16, fd00::1; TCP 9094 from 10.0.0.1; then add" in first["message"]
    assert f"add '{name}' to kafka_firewall_checked" in first["message"]
    assert all(one["checked"] for one in blocking(theirs, RULES, ["other", name]))


def test_legacy_rules_are_named_when_they_refuse_something() -> None:
    saved = "*filter\n:INPUT {} [0:0]\n:FORWARD DROP [0:0]\n-A INPUT -p tcp --dport 22 -j ACCEPT\n"
    assert legacy_finding([], None) is None
    assert legacy_finding(["nat"], None) is None
    assert legacy_finding(["filter"], saved.format("ACCEPT")) is None
    assert "iptables-legacy-save is not installed" in str(legacy_finding(["filter"], None))
    assert "the first: :INPUT DROP [0:0]" in str(legacy_finding(["filter"], saved.format("DROP")))
    assert "-j REJECT" in str(legacy_finding(["filter"], saved.format("ACCEPT") + "-A INPUT -j REJECT\n"))
