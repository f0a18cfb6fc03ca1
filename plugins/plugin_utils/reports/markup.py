# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The templates of pages: their engine, which escapes every value by itself, and the kit that they share."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from .status_cells import visible
from .status_view import TONES


def engine(*directories: Path) -> Environment:
    """Return an engine for the templates in C(directories), and for the kit (kit.html.j2) beside this file.

    The filter C(visible) shows marks of direction, and what no screen shows, as escapes.
    """
    loader = FileSystemLoader([*directories, Path(__file__).parent])
    found = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    found.filters["visible"] = visible
    found.globals["tones"] = TONES
    return found
