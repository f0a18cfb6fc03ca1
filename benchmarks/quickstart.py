#!/usr/bin/env python3
"""Times ./quickstart in a fresh clone: with empty caches, again, unchanged without the Spark job, unchanged with it.

    benchmarks/quickstart.py [--warm]        # --warm keeps the caches of this user for the first run too

Prints a markdown table by step. The first run is compared to the bare time that pip and Maven need for the same
packages, which is the part nobody can save; the re-runs to an empty play in the same run.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STEP = re.compile(r"^\[ *\d+s\] (.*)$|^PLAY \[(.*)\]")
EMPTY_PLAY = '[{"hosts": "localhost", "gather_facts": false, "tasks": []}]'


def timed_steps(
    command: list[str], directory: Path, environment: dict[str, str]
) -> tuple[float, list[tuple[str, float]]]:
    """Runs a command; returns its seconds and those of each step or play that it announces."""
    begin = time.monotonic()
    steps: list[tuple[str, float]] = []
    run = subprocess.Popen(
        command, cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert run.stdout is not None
    tail: list[str] = []
    for line in run.stdout:
        tail = [*tail[-30:], line]
        found = STEP.match(line)
        if found:
            steps.append((found.group(1) or found.group(2), time.monotonic()))
    if run.wait() != 0:
        raise SystemExit(f"{' '.join(command)} ended with {run.returncode}:\n{''.join(tail)}")
    end = time.monotonic()
    until = [start for _, start in steps[1:]] + [end]
    return end - begin, [(name, stop - start) for (name, start), stop in zip(steps, until, strict=True)]


def main() -> None:
    """Clones, measures, wipes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--warm", action="store_true", help="use this user's caches for the first run")
    parser.add_argument("--port-base", type=int, default=23090)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="quickstart-benchmark") as folder:
        clone, home = Path(folder) / "clone", Path(folder) / "home"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        home.mkdir()
        environment = {key: value for key, value in os.environ.items() if key != "XDG_CACHE_HOME"}
        if not options.warm:
            environment |= {"HOME": str(home), "MAVEN_OPTS": f"-Duser.home={home}"}
        base = ["--port-base", str(options.port_base)]
        try:
            measure("warm caches" if options.warm else "cold", ["./quickstart", *base], clone, environment)
            measure("re-run without validation", ["./quickstart", "--no-validation"], clone, environment)
            measure("re-run", ["./quickstart"], clone, environment)
            play = clone / ".run" / "empty.yml"
            play.write_text(EMPTY_PLAY)
            measure("an empty play", [".venv/bin/ansible-playbook", "-i", "localhost,", str(play)], clone, environment)
        finally:
            subprocess.run(["./quickstart", "--clean"], cwd=clone, env=environment, check=False, capture_output=True)


def measure(what: str, command: list[str], clone: Path, environment: dict[str, str]) -> None:
    """Runs one command and prints its table rows."""
    total, steps = timed_steps(command, clone, environment)
    print(f"\n| {what} | seconds |\n| --- | --- |")
    for name, seconds in steps:
        if seconds >= 0.5:
            print(f"| {name} | {seconds:.1f} |")
    print(f"| **all** | **{total:.1f}** |", flush=True)


if __name__ == "__main__":
    main()
