"""Read what a reader wants of a list: search, sort, page and form. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any
from urllib.parse import parse_qsl, urlencode

#: Rows of a list on one page.
ROWS = 50
#: Bytes of the longest query, and characters of the longest search: names of topics have 249 (Topic.java).
LONGEST_QUERY = 4096
LONGEST_SEARCH = 500
#: Largest number of a page that is read.
LAST_PAGE = 1_000_000
HTML, JSON, CSV = "html", "json", "csv"

Row = Mapping[str, Any]


class WrongQueryError(Exception):
    """A query that cannot be answered: what is wrong with which part, and the fix."""


#: What an order of texts is called.
BY_NAME = ("Z to A", "A to Z")


@dataclass(frozen=True)
class Sort:
    """One order of a list: its key in the address, what it is called, and what it sorts by.

    C(falls): the largest comes first; C(words) say so, then the other way round. A value of None, which is not known,
    comes last either way.
    """

    key: str
    title: str
    by: Callable[[Row], Any]
    falls: bool = True
    words: tuple[str, str] = ("largest first", "smallest first")


@dataclass(frozen=True)
class Wanted:
    """What a reader wants: text that names must contain, a sort key ("-" before it turns it round), page and form."""

    search: str = ""
    sort: str = ""
    page: int = 1
    form: str = HTML

    def query(self, **changed: Any) -> str:
        """Return the query of the same list with some parts changed, without what is as by default."""
        other = replace(self, **changed)
        given = {"search": other.search, "sort": other.sort, "page": other.page, "format": other.form}
        usual = {"search": "", "sort": "", "page": 1, "format": HTML}
        found = urlencode({name: value for name, value in given.items() if value != usual[name]}, errors="replace")
        return f"?{found}" if found else ""


@dataclass(frozen=True)
class Listing:
    """The rows of one page of a list: C(found) of C(total) fit the search, C(every) are all of those in order."""

    rows: Sequence[Row]
    every: Sequence[Row]
    total: int
    page: int
    pages: int

    @property
    def found(self) -> int:
        """How many rows the search finds."""
        return len(self.every)


def wanted_of(query: bytes, sorts: Sequence[Sort] = (), forms: Collection[str] = (HTML, JSON)) -> Wanted:
    """Return what a query asks for; of a part that stands twice the last one counts, unknown parts are ignored.

    Raises WrongQueryError.
    """
    if len(query) > LONGEST_QUERY:
        raise WrongQueryError(f"The query has {len(query):,} bytes, at most {LONGEST_QUERY:,} are read. Shorten it.")
    try:
        given = dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True, max_num_fields=20))
    except ValueError:
        raise WrongQueryError("The query has more than 20 parts. Leave out those that no page has.") from None
    search, sort = given.get("search", "").strip(), given.get("sort", "")
    if len(search) > LONGEST_SEARCH:
        raise WrongQueryError(
            f"The search has {len(search)} characters, at most {LONGEST_SEARCH} are read. Shorten it."
        )
    keys = [one.key for one in sorts]
    if sort and sort.removeprefix("-") not in keys:
        raise WrongQueryError(f"This list has no such order. Set sort to {', '.join(keys) or 'nothing'}.")
    form = given.get("format", HTML)
    if form not in forms:
        raise WrongQueryError(f"This page has no such format. Set format to {' or '.join(forms)}.")
    return Wanted(search, sort, _page(given.get("page", "1")), form)


def _page(text: str) -> int:
    # isdecimal alone takes digits of all scripts.
    if not (text.isascii() and text.isdecimal() and len(text) <= 9 and 1 <= int(text) <= LAST_PAGE):
        raise WrongQueryError(f"page is no whole number from 1 to {LAST_PAGE:,}. Correct it.")
    return int(text)


def listed(rows: Sequence[Row], wanted: Wanted, sorts: Sequence[Sort]) -> Listing:
    """Return one page of rows, the last one where the number is beyond it; rows have a C(name)."""
    text = wanted.search.casefold()
    found = [one for one in rows if text in str(one["name"]).casefold()] if text else [*rows]
    key = wanted.sort.removeprefix("-")
    sort = next((one for one in sorts if one.key == key), sorts[0])
    falls = sort.falls != wanted.sort.startswith("-")
    found.sort(key=lambda one: str(one["name"]))
    valued = [(sort.by(one), one) for one in found]
    known = [pair for pair in valued if pair[0] is not None]
    known.sort(key=itemgetter(0), reverse=falls)
    every = [*(one for _value, one in known), *(one for value, one in valued if value is None)]
    pages = max(1, -(-len(every) // ROWS))
    page = min(wanted.page, pages)
    return Listing(every[(page - 1) * ROWS : page * ROWS], every, len(rows), page, pages)
