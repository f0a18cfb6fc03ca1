# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on the CA that nodes trust already: a run must not bring certificates of another one by accident."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import capped
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.host import Host
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.violation import ERROR, Violation

ON_PURPOSE = (
    'to change the CA on purpose, have all nodes trust both first ("To change the CA" in docs/tls-sasl.md; the'
    " certificate of the old one is in tls/truststore.pem of every node)"
)
# A bundle of all the CAs of a distribution has more than a hundred.
SHOWN = 4


def same_ca(hosts: Sequence[Host]) -> Iterator[Violation]:
    """B32: old and new stores of a cluster accept each other while its nodes restart one by one."""
    for host, trust in _with_tls(hosts):
        if not trust["breaks"]:
            continue
        variable = "kafka_tls_ca_dir" if trust["development"] else "kafka_tls_ca_file"
        ours = _listed(trust["then"])
        if not ours:
            ours = (
                f"none in {trust['ca_dir']}, so a new one would be made"
                if trust["missing"]
                else f"{trust['ca_file']}, which cannot be parsed as certificates in PEM form"
            )
        yield Violation(
            "B32", ERROR, (host.name,), variable,
            "the node trusts another CA than this run brings, so it would be cut off when it or others restart",
            f"the node trusts {_listed(trust['now'])}; the control node has {ours}",
            "the CA that the nodes trust, or for a while both", _way_out(trust),
        )  # fmt: skip


def finished_step(hosts: Sequence[Host]) -> Iterator[Violation]:
    """B32: the next step of a change of the CA begins when every process has taken up the one before."""
    for host, trust in _with_tls(hosts):
        if trust["unfinished"] and not trust["breaks"]:
            yield Violation(
                "B32", ERROR, (host.name,), "kafka_tls_ca_file",
                "this run takes the next step of a change of the CA before the one before has reached every process",
                f"{capped(trust['unfinished'])} runs with other stores than are on its disk, which trusts"
                f" {_listed(trust['not_taken_up'])}; this run brings {_listed(trust['then'])}",
                "the settings of the run before, until it has restarted every node",
                "run again with the certificates and the CA file of the run before, then take the next step",
            )  # fmt: skip


def whole_ca(hosts: Sequence[Host]) -> Iterator[Violation]:
    """B32: a development CA that is there has its key, since nothing can be issued without, and its file is there."""
    for host, trust in _with_tls(hosts):
        if trust["half"]:
            yield Violation(
                "B32", ERROR, (host.name,), "kafka_tls_ca_dir", "the development CA is not whole", trust["half"],
                "ca.pem and the ca.key that belongs to it",
                f"copy both into {trust['ca_dir']} from the control node that made the CA",
            )  # fmt: skip


def readable_stores(hosts: Sequence[Host]) -> Iterator[Violation]:
    """B32: the stores that a node has can be read, or nobody knows whom it trusts."""
    for host, trust in _with_tls(hosts):
        if trust["error"]:
            yield Violation(
                "B32", ERROR, (host.name,), "", "a store of the node cannot be read", trust["error"],
                "stores that the user of this run can read", "run as root there (ansible_become), or correct the modes",
            )  # fmt: skip


def _with_tls(hosts: Sequence[Host]) -> Iterator[tuple[Host, Mapping[str, Any]]]:
    return ((host, host.trust) for host in hosts if host.trust is not None)


def _listed(described: Sequence[str]) -> str:
    return capped(list(described), SHOWN)


def _way_out(trust: Mapping[str, Any]) -> str:
    if not trust["then"] and not trust["missing"]:
        return f"correct the file: every certificate in it has to be whole; {ON_PURPOSE}"
    if trust["development"]:
        return (
            "copy kafka_tls_ca_dir of the control node that made the CA, with all it holds (ca.pem, ca.key, keys and"
            f" certificates, clients/), to {trust['ca_dir']} on this one; {ON_PURPOSE}"
        )
    return f"name the files of the CA that they trust, {trust['ca_file']} is another one; {ON_PURPOSE}"


RULES = (readable_stores, whole_ca, same_ca, finished_step)
