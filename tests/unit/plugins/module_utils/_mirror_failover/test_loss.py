# SPDX-License-Identifier: GPL-3.0-or-later
"""What is lost with the source of a flow, from what its target knows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._groups.model import (
    Group,
    Listed,
    Member,
    Offset,
    Offsets,
)
from ansible_collections.streamops.kafka.plugins.module_utils._groups.plan import offsets_in
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.gap import PURGED, Gap
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.gaps import Mark, Marks, Moment
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.status import Log
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.loss import (
    Landing,
    LossPlan,
    PartitionLoss,
    Survivors,
    copied_of,
    loss_lines,
    loss_of,
    offsets_to_set,
    unmoved_after_loss,
    unturned_after_loss,
)
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.model import Checkpoint, Span
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.plan import as_file

FLOW = Flow("a", "b", ("orders", "audit"))
PLACE = ("orders", 0)
COPY = ("a.orders", 0)
LOOKED = Moment("2026-11-30T03:12:40Z", "mirror1")
NOW = Moment("2026-11-30T03:20:10Z", "mirror1")
#: 100 records, of which 40 were not in the target at the last look.
BEHIND = Mark(60, 60, 100, 7, ((60, 99),))


def left_of(mark: Mark | None = BEHIND, **parts: Any) -> Survivors:
    """What is left in a target that has the first 60 records."""
    marks = Marks({}, {} if mark is None else {PLACE: mark}, looked=LOOKED)
    whole = Survivors(marks, NOW, positions={PLACE: 60}, copies={PLACE: Log(0, 60)})
    return replace(whole, **parts)


def lost(left: Survivors) -> PartitionLoss:
    """Return what is lost of the only partition."""
    (row,) = loss_of(FLOW, left).partitions
    return row


def text_of(plan: LossPlan) -> str:
    """Return the plan as people read it."""
    return "\n".join(loss_lines(plan))


# -- records -------------------------------------------------------------------------------------------------------


def test_records_that_a_look_read_and_the_target_lacks_are_told_exactly() -> None:
    plan = loss_of(FLOW, left_of())
    assert plan.missing == Span(40, 40)
    assert copied_of(plan) == {"orders": {"0": 60}}
    text = text_of(plan)
    assert "Lost         40 records were in the source then and are not in b (orders 40)" in text
    assert "Known        a was last looked at 2026-11-30T03:12:40Z, 450 s ago by the clock of mirror1." in text


def test_offsets_that_no_look_read_may_be_markers() -> None:
    assert lost(left_of(replace(BEHIND, data=((60, 69), (99, 99))))).missing == Span(11, 40)
    assert lost(left_of(replace(BEHIND, data=()))).missing == Span(0, 40)


def test_what_a_topic_held_that_was_deleted_in_the_source_is_no_part_of_the_loss() -> None:
    left = left_of()
    gap = Gap("deleted", "orders", 0, first=60, last=99, counted=40)
    plan = loss_of(FLOW, replace(left, marks=replace(left.marks, gone=frozenset({"orders"}), gaps=[gap])))
    assert (plan.missing, copied_of(plan)) == (Span(0, 0), {"orders": {"0": 60}})
    text = text_of(plan)
    assert "Lost         0 records were in the source then and are not in b" in text
    assert "not known" not in text.partition("Lost")[2].partition("\n")[0]
    assert "Note         lost before, or in doubt: orders-0: offsets 60 to 99 (40 records) are missing" in text


def test_what_was_copied_after_the_look_is_not_lost() -> None:
    row = lost(left_of(positions={PLACE: 90}))
    assert (row.copied, row.missing) == (90, Span(10, 10))


def test_a_position_beyond_the_known_end_tells_that_the_source_had_as_much() -> None:
    row = lost(left_of(positions={PLACE: 130}))
    assert (row.source_end, row.copied, row.missing) == (130, 130, Span(0, 0))


def test_markers_above_the_position_are_not_lost() -> None:
    """The look settled the partition: between the position and the end stood no record."""
    assert lost(left_of(Mark(60, 100, 100))).missing == Span(0, 0)


def test_without_any_look_nothing_is_called_whole() -> None:
    plan = loss_of(FLOW, left_of(None, marks=Marks()))
    assert (plan.missing, plan.looked, plan.partitions[0].missing) == (None, None, None)
    text = text_of(plan)
    assert "no look at a was kept: how much is lost is not known" in text
    assert "Lost         not known, no look has told the end of orders-0" in text
    assert "0 records" not in text


def test_a_look_whose_time_was_not_kept() -> None:
    left = left_of()
    plan = loss_of(FLOW, replace(left, marks=replace(left.marks, looked=None)))
    assert (plan.missing, plan.age) == (Span(40, 40), None)
    assert "when a was last looked at is not known" in text_of(plan)


def test_times_of_two_clocks_are_not_compared() -> None:
    plan = loss_of(FLOW, left_of(now=replace(NOW, clock="control")))
    assert plan.age is None
    assert "by the clock of mirror1; control has 2026-11-30T03:20:10Z now." in text_of(plan)


def test_a_partition_without_a_mark_is_not_known() -> None:
    anew = ("orders", 1)
    plan = loss_of(FLOW, left_of(positions={PLACE: 60, anew: 5}, copies={PLACE: Log(0, 60), anew: Log(0, 5)}))
    assert plan.missing == Span(40, 40)
    assert "Lost         not known, no look has told the end of orders-1" in text_of(plan)
    silent = lost(left_of(Mark(60, 60, None)))
    assert (silent.source_end, silent.missing, silent.copied) == (None, None, 60)


def test_the_position_of_a_topic_that_was_made_anew_says_nothing() -> None:
    for mark in (Mark(60, None, 10, 7, (), True), Mark(60, None, 10, 7)):
        row = lost(left_of(mark))
        assert (row.copied, row.missing) == (None, Span(0, 10)), mark
    # The mirror has begun the new log since.
    assert lost(left_of(Mark(60, None, 10, 7, (), True), positions={PLACE: 4})).missing == Span(0, 6)


def test_topics_of_others_and_of_the_canary_are_left_out() -> None:
    event = ("streamops-canary.a.b", 0)
    left = left_of(positions={PLACE: 60, ("other", 0): 5, event: 9})
    assert [row.topic for row in loss_of(FLOW, left).partitions] == ["orders"]
    assert [row.topic for row in loss_of(replace(FLOW, topics=("orders", ".*")), left).partitions] == [
        "orders",
        "other",
    ]


def test_the_newest_record_of_a_copy_has_the_clock_of_its_writer() -> None:
    plan = loss_of(FLOW, left_of(newest={PLACE: 1796008351402, ("orders", 1): 5}))
    assert "by the clocks of their writers: orders 2026-11-30T" in text_of(plan)


def test_gaps_of_before_are_noted() -> None:
    marks = Marks({}, {PLACE: BEHIND}, [Gap(PURGED, "orders", 0, 10, 19, counted=10)], LOOKED)
    assert "Note         lost before, or in doubt: orders-0: offsets 10 to 19" in text_of(
        loss_of(FLOW, left_of(marks=marks))
    )


def test_drills_are_not_missed() -> None:
    probe = ("streamops-drill.a.b-0123abcd-0", 0)
    left = left_of(positions={PLACE: 60, probe: 5})
    assert [row.topic for row in loss_of(replace(FLOW, topics=(".*",)), left).partitions] == ["orders"]


def test_no_step_is_taken_while_brokers_do_not_tell_where_copies_end() -> None:
    plan = loss_of(FLOW, left_of(copies={PLACE: Log(None, None)}))
    for reasons in (unmoved_after_loss(plan), unturned_after_loss(plan, False)):
        assert ["no broker of b tells where the copies of orders-0 begin and end" in reason for reason in reasons] == [
            True
        ]


# -- groups --------------------------------------------------------------------------------------------------------


def group(there: int | None = None, members: int = 0, name: str = "billing", **parts: Any) -> tuple[Group, Offsets]:
    """A group of the target, with an offset where it is given."""
    members_there = tuple(Member(str(number), "app", "10.0.0.1") for number in range(members))
    offsets = Offsets({COPY: Offset(there)} if there is not None else {})
    return Group(Listed(name, "classic", "Empty", "consumer", 1), members=members_there, **parts), offsets


def landing_of(there: int | None, checkpoint: Checkpoint | None, log: Log) -> Landing:
    """Return where the only group goes on."""
    checkpoints = {("billing", PLACE): checkpoint} if checkpoint else {}
    plan = loss_of(FLOW, left_of(copies={PLACE: log}, checkpoints=checkpoints, groups=[group(there)]))
    return plan.groups[0].landings[0]


@pytest.mark.parametrize(
    ("there", "checkpoint", "log", "expected"),
    [
        (50, Checkpoint(52, 50), Log(0, 60), ("known", 50, 10)),
        (55, Checkpoint(52, 50), Log(0, 60), ("ahead", 55, 5)),
        (55, None, Log(0, 60), ("ahead", 55, 5)),
        (None, Checkpoint(52, 50), Log(0, 60), ("no_offset", 50, 10)),
        (3, Checkpoint(52, 50), Log(20, 60), ("out_of_range", 50, 10)),
        (3, None, Log(20, 60), ("out_of_range", None, 0)),
        # The copy was made anew: none of its records is skipped.
        (None, Checkpoint(5000, 4990), Log(0, 60), ("no_offset", 0, 60)),
        # The first record that is left.
        (None, Checkpoint(5, 5), Log(20, 60), ("no_offset", 20, 40)),
        (20, Checkpoint(5, 5), Log(20, 60), ("known", 20, 40)),
    ],
)
def test_where_a_group_goes_on(
    there: int | None, checkpoint: Checkpoint | None, log: Log, expected: tuple[str, int | None, int]
) -> None:
    landing = landing_of(there, checkpoint, log)
    assert (landing.state, landing.begin, landing.repeats) == (expected[0], expected[1], Span(0, expected[2]))
    assert landing.is_to_set == (landing.begin != there and landing.begin is not None)


def test_a_group_of_checkpoints_alone_gets_the_offset_of_the_last() -> None:
    plan = loss_of(FLOW, left_of(checkpoints={("billing", PLACE): Checkpoint(52, 50)}, groups=[]))
    (billing,) = plan.groups
    assert (billing.name, billing.members) == ("billing", 0)
    assert offsets_in({"groups": as_file(offsets_to_set(FLOW, plan))}, "billing") == ({COPY: 50}, [])
    assert "has no valid offset in b for orders-0; step moved sets those of its last checkpoint" in text_of(plan)


def test_a_group_that_has_committed_in_the_target_is_left() -> None:
    plan = loss_of(FLOW, left_of(checkpoints={("billing", PLACE): Checkpoint(52, 50)}, groups=[group(55)]))
    assert as_file(offsets_to_set(FLOW, plan)) == []
    assert "group billing has an offset that MirrorMaker did not set for orders-0" in text_of(plan)


def test_no_copy_and_no_known_offsets() -> None:
    checkpoints = {("billing", PLACE): Checkpoint(52, 50)}
    uncopied = loss_of(FLOW, left_of(copies={}, checkpoints=checkpoints, groups=[group()]))
    assert "b has no copy of orders-0" in text_of(uncopied)
    assert as_file(offsets_to_set(FLOW, uncopied)) == []
    silent = loss_of(FLOW, left_of(checkpoints=checkpoints, groups=[group(error="broker 1 did not answer")]))
    assert "offsets of these groups are not known: billing (broker 1 did not answer). Run again." in unmoved_after_loss(
        silent
    )


def test_only_groups_that_are_set_must_have_no_members() -> None:
    checkpoints = {("billing", PLACE): Checkpoint(52, 50), ("late", PLACE): Checkpoint(52, 50)}
    groups = [group(50, members=2), group(None, members=1, name="late")]
    plan = loss_of(FLOW, left_of(checkpoints=checkpoints, groups=groups))
    assert unmoved_after_loss(plan) == ["groups with members in b: late (1). Stop them."]


def test_the_target_is_not_opened_while_the_flow_could_go_on() -> None:
    assert unturned_after_loss(loss_of(FLOW, left_of()), is_enabled=False) == []
    enabled, running = unturned_after_loss(loss_of(FLOW, left_of(workers=2)), is_enabled=True)
    assert enabled.startswith("mirror_flows still enables a->b.")
    assert running.startswith("2 mirrors still run a->b")


def test_a_source_that_answers_is_not_lost() -> None:
    plan = loss_of(FLOW, left_of(answer="it answers at a1:9092"))
    assert plan.against[0].startswith("a is not lost: it answers at a1:9092. While it lives, take the planned failover")
    silent = loss_of(FLOW, left_of(silence="a1:9092: refused"))
    assert "Note         a does not answer here (a1:9092: refused)." in text_of(silent)
