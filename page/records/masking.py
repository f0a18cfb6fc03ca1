"""Take the values of named fields out of records, before anything is decoded, shown or cut. Pure.

What comes out are bytes again, in which the values are not, so no way to show them can bring them back. A value in
which fields cannot be found, since it is no JSON, is hidden whole unless the settings say otherwise; and then, too,
where it has one of the names in it.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from page.records import bounds
from page.records.naming import Mentions, normal
from page.records.trees import NoTreeError, Number, compact, tree_of

#: What stands for a value, whatever it was: neither its kind nor its length is told.
MASK = "***"
#: What may stand before JSON, or before what others than Python take as JSON.
_BLANK = "\ufeff \t\r\n\v\f\xa0"


@dataclass(frozen=True)
class Mask:
    """Hides the values of fields with these names (as C(normal) writes them); without names all is shown as it is."""

    names: Collection[str] = ()
    show_unmasked: bool = False

    def value(self, data: bytes | None, may_parse: bool = True) -> bytes | None:
        """Return a key or a value without its masked fields; None stays None. Raises HiddenError where it is hidden.

        Without C(may_parse) it is not looked at as JSON, so it is treated as text.
        """
        if not self.names or not data:
            return data
        try:
            if len(data) > bounds.JSON or not may_parse:
                raise NoTreeError
            return compact(self._masked(tree_of(data.decode()))).encode("utf-8", "surrogatepass")
        except RecursionError:
            # Of texts in texts, each nested as deeply as one may be.
            raise HiddenError from None
        except ValueError:
            # What has the name of a field in it may be JSON all the same: too long, too deep, or written in UTF-16.
            if self.show_unmasked and not self._mentions(data.replace(b"\0", b"").decode("utf-8", "replace")):
                return data
            raise HiddenError from None

    def header(self, name: str, data: bytes | None, may_parse: bool = True) -> bytes | None:
        """Return the value of a header: the mask by its name, without masked fields where it is JSON, else as it is.

        What is neither JSON nor a plain text is hidden as a value is. Raises HiddenError.
        """
        if not self.names or data is None:
            return data
        if self._names(name):
            return MASK.encode()
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return self.value(data, may_parse)
        is_plain = text.isprintable() and not any(one in text for one in "{[") and not self._mentions(text)
        return data if is_plain else self.value(data, may_parse)

    def _masked(self, tree: Any) -> Any:
        if isinstance(tree, dict):
            found = {self._text(name): MASK if self._names(name) else self._masked(one) for name, one in tree.items()}
            if len(found) < len(tree):
                # Names that are JSON may be the same when they are masked, and one of two would just be gone.
                raise HiddenError
            return found
        if isinstance(tree, list):
            return [self._masked(one) for one in tree]
        return self._text(tree) if isinstance(tree, str) and not isinstance(tree, Number) else tree

    def _text(self, text: str) -> str:
        """Return a text in JSON, which may be JSON itself: then what it has is masked as well.

        It cannot be endless: with each text in a text the marks that escape quotes are twice as many.
        """
        bare = text.lstrip(_BLANK)
        if not bare.startswith(("{", "[", '"')):
            return text
        try:
            tree = json.loads(bare) if bare.startswith('"') else tree_of(text)
        except (ValueError, RecursionError):
            return MASK if self._mentions(text) else text
        masked = self._masked(tree)
        return text if masked == tree else compact(masked)

    def _names(self, name: str) -> bool:
        return normal(name) in self.names

    @cached_property
    def _mentions(self) -> Mentions:
        return Mentions(self.names)


class HiddenError(Exception):
    """A value that is not shown at all, since fields to mask cannot be found in it."""
