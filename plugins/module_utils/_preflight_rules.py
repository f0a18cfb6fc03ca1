# Private to this collection.
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of all preflight rows, and the two functions that apply it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ansible_collections.streamops.kafka.plugins.module_utils import (
    _preflight_advice,
    _preflight_certificates,
    _preflight_clocks,
    _preflight_disks,
    _preflight_firewall,
    _preflight_hosts,
    _preflight_identity,
    _preflight_install,
    _preflight_listeners,
    _preflight_mirror_exactly_once,
    _preflight_mirror_logins,
    _preflight_mirror_loops,
    _preflight_mirror_properties,
    _preflight_mirror_settings,
    _preflight_mirrors,
    _preflight_properties,
    _preflight_replication,
    _preflight_resources,
    _preflight_run,
    _preflight_secrets,
    _preflight_security,
    _preflight_shape,
    _preflight_topics,
    _preflight_trust,
    _preflight_values,
    _preflight_zookeeper,
)
from ansible_collections.streamops.kafka.plugins.module_utils._preflight_host import Host
from ansible_collections.streamops.kafka.plugins.module_utils._preflight_inventory import Inventory
from ansible_collections.streamops.kafka.plugins.module_utils._preflight_violation import (
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
    *_preflight_shape.RULES,
    *_preflight_values.RULES,
    *_preflight_identity.RULES,
    *_preflight_install.RULES,
    *_preflight_listeners.RULES,
    *_preflight_replication.RULES,
    *_preflight_zookeeper.RULES,
    *_preflight_topics.RULES,
    *_preflight_resources.RULES,
    *_preflight_properties.RULES,
    *_preflight_secrets.RULES,
    *_preflight_security.RULES,
    *_preflight_firewall.RULES,
    *_preflight_certificates.RULES,
    *_preflight_mirrors.RULES,
    *_preflight_mirror_loops.RULES,
    *_preflight_mirror_exactly_once.RULES,
    *_preflight_mirror_properties.RULES,
    *_preflight_mirror_logins.RULES,
    *_preflight_mirror_settings.RULES,
    *_preflight_advice.RULES,
    *_preflight_run.RULES,
)
HOST_RULES: tuple[Callable[[Sequence[Host]], Iterator[Violation]], ...] = (
    *_preflight_hosts.RULES,
    *_preflight_disks.RULES,
    *_preflight_clocks.RULES,
    *_preflight_trust.RULES,
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
