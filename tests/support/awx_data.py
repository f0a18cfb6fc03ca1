"""What awx/data says of AWX, as tools/make_awx reads it."""

from __future__ import annotations

import runpy
from functools import cache
from typing import Any

from tests.support.cluster import ROOT

#: The names of the tool.
MAKE_AWX: dict[str, Any] = runpy.run_path(str(ROOT / "tools" / "make_awx"))


@cache
def awx_data() -> dict[str, Any]:
    """Return all of it with its expressions filled in, which Ansible does once; tests change nothing in it."""
    found: dict[str, Any] = MAKE_AWX["data"]()
    return found
