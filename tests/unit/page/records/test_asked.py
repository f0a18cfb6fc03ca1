"""Which records a query asks for, and what no query gets."""

from __future__ import annotations

import pytest

from page.records.asked import Asked, asked_of
from page.shown.wanted import WrongQueryError


def test_the_newest_of_all_partitions_unless_asked_otherwise() -> None:
    assert asked_of(b"") == asked_of(b"offset=&time=&partition=all&unknown=1") == Asked()
    assert Asked().query() == ""


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (b"from=oldest", "from oldest of all partitions, read_committed"),
        (b"from=offset&offset=7&partition=3", "from offset 7 of partition 3, read_committed"),
        (b"from=time&time=2026-11-24T06:00:00%2B01:00", "from time 2026-11-24T05:00:00.000Z of all partitions, "
                                                        "read_committed"),
        (b"from=oldest&search=Stra%C3%9Fe%20%26",
         "from oldest of all partitions, read_committed, a search of at most 1,000 records"),
        (b"from=time&time=1795503600123&isolation=read_uncommitted",
         "from time 2026-11-24T07:00:00.123Z of all partitions, read_uncommitted"),
    ],
)  # fmt: skip
def test_a_query_is_read_and_written_the_same(query: bytes, words: str) -> None:
    found = asked_of(query)
    assert found.words == words
    assert asked_of(found.query().removeprefix("?").encode()) == found
    assert asked_of(found.query(show="hex", form="json")[1:].encode()).show == "hex"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (b"from=begin", "from is none of"),
        (b"show=html", "show is none of"),
        (b"format=csv", "format is none of"),
        (b"isolation=none", "isolation is none of"),
        (b"partition=-1", "partition is no whole number"),
        (b"partition=2147483648", "partition is no whole number"),
        ("partition=٣".encode(), "partition is no whole number"),
        (b"from=offset&offset=1", "An offset is one of a partition"),
        (b"from=offset&partition=0", "offset is no whole number"),
        (b"from=offset&partition=0&offset=9223372036854775808", "offset is no whole number"),
        (b"from=offset&partition=0&offset=1e3", "offset is no whole number"),
        (b"from=time", "time is no time"),
        (b"from=time&time=now", "time is no time"),
        (b"from=time&time=1795503600", "time is no time"),
        (b"from=time&time=999999999999999", "time is no time"),
        (b"from=time&time=0001-01-01T00:00:00Z", "time is no time"),
        (b"from=time&time=0001-01-01T00:00:00%2B14:00", "time is no time"),
        (
            b"from=time&time=1795503600",
            "looks like seconds; in milliseconds it is 1795503600000, which is 2026-11-24T07",
        ),
        (b"from=time&time=1795503600123456", "looks like microseconds; in milliseconds it is 1795503600123, which is"),
        (b"from=time&time=1795503600123456789", "looks like nanoseconds; in milliseconds it is 1795503600123, which"),
        (b"from=time&time=yesterday", "no number of milliseconds since 1970"),
        (b"search=" + b"x" * 201, "The search has 201 characters"),
        (b"a=" + b"x" * 4096, "The query has"),
        (b"&".join(b"a%d=1" % one for one in range(30)), "more than 20 parts"),
    ],
)
def test_what_cannot_be_read_says_so_with_the_fix(query: bytes, said: str) -> None:
    with pytest.raises(WrongQueryError, match=said):
        asked_of(query)
