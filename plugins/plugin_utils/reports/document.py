# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The frame of an HTML report: one file, no network, no script. Pure but for the style sheet, which is the one of the
Spark job's report."""

from __future__ import annotations

from functools import cache
from html import escape
from pathlib import Path


def document(title: str, body: str) -> str:
    """Return an HTML document; ``title`` is text and ``body`` markup."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title><style>{_style()}</style></head><body><main>\n{body}\n"
        "</main></body></html>\n"
    )


@cache
def _style() -> str:
    return (Path(__file__).parents[3] / "spark_validation" / "report" / "report.css").read_text(encoding="utf-8")
