"""What awx/data says of AWX, as tools/make_awx reads it."""

from __future__ import annotations

import json
import runpy
from functools import cache
from typing import Any

from tests.support.cluster import ROOT

#: The names of the tool.
MAKE_AWX: dict[str, Any] = runpy.run_path(str(ROOT / "tools" / "make_awx"))


def awx_data() -> dict[str, Any]:
    """Return all of it with its expressions filled in, by Ansible once for a process; each caller has its own."""
    found: dict[str, Any] = json.loads(_filled_in())
    return found


@cache
def _filled_in() -> str:
    return json.dumps(MAKE_AWX["data"]())
