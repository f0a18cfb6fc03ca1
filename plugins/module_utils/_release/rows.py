# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The releases of Kafka, one row each; _release/releases.py says what a row means and reads it.

tools/make_releases writes this file from Kafka's own jars, all but java and least_heap, which are kept as they stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: By level of metadata.version its name, and whether it changes what is written (MetadataVersion of the jars).
METADATA_VERSIONS: Mapping[int, tuple[str, bool]] = {
    1: ("3.0-IV1", True),
    2: ("3.1-IV0", False),
    3: ("3.2-IV0", True),
    4: ("3.3-IV0", False),
    5: ("3.3-IV1", True),
    6: ("3.3-IV2", True),
    7: ("3.3-IV3", True),
    8: ("3.4-IV0", True),
    9: ("3.5-IV0", False),
    10: ("3.5-IV1", False),
    11: ("3.5-IV2", True),
    12: ("3.6-IV0", False),
    13: ("3.6-IV1", True),
    14: ("3.6-IV2", True),
    15: ("3.7-IV0", True),
    16: ("3.7-IV1", False),
    17: ("3.7-IV2", True),
    18: ("3.7-IV3", False),
    19: ("3.7-IV4", False),
    20: ("3.8-IV0", False),
    21: ("3.9-IV0", False),
    22: ("4.0-IV0", False),
    23: ("4.0-IV1", True),
    24: ("4.0-IV2", False),
    25: ("4.0-IV3", False),
    26: ("4.1-IV0", False),
    27: ("4.1-IV1", False),
    28: ("4.2-IV0", False),
    29: ("4.2-IV1", False),
    30: ("4.3-IV0", True),
    31: ("4.4-IV0", False),
    32: ("4.4-IV1", True),
    33: ("4.4-IV2", True),
}

ROWS: Mapping[str, Mapping[str, Any]] = {
    "4.4.0": {
        "java": (17, 21, 25),
        "least_heap": {"broker": 192, "controller": 32},
        "runs": ("broker", "controller"),
        "logging": "log4j2",
        "options": ("heartbeats.replication.enabled", "metric.names.formats", "org.apache.kafka.allowed.login.modules"),
        "metadata_versions": (7, 33),
        "features": {
            "metadata.version": (33, 33),
            "kraft.version": (1, 1),
            "transaction.version": (2, 2),
            "group.version": (1, 1),
            "eligible.leader.replicas.version": (1, 1),
            "share.version": (2, 2),
            "streams.version": (1, 1),
        },
    },
    "4.3.1": {
        "java": (17, 21, 25),
        "least_heap": {"broker": 192, "controller": 32},
        "runs": ("broker", "controller", "mirror", "shell"),
        "logging": "log4j2",
        "options": ("heartbeats.replication.enabled", "metric.names.formats", "org.apache.kafka.allowed.login.modules"),
        "metadata_versions": (7, 30),
        "features": {
            "metadata.version": (30, 30),
            "kraft.version": (1, 1),
            "transaction.version": (2, 2),
            "group.version": (1, 1),
            "eligible.leader.replicas.version": (1, 1),
            "share.version": (1, 1),
            "streams.version": (1, 1),
        },
    },
    "4.2.0": {
        "java": (17, 21, 25),
        "least_heap": {"broker": 192, "controller": 32},
        "runs": ("broker", "controller", "mirror", "shell"),
        "logging": "log4j2",
        "options": ("heartbeats.replication.enabled", "org.apache.kafka.allowed.login.modules"),
        "metadata_versions": (7, 29),
        "features": {
            "metadata.version": (29, 29),
            "kraft.version": (1, 1),
            "transaction.version": (2, 2),
            "group.version": (1, 1),
            "eligible.leader.replicas.version": (1, 1),
            "share.version": (1, 1),
            "streams.version": (1, 1),
        },
    },
    "4.1.2": {
        "java": (17, 21),
        "least_heap": {"broker": 192, "controller": 32},
        "runs": ("broker", "controller", "mirror", "shell"),
        "logging": "log4j2",
        "options": ("heartbeats.replication.enabled",),
        "metadata_versions": (7, 27),
        "features": {
            "metadata.version": (27, 27),
            "kraft.version": (1, 1),
            "transaction.version": (2, 2),
            "group.version": (1, 1),
            "eligible.leader.replicas.version": (1, 1),
            "share.version": (1, 0),
        },
    },
    "4.0.2": {
        "java": (17, 21),
        "least_heap": {"broker": 192, "controller": 32},
        "runs": ("broker", "controller", "mirror", "shell"),
        "logging": "log4j2",
        "options": ("heartbeats.replication.enabled",),
        "metadata_versions": (7, 25),
        "features": {
            "metadata.version": (25, 25),
            "kraft.version": (1, 1),
            "transaction.version": (2, 2),
            "group.version": (1, 1),
            "eligible.leader.replicas.version": (1, 0),
        },
    },
    "3.9.2": {
        "java": (11, 17, 21),
        "least_heap": {"broker": 160, "controller": 32},
        "runs": ("broker", "controller", "zookeeper mode", "mirror", "legacy mirror", "shell"),
        "logging": "reload4j",
        "options": (),
        "metadata_versions": (1, 21),
        "features": {"metadata.version": (21, 21), "kraft.version": (1, 1)},
    },
}
