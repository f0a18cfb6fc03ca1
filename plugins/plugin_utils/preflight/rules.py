# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The table of all preflight rows, and the two functions that apply it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight import (
    advice,
    certificates,
    clocks,
    disks,
    firewall,
    identity,
    install,
    mirror_exactly_once,
    mirror_logins,
    mirror_loops,
    mirror_properties,
    mirror_settings,
    mirrors,
    properties,
    replication,
    resources,
    run,
    secrets,
    security,
    shape,
    topics,
    trust,
    values,
    zookeeper,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight import hosts as preflight_hosts
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight import listeners as preflight_listeners
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.host import Host
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.violation import (
    ERROR,
    Violation,
    accept,
    merge,
)

# Row -> title. The B numbers are those of the project's list of bad inputs; C rows are of the inventory contract.
TITLES = {
    "B1": "node ids",
    "B2": "node id against the disks",
    "B3": "cluster id against the disks",
    "B4": "empty voters in a cluster that has run",
    "B5": "size of the quorum",
    "B6": "servers of ZooKeeper and their ids",
    "B7": "racks",
    "B8": "more copies than brokers",
    "B9": "min.insync.replicas against the number of copies",
    "B10": "settings that can lose acknowledged records",
    "B11": "copies of the internal topics",
    "B12": "numbers of topics",
    "B14": "topic names",
    "B15": "unknown broker keys",
    "B16": "unknown topic keys",
    "B17": "keys that are no longer read",
    "B18": "listeners and what they advertise",
    "B19": "two listeners on one port",
    "B20": "ports taken by others",
    "B21": "hosts that did not answer",
    "B27": "disks",
    "B28": "clocks",
    "B29": "Java",
    "B30": "Kafka version",
    "B32": "certificates",
    "B33": "who may connect and do what",
    "B34": "secrets and undefined values",
    "B37": "loops of mirrors",
    "B38": "exactly-once mirrors",
    "B39": "the legacy engine of mirrors",
    "B40": "part of a cluster by --limit",
    "C1": "hosts without a cluster",
    "C2": "clusters without controllers or brokers",
    "C3": "mode and groups",
    "C4": "words of variables",
    "C5": "form of the cluster id",
    "C6": "archive and its digest",
    "C7": "heap size",
    "C8": "directories",
    "C9": "misspelt variables",
    "C10": "typed variable and raw property at once",
    "C11": "nodes of a cluster that disagree",
    "C12": "shape of variables",
    "C13": "copies in the production profile",
    "C14": "logins without encryption",
    "C15": "certificates of the development CA",
    "C16": "firewall",
    "C17": "administration through the firewall",
    "C20": "placeholders of the example",
    "C21": "known vulnerabilities of the Kafka version",
    "C22": "users, ACLs and quotas",
    "C23": "advice of the field",
    "C24": "mirrors and their flows",
    "C25": "logins of mirrors",
    "C26": "booleans and numbers",
}
INVENTORY_RULES: tuple[Callable[[Inventory], Iterator[Violation]], ...] = (
    *shape.RULES,
    *values.RULES,
    *identity.RULES,
    *install.RULES,
    *preflight_listeners.RULES,
    *replication.RULES,
    *zookeeper.RULES,
    *topics.RULES,
    *resources.RULES,
    *properties.RULES,
    *secrets.RULES,
    *security.RULES,
    *firewall.RULES,
    *certificates.RULES,
    *mirrors.RULES,
    *mirror_loops.RULES,
    *mirror_exactly_once.RULES,
    *mirror_properties.RULES,
    *mirror_logins.RULES,
    *mirror_settings.RULES,
    *advice.RULES,
    *run.RULES,
)
HOST_RULES: tuple[Callable[[Sequence[Host]], Iterator[Violation]], ...] = (
    *preflight_hosts.RULES,
    *disks.RULES,
    *clocks.RULES,
    *trust.RULES,
)


def check_inventory(inventory: Inventory) -> list[Violation]:
    """All that is wrong with an inventory, errors first; each cluster's preflight_accept turns policy into warnings."""
    accepted = {name: cluster.accepted() for cluster in inventory.clusters() for name in cluster.hosts}
    accepted.update({mirror.name: mirror.names("preflight_accept") for mirror in inventory.mirrors})
    found = (violation for rule in INVENTORY_RULES for violation in rule(inventory))
    return merge(accept(violation, _common(accepted, violation.hosts)) for violation in found)


def _common(accepted: Mapping[str, Sequence[str]], hosts: Iterable[str]) -> list[str]:
    """The rows that the clusters of all these hosts accept."""
    lists = [accepted.get(host, ()) for host in hosts]
    return [row for row in (lists[0] if lists else ()) if all(row in listed for listed in lists)]


def check_hosts(hosts: Sequence[Host]) -> list[Violation]:
    """All that is wrong with what the hosts answered, errors first; preflight_accept holds as for the inventory."""
    accepted = {host.name: host.accepted for host in hosts}
    found = (violation for rule in HOST_RULES for violation in rule(hosts))
    return merge(accept(violation, _common(accepted, violation.hosts)) for violation in found)


def failed(violations: Iterable[Violation]) -> bool:
    """True when there is an error among them."""
    return any(violation.level == ERROR for violation in violations)
