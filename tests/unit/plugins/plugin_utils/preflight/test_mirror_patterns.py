# SPDX-License-Identifier: GPL-3.0-or-later
"""Names that patterns have in common: by table, and against the regular expressions of Python as a judge."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.mirror_patterns import (
    Unreadable,
    Wanted,
    common_name,
)


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [
        ("orders", "orders", "orders"),
        ("orders", "order", None),
        ("orders", ".*", "orders"),
        ("a.*", ".*b", "ab"),
        ("a.*", "b.*", None),
        ("eu[.].*", r"eu\.x", "eu.x"),
        ("[^a-z]+", "[a-y]*z?", None),
        (r"\d{2,3}", "(?:1|2)+", "11"),
        ("a?b*c+", "abb.", "abbc"),
        ("(a|b){3}", "a+", "aaa"),
        (r"\w+-\d", r"[^_]*", "a-0"),
        ("^a$", "a", "a"),
        ("a b", ".*", None),
        ("[a-]x", "-.", "-x"),
        ("", "a*", None),
    ],
)
def test_the_shortest_common_name(first: str, second: str, name: str | None) -> None:
    found = common_name([Wanted("", (first,)), Wanted("", (second,))])
    assert found == name or (name and found and all(re.fullmatch(one, found) for one in (first, second)))
    assert found is None or len(found) == len(name or "")


@pytest.mark.parametrize("pattern", ["(?i)a", "(?=a)b", r"(a)\1", r"\p{L}", "a*+", "[a&&b]", "[a[b]]", "a{100}", "a^b"])
def test_what_is_not_regular_is_said_to_be_unreadable(pattern: str) -> None:
    with pytest.raises(Unreadable):
        common_name([Wanted("", (pattern,))])


def test_exclusions_and_prefixes_count() -> None:
    assert common_name([Wanted("", (".*",), ("[a-z].*",))]) == "A"
    assert common_name([Wanted("", ("a.*",), ("a.*",))]) is None
    assert common_name([Wanted("", ("x",)), Wanted("dc_a.", (r"dc_a\.x",))]) == "x"
    assert common_name([Wanted("", ("x",)), Wanted("dc_a.", ("x",))]) is None


def test_too_many_beginnings_are_given_up() -> None:
    one = tuple(f"topic{n}.*suffix{n}" for n in range(60))
    other = tuple(f".*opic{n}x{n}y" for n in range(60))
    with pytest.raises(Unreadable, match="more than"):
        common_name([Wanted("", one), Wanted("", other)])


PIECES = st.recursive(
    st.sampled_from(["a", "b", ".", "[ab]", "[^a]"]),
    lambda inner: st.tuples(inner, inner).map("".join) | st.tuples(inner, inner).map("({0[0]}|{0[1]})".format)
    | st.tuples(inner, st.sampled_from("*+?")).map("({0[0]}){0[1]}".format),
    max_leaves=6,
)  # fmt: skip
SHORT = ["".join(letters) for size in range(1, 5) for letters in product("abc", repeat=size)]


@settings(max_examples=300, deadline=None)
@given(include=PIECES, second=PIECES, exclude=PIECES)
def test_python_agrees(include: str, second: str, exclude: str) -> None:
    def good(name: str) -> bool:
        both = re.fullmatch(include, name) and re.fullmatch(second, name)
        return bool(both) and not re.fullmatch(exclude, name)

    found = common_name([Wanted("", (include,), (exclude,)), Wanted("", (second,))])
    if found is None:
        assert not any(map(good, SHORT))
    else:
        assert good(found)
        assert not any(good(name) for name in SHORT if len(name) < len(found))
