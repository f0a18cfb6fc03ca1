"""Both benchmarks of mirrors from their start to their tables, with few records: figures are not looked at."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cluster import ROOT

pytestmark = pytest.mark.full


def printed(name: str, *words: str, timeout: float) -> str:
    """Return what a benchmark prints."""
    command = [sys.executable, str(ROOT / "benchmarks" / name), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_a_mirror_is_measured_with_other_settings_and_profiled(tmp_path: Path) -> None:
    words = ["--only", "producer.linger.ms=0,heap=256m", "exactly_once=enabled", "source=lz4", "--profile"]
    text = printed("mirror.py", "--records", "200000", *words, str(tmp_path / "profiles"), timeout=1200)
    table = [line.split(" | ")[2:4] for line in text.splitlines() if line.startswith("| near ")]
    assert table == [
        ["200,000 x 100 B", "plain copy"],
        ["200,000 x 100 B", "mirror"],
        ["200,000 x 100 B", "producer.linger.ms=0,heap=256m"],
        ["200,000 x 100 B", "exactly_once=enabled"],
        ["200,000 x 100 B, lz4", "plain copy"],
        ["200,000 x 100 B, lz4", "source=lz4"],
    ]
    assert len(list((tmp_path / "profiles").glob("*.jfr"))) == len(list((tmp_path / "profiles").glob("*.md"))) == 6
    mirror = next((tmp_path / "profiles").glob("02-*.md")).read_text()
    assert "| task | " in mirror, mirror
    assert "org.apache.kafka.connect.mirror.MirrorSourceTask.poll" in mirror
    assert "| JIT | " in mirror, "CPU times of threads"


def test_an_audit_is_measured_beside_a_count() -> None:
    text = printed("mirror_audit.py", "--records", "20000", "--rounds", "2", timeout=1200)
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if "40,000" in line]
    assert len(rows) == 3, text
    assert all(len(row[-1].split(", ")) == 2 for row in rows), "a ratio for each round"
