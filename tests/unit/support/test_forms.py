"""Parameters that the short form of a test leaves out."""

from __future__ import annotations

import pytest

from tests.support.forms import short


def test_all_but_the_plain_ones_are_marked_and_keep_their_order() -> None:
    found = short([("a", 1), "b", {}], "b")
    assert [one.values for one in found] == [("a", 1), ("b",), ({},)]
    assert [[mark.name for mark in one.marks] for one in found] == [["full"], [], ["full"]]


def test_a_plain_one_that_is_not_there_is_an_error() -> None:
    with pytest.raises(AssertionError, match="no such parameter: \\['c'\\]"):
        short(["a", "b"], "c")
