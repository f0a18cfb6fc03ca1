"""Nothing that was acknowledged may be lost, repeated or out of order, and the failure names where."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._prove.judge import (
    ABORTED,
    FAIL,
    INCONCLUSIVE,
    LOST,
    MOVED,
    PARTIAL,
    PASS,
    REORDERED,
    REPEATED,
    Found,
    Wrong,
    failure,
    findings,
    totals,
    verdict,
)
from ansible_collections.streamops.kafka.plugins.module_utils._prove.ledger import (
    ASKED,
    FAILED,
    IDEMPOTENT,
    KINDS,
    RUN_ENDED,
    TIME_OVER,
    TRANSACTIONAL,
    Begun,
    Ledger,
    Name,
    Place,
)


def name(number: int, kind: str = IDEMPOTENT) -> Name:
    return Name(kind, number)


COMMITTED = Found(4, 0, name(1, TRANSACTIONAL))


def written(*numbers: int) -> Ledger:
    """A ledger of these records in partition 3, one of a transaction in partition 4, and the end that was asked for."""
    places = {name(number): Place(3, at, 100.0 + at) for at, number in enumerate(numbers)}
    places[COMMITTED.name] = Place(COMMITTED.partition, COMMITTED.offset, 100.0)
    return Ledger(places, set(), (ASKED, 200.0, ""))


def there(*numbers: int) -> list[Found]:
    return [*(Found(3, at, name(number)) for at, number in enumerate(numbers)), COMMITTED]


def test_what_is_there_as_acknowledged_passes() -> None:
    found = verdict(written(0, 4, 8), there(0, 4, 8), "t", 150)
    assert (found.word, found.wrong, found.why) == (PASS, (), "")


def test_a_record_whose_answer_never_came_may_be_there_or_not() -> None:
    assert findings(written(0, 4), there(0, 4, 8)) == []
    assert findings(written(0, 4), there(0, 4)) == []


def test_a_lost_record_is_named_by_the_offset_of_its_acknowledgement() -> None:
    assert findings(written(0, 4, 8, 12), there(0)) == [Wrong(LOST, 3, 3, 1, 3)]


def test_a_record_that_is_there_twice_is_repeated() -> None:
    assert findings(written(0, 4), there(0, 4, 0)) == [Wrong(REPEATED, 3, 1, 2, 2)]


def test_a_record_behind_a_later_one_is_reordered_and_elsewhere_than_acknowledged() -> None:
    assert findings(written(0, 4, 8), there(0, 8, 4)) == [Wrong(REORDERED, 3, 1, 2, 2), Wrong(MOVED, 3, 2, 1, 2)]


def test_kinds_have_orders_of_their_own() -> None:
    found = [Found(3, 0, name(9)), Found(3, 1, name(0, TRANSACTIONAL)), Found(3, 2, name(12))]
    assert findings(Ledger(), found) == []


def test_a_record_of_an_aborted_transaction_must_not_be_there() -> None:
    ledger = Ledger({}, {name(5, TRANSACTIONAL)}, None)
    assert findings(ledger, [Found(1, 9, name(5, TRANSACTIONAL))]) == [Wrong(ABORTED, 1, 1, 9, 9)]


def test_a_failure_names_topic_partition_offsets_and_how_many() -> None:
    found = verdict(written(0, 4, 8), there(0), "t", 150)
    assert (found.word, found.why) == (FAIL, "topic t, partition 3, offsets 1 to 2: 2 records acknowledged and lost")
    assert totals(found.wrong)[LOST] == 2


def test_a_failure_with_many_findings_is_short() -> None:
    some = [Wrong(LOST, partition, 1, 7, 7) for partition in range(5)]
    assert failure("t", some).startswith("topic t, partition 0, offset 7: 1 record acknowledged and lost; ")
    assert failure("t", some).endswith("; and 2 more findings")


@pytest.mark.parametrize(
    ("ended", "why"),
    [
        (None, "was killed"),
        ((FAILED, 130.0, "no right to write"), "the stream failed: no right to write"),
        ((RUN_ENDED, 130.0, ""), "its run was gone"),
    ],
)
def test_a_stream_that_ended_too_early_proves_nothing_and_says_why(
    ended: tuple[str, float, str] | None, why: str
) -> None:
    ledger = written(0)
    ledger.ended = ended
    found = verdict(ledger, there(0), "t", 150)
    assert found.word == INCONCLUSIVE
    assert why in found.why


def test_a_stream_whose_time_was_over_before_the_last_node_proves_a_part() -> None:
    ledger = written(0)
    ledger.ended = (TIME_OVER, 130.0, "")
    found = verdict(ledger, there(0), "t", 150)
    assert found.word == PARTIAL
    assert "20 s before the last node was back" in found.why


def test_a_stream_whose_time_was_over_after_the_last_node_passes() -> None:
    ledger = written(0)
    ledger.ended = (TIME_OVER, 160.0, "")
    assert verdict(ledger, there(0), "t", 150).word == PASS


def test_a_stream_without_an_acknowledged_record_proves_nothing() -> None:
    found = verdict(Ledger({}, set(), (ASKED, 200.0, "")), [], "t", 150)
    assert (found.word, found.why) == (INCONCLUSIVE, "no idempotent and no transactional record was acknowledged")


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_of_one_kind_alone_proves_nothing_of_the_other(kind: str) -> None:
    ledger = Ledger({name(0, kind): Place(3, 0, 100.0)}, set(), (TIME_OVER, 130.0, ""))
    found = verdict(ledger, [Found(3, 0, name(0, kind))], "t", 150)
    (other,) = set(KINDS) - {kind}
    assert (found.word, found.why) == (INCONCLUSIVE, f"no {other} record was acknowledged")


def test_a_record_whose_acknowledgement_names_no_offset_has_not_moved() -> None:
    ledger = Ledger({name(0): Place(3, -1, 100.0), name(4): Place(3, 1, 100.0)}, set(), None)
    assert findings(ledger, [Found(3, 0, name(0)), Found(3, 1, name(4))]) == []
    assert findings(ledger, [Found(3, 1, name(4))]) == [Wrong(LOST, 3, 1, -1, -1)]


def test_what_is_wrong_counts_however_the_stream_ended() -> None:
    ledger = written(0, 4)
    ledger.ended = None
    assert verdict(ledger, there(0), "t", 150).word == FAIL


def acknowledged_at(*times: tuple[str, int, float]) -> tuple[Ledger, list[Found]]:
    """A stream of proof 1 into two partitions, which ended at 200: records by kind, partition and time."""
    places = {name(at, kind): Place(partition, at, when) for at, (kind, partition, when) in enumerate(times)}
    found = [Found(place.partition, place.offset, one) for one, place in places.items()]
    return Ledger(places, set(), (ASKED, 200.0, ""), Begun("1", 100.0, 2)), found


ALL = [(kind, partition, 201.0) for kind in KINDS for partition in (0, 1)]


def test_a_stream_that_each_partition_answers_to_its_end_passes() -> None:
    assert verdict(*acknowledged_at(*ALL), "t", 150).word == PASS


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ([*ALL[:1], (IDEMPOTENT, 1, 140.0), *ALL[2:]], "1 of 2 partitions acknowledged no idempotent record"),
        ([ALL[0], *ALL[2:]], "(partition 1: last one never)"),
        ([*ALL[:3], (TRANSACTIONAL, 1, 199.0)], "(partition 1: last one 1 s before)"),
        (
            [*ALL[:2], *((TRANSACTIONAL, one, 150.0) for one in (0, 1))],
            "2 of 2 partitions acknowledged no transactional",
        ),
    ],
)
def test_a_partition_that_takes_no_record_at_the_end_is_no_pass(given: list[tuple[str, int, float]], why: str) -> None:
    found = verdict(*acknowledged_at(*given), "t", 150)
    assert found.word == INCONCLUSIVE
    assert why in found.why


def test_a_stream_that_another_run_ended_proves_a_part() -> None:
    ledger = written(0)
    ledger.ended = (ASKED, 130.0, "")
    found = verdict(ledger, there(0), "t", 150)
    assert (found.word, found.why[:46]) == (PARTIAL, "the stream ended 20 s before the last node was")


@pytest.mark.parametrize("why", [TIME_OVER, ASKED])
def test_a_stream_that_fell_silent_and_ended_early_proves_no_part(why: str) -> None:
    """No answer came after the first second, and the stream ended long before the last node was back."""
    ledger, found = acknowledged_at(*((kind, partition, 100.5) for kind in KINDS for partition in (0, 1)))
    ledger.ended = (why, 160.0, "")
    said = verdict(ledger, found, "t", 200)
    assert said.word == INCONCLUSIVE
    assert "2 of 2 partitions acknowledged no idempotent record" in said.why
    assert "the stream ended 40 s before the last node was back" in said.why


def test_a_stream_that_ended_before_the_first_node_stopped_proves_no_part() -> None:
    ledger, found = acknowledged_at(*ALL)
    assert verdict(ledger, found, "t", 300, since=250).word == INCONCLUSIVE
    assert "before the first node was stopped" in verdict(ledger, found, "t", 300, since=250).why
    assert verdict(ledger, found, "t", 300, since=150).word == PARTIAL
