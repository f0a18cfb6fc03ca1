"""TLS between machines: which versions, whose certificates, under which names."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import certificates
from tests.support.machines import Ask, Machine

# Listener, the machine that has it, and another that the firewall lets in.
INNER = {"brokers": ("broker1", "broker2"), "controllers": ("controller1", "broker2")}
EVERY = {"clients": ("broker1", "client"), **INNER}


def question(machines: dict[str, Machine], purpose: str, ca: certificates.Issued, **more: Any) -> dict[str, Any]:
    node = machines[EVERY[purpose][0]]
    return {"address": node.address, "port": node.ports[purpose], "ca": ca.pem().decode(), **more}


def shown(one: certificates.Issued) -> dict[str, str]:
    """A certificate to show."""
    return {"certificate": one.pem().decode(), "key": one.key_pem().decode()}


@pytest.mark.parametrize("purpose", EVERY)
def test_tls_1_3_and_nothing_older(
    machines: dict[str, Machine], ca: certificates.Issued, ask: Ask, purpose: str
) -> None:
    peer = machines[EVERY[purpose][1]]
    own = shown(certificates.issue(peer.name, by=ca, names=(peer.address,)))
    assert ask(peer, "handshake.py", question(machines, purpose, ca, **own)) == "agreed TLSv1.3"
    for version in ("TLSv1_2", "TLSv1_1"):
        # The node's own alert, not this end's OpenSSL, which may know no such version.
        said = ask(peer, "handshake.py", question(machines, purpose, ca, version=version, **own))
        assert said.startswith("refused")
        assert "ALERT_PROTOCOL_VERSION" in said.upper().replace(" ", "_")


@pytest.mark.parametrize("purpose", INNER)
def test_only_certificates_of_the_ca_get_into_inner_listeners(
    machines: dict[str, Machine], ca: certificates.Issued, ask: Ask, purpose: str
) -> None:
    peer = machines[INNER[purpose][1]]
    foreign = certificates.issue(peer.name, by=certificates.issue("CA of the tests", ca=True), names=(peer.address,))
    assert ask(peer, "handshake.py", question(machines, purpose, ca)).startswith("refused")
    assert ask(peer, "handshake.py", question(machines, purpose, ca, **shown(foreign))).startswith("refused")


@pytest.mark.parametrize("purpose", EVERY)
def test_a_node_shows_only_its_own_names(
    machines: dict[str, Machine], ca: certificates.Issued, ask: Ask, purpose: str
) -> None:
    peer = machines[EVERY[purpose][1]]
    asked = question(machines, purpose, ca, name="broker9.example.com")
    assert "Hostname mismatch" in ask(peer, "handshake.py", asked)
