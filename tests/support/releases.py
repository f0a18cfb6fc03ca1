"""Unpacked releases of Kafka for tests and benchmarks, made by the product's own module."""

from __future__ import annotations

import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.specs import role_options
from tests.support.cluster import ROOT
from tests.support.modules import run_module

#: The release of a cluster whose inventory names none.
NEW_CLUSTER = str(role_options("_common")["kafka_version"]["default"])
#: The releases whose jars a short form reads: the oldest, that of mirrors, and that of a new cluster.
PLAIN = ("3.9.2", "4.3.1", NEW_CLUSTER)


def each(named: Iterable[str]) -> list[Any]:
    """Parameters of a test: names that hold a version, those of the other releases of Kafka for its long form alone."""
    return [
        pytest.param(one, marks=pytest.mark.full)
        if one.startswith(("kafka-", "4.")) and not any(version in one for version in PLAIN)
        else one
        for one in named
    ]


def unpacked(version: str, directory: Path) -> Path:
    """Unpacks a version into a folder; returns the directory of the release in it."""
    files = ROOT / "roles" / "_common" / "files"
    wish = {
        "version": version,
        "launcher": str(files / "launcher"),
        "lock": str(files / f"kafka-{version}.lock.json"),
    }
    made = run_module("streamops.kafka.kafka_archive", wish)
    with tarfile.open(made["archive"]) as archive:
        archive.extractall(directory, filter="data")
    return directory / str(made["release_name"])
