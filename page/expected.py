"""Read what each cluster is compared with from the settings: its nodes by the inventory, limits, groups. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.service_settings import MOST_GROUPS, is_name
from ansible_collections.streamops.kafka.plugins.module_utils._health.model import Limits
from page.core.checks import LONGEST_HOST, MOST_NODES, short, wrong_number

_ROLES = ("broker", "controller")
#: Ids of nodes in Kafka are of 32 bits.
_LAST_ID = 2**31 - 1
_OF_NODE = {"host", "node_id", "roles", "version"}
#: The limits by name, and whether each is a whole number.
_LIMITS = {one.name: one.type == "int" for one in fields(Limits)}
#: The largest limit: that of a number of bytes in Kafka.
_MOST = 2**63 - 1


@dataclass(frozen=True)
class Expected:
    """What a cluster is compared with.

    C(nodes): those of the inventory (host, node_id, roles, and version, None where it is unknown); without any nothing
    is compared with an inventory. C(limits): from where on something is a finding. C(groups): those that must be there.
    """

    nodes: Sequence[Mapping[str, Any]] = ()
    limits: Limits = field(default_factory=Limits)
    groups: Sequence[str] = ()


def expected_of(given: object, clusters: Collection[str]) -> tuple[dict[str, Expected], list[str]]:
    """Return what is expected by name of the cluster, and what is wrong with it; C(clusters) are the names there are.

    A cluster that is not named is compared with nothing, within the default limits.
    """
    if not isinstance(given, dict):
        return {}, ["expected is no object of nodes, limits and groups by name of the cluster. Correct it."]
    found, wrong = {}, []
    for name, options in given.items():
        if name not in clusters:
            wrong.append(f"expected has {short(name)}, which is not in clusters. Remove it.")
            continue
        found[name], what = _expected(options)
        wrong += [f"expected.{short(name)}: {one}" for one in what]
    return found, wrong


def _expected(options: object) -> tuple[Expected, list[str]]:
    if not isinstance(options, dict):
        return Expected(), ["it is no object. Set nodes, limits and groups in it."]
    wrong = [f"{short(name)} is unknown. Remove it." for name in sorted(options.keys() - {"nodes", "limits", "groups"})]
    nodes, limits, groups = options.get("nodes", []), options.get("limits", {}), options.get("groups", [])
    wrong += [*_wrong_nodes(nodes), *_wrong_limits(limits), *_wrong_groups(groups)]
    return (Expected(), wrong) if wrong else (Expected(nodes, Limits(**limits), groups), [])


def _wrong_groups(groups: object) -> list[str]:
    if not isinstance(groups, list) or len(groups) > MOST_GROUPS:
        return [f"groups is no list of at most {MOST_GROUPS} names. Correct it."]
    wrong = [f"groups has {short(name)}. Name a group." for name in groups if not isinstance(name, str) or not name]
    return wrong or [
        f"groups has {short(name)} twice. Keep one." for name in sorted(set(groups)) if groups.count(name) > 1
    ]


def _wrong_nodes(nodes: object) -> list[str]:
    if not isinstance(nodes, list) or len(nodes) > MOST_NODES:
        return [f"nodes is no list of at most {MOST_NODES} nodes. Correct it."]
    wrong = [f"nodes[{at}]: {one}" for at, node in enumerate(nodes) for one in _wrong_node(node)]
    if wrong:
        return wrong
    for name in ("host", "node_id"):
        seen = Counter(node[name] for node in nodes)
        wrong += [f"nodes has {name} {short(one)} twice. Keep one." for one, times in seen.items() if times > 1]
    return wrong


def _wrong_node(node: object) -> list[str]:
    if not isinstance(node, dict):
        return ["it is no object. Set host, node_id and roles in it."]
    wrong = [f"{short(name)} is unknown. Remove it." for name in sorted(node.keys() - _OF_NODE)]
    host, roles, version = node.get("host"), node.get("roles"), node.get("version")
    if not isinstance(host, str) or not is_name(host, LONGEST_HOST):
        wrong.append(f"host is {short(host)}. Set a name of 1 to {LONGEST_HOST} printable characters.")
    wrong += wrong_number("node_id", node.get("node_id"), 0, _LAST_ID)
    if not isinstance(roles, list) or not roles or not all(one in _ROLES for one in roles):
        wrong.append(f"roles is {short(roles)}. Set a list of {' and '.join(_ROLES)}, one or both.")
    if version is not None and (not isinstance(version, str) or not is_name(version)):
        wrong.append(f"version is {short(version)}. Set a version, as 4.3.1, or null.")
    return wrong


def _wrong_limits(limits: object) -> list[str]:
    if not isinstance(limits, dict):
        return ["limits is no object of numbers by name. Correct it."]
    wrong = [
        f"limits has {short(name)}, which is unknown. Remove it." for name in sorted(limits.keys() - _LIMITS.keys())
    ]
    for name in sorted(limits.keys() & _LIMITS.keys()):
        is_number = isinstance(limits[name], int if _LIMITS[name] else int | float)
        if not is_number or isinstance(limits[name], bool) or not 0 <= limits[name] <= _MOST:
            kind = "whole number" if _LIMITS[name] else "number"
            wrong.append(f"limits.{name} is {short(limits[name])}. Set a {kind} from 0 on.")
    return wrong
