# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on the CA that nodes trust already: a run must not bring certificates of another one by accident."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....module_utils._core.names import capped
from ..host import Host
from ..rule import Problem, host_rule

ON_PURPOSE = (
    'to change the CA on purpose, have all nodes trust both first ("To change the CA" in docs/tls-sasl.md; the'
    " certificate of the old one is in tls/truststore.pem of every node)"
)
# A bundle of all the CAs of a distribution has more than a hundred.
SHOWN = 4


@host_rule(fix="run as root there (ansible_become), or correct the modes")
def unreadable_stores(hosts: Sequence[Host]) -> Iterator[Problem]:
    """A store of a node cannot be read, so it is unknown which CA the node trusts."""
    for host, trust in _with_tls(hosts):
        if trust["error"]:
            yield Problem(host, "a store of the node cannot be read", trust["error"])


@host_rule(
    variable="kafka_tls_ca_dir",
    allowed="ca.pem and the ca.key that belongs to it",
    fix="copy both from the control node that made the CA",
)
def incomplete_ca(hosts: Sequence[Host]) -> Iterator[Problem]:
    """The development CA has no key, or its file is missing, so nothing can be issued."""
    for host, trust in _with_tls(hosts):
        if trust["half"]:
            fix = f"copy both into {trust['ca_dir']} from the control node that made the CA"
            yield Problem(host, "the development CA is incomplete", trust["half"], fix=fix)


@host_rule(
    allowed="the CA that the nodes trust, or for a while both",
    fix=f"use the CA that the nodes trust; {ON_PURPOSE}",
)
def different_ca(hosts: Sequence[Host]) -> Iterator[Problem]:
    """This run brings another CA than the nodes trust, or certificates of one that they do not trust yet, or would make
    one anew on this control node: nodes would be cut off from each other while they restart. Both SHA-256 fingerprints
    are named. While no quorum of the cluster has ever formed, its CA may change."""
    for host, trust in _with_tls(hosts):
        if not trust["breaks"]:
            continue
        # Nothing that it trusts is taken away: it is the certificates that come too early.
        if trust["now"] and set(trust["now"]) <= set(trust["then"]):
            yield Problem(
                host,
                "this run brings certificates of a CA that the node does not trust yet, so it would be cut off while "
                "nodes restart",
                found=f"certificates issued by {capped(trust['issuers'], SHOWN)}; the node trusts"
                f" {capped(trust['now'], SHOWN)}",
                allowed="certificates of a CA that every node trusts already",
                fix="run first with both CAs in the CA file and the certificates of the run before, then with the new"
                ' certificates ("To change the CA" in docs/tls-sasl.md)',
                variable="kafka_tls_ca_dir" if trust["development"] else "kafka_tls_certificate_file",
            )
            continue
        ours = capped(trust["then"], SHOWN)
        if not ours:
            ours = (
                f"none in {trust['ca_dir']}, so a new one would be made"
                if trust["missing"]
                else f"{trust['ca_file']}, which cannot be parsed as certificates in PEM form"
            )
        yield Problem(
            host,
            "the node trusts another CA than this run brings, so it would be cut off when it or others restart",
            found=f"the node trusts {capped(trust['now'], SHOWN)}; the control node has {ours}",
            fix=_fix(trust),
            variable="kafka_tls_ca_dir" if trust["development"] else "kafka_tls_ca_file",
        )


@host_rule(
    variable="kafka_tls_ca_file",
    allowed="the settings of the run before, until it has restarted every node",
    fix="run again with the certificates and the CA file of the run before, then take the next step",
)
def unfinished_ca_change(hosts: Sequence[Host]) -> Iterator[Problem]:
    """This run takes the next step of a change of the CA before the one before has reached every process."""
    for host, trust in _with_tls(hosts):
        if trust["unfinished"] and not trust["breaks"]:
            yield Problem(
                host,
                "this run takes the next step of a change of the CA before the one before has reached every process",
                found=f"{capped(trust['unfinished'])} runs with other stores than are on its disk, which trusts"
                f" {capped(trust['not_taken_up'], SHOWN)}; this run brings {capped(trust['then'], SHOWN)}",
            )


def _with_tls(hosts: Sequence[Host]) -> Iterator[tuple[Host, Mapping[str, Any]]]:
    return ((host, host.trust) for host in hosts if host.trust is not None)


def _fix(trust: Mapping[str, Any]) -> str:
    if not trust["then"] and not trust["missing"]:
        return f"correct the file: every certificate in it must be complete; {ON_PURPOSE}"
    if trust["development"]:
        return (
            "copy kafka_tls_ca_dir of the control node that made the CA, with all it holds (ca.pem, ca.key, keys and"
            f" certificates, clients/), to {trust['ca_dir']} on this one; {ON_PURPOSE}"
        )
    return f"name the files of the CA that they trust, {trust['ca_file']} is another one; {ON_PURPOSE}"
