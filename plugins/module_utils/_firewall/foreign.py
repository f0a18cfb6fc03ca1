# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Other firewalls of a machine (ufw, firewalld, iptables, tables written by hand) that can block a Kafka port.

An accept of our table overrules no drop of another one. Which connections a rule of others hits is not worked out: a
chain from which any rule that drops can be reached is named, with the ports to open there, until an administrator has
checked it.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from .._core.names import capped
from .text import FAMILY, TABLE

# Hooks that an incoming connection passes, and the families of tables that see it with the IP versions they see.
_HOOKS = ("ingress", "prerouting", "input")
_FAMILIES = {"ip": (4,), "ip6": (6,), "inet": (4, 6), "netdev": (4, 6)}


def blocking(
    ruleset: Mapping[str, Any], rules: Iterable[Mapping[str, Any]], checked: Collection[str]
) -> list[dict[str, Any]]:
    """The chains of others that can refuse connections which these rules allow.

    ruleset -- what `nft -j list ruleset` prints; checked -- owners and tables that an administrator has looked at.
    Each is {table, chain, owner, by, port, sources, checked, message}, in the order of ruleset, then of rules; the
    message is one for all ports of a chain.
    """
    rules = list(rules)
    items = [(kind, item) for entry in ruleset.get("nftables", []) for kind, item in entry.items()]
    others = [(kind, item) for kind, item in items if (item.get("family"), item.get("table")) != (FAMILY, TABLE)]
    chains = [item for kind, item in others if kind == "chain"]
    found = []
    for chain in chains:
        if chain.get("hook") in _HOOKS and chain.get("type") == "filter" and chain["family"] in _FAMILIES:
            place = (chain["family"], chain["table"])
            by = _refusal(chain, [one for one in others if (one[1].get("family"), one[1].get("table")) == place])
            if by:
                found += _findings(chain, _owner(chain, chains), by, rules, checked)
    return found


def legacy_finding(tables: Collection[str], saved: str | None) -> str | None:
    """Say what stands in iptables-legacy, whose rules nft does not show; None when there is nothing that refuses.

    tables -- names in /proc/net/ip_tables_names and ip6_tables_names; saved -- what iptables-legacy-save prints, None
    where it is not installed.
    """
    if "filter" not in tables:
        return None
    lines = (saved or "").splitlines()
    refusing = [one for one in lines if one.startswith(":INPUT DROP") or " -j DROP" in one or " -j REJECT" in one]
    if saved is not None and not refusing:
        return None
    why = f"the first: {refusing[0].strip()}" if refusing else "iptables-legacy-save is not installed to show them"
    return (
        f"iptables-legacy has rules that can refuse connections to the Kafka ports ({why}). "
        "fix: open the ports there, then add iptables to kafka_firewall_checked"
    )


def _refusal(chain: Mapping[str, Any], table: Sequence[tuple[str, Any]]) -> str:
    """The policy or the first rule that refuses, of a base chain and all chains that it jumps to; empty without one."""
    if chain.get("policy") == "drop":
        return "its policy is drop"
    maps = {item["name"]: item.get("elem", []) for kind, item in table if kind == "map"}
    names, waiting = {chain["name"]}, [chain["name"]]
    while waiting:
        name = waiting.pop(0)
        for rule in (item for kind, item in table if kind == "rule" and item["chain"] == name):
            for word, value in _words(rule["expr"], maps):
                if word in ("drop", "reject") or (word == "xt" and _may_refuse(value)):
                    return f"rule {rule.get('handle', '?')} of chain {name} refuses"
                if word in ("jump", "goto") and value["target"] not in names:
                    names.add(value["target"])
                    waiting.append(value["target"])
    return ""


def _words(expression: Any, maps: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """All names of an expression with their values, at any depth, those of the verdict maps that it names too."""
    if isinstance(expression, Mapping):
        for word, value in expression.items():
            yield word, value
            yield from _words(value, maps)
    elif isinstance(expression, (list, tuple)):
        for one in expression:
            yield from _words(one, maps)
    elif isinstance(expression, str) and expression.startswith("@"):
        yield from _words(maps.get(expression[1:]), {})


def _may_refuse(extension: Any) -> bool:
    """Return whether an extension of iptables can refuse; some versions of nft do not print which one it is."""
    return not extension or (extension.get("type") == "target" and extension.get("name") in ("REJECT", "TARPIT"))


def _owner(chain: Mapping[str, Any], chains: Iterable[Mapping[str, Any]]) -> str:
    """Return which program most likely wrote a chain."""
    if chain["table"].startswith("firewalld"):
        return "firewalld"
    if any(one["name"].startswith(("ufw-", "ufw6-")) for one in chains if one["table"] == chain["table"]):
        return "ufw"
    return "iptables" if chain["name"] in ("INPUT", "PREROUTING") else "nftables"


def _findings(
    chain: Mapping[str, Any], owner: str, by: str, rules: Iterable[Mapping[str, Any]], checked: Collection[str]
) -> list[dict[str, Any]]:
    """One for each rule that has a source whose IP version this chain sees."""
    seen = _FAMILIES[chain["family"]]
    sources = [(rule, [one for one in rule["sources"] if ipaddress.ip_network(one).version in seen]) for rule in rules]
    ports = [(int(rule["port"]), shown) for rule, shown in sources if shown]
    table = f"{chain['family']} {chain['table']}"
    name = table if owner == "nftables" else owner
    opened = "; ".join(f"TCP {port} from {capped(shown, 3)}" for port, shown in ports)
    message = (
        f"{owner} (table {table}, chain {chain['name']}: {by}) can refuse connections to the Kafka ports, and the "
        f"rules of this collection cannot overrule it. fix: let it accept {opened}; then add '{name}' to "
        "kafka_firewall_checked"
    )
    return [
        {
            "table": table,
            "chain": chain["name"],
            "owner": owner,
            "by": by,
            "port": port,
            "sources": shown,
            "checked": name in checked,
            "message": message,
        }
        for port, shown in ports
    ]
