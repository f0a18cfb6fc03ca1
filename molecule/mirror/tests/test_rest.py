"""The internal REST of the mirrors: TLS with certificates on both ends, signed requests of workers, nothing else."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support import certificates
from tests.support.machines import Ask, Machine

# What a worker sends to the leader of the group (KIP-710), the request that somebody else would want to forge.
TASKS = {"method": "POST", "path": "/dc_a/dc_b/connectors/MirrorSourceConnector/tasks", "body": []}
# A signature of the right shape with a key that nobody has (KIP-507).
FORGED = {
    "X-Connect-Authorization": base64.b64encode(bytes(32)).decode(),
    "X-Connect-Request-Signature-Algorithm": "HmacSHA256",
}
Send = Callable[..., str]


@pytest.fixture
def ca(mirrors: list[Machine]) -> certificates.Issued:
    """The CA of the mirrors."""
    return certificates.read(Path(mirrors[0].variables["kafka_tls_ca_file"]).parent, "ca")


@pytest.fixture
def peer(machines: dict[str, Machine], ca: certificates.Issued) -> dict[str, str]:
    """A certificate of that CA in the name of the second mirror."""
    machine = machines["mirror2"]
    issued = certificates.issue(machine.name, by=ca, names=(machine.address,))
    return {"certificate": issued.pem().decode(), "key": issued.key_pem().decode()}


@pytest.fixture
def place(machines: dict[str, Machine], ca: certificates.Issued) -> dict[str, Any]:
    """Where the first mirror listens."""
    machine = machines["mirror1"]
    return {"address": machine.address, "port": machine.ports["mirror_rest"], "ca": ca.pem().decode()}


@pytest.fixture
def send(machines: dict[str, Machine], place: dict[str, Any], ask: Ask) -> Send:
    """send(request...): what the first mirror answers to the machine of the second."""

    def sent(**request: Any) -> str:
        return ask(machines["mirror2"], "request.py", {**place, **request})

    return sent


def test_only_tls_1_3(machines: dict[str, Machine], place: dict[str, Any], peer: dict[str, str], ask: Ask) -> None:
    assert ask(machines["mirror2"], "handshake.py", {**place, **peer}) == "agreed TLSv1.3"
    assert ask(machines["mirror2"], "handshake.py", {**place, **peer, "version": "TLSv1_2"}).startswith("refused")


def test_plain_text_is_not_answered(machines: dict[str, Machine], place: dict[str, Any], ask: Ask) -> None:
    question = {"address": place["address"], "port": place["port"], "text": "GET / HTTP/1.1\r\nHost: mirror1\r\n\r\n"}
    assert "HTTP/" not in ask(machines["mirror2"], "plain.py", question)


def test_nobody_gets_in_without_a_certificate_of_the_ca(machines: dict[str, Machine], send: Send) -> None:
    assert "refused" in send(**TASKS)
    machine = machines["mirror2"]
    foreign = certificates.issue(
        machine.name, by=certificates.issue("CA of the tests", ca=True), names=(machine.address,)
    )
    assert "refused" in send(**TASKS, certificate=foreign.pem().decode(), key=foreign.key_pem().decode())


@pytest.mark.parametrize(("headers", "status"), [({}, "400"), (FORGED, "403")], ids=["unsigned", "forged"])
def test_who_has_a_certificate_and_no_key_of_the_group_changes_no_task(
    send: Send, peer: dict[str, str], headers: dict[str, str], status: str
) -> None:
    assert send(**TASKS, **peer, headers=headers) == status


@pytest.mark.parametrize("path", ["/connectors", "/connectors/MirrorSourceConnector/config", "/admin/loggers"])
def test_there_is_nothing_to_administer(send: Send, peer: dict[str, str], path: str) -> None:
    assert send(method="GET", path=path, **peer) == "404"
