# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The report of a status as one HTML document; pure but for the template and the style sheet, which it reads."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from ...module_utils._core.names import capped
from .document import document
from .markup import engine
from .status_cells import visible
from .status_view import LOOKS, counted, parts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2 import Template


def status_page(data: Mapping[str, Any]) -> str:
    """Return the page of what status_data returned."""
    shown = parts(data)
    word = data["status"]
    body = _template().render(parts=shown, word=word, looks=LOOKS[word], counted=counted(data), made=data["made"])
    return document(f"{word}: {capped([visible(part.name) for part in shown], 3) or 'no cluster'}", body)


@cache
def _template() -> Template:
    return engine().get_template("status.html.j2")
