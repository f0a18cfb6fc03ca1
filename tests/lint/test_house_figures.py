# SPDX-License-Identifier: GPL-3.0-or-later
"""No figure of the structure of the house is above its bound in docs/development/budget.yml."""

from __future__ import annotations

import runpy
import warnings
from typing import Any

import yaml

from tests.support.cluster import ROOT

TOOL: dict[str, Any] = runpy.run_path(str(ROOT / "tools" / "house_figures"))
CONTENT: dict[str, Any] = yaml.safe_load(TOOL["BUDGET"].read_text())


def test_every_figure_has_a_bound_and_every_raise_a_reason() -> None:
    assert TOOL["faults"](CONTENT) == []
    assert TOOL["stale"](CONTENT) == [], "tools/house_figures --write mends this"


def test_no_figure_is_above_its_bound() -> None:
    budget, now = TOOL["bounds"](CONTENT), TOOL["current"]()
    rows = TOOL["table"](now, budget)
    rose = TOOL["exceeded"](now, budget)
    assert not rose, f'lower {", ".join(rose)}, or run tools/house_figures --why "REASON"\n{rows}'
    if TOOL["lowered"](now, budget) != budget:
        warnings.warn(f"figures fell: run tools/house_figures --write to lower their bounds\n{rows}", stacklevel=1)
