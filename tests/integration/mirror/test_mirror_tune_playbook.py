# SPDX-License-Identifier: GPL-3.0-or-later
"""playbooks/mirror_tune.yml between two clusters that site.yml installed: plan, knee, page, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cluster import until
from tests.support.mirrored import Mirrored, local_mirror
from tests.support.modules import run_module

pytestmark = pytest.mark.full

TUNE = "playbooks/mirror_tune.yml"
WISH = {
    "mirror_tune_flow": "dc_a->dc_b",
    "mirror_tune_bytes": 400_000_000,
    "mirror_tune_tasks": "1,2",
    "mirror_tune_options": "compression",
    "mirror_tune_rounds": 1,
    "mirror_tune_seconds": 60,
}


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mirrored]:
    """The shipped inventory, up and mirroring."""
    cluster = local_mirror(tmp_path_factory.mktemp("mirror_tune_playbook"), spark_validation_enabled=False)
    try:
        cluster.playbook().ok()
        yield cluster
    finally:
        cluster.destroy()


def topics(cluster: Mirrored) -> dict[str, set[str]]:
    """Names of topics by cluster."""
    found = {}
    for name in ("dc_a", "dc_b"):
        info = run_module("streamops.kafka.cluster_info", {"bootstrap_servers": cluster.servers(name)})
        found[name] = {topic["name"] for topic in info["topics"]}
    return found


def of_a_tuning(cluster: Mirrored) -> set[str]:
    """Topics of a tuning in both clusters."""
    return {name for names in topics(cluster).values() for name in names if "_streamops_tune_" in name}


def test_a_flow_that_is_not_there_is_refused(mirrored: Mirrored) -> None:
    run = mirrored.playbook(TUNE, **{**WISH, "mirror_tune_flow": "dc_b->dc_a"})
    assert run.rc != 0
    assert "no flow of mirror_flows; flows are dc_a->dc_b" in run.output


def test_check_mode_shows_the_plan_and_changes_nothing(mirrored: Mirrored) -> None:
    before = topics(mirrored)
    run = mirrored.playbook(TUNE, "--check", **WISH).ok()
    assert "At most      4 runs" in run.output
    assert "12 partitions" in run.output
    assert topics(mirrored) == before


def test_a_run_that_is_killed_leaves_nothing_that_goes_on_and_the_next_one_tells_the_knee(
    mirrored: Mirrored, tmp_path: Path
) -> None:
    before = mirrored.pid("mirror1")
    own = mirrored.directory / "log" / "mirror1" / "tune"
    killed = mirrored.begin(TUNE, **WISH)
    try:
        until((own / "pid").exists, "a mirror of the tuning", timeout=240)
    finally:
        os.killpg(killed.pid, signal.SIGKILL)
        killed.communicate(timeout=60)
    assert of_a_tuning(mirrored)
    page = tmp_path / "tune.html"
    run = mirrored.playbook(TUNE, mirror_tune_report=str(page), **WISH).ok()
    for word in ("Knee         dc_a->dc_b: ", "Ended by     ", "Compression  ", "mirror_maker_tasks_max: "):
        assert word in run.output, run.output[-3000:]
    assert "rate over compression" in page.read_text()
    assert of_a_tuning(mirrored) == set()
    assert not own.exists()
    assert subprocess.run(["pgrep", "-f", str(own)], check=False, stdout=subprocess.PIPE).stdout == b""
    # The mirror of production has not been touched.
    assert mirrored.pid("mirror1") == before
