# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What the nodes of a cluster trust and show now, against what this run would bring them.

Nodes restart one after the other, so while a run changes stores, old and new ones meet. A run that keeps a cluster
together brings nobody a certificate that the present trust store of another one refuses, and no trust store that
refuses a present certificate. To trust two CAs for a while is how a CA changes; to bring another one is not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..guards.quorum_unsteady import never_formed
from ..inventory.certificates import described, issuer, key_fits, pem_certificates, reaches
from ..inventory.model import PLACEHOLDER, Node
from ..inventory.pem_files import stored

TRUSTED, SHOWN = "truststore.pem", "keystore.pem"
DEVELOPMENT = "development_ca"
Pems = tuple[str, ...]


@dataclass(frozen=True)
class Stores:
    """The certificates of one node: those that it trusts, and the chain that it shows (empty when not known)."""

    trusted: Pems = ()
    shown: Pems = ()


@dataclass(frozen=True)
class Member:
    """One node: its stores on disk, those that this run brings, and what is wrong with either.

    running -- what its process accepts as far as that is known; on_disk -- what its truststore holds; stale -- the
    process runs with stores that are neither on the disk nor brought, so nobody knows, and this run brings others than
    are on the disk; missing -- this run would make a new CA; half -- why the CA cannot sign.
    """

    name: str
    group: tuple[str, bool]
    running: Stores
    brought: Stores
    on_disk: Pems
    stale: bool
    missing: bool
    half: str
    error: str
    ca_file: str
    ca_dir: str
    development: bool


def trust_facts(nodes: Iterable[tuple[Node, Mapping[str, Any] | None]]) -> dict[str, dict[str, Any]]:
    """For each node with TLS and an answer what preflight/rules/trust.py judges; the answer is the result of node_info.

    nodes -- all of the inventory, None for one that was not asked: only all voters together say that no quorum has ever
    formed. Such a cluster has nothing to keep together, and its CA may be the very reason.
    """
    asked = list(nodes)
    members = [member for node, info in asked if (member := _member(node, info)) is not None]
    groups = {one.group: [other for other in members if other.group == one.group] for one in members}
    return {one.name: _facts(one, () if _is_unformed(one, asked) else groups[one.group]) for one in members}


def _is_unformed(one: Member, asked: Sequence[tuple[Node, Mapping[str, Any] | None]]) -> bool:
    """Return whether it is a node of a cluster of which no voter has ever known a leader."""
    cluster, only_mirrors = one.group
    own = [(node, info) for node, info in asked if node.cluster == cluster]
    voters, brokers = ([info for node, info in own if getattr(node, role)] for role in ("controller", "broker"))
    return not only_mirrors and never_formed(voters, brokers)


def _facts(one: Member, group: Sequence[Member]) -> dict[str, Any]:
    """Return what to say of a node; group -- those that must go on trusting each other with it, none where none do."""
    late = [other for other in group if other.stale] if _moves_on(one, group) else []
    return {
        "development": one.development,
        "ca_file": one.ca_file,
        "ca_dir": one.ca_dir,
        "now": [described(pem) for pem in one.running.trusted],
        "then": [described(pem) for pem in one.brought.trusted],
        "issuers": sorted({issuer(other.brought.shown[-1]) for other in group if other.brought.shown}),
        "missing": one.missing,
        "half": one.half,
        "error": one.error,
        "breaks": [other.name for other in group if _breaks(one, other, group)],
        "unfinished": [other.name for other in late],
        "not_taken_up": [described(pem) for pem in dict.fromkeys(pem for other in late for pem in other.on_disk)],
    }


def _breaks(one: Member, other: Member, group: Sequence[Member]) -> bool:
    """Return whether this node accepts the other one now, and will not at some time of this run.

    Where a certificate has ended no handshake succeeds today, so there is nothing to keep.
    """
    now, then = one.running, one.brought
    if not now.trusted:
        return False
    # That a node accepts itself says nothing where there are others: one that was cut off is put right by a run.
    if one is other and any(member.running.shown for member in group if member is not one):
        return False
    if one.missing:
        return True
    if not other.running.shown:
        # Nobody shows anything yet: what is trusted alone tells.
        unknown = not any(member.running.shown for member in group)
        return unknown and bool(other.brought.shown) and not _accepts(now.trusted, other.brought.shown)
    if not _accepts(now.trusted, other.running.shown, today=True):
        return False
    met = [(now.trusted, other.brought.shown), (then.trusted, other.running.shown), (then.trusted, other.brought.shown)]
    return not all(_accepts(trusted, shown) for trusted, shown in met if trusted and shown)


