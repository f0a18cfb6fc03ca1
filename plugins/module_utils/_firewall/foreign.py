# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Other firewalls of a machine (ufw, firewalld, tables written by hand) that would still block a port of ours.

An accept of our table overrules no drop of another one, so the others are read, as `nft -j list ruleset` gives them,
and a new connection from each source of a rule is led through them. What a rule matches may not be known here (the
interface, an extension of iptables): such a rule is passed over, and the finding then says that it is not certain.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ansible_collections.streamops.kafka.plugins.module_utils._firewall.text import FAMILY, TABLE

if TYPE_CHECKING:
    Json = Mapping[str, Any]

# Hooks that an incoming connection passes, and the families of tables that see it.
_HOOKS = ("prerouting", "input")
_FAMILIES = {"ip": 4, "ip6": 6}
# A rule with more sources than these is judged by the first ones: a blocked port is blocked for most.
_SOURCES_JUDGED = 100
_DEPTH_MAX = 16  # jumps that the kernel follows (NFT_JUMP_STACK_SIZE)
_OTHER_PROTOCOLS = ("udp", "udplite", "sctp", "dccp", "icmp", "icmpv6", "igmp", "ah", "esp", "comp", "arp", "ether")


@dataclass(frozen=True)
class Packet:
    """The first packet of a connection: from any address of `source` to `port`."""

    source: Any
    port: int


@dataclass(frozen=True)
class Verdict:
    """What happens to a packet: refused or not, by which rule, and whether an unknown rule might let it through."""

    refused: bool
    by: str
    certain: bool


def blocked(ruleset: Json, rules: Iterable[Json]) -> list[dict[str, Any]]:
    """The chains of others that refuse connections which these rules allow.

    Each is {table, chain, by, owner, port, sources, certain, message}, in the order of ruleset, then port.
    """
    foreign = _Ruleset(ruleset)
    found = []
    for chain in foreign.base_chains():
        for rule in rules:
            by_verdict: dict[Verdict, list[str]] = {}
            for source in list(rule["sources"])[:_SOURCES_JUDGED]:
                network = ipaddress.ip_network(source)
                if _FAMILIES.get(chain["family"], network.version) == network.version:
                    verdict = foreign.judge(chain, Packet(network, int(rule["port"])))
                    if verdict.refused:
                        by_verdict.setdefault(verdict, []).append(source)
            found += [_finding(foreign, chain, rule, verdict, sources) for verdict, sources in by_verdict.items()]
    return found


def legacy_finding(tables: Sequence[str], saved: str | None) -> str | None:
    """What to say of iptables-legacy, whose rules nft does not show; None when there is nothing that refuses.

    tables -- names in /proc/net/ip_tables_names and ip6_tables_names; saved -- what iptables-legacy-save prints, None
    where it is not installed.
    """
    if "filter" not in tables:
        return None
    if saved is None:
        return (
            "tables of iptables-legacy are loaded, and without iptables-legacy-save nobody can tell what they refuse; "
            "move their rules to nftables, or see to it that they let the ports of Kafka through"
        )
    refusing = [
        line
        for line in saved.splitlines()
        if line.startswith(":INPUT DROP") or line.rstrip().endswith("-j DROP") or " -j REJECT" in line
    ]
    if not refusing:
        return None
    return (
        f"iptables-legacy has {len(refusing)} rules or policies that refuse (the first: {refusing[0].strip()}), which "
        "nft does not show and this check does not follow; see to it that they let the ports of Kafka through"
    )


def _finding(foreign: _Ruleset, chain: Json, rule: Json, verdict: Verdict, sources: Sequence[str]) -> dict[str, Any]:
    table = f"{chain['family']} {chain['table']}"
    owner = foreign.owner(chain)
    shown = ", ".join(sources[:3]) + (f" and {len(sources) - 3} more" if len(sources) > 3 else "")
    message = (
        f"chain {chain['name']} of table {table} ({owner}) "
        f"{'refuses' if verdict.certain else 'seems to refuse'} port {rule['port']} ({rule['comment']}) from {shown}: "
        f"{verdict.by}. An accept of ours cannot overrule that: let the port through there, or take that firewall away"
    )
    return {
        "table": table,
        "chain": chain["name"],
        "by": verdict.by,
        "owner": owner,
        "port": int(rule["port"]),
        "sources": list(sources),
        "certain": verdict.certain,
        "message": message,
    }


