"""The keys of brokers and clients, where clients log in by Kerberos: in one file of each broker, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.machines import SEARCHED, Ask, Machine


@pytest.fixture
def keytabs(machines: dict[str, Machine]) -> list[Path]:
    """Those that prepare.yml made, on the control node."""
    place = Path(machines["broker1"].variables["molecule_peer_dir"])
    made = sorted(place.glob("*.keytab"))
    if not made:
        pytest.skip("clients do not log in by Kerberos")
    return made


def test_a_keytab_is_in_one_file_that_only_its_service_can_read(
    keytabs: list[Path], machines: dict[str, Machine], nodes: list[Machine], ask: Ask
) -> None:
    known = {path.stem: path.read_bytes().hex() for path in keytabs}
    for node in nodes:
        there: dict[str, list[str]] = json.loads(ask(node, "holders.py", {"places": SEARCHED, "contents": known}))
        path = f"{node.directories[1]}/{node.name}/kafka.keytab"
        assert there == ({node.name: [path]} if node.is_broker else {}), node.name
        if node.is_broker:
            assert node.run("stat", "-c", "%U %G %a", path) == f"root {node.group} 440"
            assert "Permission denied" in node.fails("setpriv", "--reuid=nobody", "--clear-groups", "cat", path)
    # The search finds what is there.
    there = json.loads(ask(machines["client"], "holders.py", {"places": ["/etc"], "contents": known}))
    assert there["reader"] == ["/etc/reader.keytab"]
