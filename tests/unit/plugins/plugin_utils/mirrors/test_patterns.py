"""Regular expressions as resources of ACLs: every name that matches is covered."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.patterns import ANY, LITERAL, PREFIXED, resources


@pytest.mark.parametrize(
    ("pattern", "covers"),
    [
        ("orders", [("orders", LITERAL)]),
        ("^orders$", [("orders", LITERAL)]),
        (r"a\.b", [("a.b", LITERAL)]),
        ("a[.]b[-]c[_]", [("a.b-c_", LITERAL)]),
        (r"a[\.]b", [("a.b", LITERAL)]),
        ("audit[.].*", [("audit.", PREFIXED)]),
        ("orders.*", [("orders", PREFIXED)]),
        ("my.topic", [("my", PREFIXED)]),
        ("colou?r", [("colo", PREFIXED)]),
        ("ab*", [("a", PREFIXED)]),
        ("ab{2}", [("a", PREFIXED)]),
        ("ab+", [("ab", PREFIXED)]),
        ("a|b", [("a", LITERAL), ("b", LITERAL)]),
        ("orders|audit-.*", [("audit-", PREFIXED), ("orders", LITERAL)]),
        ("x(a|b)", [("x", PREFIXED)]),
        ("(a|b)x", [ANY]),
        ("a|.*", [ANY]),
        (".*", [ANY]),
        ("[ab]c", [ANY]),
        ("[^a]", [ANY]),
        (r"x\d+", [("x", PREFIXED)]),
        (r"x\Q.*\E", [("x", PREFIXED)]),
        ("(?i)orders", [ANY]),
        ("a[]|]b", [("a", PREFIXED)]),
        ("a[x&&[|y]]b", [("a", PREFIXED)]),
        ("a$b", [("a", PREFIXED)]),
        ("", []),
    ],
)
def test_one_expression(pattern: str, covers: list[tuple[str, str]]) -> None:
    assert resources([pattern]) == covers


def test_what_another_covers_is_left_out() -> None:
    assert resources(["orders", "orders-eu", "order.*", "pay", "pay"]) == [("order", PREFIXED), ("pay", LITERAL)]
    assert resources(["a", ".*"]) == [ANY]
    assert resources([]) == []


PIECES = st.sampled_from(["a", "b", "ab", ".", "[.]", r"\.", ".*", "a?", "b*", "a+", "(a|b)", "|", "[ab]", "[^a]", "-"])


@given(st.lists(PIECES, min_size=1, max_size=6), st.text(alphabet="ab.-", max_size=6))
def test_every_name_that_matches_is_covered(pieces: list[str], name: str) -> None:
    pattern = "".join(pieces)
    if name and re.fullmatch(pattern, name):
        covering = resources([pattern])
        assert any(
            (found, kind) == ANY or (name.startswith(found) if kind == PREFIXED else name == found)
            for found, kind in covering
        ), (pattern, name, covering)
