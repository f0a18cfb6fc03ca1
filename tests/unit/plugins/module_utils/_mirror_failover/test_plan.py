# SPDX-License-Identifier: GPL-3.0-or-later
"""What a planned failover would cost, from what both clusters told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._groups.model import (
    Group,
    Listed,
    Member,
    Offset,
    Offsets,
)
from ansible_collections.streamops.kafka.plugins.module_utils._groups.plan import offsets_in
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.gap import PURGED, UNSEEN, Gap
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.status import Log, Seen
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.model import (
    Checkpoint,
    Look,
    Reader,
    Reading,
    Span,
)
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.plan import (
    as_file,
    lines,
    offsets_there,
    plan_of,
)

FLOW = Flow("a", "b", ("orders", "audit"))
PLACE = ("orders", 0)
COPY = ("a.orders", 0)


def look_of(**parts: Any) -> Look:
    """Everything is in the target: 100 records of a log that was mirrored from its beginning."""
    seen = Seen({PLACE: Log(0, 100)}, positions={PLACE: 100}, targets={"a.orders": 1})
    whole = Look(
        seen=seen,
        copies={PLACE: Log(0, 100)},
        copied_before={PLACE: 100},
        tops_before={PLACE: 100},
        tops_after={PLACE: 100},
        ends_after={PLACE: 100},
        seconds=5,
        syncs={PLACE: [(0, 0), (99, 99)]},
    )
    return replace(whole, **parts)


def reader(committed: int | None, there: int | None = None, name: str = "billing", **parts: Any) -> Reader:
    """A group with an offset in the source, and one in the target where it is given."""
    listed = Listed(name, parts.pop("type", "classic"), "Empty", "consumer", 1)
    beyond = Offsets({COPY: Offset(there)}) if there is not None else Offsets()
    return Reader(Group(listed, **parts), Offsets({PLACE: Offset(committed)}), None, beyond)


def reading_of(look: Look, flow: Flow = FLOW) -> Reading:
    """Return the only place of the only group."""
    return plan_of(flow, look).groups[0].readings[0]


# -- groups --------------------------------------------------------------------------------------------------------


def test_a_group_that_has_read_all_reads_nothing_again() -> None:
    reading = reading_of(look_of(readers=[reader(100, 100)]))
    assert (reading.state, reading.low, reading.high) == ("known", 100, 100)
    assert (reading.repeats, reading.skips) == (Span(0, 0), Span(0, 0))


def test_an_old_offset_in_the_target_means_records_that_are_read_again() -> None:
    assert reading_of(look_of(readers=[reader(99, 80)])).repeats == Span(19, 19)


def test_an_offset_in_the_target_that_is_too_far_means_records_that_are_skipped() -> None:
    reading = reading_of(look_of(readers=[reader(99, 100)]))
    assert (reading.repeats, reading.skips) == (Span(0, 0), Span(1, 1))


def test_offsets_that_transactions_emptied_are_no_records_to_repeat() -> None:
    """Between offsets 100 and 150 of the source stands no record: the copies of 200 offsets end at 150."""
    look = look_of(
        seen=Seen({PLACE: Log(0, 200)}, positions={PLACE: 200}, targets={"a.orders": 1}),
        copies={PLACE: Log(0, 150)},
        copied_before={PLACE: 150},
        syncs={PLACE: [(0, 0), (99, 99), (150, 100), (199, 149)]},
        readers=[reader(200, 100)],
    )
    assert reading_of(look).repeats == Span(50, 50)
    # Within the hole the next record is the one behind it.
    assert reading_of(replace(look, readers=[reader(130, 100)])).repeats == Span(0, 0)


def test_a_place_between_two_syncs_has_two_bounds() -> None:
    reading = reading_of(look_of(readers=[reader(60, 40)], syncs={PLACE: [(0, 0), (50, 50), (99, 99)]}))
    assert (reading.low, reading.high) == (51, 60)
    assert (reading.repeats, reading.skips) == (Span(11, 20), Span(0, 0))
    assert reading.repeats_after == Span(0, 9)


def test_markers_in_the_target_widen_the_bounds() -> None:
    """A mirror with exactly_once writes offsets without records into the copy."""
    look = look_of(readers=[reader(50, 1)], copies={PLACE: Log(0, 120)}, syncs={PLACE: [(0, 0), (99, 110)]})
    assert reading_of(look, replace(FLOW, exactly_once="enabled")).repeats == Span(0, 109)
    # Seen also where nobody says so: the copy has more offsets than the source.
    assert reading_of(look).repeats == Span(0, 109)


def test_a_checkpoint_raises_the_lower_bound_of_a_group_that_did_not_go_back() -> None:
    look = look_of(readers=[reader(60, 40)], syncs={PLACE: []}, checkpoints={("billing", PLACE): Checkpoint(58, 55)})
    assert reading_of(look).repeats == Span(15, 60)
    back = replace(look, checkpoints={("billing", PLACE): Checkpoint(61, 55)})
    assert reading_of(back).repeats == Span(0, 60)


def test_a_checkpoint_of_a_log_of_the_target_that_is_gone_is_not_taken() -> None:
    look = look_of(
        readers=[reader(60, 40)],
        copies={PLACE: Log(0, 70)},
        copied_before={PLACE: 70},
        syncs={PLACE: [(0, 0)]},
        checkpoints={("billing", PLACE): Checkpoint(60, 5000)},
    )
    assert (reading_of(look).low, reading_of(look).high) == (1, 60)


def test_a_group_without_a_checkpoint_and_without_syncs_is_told_by_the_log_alone() -> None:
    reading = reading_of(look_of(readers=[reader(60, 40)], syncs={}))
    assert (reading.checkpoint, reading.low, reading.high) == (None, 0, 100)


def test_without_an_offset_in_the_target_clients_decide() -> None:
    look = look_of(readers=[reader(99)])
    reading = reading_of(look)
    assert (reading.state, reading.repeats, reading.skips) == ("no_offset", Span(99, 99), Span(1, 1))
    text = "\n".join(lines(plan_of(FLOW, look)))
    assert "auto.offset.reset earliest would read 99 records again, latest would skip 1" in text


def test_an_offset_outside_of_the_copy_is_no_place_to_begin() -> None:
    look = look_of(readers=[reader(99, 10)], copies={PLACE: Log(40, 100)})
    assert reading_of(look).state == "out_of_range"
    assert reading_of(replace(look, readers=[reader(99, 101)])).state == "out_of_range"


def test_a_group_of_a_topic_that_the_target_lacks() -> None:
    seen = Seen({PLACE: Log(0, 100)}, positions={}, targets={})
    look = look_of(seen=seen, copies={}, copied_before={}, readers=[reader(50)])
    plan = plan_of(FLOW, look)
    assert plan.groups[0].readings[0].state == "no_copy"
    assert plan.against == ["not in b: a.orders"]
    assert any("b has no copy of orders-0" in line for line in lines(plan))
    assert plan.partitions[0].target_end is None


def test_what_was_copied_after_the_look_began_is_no_proof() -> None:
    """The group has read the 100 records of the look; the target has five more by now, which it has not."""
    look = look_of(readers=[reader(100, 100)], copies={PLACE: Log(0, 105)})
    assert reading_of(look).low == 100
    assert reading_of(look).skips == Span(0, 0)


def test_a_target_that_others_write_into_is_no_proof_either() -> None:
    """With kept names the copy is the target's own topic too: what others wrote there, no group of the source read."""
    look = look_of(readers=[reader(100, 0)], copies={PLACE: Log(0, 500)}, copied_before={PLACE: 500})
    assert (reading_of(look).low, reading_of(look).high) == (100, 100)


