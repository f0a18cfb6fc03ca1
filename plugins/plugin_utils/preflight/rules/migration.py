# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on clusters that are between ZooKeeper and KRaft (KIP-866).

Such a cluster is one whose controllers run with the migration flag, or shall by this run: until they restart without it
the metadata goes to ZooKeeper too, and there is a way back. No other cluster is touched by these rules. That a release
other than 3.9.2 has no part in a migration is a rule of its own (zookeeper.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....module_utils._migration.modes import BROKER, CONTROLLER, KRAFT, LEFT_ALONE, MIGRATING, MODES
from ..host import Host, by_cluster
from ..rule import WARNING, Problem, host_rule


def _between(hosts: Sequence[Host]) -> Iterator[list[Host]]:
    """Yield the brokers of each cluster whose controllers have the migration flag."""
    for cluster in by_cluster(hosts).values():
        if any(CONTROLLER in host.roles and host.mode == MIGRATING for host in cluster):
            yield [host for host in cluster if BROKER in host.roles]


@host_rule(
    variable="kafka_mode",
    allowed="zookeeper",
    fix="set kafka_mode back to zookeeper, and take the steps that are left by migrate_to_kraft.yml",
)
def migration_not_finalised(hosts: Sequence[Host]) -> Iterator[Problem]:
    """`kafka_mode` is one of KRaft, and a node was last started with the migration flag: the run would finalise the
    migration, or break it, and there is no way back from that."""
    for host in hosts:
        if host.was_flagged and host.mode not in (*MODES, LEFT_ALONE):
            yield Problem(host, "the migration to KRaft is under way, and this run would end it", host.mode)


@host_rule(
    variable="kafka_brokers",
    fix="finish the migration first by migrate_to_kraft.yml, or take the way back (docs/migrate-to-kraft.md)",
    acceptable=True,
)
def broker_new_in_migration(hosts: Sequence[Host]) -> Iterator[Problem]:
    """A broker without data is added or comes back with empty disks while its cluster is between ZooKeeper and KRaft.
    One that has only run in KRaft mode cannot go back to ZooKeeper (KIP-1362)."""
    for brokers in _between(hosts):
        for host in brokers:
            if host.disks and not any(disk["meta_properties"] or disk["started"] for disk in host.disks):
                what = "a broker without data comes to a cluster between ZooKeeper and KRaft, which makes the way back"
                yield Problem(host, f"{what} longer or closes it (KIP-1362)", "empty data directories")


@host_rule(
    variable="kafka_log_dirs",
    fix="watch the disks; a broker that a failed directory has stopped needs all of them again before its next step",
    level=WARNING,
    acceptable=True,
)
def many_directories_in_migration(hosts: Sequence[Host]) -> Iterator[Problem]:
    """A broker in ZooKeeper mode has several data directories in a migration to KRaft: one that fails shuts the whole
    broker down, until it runs in KRaft mode (KAFKA-16431)."""
    for brokers in _between(hosts):
        for host in brokers:
            count = sum(bool(disk.get("logs", True)) for disk in host.disks)
            if count > 1 and host.mode != KRAFT:
                what = "during a migration one data directory that fails shuts the whole broker down (KAFKA-16431)"
                yield Problem(host, what, f"{count} data directories")
