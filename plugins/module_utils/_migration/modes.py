# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The modes of a node of Kafka on the way from ZooKeeper to KRaft (KIP-866), and the property that marks them."""

from __future__ import annotations

#: Of a broker: with ZooKeeper, with ZooKeeper and the migration flag, with KRaft. Of a controller: with the migration
#: flag and ZooKeeper, without both.
ZOOKEEPER, MIGRATING, KRAFT = "zookeeper", "migrating", "kraft"
#: Of a controller that a run neither starts nor changes.
LEFT_ALONE = "left_alone"

#: The migration flag.
FLAG = "zookeeper.metadata.migration.enable"
