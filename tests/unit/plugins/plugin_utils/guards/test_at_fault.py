# SPDX-License-Identifier: GPL-3.0-or-later
"""A node that is not whole because of another keeps its files, and the other one is named."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.at_fault import Change, Culprit, change_of, culprit

SLOW = "property replica.fetch.backoff.ms: 200 -> 300000"


def fault(kind: str, followers: list[int], leaders: list[int], served: tuple[int, ...] = ()) -> dict[str, Any]:
    """Return an attribution as isr_wait does."""
    phrase = f"{kind} {followers} {leaders}"
    return {"kind": kind, "followers": followers, "leaders": leaders, "served": list(served), "phrase": phrase}


def fresh(*lines: str) -> Change:
    """Return the change of a node that restarted in this run with these."""
    return Change(lines, is_fresh=bool(lines), is_suspect=bool(lines))


@pytest.mark.parametrize(
    ("attributions", "changed", "expected"),
    [
        ([fault("follower", [1], [2, 3])], {1: [SLOW]}, 1),
        ([fault("follower", [1], [2, 3])], {}, 1),
        ([fault("pair", [1], [2])], {1: [SLOW]}, 1),
        # The leader's own change was the last.
        ([fault("pair", [1], [2])], {2: [SLOW]}, None),
        ([fault("leader", [1, 3], [2])], {1: [SLOW]}, None),
        ([fault("leader", [1, 3], [2]), fault("follower", [1], [2, 3])], {1: [SLOW]}, None),
        # It copies from nobody itself, whatever another one does besides.
        ([fault("follower", [2], [1, 3]), fault("follower", [1], [2, 3])], {1: [SLOW]}, None),
        # Of others, and of whom time mends.
        ([fault("pair", [1], [3])], {1: [SLOW]}, None),
        ([fault("catching_up", [1], [2])], {1: [SLOW]}, None),
        ([fault("unknown", [1], [2])], {1: [SLOW]}, None),
        ([], {1: [SLOW]}, None),
        # It is one of several that cannot copy from this one.
        ([fault("leader", [2, 3], [1])], {}, 1),
        ([fault("leader", [3, 4], [1])], {}, None),
        ([fault("leader", [2, 3], [1]), fault("leader", [3, 4], [2])], {}, None),
        # This run changed both, and nobody else copies: either may be.
        ([fault("pair", [1], [2])], {1: [SLOW], 2: [SLOW]}, 1),
        # A follower at fault before a pair.
        ([fault("pair", [3], [2]), fault("follower", [1], [2, 4])], {3: [SLOW]}, 1),
    ],
)
def test_who_is_at_fault_for_node_two(
    attributions: list[dict[str, Any]], changed: dict[int, list[str]], expected: int | None
) -> None:
    named = culprit(2, attributions, lambda node: fresh(*changed.get(node, [])))
    assert (named and named.node_id) == expected


def test_of_a_pair_what_changed_before_this_run_counts_where_the_leader_was_not_whole_since_and_serves_others() -> None:
    before, settled = Change((SLOW,), is_suspect=True), Change((SLOW,))
    alone, served = fault("pair", [1], [2]), fault("pair", [1], [2], served=(3,))
    assert culprit(2, [served], lambda _node: before) == Culprit(1, served["phrase"], before)
    assert culprit(2, [alone], lambda _node: before) is None, "the leader's own change was the last"
    assert culprit(2, [served], lambda _node: settled) is None, "it was whole beside that change"
    follower = fault("follower", [1], [2, 3])
    assert culprit(2, [follower], lambda _node: settled) == Culprit(1, follower["phrase"], settled)
    assert not settled.goes_back


@pytest.mark.parametrize("own", [Change((SLOW,)), fresh(SLOW)])
@pytest.mark.parametrize("last", [fresh(SLOW), Change((SLOW,), is_suspect=True), Change((SLOW,))])
def test_of_a_pair_without_a_witness_only_what_this_run_changed_goes_back_and_nothing_where_it_changed_both(
    own: Change, last: Change
) -> None:
    named = culprit(2, [fault("pair", [1], [2])], lambda node: own if node == 2 else last)
    if not last.is_fresh:
        assert named is None, "the leader's own change is the only one of this run, if there is one"
        return
    assert named == Culprit(1, "pair [1] [2]", last, ((2, own),), is_either=True)
    assert (named.goes_back, named.both_changed) == (not own.is_fresh, own.is_fresh)


def test_of_a_pair_with_a_witness_the_follower_that_changed_goes_back_whatever_changed_on_the_leader() -> None:
    served = fault("pair", [1], [2], served=(3,))
    named = culprit(2, [served], lambda _node: fresh(SLOW))
    assert named == Culprit(1, served["phrase"], fresh(SLOW))
    assert named.goes_back


def test_all_followers_at_fault_are_named_and_one_that_changed_goes_back() -> None:
    faults = [fault("follower", [follower], [2], served=(5,)) for follower in (1, 3, 4)]
    known = {1: Change((SLOW,)), 3: fresh("x"), 4: Change()}
    assert culprit(2, faults, known.__getitem__) == Culprit(
        3, "follower [1] [2]; follower [3] [2]; follower [4] [2]", known[3], ((1, known[1]), (4, known[4]))
    )


def info(**start_files: Any) -> dict[str, Any]:
    """Return what node_info says of a node that is proven and was not touched, with these start files."""
    change = {"changes": [SLOW]}
    settled = {"current": "b", "proven": "b", "edited": [], "last_change": change, "switched_at": 100.0}
    return {"restart_reasons": [], "start_files": {**settled, "proven_at": 120.0, **start_files}}


REASON = {"kind": "property", "name": "replica.fetch.backoff.ms", "from": "600000", "to": "200"}
IN_PLACE = {"kind": "file", "name": "/k/tls/keystore.pem", "from": "a", "to": "b"}
ASKED = "replica.fetch.backoff.ms: 600000 -> 200"


@pytest.mark.parametrize(
    ("node", "restarted", "proven_at", "suspect", "goes_back", "told"),
    [
        # Its change came after the other one was whole last, or before.
        (info(), False, 90.0, True, True, SLOW),
        (info(), False, 110.0, False, False, SLOW),
        (info(), False, None, False, False, SLOW),
        # It restarted in this run with the same files.
        (info(), True, 90.0, True, True, SLOW),
        # A run was cut before it was whole with them.
        (info(proven="a"), False, 200.0, True, True, SLOW),
        # There is nothing that it was proven with before.
        (info(last_change=None), False, 90.0, False, False, ""),
        (info(current=None, proven=None, last_change=None, switched_at=None), False, 90.0, False, False, ""),
        # Edited by hand: read by its process, which is to get other files, or not read yet.
        (
            {**info(edited=["server.properties"]), "restart_reasons": [REASON]},
            False,
            200.0,
            True,
            False,
            "edited by hand: server.properties",
        ),
        (info(edited=["server.properties"]), False, 90.0, False, False, "edited by hand: server.properties"),
        # It gets other files in this run, or has them.
        ({**info(), "restart_reasons": [REASON]}, False, 90.0, True, False, SLOW),
        ({**info(), "restart_reasons": [REASON]}, True, 200.0, True, True, ASKED),
        # Files of a cut run, with which this one restarted it, or what was written in place: behind that lies nothing.
        ({**info(proven="a"), "restart_reasons": [REASON]}, True, 200.0, True, True, ASKED),
        ({**info(), "restart_reasons": [IN_PLACE]}, True, 90.0, False, False, "file /k/tls/keystore.pem: changed"),
        ({}, False, 90.0, False, False, ""),
    ],
)
def test_what_changed_on_a_node_and_whether_it_is_suspect(
    node: dict[str, Any], restarted: bool, proven_at: float | None, suspect: bool, goes_back: bool, told: str
) -> None:
    brings = restarted and node["restart_reasons"] == [REASON] and node["start_files"]["proven"] == "b"
    taken_up = ["server.properties"] if brings else None
    change = change_of(node, restarted, {"start_files": {"proven_at": proven_at}}, taken_up)
    assert (change.is_suspect, change.goes_back) == (suspect, goes_back)
    assert told in "; ".join(change.lines)
    assert bool(change.lines) == bool(told)
    if node.get("restart_reasons") == [REASON]:
        assert ASKED in "; ".join(change.lines) or change.lines == (SLOW,)


@pytest.mark.parametrize(("taken_up", "told"), [(["server.properties"], "file server.properties"), ([], "its start")])
def test_a_node_that_was_down_and_started_with_new_files_in_this_run_is_told_with_these(
    taken_up: list[str], told: str
) -> None:
    """What node_info saw of it before is a change of long ago, and no process was there to be compared."""
    change = change_of({**info(), "needs_start": True}, False, {"start_files": {"proven_at": 110.0}}, taken_up)
    assert (change.is_fresh, change.goes_back) == (True, True)
    assert told in change.lines[0]
    same = change_of({**info(), "needs_start": True}, False, {"start_files": {"proven_at": 110.0}})
    assert (same.is_fresh, same.goes_back) == (False, False), "it started with the files that it had"
    pair = fault("pair", [1], [2])
    settled = Change()
    named = culprit(2, [pair], {1: change, 2: settled}.__getitem__)
    assert named == Culprit(1, pair["phrase"], change, ((2, settled),), is_either=True)
    assert named.goes_back
