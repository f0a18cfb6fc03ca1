"""Pieces of a report that every job uses. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from html import escape

from spark_validation.shown import Document


def card(title: str, note: str, body: str) -> str:
    """A titled box; `note` and `body` are markup."""
    return f'<section class="card"><h2>{escape(title)}</h2><p class="note">{note}</p>{body}</section>'


def tile(document: Document, name: str, path: str, unit: str, more: str) -> str:
    """One headline figure, the value at `path`, with a line below it (markup)."""
    value = f'<div class="value">{document.show(path)}<span class="unit">{unit}</span></div>'
    return f'<div class="tile"><div class="name">{name}</div>{value}<div class="more">{more}</div></div>'
