"""Unpacked releases of Kafka for tests and benchmarks, made by the product's own module."""

from __future__ import annotations

import shutil
from pathlib import Path

from ansible_collections.streamops.kafka.plugins.plugin_utils.specs import role_options
from tests.support.cluster import ROOT
from tests.support.modules import run_module

#: The release of a cluster whose inventory names none.
NEW_CLUSTER = str(role_options("_common")["kafka_version"]["default"])


def unpacked(version: str, directory: Path) -> Path:
    """Unpacks a version into a folder; returns the directory of the release in it."""
    files = ROOT / "roles" / "_common" / "files"
    wish = {
        "version": version,
        "launcher": str(files / "launcher"),
        "lock": str(files / f"kafka-{version}.lock.json"),
    }
    made = run_module("streamops.kafka.kafka_archive", wish)
    shutil.unpack_archive(made["archive"], directory)
    return directory / str(made["release_name"])