class _Ruleset:
    """The chains, rules, sets and maps of `nft -j list ruleset`, ours left out."""

    def __init__(self, ruleset: Json) -> None:
        self._chains: list[Json] = []
        self._rules: dict[tuple[str, str, str], list[Json]] = {}
        self._sets: dict[tuple[str, str, str], list[Any]] = {}
        for entry in ruleset.get("nftables", []):
            for kind, item in entry.items():
                if (item.get("family"), item.get("table")) != (FAMILY, TABLE):
                    self._take(kind, item)

    def _take(self, kind: str, item: Json) -> None:
        if kind == "chain":
            self._chains.append(item)
        elif kind == "rule":
            self._rules.setdefault((item["family"], item["table"], item["chain"]), []).append(item)
        elif kind in ("set", "map"):
            self._sets[item["family"], item["table"], item["name"]] = item.get("elem", [])

    def base_chains(self) -> list[Json]:
        """The chains that the kernel calls for an incoming connection."""
        return [
            chain
            for chain in self._chains
            if chain.get("hook") in _HOOKS
            and chain.get("type") == "filter"
            and chain["family"] in ("ip", "ip6", "inet")
        ]

    def owner(self, chain: Json) -> str:
        """Which program most likely wrote a chain."""
        names = [one["name"] for one in self._chains if one["table"] == chain["table"]]
        if chain["table"].startswith("firewalld"):
            return "firewalld"
        if any(name.startswith(("ufw-", "ufw6-")) for name in names):
            return "ufw"
        if chain["table"] == "filter" and chain["name"] == "INPUT":
            return "iptables"
        return "nftables"

    def judge(self, chain: Json, packet: Packet) -> Verdict:
        """What this base chain does with a packet."""
        doubts: list[str] = []
        decided = self._walk(chain, packet, doubts, 0)
        refused, by = decided or (chain.get("policy") == "drop", "its policy is drop")
        return Verdict(refused, by, not doubts)

    def _walk(self, chain: Json, packet: Packet, doubts: list[str], depth: int) -> tuple[bool, str] | None:
        """(refused, by) when a rule decides, None at the end of the chain; unknown rules that accept go to doubts."""
        place = (chain["family"], chain["table"])
        for rule in self._rules.get((*place, chain["name"]), []) if depth <= _DEPTH_MAX else []:
            known: bool | None = True
            for part in rule["expr"]:
                (kind, value), *_rest = part.items()
                if kind in _ENDS or kind == "vmap":
                    verdict, sure = (kind, value), known
                    if kind == "vmap":
                        verdict, sure = self._vmap(place, value, packet, known)
                    if sure is None and self._may_accept(place, verdict, packet, depth):
                        doubts.append(str(rule.get("handle")))
                    decided = self._follow(place, rule, verdict, packet, doubts, depth) if sure else None
                    if decided == _RETURN:
                        return None
                    if decided is not None:
                        return decided
                    break
                known = _both(known, self._matches(place, kind, value, packet))
                if known is False:
                    break
        return None

    def _follow(
        self,
        place: tuple[str, str],
        rule: Json,
        verdict: tuple[str, Any],
        packet: Packet,
        doubts: list[str],
        depth: int,
    ) -> tuple[bool, str] | None:
        kind, value = verdict
        if kind == "accept":
            return (False, "")
        if kind in ("drop", "reject"):
            return (True, f"rule {rule.get('handle', '?')} of chain {rule['chain']} says {kind}")
        if kind == "return":
            return _RETURN
        if kind in ("jump", "goto"):
            target = {"family": place[0], "table": place[1], "name": value["target"]}
            return self._walk(target, packet, doubts, depth + 1) or (_RETURN if kind == "goto" else None)
        return None

    def _may_accept(self, place: tuple[str, str], verdict: tuple[str, Any], packet: Packet, depth: int) -> bool:
        """Whether a rule that may match might let the packet through."""
        kind, value = verdict
        if kind in ("jump", "goto"):
            target = {"family": place[0], "table": place[1], "name": value["target"]}
            inner: list[str] = []
            decided = self._walk(target, packet, inner, depth + 1)
            return bool(inner) or decided is None or not decided[0]
        return kind not in ("drop", "reject")

    def _vmap(
        self, place: tuple[str, str], value: Json, packet: Packet, known: bool | None
    ) -> tuple[tuple[str, Any], bool | None]:
        """The verdict that a verdict map gives: of the first key that matches, else nothing."""
        data = value.get("data")
        pairs = (
            data.get("set", []) if isinstance(data, Mapping) else self._sets.get((*place, str(data).lstrip("@")), [])
        )
        maybe = False
        for key, target in pairs:
            hit = _both(known, self._compare(place, value["key"], "==", key, packet))
            if hit:
                (found,) = target.items()
                return found, True
            maybe = maybe or hit is None
        return ("unknown", None), None if maybe else False

    def _matches(self, place: tuple[str, str], kind: str, value: Any, packet: Packet) -> bool | None:
        if kind == "match":
            return self._compare(place, value["left"], value["op"], value["right"], packet)
        return None if kind in ("xt", "limit", "quota", "ct count", "queue", "synproxy", "tproxy") else True

    def _compare(self, place: tuple[str, str], left: Any, op: str, right: Any, packet: Packet) -> bool | None:
        if isinstance(right, str) and right.startswith("@"):
            right = {"set": self._sets.get((*place, right[1:]), [])}
        if op not in ("==", "!=", "in"):
            return None
        result = _in(_field(left, packet), right, packet)
        return (not result if result is not None else None) if op == "!=" else result


