"""Read what a reader wants of a list: search, sort, part, page and form, and whether it looks again. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any
from urllib.parse import parse_qsl, urlencode

from page.shown.kinds import Kinds

#: Rows of a list on one page.
ROWS = 50
#: Bytes of the longest query, and characters of the longest search: names of topics have 249 (Topic.java).
LONGEST_QUERY = 4096
LONGEST_SEARCH = 500
#: Largest number of a page that is read.
LAST_PAGE = 1_000_000
HTML, JSON, CSV = "html", "json", "csv"
#: The part of a query that keeps a page from looking again by itself, and its one value.
REFRESH, NO = "refresh", "no"

Row = Mapping[str, Any]


class WrongQueryError(Exception):
    """A query that cannot be answered: what is wrong with which part, and the fix."""


#: What an order of texts is called.
BY_NAME = ("Z to A", "A to Z")


@dataclass(frozen=True)
class Sort:
    """One order of a list: its key in the address, what it is called, and what it sorts by.

    C(falls): the largest comes first; C(words) say so, then the other way round. A value of None, which is not known,
    comes last either way. C(column) is the title of the column that it sorts by, where that is another one.
    """

    key: str
    title: str
    by: Callable[[Row], Any]
    falls: bool = True
    words: tuple[str, str] = ("largest first", "smallest first")
    column: str = ""


@dataclass(frozen=True)
class Wanted:
    """What a reader wants: text that names must contain, a sort key ("-" before it turns it round), page and form.

    C(kind) is the key of a part of the list, empty for all of it, which C(by) chooses in the query. C(refresh): whether
    the page looks again by itself.
    """

    search: str = ""
    sort: str = ""
    page: int = 1
    form: str = HTML
    kind: str = ""
    by: str = ""
    refresh: bool = True

    def query(self, **changed: Any) -> str:
        """Return the query of the same list with some parts changed, without what is as by default."""
        other = replace(self, **changed)
        given = {"search": other.search, other.by: other.kind, "sort": other.sort, "page": other.page,
                 "format": other.form, REFRESH: "" if other.refresh or other.form != HTML else NO}  # fmt: skip
        usual = {"page": 1, "format": HTML}
        found = urlencode({name: value for name, value in given.items() if value != usual.get(name, "")},
                          errors="replace")  # fmt: skip
        return f"?{found}" if found else ""

    @property
    def kept(self) -> list[tuple[str, str]]:
        """What a search keeps of the query, by name: all but the search itself and the page."""
        return parse_qsl(self.query(search="", page=1)[1:])


@dataclass(frozen=True)
class Listing:
    """The rows of one page of a list: C(found) of C(total) fit what is wanted, C(every) are all of those in order.

    C(counts): how many of those that fit the search are in each part, C(searched) how many fit it in all.
    """

    rows: Sequence[Row]
    every: Sequence[Row]
    total: int
    page: int
    pages: int
    searched: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def found(self) -> int:
        """How many rows are wanted."""
        return len(self.every)


def form_of(query: bytes) -> str:
    """Return JSON where a query asks for it, also one that is answered with an error; else HTML. Raises nothing."""
    try:
        # All of it: a server reads no head above 64 KiB, and the form may stand behind what is too long.
        pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    except ValueError:
        return HTML
    return JSON if dict(pairs).get("format", "").strip() == JSON else HTML


def wanted_of(
    query: bytes, sorts: Sequence[Sort] = (), forms: Collection[str] = (HTML, JSON), kinds: Kinds | None = None
) -> Wanted:
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
    if given.get(REFRESH, NO) != NO:
        raise WrongQueryError(f"A page looks again by itself. Set {REFRESH} to {NO}, or leave it out.")
    kind = _kind(given, kinds) if kinds else ""
    by = kinds.name if kinds else ""
    return Wanted(search, sort, _page(given.get("page", "1")), form, kind, by, REFRESH not in given)


def _kind(given: Mapping[str, str], kinds: Kinds) -> str:
    kind = given.get(kinds.name, "")
    if kind and kind not in kinds.keys:
        raise WrongQueryError(f"This list has no such part. Set {kinds.name} to {', '.join(kinds.keys)}.")
    return kind


def _page(text: str) -> int:
    # isdecimal alone takes digits of all scripts.
    if not (text.isascii() and text.isdecimal() and len(text) <= 9 and 1 <= int(text) <= LAST_PAGE):
        raise WrongQueryError(f"page is no whole number from 1 to {LAST_PAGE:,}. Correct it.")
    return int(text)


def listed(rows: Sequence[Row], wanted: Wanted, sorts: Sequence[Sort], kinds: Kinds | None = None) -> Listing:
    """Return one page of rows, the last one where the number is beyond it; rows have a C(name)."""
    text = wanted.search.casefold()
    searched = [one for one in rows if text in str(one["name"]).casefold()] if text else [*rows]
    chosen = kinds.chosen(wanted.kind) if kinds else None
    found = [one for one in searched if chosen.fits(one)] if chosen else [*searched]
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
    counts = kinds.counts(searched) if kinds else {}
    return Listing(every[(page - 1) * ROWS : page * ROWS], every, len(rows), page, pages, len(searched), counts)
