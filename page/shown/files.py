"""Write what a page shows for machines: JSON, and lists as CSV. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

#: What a spreadsheet takes for the begin of a formula, also in full width (OWASP, CSV Injection).
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def as_json(data: Mapping[str, Any]) -> str:
    """Return data as JSON of ASCII alone, which no name can break; rows may be made while they are written."""
    return json.dumps(data, indent=1, default=_rows) + "\n"


def as_csv(rows: Iterable[Sequence[Any]]) -> str:
    """Return rows as CSV (RFC 4180). A text that a spreadsheet would calculate gets an apostrophe before it."""
    text = io.StringIO()
    csv.writer(text).writerows([_cell(one) for one in row] for row in rows)
    return text.getvalue()


def _rows(value: Any) -> list[Any]:
    if isinstance(value, Iterator):
        return list(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return "" if value is None else str(value).lower() if isinstance(value, bool) else value
    shown = value.encode("utf-8", "replace").decode("utf-8")
    return f"'{shown}" if shown.lstrip(" ").startswith(_FORMULA) else shown
