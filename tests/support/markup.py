# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads an HTML report as a browser does: which tags it opens and closes, their attributes, and its text."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = ("meta", "path", "rect", "line", "polyline", "br")


class Markup(HTMLParser):
    """Reads a document; a tag that closes another one than the last open one is an error."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.text = ""
        self.feed(document)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag in VOID or self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def values(self, name: str) -> list[str]:
        """The values of all attributes of this name."""
        return [value for _, attribute, value in self.attributes if attribute == name]
