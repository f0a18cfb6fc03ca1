"""The longest time without an acknowledged record has the name of who was restarting then."""

from __future__ import annotations

from ansible_collections.streamops.kafka.plugins.module_utils._prove.gaps import (
    Gap,
    Restart,
    longest_commit_gap,
    longest_gaps,
)
from ansible_collections.streamops.kafka.plugins.module_utils._prove.ledger import (
    ASKED,
    IDEMPOTENT,
    TRANSACTIONAL,
    Begun,
    Ledger,
    Name,
    Place,
)

RESTARTS = [Restart("kafka1", 10.0, 14.0, 16.0), Restart("kafka2", 20.0, 24.0, 26.0)]


def ledger(kind: str, *places: tuple[int, float]) -> Ledger:
    return Ledger({Name(kind, at): Place(partition, at, when) for at, (partition, when) in enumerate(places)})


def test_each_partition_has_its_longest_gap_and_who_restarted_in_it() -> None:
    found = longest_gaps(ledger(IDEMPOTENT, (0, 1), (1, 2), (0, 11), (1, 19), (0, 15), (1, 25), (0, 18)), RESTARTS)
    assert found == [Gap(0, 10, 1, ("kafka1",)), Gap(1, 17, 2, ("kafka1",))]


def test_a_gap_beside_all_restarts_has_no_name() -> None:
    assert longest_gaps(ledger(IDEMPOTENT, (0, 30), (0, 33), (0, 34)), RESTARTS) == [Gap(0, 3, 30, ())]


def test_one_record_has_no_gap() -> None:
    assert longest_gaps(ledger(IDEMPOTENT, (0, 12)), RESTARTS) == [Gap(0, 0, 12, ("kafka1",))]


def test_commits_are_of_all_partitions() -> None:
    some = ledger(TRANSACTIONAL, (0, 18), (1, 18), (0, 22), (1, 22), (0, 23))
    assert longest_commit_gap(some, RESTARTS) == Gap(-1, 4, 18, ("kafka2",))
    assert longest_gaps(some, RESTARTS) == []
    assert longest_commit_gap(Ledger(), RESTARTS) is None


def test_the_time_from_the_last_record_to_the_end_is_a_gap_too() -> None:
    some = ledger(IDEMPOTENT, (0, 12), (0, 13))
    some.begun, some.ended = Begun("1", 11, 2), (ASKED, 25.0, "")
    assert longest_gaps(some, RESTARTS) == [Gap(0, 12, 13, ("kafka1", "kafka2")), Gap(1, 14, 11, ("kafka1", "kafka2"))]
    commits = ledger(TRANSACTIONAL, (0, 22))
    commits.ended = (ASKED, 25.0, "")
    assert longest_commit_gap(commits, RESTARTS) == Gap(-1, 3, 22, ("kafka2",))