def _moves_on(one: Member, group: Sequence[Member]) -> bool:
    """Say whether this run goes a step beyond what is on the disks while a process of the group is not there yet."""
    if not any(member.stale for member in group) or not one.running.trusted:
        return False
    issuers = {issuer(member.running.shown[0]) for member in group if member.running.shown}
    # Of the development CA its own certificate stands there, which it signed itself.
    coming = {issuer(pem) for pem in one.brought.shown[:1]}
    return not set(one.running.trusted) <= set(one.brought.trusted) or not coming <= issuers


@cache
def _accepts(trusted: Pems, shown: Pems, today: bool = False) -> bool:
    return reaches(shown, trusted, today)


def _member(node: Node, info: Mapping[str, Any] | None) -> Member | None:
    source, files = node.text("kafka_tls_source"), (info or {}).get("certificate_files")
    if not source or not files:
        return None
    names = ("kafka_tls_ca_file", "kafka_tls_certificate_file", "kafka_tls_key_file", "kafka_tls_ca_dir")
    ca_file, certificate_file, key_file, ca_dir = (str(Path(node.text(name)).expanduser()) for name in names)
    if PLACEHOLDER in f"{ca_file}{certificate_file}{key_file}":
        return None
    development = source == DEVELOPMENT
    ca = f"{ca_dir}/ca.pem"
    parts = {"key": key_file, "certificate": certificate_file, "truststore": ca_file}
    texts = stored({name: _content(path) for name, path in parts.items()})
    authority = pem_certificates(_text(ca)) if development else ()
    own = pem_certificates(texts["certificate"])
    brought = Stores(pem_certificates(texts["truststore"]), authority if development else own)
    by_name = {path.rpartition("/")[2]: found for path, found in files.items()}
    wanted = {TRUSTED: [texts["truststore"]], SHOWN: [texts["key"], texts["certificate"]]}
    same = {TRUSTED: brought.trusted, SHOWN: own}
    looks = {name: _running(by_name[name], wanted[name]) for name in wanted}
    disk = {name: pem_certificates("\n".join(by_name[name]["certificates"])) for name in wanted}
    present = {name: _present(looks[name], disk[name], same[name]) for name in wanted}
    return Member(
        name=node.name,
        # Mirrors show certificates to each other; what they need for clusters is not in these stores.
        group=(node.cluster, node.only_mirrors),
        running=Stores(present[TRUSTED], present[SHOWN]),
        brought=brought,
        on_disk=disk[TRUSTED],
        # A run that was cut before the restart brings the same again: it finishes its own step.
        stale="unknown" in looks.values() and disk != same,
        missing=development and not Path(ca).exists(),
        half=_half(ca, f"{ca_dir}/ca.key", authority, ca_file) if development else "",
        error=next((f"{name}: {by_name[name]['error']}" for name in by_name if by_name[name]["error"]), ""),
        ca_file=ca_file,
        ca_dir=ca_dir,
        development=development,
    )


def _running(found: Mapping[str, Any], parts: Sequence[str]) -> str:
    """Name the store that the process has: "disk", "brought", "none" or "unknown"; "disk" when nothing runs."""
    started = found["started"]
    if started is None or started == found["sha256"]:
        return "disk"
    # As the roles join them.
    content = "\n".join([*(part.rstrip() for part in parts), ""])
    if all(parts) and started == hashlib.sha256(content.encode()).hexdigest():
        return "brought"
    return "unknown" if started else "none"


def _present(which: str, disk: Pems, brought: Pems) -> Pems:
    return () if which == "none" else brought if which == "brought" else disk


def _half(ca: str, key: str, authority: Pems, ca_file: str) -> str:
    """Say why a CA that is there is of no use. One whose certificate is not there yet is made."""
    if not Path(ca_file).exists() and ca_file != ca:
        return f"kafka_tls_ca_file names {ca_file}, which does not exist"
    if not Path(ca).exists():
        return ""
    if not authority:
        return f"{ca} is no certificate in PEM form"
    if not Path(key).exists():
        return f"{ca} without {key}"
    return "" if key_fits(authority[0], key) else f"{key} is not the key of {ca}"


def _text(path: str) -> str:
    return _content(path).decode("utf-8", "replace")


def _content(path: str) -> bytes:
    """Return a file of the control node; nothing when it cannot be read, which the rules of the inventory name."""
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""
