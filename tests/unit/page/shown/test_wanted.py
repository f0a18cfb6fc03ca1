"""What a reader wants of a list: search, order, pages, and their bounds."""

from __future__ import annotations

from typing import Any

import pytest

from page.shown.kinds import Kind, Kinds
from page.shown.wanted import BY_NAME, CSV, HTML, JSON, ROWS, Sort, Wanted, WrongQueryError, form_of, listed, wanted_of

SORTS = (
    Sort("lag", "Lag", lambda one: one["lag"]),
    Sort("name", "Name", lambda one: one["name"], falls=False, words=BY_NAME),
)

KINDS = Kinds(
    "state",
    (Kind("late", "Late", lambda one: (one["lag"] or 0) > 2), Kind("untold", "Untold", lambda one: one["lag"] is None)),
    "Show",
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


def test_a_part_is_chosen_within_the_search_with_the_number_of_each() -> None:
    found = listed(rows(3, None, 9, 1), Wanted(sort="name", kind="late"), SORTS, KINDS)
    assert [one["name"] for one in found.rows] == ["g0", "g2"]
    assert (found.found, found.searched, found.total, found.counts) == (2, 4, 4, {"late": 2, "untold": 1})
    searched = listed(rows(3, None, 9, 1), Wanted("g1", kind="late"), SORTS, KINDS)
    assert (searched.found, searched.searched, searched.total, searched.counts) == (0, 1, 4, {"late": 0, "untold": 1})


def test_search_part_order_and_rest_stay_together_in_a_query() -> None:
    found = wanted_of(b"refresh=no&state=late&search=g&sort=-lag&page=2", SORTS, kinds=KINDS)
    assert found == Wanted("g", "-lag", 2, HTML, "late", "state", False)
    assert wanted_of(found.query()[1:].encode(), SORTS, kinds=KINDS) == found
    assert found.query(kind="", page=1) == "?search=g&sort=-lag&refresh=no"
    assert found.query(form=CSV, page=1) == "?search=g&state=late&sort=-lag&format=csv", "no file looks again"
    assert found.kept == [("state", "late"), ("sort", "-lag"), ("refresh", "no")]
    assert wanted_of(b"state=late", SORTS).kind == "", "a list without parts ignores it, as all that it does not know"


@pytest.mark.parametrize("query", [b"state=no", b"state=LATE", b"refresh=yes", b"refresh=", b"refresh=5"])
def test_a_wrong_part_or_refresh_is_said_with_its_fix(query: bytes) -> None:
    with pytest.raises(WrongQueryError, match=r"Set (state to late, untold|refresh to no)"):
        wanted_of(query, SORTS, kinds=KINDS)


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


def test_who_asks_for_json_gets_an_error_as_json_however_long_the_query_is() -> None:
    assert form_of(b"search=x&format=json") == form_of(b"search=" + b"s" * 5000 + b"&format=json") == JSON
    assert form_of(b"format=json&format=html") == form_of(b"") == form_of(b"\xff=%ff;&&") == HTML
