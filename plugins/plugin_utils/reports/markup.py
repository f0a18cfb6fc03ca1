# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The templates of pages, which escape every value, their kit, and the report of a status as one document."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ...module_utils._core.names import capped
from .document import document
from .status_cells import visible
from .status_view import LOOKS, TONES, counted, parts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2 import Template


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


def status_page(data: Mapping[str, Any]) -> str:
    """Return the page of what status_data returned."""
    shown = parts(data)
    word = data["status"]
    body = _template().render(parts=shown, word=word, looks=LOOKS[word], counted=counted(data), made=data["made"])
    return document(f"{word}: {capped([visible(part.name) for part in shown], 3) or 'no cluster'}", body)


@cache
def _template() -> Template:
    return engine().get_template("status.html.j2")
