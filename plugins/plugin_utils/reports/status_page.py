# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The report of a status as one HTML document; pure but for the template and the style sheet, which it reads."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, StrictUndefined, Template

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.document import document
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_cells import visible
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_view import (
    LOOKS,
    TONES,
    counted,
    parts,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


def status_page(data: Mapping[str, Any]) -> str:
    """Return the page of what status_data returned."""
    shown = parts(data)
    word = data["status"]
    body = _template().render(
        parts=shown, word=word, looks=LOOKS[word], tones=TONES, counted=counted(data), made=data["made"]
    )
    return document(f"{word}: {', '.join(visible(part.name) for part in shown[:3]) or 'no cluster'}", body)


@cache
def _template() -> Template:
    """Return the template. It escapes every value by itself; `visible` shows marks of direction as escapes first."""
    engine = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    engine.filters["visible"] = visible
    return engine.from_string(Path(__file__).with_name("status.html.j2").read_text(encoding="utf-8"))
