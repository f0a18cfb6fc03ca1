# SPDX-License-Identifier: GPL-3.0-or-later
"""Preflight over SSH connections: hosts that cannot be reached, and clocks as the connection lets them be known.

All nodes are on this machine. A stand-in for the ssh client runs what Ansible sends in a shell, as sshd would; for one
node it is the real client against a closed port, or it gives the shell a clock that goes wrong.
"""

from __future__ import annotations

import re
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.test_preflight_playbook import (
    assert_refused_untouched,
    copy_of_local,
    preflight_only,
    saved,
)
from tests.support.cluster import Cluster, Run

SSH = """\
#!/bin/sh
# The last argument is the command for the other side.
for command; do :; done
exec /bin/sh -c "$command"
"""


def executable(path: Path, text: str) -> str:
    """A program of its own; its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def over_ssh(folder: Path, nodes: dict[str, dict[str, Any]], **more: Any) -> Cluster:
    """The local inventory over SSH connections, these nodes with variables of their own."""
    _inventory, hosts, variables = copy_of_local(folder)
    variables.update(ansible_connection="ssh", ansible_ssh_executable=executable(folder / "bin" / "ssh", SSH), **more)
    for name, own in nodes.items():
        hosts["kafka_brokers"]["hosts"][name].update(own)
    return saved(folder, hosts, variables)


def clock_off_by(folder: Path, offset: str) -> dict[str, Any]:
    """The variables of a node whose date is off."""
    executable(folder / "skewed" / "date", f'#!/bin/sh\nexec {shutil.which("date")} -d "{offset}" "$@"\n')
    ssh = SSH.replace("exec ", f"PATH={folder / 'skewed'}:$PATH exec ")
    return {"ansible_ssh_executable": executable(folder / "skewed" / "ssh", ssh)}


def told(run: Run) -> str:
    """What a run printed, without its line breaks."""
    return " ".join(run.output.split())


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port of loopback on which nothing listens, kept from others while the test runs."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.mark.parametrize("node", ["kafka1", "kafka2"])
def test_a_host_that_cannot_be_reached_is_named_and_no_other_is_touched(
    node: str, tmp_path: Path, closed_port: int
) -> None:
    cluster = over_ssh(tmp_path, {node: {"ansible_ssh_executable": shutil.which("ssh"), "ansible_port": closed_port}})
    run = cluster.playbook()
    assert_refused_untouched(run, cluster)
    text = told(run)
    assert "1 error found before any change; nothing was touched." in text
    assert f"ERROR B21, hosts that did not answer: - {node}: the host did not answer what is on it (found: " in text
    assert f"port {closed_port}: Connection refused" in text.split("ERROR B21", 1)[1]
    assert run.output.count("PLAY [") == 1


def test_clocks_that_are_apart_are_refused_with_every_offset(tmp_path: Path) -> None:
    cluster = over_ssh(tmp_path, {"kafka2": clock_off_by(tmp_path, "1 hour")})
    run = cluster.playbook()
    assert_refused_untouched(run, cluster)
    text = told(run)
    assert "ERROR B28, clocks: - kafka2: the clocks of cluster local differ by at least 3" in text
    assert re.search(r"kafka1 [+-]0\.\d\d s .± 0\.\d\d.", text)
    assert "kafka2 +3600.0" in text


def test_clocks_that_are_apart_can_be_accepted_and_are_then_shown(tmp_path: Path) -> None:
    cluster = over_ssh(tmp_path, {"kafka2": clock_off_by(tmp_path, "1 hour ago")}, preflight_accept=["B28"])
    run = preflight_only(cluster, tmp_path).ok()
    assert run.changed == 0
    assert "[WARNING]: B28, clocks: kafka2: the clocks of cluster local differ by at least" in told(run)
    assert "accepted by preflight_accept" in told(run)


def test_a_host_without_a_usable_date_is_a_warning(tmp_path: Path) -> None:
    off = clock_off_by(tmp_path, "now")
    executable(tmp_path / "skewed" / "date", "#!/bin/sh\necho 12:00\n")
    run = preflight_only(over_ssh(tmp_path, {"kafka3": off}), tmp_path).ok()
    assert "[WARNING]: B28, clocks: kafka3: the clock could not be judged (found: date printed '12:00'" in told(run)