_RETURN = (False, "return")
_ENDS = ("accept", "drop", "reject", "jump", "goto", "return")


def _both(one: bool | None, other: bool | None) -> bool | None:
    """Three-valued and."""
    if one is False or other is False:
        return False
    return None if one is None or other is None else True


def _field(left: Any, packet: Packet) -> Any:
    """What the left side of a match is for a packet: a value, a network, Ellipsis for not this protocol, or None."""
    if not isinstance(left, Mapping):
        return None
    (kind, what), *_rest = left.items()
    version = packet.source.version
    if kind == "payload":
        return _payload(what.get("protocol"), what.get("field"), packet)
    if kind == "meta":
        return {
            "l4proto": "tcp",
            "nfproto": f"ipv{version}",
            "protocol": "ip" if version == 4 else "ip6",
            "iif": "not lo",
            "iifname": "not lo",
        }.get(what.get("key"))
    if kind == "ct" and what.get("key") == "state":
        return "new"
    if kind == "fib" and what.get("result") == "type" and what.get("flags") in ("daddr", ["daddr"]):
        return "local"
    return None


def _payload(protocol: str | None, field: str | None, packet: Packet) -> Any:
    if protocol in _OTHER_PROTOCOLS or (protocol in _FAMILIES and _FAMILIES[protocol] != packet.source.version):
        return ...
    if (protocol in ("tcp", "th")) and field == "dport":
        return packet.port
    if protocol in _FAMILIES and field == "saddr":
        return packet.source
    return "tcp" if field in ("protocol", "nexthdr") else None


def _in(found: Any, right: Any, packet: Packet) -> bool | None:
    """Whether the packet's value is the right side or among it; None when that cannot be told."""
    if found is ... or found is None:
        return False if found is ... else None
    if isinstance(right, Mapping) and "set" in right:
        right = right["set"]
    if isinstance(right, (list, tuple)):
        results = [_in(found, one, packet) for one in right]
        return True if True in results else (None if None in results else False)
    if isinstance(right, Mapping) and "elem" in right:
        return _in(found, right["elem"].get("val"), packet)
    if found == "not lo":
        return False if right == "lo" else None
    if isinstance(found, int):
        return _number(found, right)
    if isinstance(found, str):
        return str(right) in (found, {"tcp": "6"}.get(found, found))
    return _network(found, right)


def _number(found: int, right: Any) -> bool | None:
    if isinstance(right, Mapping) and "range" in right:
        low, high = right["range"]
        return int(low) <= found <= int(high)
    return found == right if isinstance(right, int) else None


def _network(found: Any, right: Any) -> bool | None:
    """Whether all of a network is in an address, prefix or range; None when a part of it is."""
    try:
        if isinstance(right, Mapping) and "prefix" in right:
            right = f"{right['prefix']['addr']}/{right['prefix']['len']}"
        if isinstance(right, Mapping) and "range" in right:
            low, high = (ipaddress.ip_address(end) for end in right["range"])
        else:
            other = ipaddress.ip_network(right, strict=False)
            low, high = other[0], other[-1]
    except (TypeError, ValueError, KeyError):
        return None
    if low.version != found.version or found[-1] < low or found[0] > high:
        return False
    return True if low <= found[0] and found[-1] <= high else None