def test_a_group_beyond_the_end_of_its_log_is_told() -> None:
    plan = plan_of(FLOW, look_of(readers=[reader(500, 100)]))
    assert "group billing stands beyond the end of orders-0 (500, end 100): made anew, or cut short" in plan.notes


def test_a_partition_in_which_a_group_never_committed_is_left_out() -> None:
    plan = plan_of(FLOW, look_of(readers=[reader(None)]))
    assert plan.groups[0].readings == []
    assert any("has no offset in topics of the flow" in line for line in lines(plan))


def test_members_on_both_sides_are_told() -> None:
    member = Member("1", "app", "10.0.0.1")
    active = reader(99, 99, members=(member, member))
    active = replace(active, there=Group(active.group.listed, members=(member,)))
    plan = plan_of(FLOW, look_of(readers=[active]))
    assert (plan.groups[0].members, plan.groups[0].members_there) == (2, 1)
    assert any(line.startswith("Group        billing (2 members, 1 member in b): ") for line in lines(plan))


def test_groups_that_mirror_maker_leaves_out_are_named() -> None:
    look = look_of(readers=[reader(1, name="connect-sink"), reader(1, name="app"), reader(1, name="own")])
    plan = plan_of(replace(FLOW, groups_exclude=("own",)), look)
    assert [group.is_translated for group in plan.groups] == [True, False, False]
    assert plan.notes == ["MirrorMaker does not translate the offsets of connect-sink, own (groups, groups_exclude)"]


def test_share_groups_have_no_place_to_bring_over() -> None:
    plan = plan_of(FLOW, look_of(readers=[reader(5, type="share")]))
    assert plan.groups[0].readings == []
    assert plan.notes == ["share groups have no offsets that can be brought over: billing"]


def test_a_group_that_reads_other_topics_too_would_lose_them() -> None:
    both = reader(99, 99)
    both = replace(both, offsets=Offsets({PLACE: Offset(99), ("invoices", 0): Offset(1)}))
    assert plan_of(FLOW, look_of(readers=[both])).notes == [
        "group billing also reads what a->b does not copy: invoices"
    ]


def test_a_group_that_is_not_told_is_no_group_that_reads_nothing() -> None:
    silent = Reader(Group(Listed("app", "classic", "", "", 1), error="broker 1 did not answer"), Offsets())
    assert "Group        app: not known how far it has read: broker 1 did not answer" in lines(
        plan_of(FLOW, look_of(readers=[silent]))
    )


