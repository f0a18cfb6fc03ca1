"""A topic that loses records while it is read is taken off, and the others are compared."""

from __future__ import annotations

from spark_validation.mirror.seen import ATTEMPTS, Compared, Scope, Span, undisturbed

SCOPES = [Scope(number, f"t{number}", f"m.t{number}", (Span(0, 9, (0, 10), (0, 10)),)) for number in range(8)]


class Reads:
    """Comparisons that fail while a topic of `bad` is among those that are read."""

    def __init__(self, *bad: str, why: str = "KAFKA_DATA_LOSS") -> None:
        self.bad, self.why = bad, why
        self.of: list[list[str]] = []

    def compare(self, scopes: list[Scope]) -> tuple[Compared | None, str]:
        self.of.append([scope.source for scope in scopes])
        fails = [name for scope in scopes for name in (scope.source, scope.target) if name in self.bad]
        return (None, self.why.format(*fails)) if fails else (Compared(cells=len(scopes)), "")

    def changed(self, scopes: list[Scope]) -> dict[str, str]:
        names = {name for scope in scopes for name in (scope.source, scope.target)}
        return {name: "records were removed" for name in self.bad if name in names}


def test_nothing_is_read_twice_when_nothing_was_lost() -> None:
    reads = Reads()
    assert undisturbed(SCOPES, reads.compare, reads.changed) == (Compared(cells=8), SCOPES, {})
    assert len(reads.of) == 1


def test_topics_that_lost_records_on_either_side_are_left_out_and_named() -> None:
    reads = Reads("t0", "m.t3")
    seen, compared, gone = undisturbed(SCOPES, reads.compare, reads.changed)
    assert [scope.source for scope in compared] == ["t1", "t2", "t4", "t5", "t6", "t7"]
    assert (seen.cells, gone) == (6, {"t0": "records were removed", "m.t3": "records were removed"})


def test_a_topic_that_only_the_error_names_is_left_out() -> None:
    reads = Reads("t1", why="Cannot fetch offset 3 (GroupId: g, TopicPartition: {}-0).")
    _seen, compared, gone = undisturbed(SCOPES, reads.compare, lambda scopes: {})
    assert (list(gone), len(compared)) == (["t1"], 7)
    # The name of another topic that ends alike is none.
    reads = Reads("t1", why="TopicPartition: x.t1-0, t1-01")
    assert len(undisturbed(SCOPES, reads.compare, lambda scopes: {})[2]) == 8


def test_an_error_that_names_no_topic_leaves_all_of_them_out() -> None:
    reads = Reads("t1")
    _seen, compared, gone = undisturbed(SCOPES, reads.compare, lambda scopes: {})
    assert compared == []
    assert gone == {scope.source: "records were gone when they were read: KAFKA_DATA_LOSS" for scope in SCOPES}


def test_topics_that_go_one_after_the_other_end_the_audit_after_some_comparisons() -> None:
    reads = Reads(*(f"t{number}" for number in range(8)))
    _seen, compared, gone = undisturbed(
        SCOPES, reads.compare, lambda scopes: {scopes[0].source: "records were removed"}
    )
    assert (compared, len(reads.of), len(gone)) == ([], ATTEMPTS, 8)
    assert gone["t7"] == f"others lost records in each of {ATTEMPTS} comparisons"
