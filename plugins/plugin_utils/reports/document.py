# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The frame of an HTML page without a script. Pure but for the style sheet, which is the one of the Spark job's report.

A report is one file, so its style stands in it; a page that is served names its style sheet.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path

#: Below the root of the collection: the room that a Spark job carries along.
STYLE_SHEET = "spark_validation/core/report.css"
#: The sign of a tone, as the path of a drawing.
_MARKS = {"pass": "M18 31l8 8 16-18", "fail": "M20 20l20 20M40 20L20 40", "info": "M30 17v16M30 43v.1"}


def document(title: str, body: str, links: Mapping[str, str] | None = None) -> str:
    """Return an HTML document.

    Args:
        title: Text.
        body: Markup.
        links: The addresses of what it is served with, as stylesheet and icon; without it the style stands in it.
    """
    head = "".join(f'<link rel="{kind}" href="{escape(at)}">' for kind, at in (links or {}).items())
    head = head or f"<style>{style()}</style>"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title>{head}</head><body><main>\n{body}\n"
        "</main></body></html>\n"
    )


def head(tone: str, word: str, say: str, facts: str, tag: str = "div") -> str:
    """Return the head of a report: how it ended, by colour, sign and words; C(facts) is markup."""
    return (
        f'<header class="card {tone}"><svg class="mark" viewBox="0 0 60 60" aria-hidden="true">'
        f'<path d="{_MARKS.get(tone, _MARKS["info"])}"/></svg>'
        f'<div><{tag} class="word">{escape(word)}</{tag}><div class="say">{escape(say)}</div></div>'
        f'<div class="facts">{facts}</div></header>'
    )


def card(title: str, note: str, body: str) -> str:
    """Return a section of a report; C(body) is markup."""
    said = f'<p class="note">{escape(note)}</p>' if note else ""
    return f'<section class="card"><h2>{escape(title)}</h2>{said}{body}</section>'


@cache
def style() -> str:
    """Return the style sheet of all pages and reports."""
    return (Path(__file__).parents[3] / STYLE_SHEET).read_text(encoding="utf-8")
