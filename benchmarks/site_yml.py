#!/usr/bin/env python3
"""Times site.yml on the six containers of the scenario `default`: first run, unchanged again, and what Ansible costs.

    .venv/bin/python benchmarks/site_yml.py [--runs 3]

Needs a Docker engine (tools/docker_engine.sh start). The Spark job is left out: its time has figures of its own.
Each figure is the wall time in seconds, the CPU seconds of the control node's processes, and what hosts were asked to
do (tasks that ran, of all hosts together; and the most that one host ran). The last row is a play that does nothing but
ping, as often as the unchanged run had tasks for the host that ran most: what Ansible needs for so many tasks. Wall
times on a busy machine say little: compare figures of one run with each other.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCENARIO = "default"
RECAP = re.compile(r"^(\S+) +: ok=(\d+) +changed=(\d+)", re.MULTILINE)


def molecule(step: str) -> None:
    """One step of the scenario."""
    subprocess.run(["molecule", step, "-s", SCENARIO], cwd=ROOT, check=True, stdout=sys.stderr)


def timed(playbook: Path, inventory: Path, *words: str) -> dict[str, float]:
    """Runs a playbook; returns `wall` and `cpu` seconds, tasks `ran` by all hosts, the `most` of one, and `changed`."""
    before, began = os.times(), time.monotonic()
    command = ["ansible-playbook", "-i", str(inventory), str(playbook), *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    wall, after = time.monotonic() - began, os.times()
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-2000:]}")
    ran = [(int(ok), int(changed)) for _, ok, changed in RECAP.findall(done.stdout)]
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    tasks = [ok for ok, _ in ran]
    return {"wall": wall, "cpu": cpu, "ran": sum(tasks), "most": max(tasks), "changed": sum(one for _, one in ran)}


def pings(count: int, directory: Path) -> Path:
    """A play with so many tasks."""
    play = {"hosts": "kraft_controllers:kafka_brokers", "gather_facts": False}
    tasks = [{"name": f"Ping {number}", "ansible.builtin.ping": None} for number in range(count)]
    (directory / "pings.yml").write_text(json.dumps([{**play, "tasks": tasks}]))
    return directory / "pings.yml"


def show(what: str, figures: dict[str, float]) -> None:
    """One row of the table."""
    ran, most, changed = (int(figures[name]) for name in ("ran", "most", "changed"))
    print(f"| {what} | {figures['wall']:.1f} | {figures['cpu']:.1f} | {ran} | {most} | {changed} |", flush=True)


def main() -> None:
    """Makes the machines, measures, takes them away."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="how often the unchanged run is measured")
    options = parser.parse_args()
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    with tempfile.TemporaryDirectory(prefix="site-benchmark") as folder:
        work = Path(folder)
        # Molecule writes its inventory and configuration where this says.
        os.environ["MOLECULE_EPHEMERAL_DIRECTORY"] = folder
        try:
            molecule("create")
            molecule("prepare")
            os.environ["ANSIBLE_CONFIG"] = str(work / "ansible.cfg")
            os.environ["ANSIBLE_COLLECTIONS_PATH"] = str(ROOT / "collections")
            print("| run | wall s | CPU s | tasks, all hosts | tasks, most of one | changed |")
            print("| --- | --- | --- | --- | --- | --- |")
            measure(work / "inventory", work, options.runs)
        finally:
            molecule("destroy")
    print(f"\nLoad of the machine at the end {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")


def measure(inventory: Path, work: Path, runs: int) -> None:
    """The rows, one after the other."""
    site, plain = ROOT / "site.yml", ["-e", "spark_validation_enabled=false"]
    show("first", timed(site, inventory, *plain))
    for _ in range(runs):
        again = timed(site, inventory, *plain)
        show("unchanged", again)
        show("as many pings", timed(pings(int(again["most"]), work), inventory))


if __name__ == "__main__":
    main()