def test_offsets_are_brought_over_as_group_offsets_takes_them() -> None:
    silent = Reader(Group(Listed("silent", "classic", "", "", 1), error="no answer"), Offsets({PLACE: Offset(1)}))
    look = look_of(readers=[reader(99, 80), reader(500, name="beyond"), silent])
    found = as_file(offsets_there(FLOW, plan_of(FLOW, look)))
    assert [group["name"] for group in found] == ["billing"]
    assert offsets_in({"groups": found}, "billing") == ({COPY: 99}, [])
    uncopied = replace(look, copies={})
    assert as_file(offsets_there(FLOW, plan_of(FLOW, uncopied))) == []


# -- ends ----------------------------------------------------------------------------------------------------------


def test_writers_are_told_by_ends_that_grow() -> None:
    plan = plan_of(FLOW, look_of(tops_after={PLACE: 140}))
    assert plan.partitions[0].grown == 40
    assert "Writers      still write: 40 records within 5 s (orders 40)" in lines(plan)
    assert "Writers      no topic has grown within 5 s" in lines(plan_of(FLOW, look_of()))


def test_the_canary_is_no_writer() -> None:
    events = ("streamops-canary.a.b", 0)
    look = look_of(
        seen=Seen({events: Log(0, 100)}, positions={events: 100}, targets={f"a.{events[0]}": 1}),
        tops_before={events: 100},
        tops_after={events: 101},
    )
    assert plan_of(replace(FLOW, topics=(".*",)), look).partitions[0].grown == 0


def test_a_log_that_was_cut_or_whose_leader_is_silent_has_not_grown() -> None:
    assert plan_of(FLOW, look_of(tops_after={PLACE: 3})).partitions[0].grown == 0
    assert plan_of(FLOW, look_of(tops_after={})).partitions[0].grown == 0


def test_a_transaction_that_stays_open_is_told() -> None:
    plan = plan_of(FLOW, look_of(tops_before={PLACE: 110}, tops_after={PLACE: 110}))
    assert any(line.startswith("Transaction  open for all that time: orders-0.") for line in lines(plan))
    # One that ended meanwhile, and another that began.
    ended = look_of(tops_before={PLACE: 110}, tops_after={PLACE: 130}, ends_after={PLACE: 112})
    assert not plan_of(FLOW, ended).partitions[0].is_open


def test_what_is_left_to_copy_is_counted() -> None:
    look = look_of()
    behind = replace(look, seen=replace(look.seen, positions={PLACE: 70}))
    plan = plan_of(FLOW, behind)
    assert plan.to_copy == 30
    assert "Copy         0 of 1 partitions are complete, 30 records are not in b (orders 30)" in lines(plan)


def test_a_topic_that_only_the_target_has_is_told() -> None:
    assert plan_of(FLOW, look_of(only_there=["a.audit"])).notes == [
        "only b has a.audit: deleted in a, or no copy of this flow"
    ]


def test_lost_records_speak_against_it_and_doubtful_ones_are_noted() -> None:
    sure = Gap(PURGED, "orders", 0, 10, 19, counted=10)
    plan = plan_of(FLOW, look_of(gaps=[sure, replace(sure, certain=False, doubt=UNSEEN)]))
    assert plan.against[0].startswith("orders-0: offsets 10 to 19 (10 records) are missing")
    assert plan.notes[0].startswith("records may be missing: orders-0: offsets 10 to 19 (at most 10 records)")


def test_failed_tasks_and_silent_brokers_speak_against_it() -> None:
    look = look_of(hidden=["broker 2 of a (timed out)"])
    look = replace(look, seen=replace(look.seen, failed={"MirrorSourceConnector task 0": "RecordTooLargeException"}))
    against = plan_of(FLOW, look).against
    assert against[0].startswith("MirrorSourceConnector task 0 failed: RecordTooLargeException")
    assert against[1] == "groups are not known: broker 2 of a (timed out). Start these brokers, then plan again"


def test_clocks_say_nothing() -> None:
    """Ages of heartbeats and checkpoints depend on the clocks of others: no figure comes of them."""
    look = look_of(readers=[reader(99, 80)])
    later = replace(look, seen=replace(look.seen, heartbeat_age_ms=10**12, checkpoint_age_ms=0))
    assert plan_of(FLOW, later) == plan_of(FLOW, look)


def test_kept_names() -> None:
    kept = Reader(reader(99).group, Offsets({PLACE: Offset(99)}), None, Offsets({PLACE: Offset(95)}))
    assert reading_of(look_of(readers=[kept]), replace(FLOW, policy="identity")).repeats == Span(4, 4)


def test_spans_in_words() -> None:
    assert [str(span) for span in (Span(), Span(3, 3), Span(0, 1200), Span(2, 5))] == [
        "0",
        "3",
        "at most 1,200",
        "2 to 5",
    ]


def test_a_copy_that_grows_while_it_is_watched_is_counted() -> None:
    look = look_of()
    (end,) = [log.end for log in look.copies.values()]
    (row,) = plan_of(FLOW, replace(look, copied_before={PLACE: (end or 0) - 3})).partitions
    assert row.grown_there == 3
