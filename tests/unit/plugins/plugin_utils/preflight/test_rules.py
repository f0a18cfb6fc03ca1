# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of rows is whole: code, titles and the page for people name the same rows; messages are readable."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight import rules
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rules import (
    HOST_RULES,
    INVENTORY_RULES,
    TITLES,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.violation import (
    ERROR,
    WARNING,
    Violation,
    merge,
    message,
)

ROOT = Path(__file__).resolve().parents[5]
PAGE = (ROOT / "docs" / "preflight.md").read_text()


def section(title: str) -> str:
    """The text of a section of the page."""
    return PAGE.split(f"{title}\n", 1)[1].split("\n## ", 1)[0]


def rows_of(part: str) -> set[str]:
    """The rows that the tables of a part of the page start with."""
    return set(re.findall(r"^\| ([BC]\d+) \|", section(part), re.MULTILINE))


def test_the_page_names_exactly_the_rows_that_have_a_title() -> None:
    assert rows_of("## Rows that the inventory decides") | rows_of("## Rows that the hosts decide") == set(TITLES)


def test_the_page_names_for_every_row_a_test_that_has_it() -> None:
    lines = re.findall(
        r"^\| ((?:[BC]\d+(?:, )?)+) \| (.+) \| *(.*) *\|$", section("## Tests of each row"), re.MULTILINE
    )
    named = {
        row: re.findall(r"`([\w/]+\.py)`", f"{table} {run}") for rows, table, run in lines for row in rows.split(", ")
    }
    assert set(named) == set(TITLES)
    for row, tests in named.items():
        paths = [ROOT / "tests" / (test if "/" in test else f"unit/plugins/module_utils/{test}") for test in tests]
        assert [path for path in paths if not path.exists()] == []
        assert any(re.search(rf'"(ERROR |WARNING )?{row}[",]', path.read_text()) for path in paths), row


def test_every_rule_names_its_row_in_its_first_words_and_the_row_has_a_title() -> None:
    for rule in (*INVENTORY_RULES, *HOST_RULES):
        rows = re.match(r"((?:[BC]\d+(?:, | and )?)+):", inspect.getdoc(rule) or "")
        assert rows, f"{rule.__name__} does not say which row it is"
        assert set(re.findall(r"[BC]\d+", rows[1])) <= set(TITLES)


def test_every_row_that_can_be_accepted_says_so_on_the_page() -> None:
    text = "".join(path.read_text() for path in Path(inspect.getfile(rules)).parent.glob("*.py"))
    marked = {
        row for row, accept in re.findall(r"^\| ([BC]\d+) \|.*\| (\w+) \|$", PAGE, re.MULTILINE) if accept == "yes"
    }
    assert marked == {"B5", "B9", "B10", "C13", "C14", "C15", "C17", "C21", "C23", "B27", "B28", "B37", "B38"}
    # Three rows stand in two places: B5 for controllers and for servers of ZooKeeper, C23 for inventories and for
    # hosts, B37 for loops and for topics with two origins.
    assert len(re.findall(r"policy=(?:True|not found\.known)", text)) == len(marked) + 3


def violation(**changes: object) -> Violation:
    """A violation with readable parts."""
    parts = {"rule": "B1", "level": ERROR, "hosts": ("kafka1",), "variable": "v", "what": "is wrong"}
    more = {"found": "1", "allowed": "2", "way_out": "set 2"}
    return Violation(**{**parts, **more, **changes})  # type: ignore[arg-type]


def test_violations_that_differ_in_their_hosts_become_one() -> None:
    merged = merge([violation(), violation(hosts=("kafka2",)), violation(hosts=("kafka1",), what="is else")])
    assert [(one.hosts, one.what) for one in merged] == [(("kafka1", "kafka2"), "is wrong"), (("kafka1",), "is else")]


def test_errors_stand_before_warnings() -> None:
    assert [one.level for one in merge([violation(level=WARNING), violation()])] == [ERROR, WARNING]


def test_a_sentence_has_what_where_found_allowed_and_way_out() -> None:
    assert violation().sentence() == "kafka1: v: is wrong (found: 1, allowed: 2); way out: set 2."


def test_many_hosts_are_cut_with_the_number_of_the_rest() -> None:
    assert violation(hosts=tuple(f"k{n}" for n in range(60))).where == "k0, k1, k2, k3, k4, k5, k6, k7 and 52 more: v"


def test_the_message_counts_and_groups_by_row() -> None:
    text = message([violation(), violation(variable="w"), violation(rule="B7", level=WARNING)], TITLES)
    assert text.startswith(
        "2 errors and 1 warning found before any change; nothing was touched.\n\nERROR B1, node ids:\n"
    )
    assert text.count("ERROR B1") == 1
    assert text.endswith("WARNING B7, racks:\n  - kafka1: v: is wrong (found: 1, allowed: 2); way out: set 2.")
