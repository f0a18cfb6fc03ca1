# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules are complete and tested, docs/preflight.md has them all; what clusters accept; messages are readable."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import (
    check_inventory,
    message,
    preflight_result,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rule import (
    ERROR,
    RULES,
    WARNING,
    Rule,
    Violation,
    merge,
    rule,
)
from tests.support.preflight_inventories import CLUSTER, combined, expect, only

ROOT = Path(__file__).resolve().parents[5]
TESTS = "".join(path.read_text() for path in sorted((ROOT / "tests" / "unit").rglob("test_*.py")))
QUIET = CLUSTER["preflight_accept"]


@pytest.mark.parametrize("one", RULES.values(), ids=lambda one: one.name)
def test_every_rule_has_a_line_for_people_and_a_test_that_names_it(one: Rule) -> None:
    assert re.fullmatch(r"[A-Z`].*\.", one.text)
    assert one.fix
    assert not one.fix.endswith(".")
    assert f'"{one.name}"' in TESTS


def test_the_page_has_the_rules_as_they_are() -> None:
    subprocess.run([sys.executable, str(ROOT / "tools" / "make_preflight_page"), "--check"], check=True)


def test_two_rules_cannot_have_one_name() -> None:
    def even_quorum(_checked: object) -> list[object]:
        """Another one."""
        return []

    with pytest.raises(ValueError, match="two rules have the name even_quorum"):
        rule(fix="none")(even_quorum)  # type: ignore[arg-type]


def test_a_rule_of_prudence_is_accepted_by_its_name() -> None:
    found = only(combined(count=4, preflight_accept=[*QUIET, "even_quorum"]), "even_quorum", "warning")
    assert found.sentence().endswith("(accepted by preflight_accept).")


def test_an_accepted_warning_is_not_shown() -> None:
    development = {"count": 4, "kafka_profile": "development"}
    expect(combined(**development), "even_quorum", "preflight_accept: [even_quorum]", level="warning")
    assert check_inventory(combined(**development, preflight_accept=[*QUIET, "even_quorum"])) == []


def test_what_one_of_two_clusters_accepts_is_an_error_in_the_other() -> None:
    hosts = {"kafka4": {"kafka_cluster_name": "green"}}
    found = check_inventory(combined(hosts, count=4, preflight_accept=[*QUIET, "few_brokers", "few_replicas"]))
    assert ("even_quorum", "error", ("kafka4",)) in [(one.name, one.level, one.hosts) for one in found]


@pytest.mark.parametrize("entry", ["even_quorom", "duplicate_node_id", "B5"])
def test_an_accepted_rule_that_does_not_exist_is_a_warning(entry: str) -> None:
    expect(combined(preflight_accept=[*QUIET, entry]), "unknown_rule", f"found: {entry}", level="warning")


def violation(**changes: object) -> Violation:
    """A violation with readable parts."""
    parts = {"name": "bad_node_id", "level": ERROR, "hosts": ("kafka1",), "variable": "v"}
    more = {"what": "is wrong", "found": "1", "allowed": "2", "fix": "set 2"}
    return Violation(**{**parts, **more, **changes})  # type: ignore[arg-type]


def test_violations_that_differ_in_their_hosts_become_one() -> None:
    merged = merge([violation(), violation(hosts=("kafka2",)), violation(hosts=("kafka1",), what="is else")])
    assert [(one.hosts, one.what) for one in merged] == [(("kafka1", "kafka2"), "is wrong"), (("kafka1",), "is else")]


def test_errors_stand_before_warnings() -> None:
    assert [one.level for one in merge([violation(level=WARNING), violation()])] == [ERROR, WARNING]


def test_a_sentence_has_what_where_found_allowed_and_fix() -> None:
    assert violation().sentence() == "kafka1: v: is wrong (found: 1, allowed: 2); fix: set 2."
    assert violation(found="", allowed="").sentence() == "kafka1: v: is wrong; fix: set 2."


def test_many_hosts_are_cut_with_the_number_of_the_rest() -> None:
    assert violation(hosts=tuple(f"k{n}" for n in range(60))).where == "k0, k1, k2, k3, k4, k5, k6, k7 and 52 more: v"


def test_the_message_counts_and_groups_by_rule() -> None:
    few = violation(name="few_racks", level=WARNING)
    text = message([violation(), violation(variable="w"), few])
    assert text.startswith(
        "2 errors and 1 warning found before any change; nothing was touched.\n\nERROR bad_node_id:\n"
    )
    assert text.count("ERROR bad_node_id") == 1
    assert text.endswith("WARNING few_racks:\n  - kafka1: v: is wrong (found: 1, allowed: 2); fix: set 2.")


def test_a_result_has_the_violations_where_the_task_registers_it() -> None:
    (found,) = preflight_result([violation()], registered=True)["violations"]
    assert (found["name"], found["fix"], found["where"]) == ("bad_node_id", "set 2", "kafka1: v")
    assert "violations" not in preflight_result([violation()], registered=False)
