"""Prometheus' own checker of rules, taken out of Debian's package by tools/prometheus_tools.sh."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / ".cache" / "prometheus" / "usr" / "bin"


@cache
def tool(name: str) -> str:
    """Return the path of promtool or amtool; the test is skipped where it cannot be had, and fails there in CI."""
    if found := shutil.which(name):
        return found
    made = subprocess.run([ROOT / "tools" / "prometheus_tools.sh"], capture_output=True, text=True, check=False)
    if made.returncode and not os.environ.get("CI"):
        pytest.skip(f"no {name}: {made.stderr.strip()}")
    assert made.returncode == 0, made.stderr
    return str(TOOLS / name)


def promtool(*words: str | Path) -> tuple[int, str]:
    """Run promtool; its exit status, and all that it printed."""
    command = [tool("promtool"), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout + done.stderr


def promtool_reads(metrics: str) -> tuple[int, str]:
    """Have promtool check metrics as a scrape gets them; its exit status, and all that it printed."""
    command = [tool("promtool"), "check", "metrics"]
    done = subprocess.run(command, input=metrics.encode(), capture_output=True, check=False, timeout=60)
    return done.returncode, (done.stdout + done.stderr).decode()
