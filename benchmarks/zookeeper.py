#!/usr/bin/env python3
"""Times an ensemble of three on this machine: archive to "one leader, two followers seen", an unchanged run, failover.

    benchmarks/zookeeper.py [--kills 10]

Failover: the leader is killed (SIGKILL) and every server is asked, up to 100 times a second, who leads now; the time is
from the kill to the first answer of another leader. The runs stand beside an empty play of Ansible. Prints markdown.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "collections")]

from tests.support.cluster import BIN, environment, free_port_base, until
from tests.support.zookeeper import ZookeeperCluster, inventory

EMPTY_PLAY = '[{"hosts": "localhost", "gather_facts": false, "tasks": []}]'


def seconds(work: object) -> float:
    """How long a call takes."""
    begin = time.monotonic()
    work()  # type: ignore[operator]
    return time.monotonic() - begin


def failover(cluster: ZookeeperCluster) -> float:
    """Kill the leader; the seconds until another server says that it leads."""
    before = cluster.leader()
    assert before is not None, "no server leads"
    begin = time.monotonic()
    cluster.kill(before)
    while cluster.leader() in (None, before):
        assert time.monotonic() - begin < 60, "no other leader within 60 s"
        time.sleep(0.01)
    took = time.monotonic() - begin
    until(lambda: cluster.ensemble()["healthy"], "the killed server to follow", timeout=120)
    return took


def main() -> None:
    """Install, run again, kill, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="zookeeper-benchmark") as folder:
        directory = Path(folder)
        play = directory / "empty.yml"
        play.write_text(EMPTY_PLAY)
        cluster = ZookeeperCluster(inventory(directory / "inventory", brokers=0), directory / "c", free_port_base())
        limit = ("--limit", "zookeeper")
        try:
            first = seconds(lambda: cluster.playbook("site.yml", *limit).ok())
            again = seconds(lambda: cluster.playbook("site.yml", *limit).ok())
            command = [str(BIN / "ansible-playbook"), "-i", "localhost,", str(play)]
            empty = seconds(lambda: subprocess.run(command, env=environment(), check=True, capture_output=True))
            print("\n| what | seconds |\n| --- | --- |")
            print(f"| archive in the cache to one leader and two followers seen | {first:.1f} |")
            print(f"| unchanged run | {again:.1f} |")
            print(f"| an empty play | {empty:.1f} |", flush=True)
            kills = [failover(cluster) for _ in range(options.kills)]
            print("\n| kills of the leader | median | worst |\n| --- | --- | --- |")
            print(f"| {len(kills)} | {statistics.median(kills):.2f} s | {max(kills):.2f} s |")
        finally:
            cluster.destroy()


if __name__ == "__main__":
    main()
