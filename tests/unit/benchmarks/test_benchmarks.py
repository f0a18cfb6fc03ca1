"""Each benchmark still finds what it imports: nothing else runs them."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[3] / "benchmarks"


@pytest.mark.parametrize("path", sorted(BENCHMARKS.glob("*.py")), ids=lambda path: path.stem)
def test_it_finds_what_it_imports(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    runpy.run_path(str(path), run_name="imported")


def test_the_audit_is_given_arguments_that_the_job_takes(tmp_path: Path) -> None:
    bench = runpy.run_path(str(BENCHMARKS / "mirror_audit.py"), run_name="imported")["Bench"]
    assert bench(tmp_path, "127.0.0.1:1", 10).arguments().pairs[0].target == "dc_a.bench"
