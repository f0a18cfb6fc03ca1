# SPDX-License-Identifier: GPL-3.0-or-later
"""site.yml once more on a cluster that is as its inventory says."""

from __future__ import annotations

from pathlib import Path

from tests.support.cluster import Cluster
from tests.support.shuffled import with_reversed_hosts


def test_it_changes_and_restarts_nothing_whatever_the_order_of_hosts(combined: Cluster, tmp_path: Path) -> None:
    before = combined.pids()
    turned = with_reversed_hosts(combined, tmp_path)
    assert list(turned.identities) == list(reversed(combined.nodes))
    run = turned.playbook().ok()
    assert run.changed == 0, run.output
    assert combined.pids() == before
    assert "Topics       2 (orders, payments)" in run.output
