# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a mirror has beside what every node has: its logins, its trusts, and of a legacy one its second client."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...module_utils._core.properties import hold_secret, to_text
from .manifest import Directory, File, readable


def properties(model: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the properties by which a mirror is judged. The record of a start compares one file by its keys and the
    others as a whole: of a legacy mirror that of its consumer."""
    mirroring = model["mirroring"]
    if mirroring["is_legacy"]:
        legacy: Mapping[str, Any] = mirroring["legacy"]["consumer"]
        return legacy
    # A user's own property wins.
    return {**mirroring["rest_tls"], **mirroring["properties"]}


def directories(model: Mapping[str, Any]) -> list[Directory]:
    """Return the directory that the mirrors of a target share.

    The configuration of connectors is one for all mirrors of a target, whichever of them wrote it, so what it refers to
    must have the same path on each; so must every directory that a config provider may read, or no connector starts.
    """
    return [Directory(model["mirroring"]["shared_dir"], readable(model, "0750"))]


def files(model: Mapping[str, Any]) -> list[File]:
    """Return what a mirror reads beside its properties; a change of any of it is a restart."""
    own = _legacy(model) if model["mirroring"]["is_legacy"] else []
    return [*_trusts(model), *own, *_secrets(model)]


def _trusts(model: Mapping[str, Any]) -> list[File]:
    """Return the CAs of each cluster. In check mode of a first installation a development CA may not exist yet."""
    mirroring = model["mirroring"]
    return [
        File(f"{mirroring['shared_dir']}/truststore-{alias}.pem", _content(Path(file)), readable(model, "0440"))
        for alias, file in mirroring["trusts"].items()
        if Path(file).is_file()
    ]


def _content(file: Path) -> str:
    return file.read_bytes().decode("utf-8", "surrogateescape").rstrip() + "\n"


def _legacy(model: Mapping[str, Any]) -> list[File]:
    """Return the words behind its class, a line each, and the properties of its producer."""
    config, legacy = model["paths"]["config"], model["mirroring"]["legacy"]
    words = "".join(f"{word}\n" for word in legacy["words"])
    producer, access = legacy["producer"], readable(model, "0640")
    return [
        File(f"{config}/arguments", words, access),
        File(f"{config}/producer.properties", to_text(producer), access, secret=hold_secret(producer)),
    ]


def _secrets(model: Mapping[str, Any]) -> list[File]:
    """Return the passwords, which the properties refer to and no other files hold, and the key of its logins."""
    mirroring, access, found = model["mirroring"], readable(model, "0440"), dict[str, str]()
    if mirroring["secrets"]:
        found[mirroring["secrets_file"]] = to_text(mirroring["secrets"])
    if mirroring["has_rest_tls"]:
        found[mirroring["rest_secrets_file"]] = to_text({"password": model["stores"]["password"]})
    if model["certificate"] and mirroring["shows_certificate"]:
        found[mirroring["keystore_file"]] = model["keystore"]
    return [File(path, content, access, secret=True) for path, content in found.items()]
