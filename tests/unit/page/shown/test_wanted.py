"""What a reader wants of a list: search, order, pages, and their bounds."""

from __future__ import annotations

from typing import Any

import pytest

from page.shown.wanted import BY_NAME, CSV, HTML, ROWS, Sort, Wanted, WrongQueryError, listed, wanted_of

SORTS = (
    Sort("lag", "Lag", lambda one: one["lag"]),
    Sort("name", "Name", lambda one: one["name"], falls=False, words=BY_NAME),
)


def rows(*lags: int | None) -> list[dict[str, Any]]:
    return [{"name": f"g{number}", "lag": lag} for number, lag in enumerate(lags)]


def names(some: list[dict[str, Any]], **wanted: Any) -> list[str]:
    return [one["name"] for one in listed(some, Wanted(**wanted), SORTS).rows]


def test_the_largest_comes_first_and_what_is_not_known_last_either_way() -> None:
    some = rows(3, None, 9, 3)
    assert names(some) == ["g2", "g0", "g3", "g1"]
    assert names(some, sort="-lag") == ["g0", "g3", "g2", "g1"]
    assert names(some, sort="name") == ["g0", "g1", "g2", "g3"]
    assert names(some, sort="-name") == ["g3", "g2", "g1", "g0"]


def test_a_page_beyond_the_last_is_the_last_and_an_empty_list_has_one() -> None:
    found = listed(rows(*range(ROWS + 1)), Wanted(page=9), SORTS)
    assert (found.page, found.pages, found.found, len(found.rows)) == (2, 2, ROWS + 1, 1)
    assert listed([], Wanted(page=9), SORTS).pages == 1


def test_a_search_is_a_part_of_a_name_in_any_case() -> None:
    some = [{"name": one, "lag": 0} for one in ("Orders", "orders-2", "STRASSE", "[a-z]")]
    assert names(some, search="ORDER") == ["Orders", "orders-2"]
    assert names(some, search="stra\u00dfe") == ["STRASSE"]
    assert names(some, search="[") == ["[a-z]"]
    assert names(some, search=".*") == []


def test_a_query_is_read_and_written_again() -> None:
    found = wanted_of(b"search=%22a%26b+c&sort=-name&page=3&other=1&page=4", SORTS)
    assert found == Wanted('"a&b c', "-name", 4, HTML)
    assert wanted_of(found.query()[1:].encode(), SORTS) == found
    assert found.query(search="", sort="", page=1) == ""
    assert wanted_of(b"search=%ff%00", SORTS).search == "\ufffd\x00"
    assert Wanted("\ud800").query() == "?search=%3F"


@pytest.mark.parametrize(
    "query",
    [b"page=0", b"page=+1", b"page=1_0", b"page=1.0", b"page=", b"sort=size", b"sort=--lag", b"format=csv", b"format=",
     b"search=" + b"s" * 501, b"a" * 4097, b"&".join(b"a=1" for _ in range(21))],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_fix(query: bytes) -> None:
    with pytest.raises(WrongQueryError, match=r"Correct it|Set (sort|format)|Shorten it|Leave out"):
        wanted_of(query, SORTS)


def test_a_list_may_be_taken_as_csv() -> None:
    assert wanted_of(b"format=csv", SORTS, (HTML, CSV)).form == CSV
