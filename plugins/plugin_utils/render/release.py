# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The release that a node runs from: what it is made of, and what it is called."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...module_utils._release import layout, lock

#: Launchers and lock files, which the archive is made of.
FILES = Path(__file__).resolve().parents[3] / "roles" / "_common" / "files"
LAUNCHERS = {"kafka": "launcher", "zookeeper": "zookeeper-launcher"}


def product_of(node: Mapping[str, Any]) -> str:
    """Kafka or zookeeper; a mirror runs from a release of Kafka."""
    return "zookeeper" if "zookeeper" in node["roles"] else "kafka"


def release(node: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The release of a node, as the module kafka_archive takes it, with its name and its directory on the node.

    Returns {version, launcher, lock, src, sha512, name, dir}. launcher and lock are files of this collection;
    lock, src and sha512 are None where the release is not made of them. The name needs no archive, so a node that has
    the release needs none either.
    Raises StreamopsError for a version or a SHA-512 that is none, OSError where no lock file pins the version.
    """
    product = product_of(node)
    version = str(settings[f"{product}_version"])
    pinned = settings["kafka_install_source"] == "maven"
    launcher, lock_file = FILES / LAUNCHERS[product], FILES / f"{product}-{version}.lock.json"
    sha512 = settings[f"{product}_archive_sha512"]
    made_of = json.loads(lock_file.read_text()) if pinned else version
    name = release_name(made_of, hashlib.sha256(launcher.read_bytes()).hexdigest(), sha512, product)
    return {
        "version": version,
        "launcher": str(launcher),
        "lock": str(lock_file) if pinned else None,
        "src": settings[f"{product}_archive_src"] or None,
        "sha512": sha512 or None,
        "name": name,
        "dir": f"{settings['kafka_install_dir']}/releases/{name}",
    }


def release_name(made_of: Mapping[str, Any] | str, launcher_sha256: str, sha512: str, product: str) -> str:
    """The name of the release made of a parsed lock file, or of Apache's archive of a version with this SHA-512."""
    if isinstance(made_of, str):
        return layout.name_from_archive(made_of, sha512, launcher_sha256, layout.PRODUCTS[product])
    pinned = lock.from_mapping(made_of)
    return layout.name_from_lock(pinned.version, pinned.digests, launcher_sha256, layout.PRODUCTS[product])
