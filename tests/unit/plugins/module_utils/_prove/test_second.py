"""Two readers that found the same agree; where they do not, the verdict says where."""

from __future__ import annotations

import zlib
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._prove.judge import (
    FAIL,
    INCONCLUSIVE,
    PARTIAL,
    PASS,
    Answer,
    Counted,
    Found,
    Verdict,
    counted,
    judged,
)
from ansible_collections.streamops.kafka.plugins.module_utils._prove.ledger import IDEMPOTENT, TRANSACTIONAL, Name

FOUND = [
    Found(0, 3, Name(IDEMPOTENT, 0)),
    Found(0, 4, Name(TRANSACTIONAL, 2)),
    Found(0, 6, Name(IDEMPOTENT, 4)),
    Found(0, 7, Name(IDEMPOTENT, 2)),
    Found(1, 0, Name(IDEMPOTENT, 1)),
]
OURS = counted("5f0c2a91", FOUND)
WHOLE = Verdict(PASS, (), "")


def answer(**changed: Any) -> Answer:
    """What a second reader says that found the same, but for the changed numbers of its first line."""
    return {"found": [{**OURS[0]._asdict(), **changed}, *(one._asdict() for one in OURS[1:])]}


def test_a_reader_counts_each_kind_of_each_partition() -> None:
    texts = ["0 3 5f0c2a91 idempotent 0", "0 6 5f0c2a91 idempotent 4", "0 7 5f0c2a91 idempotent 2"]
    assert OURS[0] == Counted(0, IDEMPOTENT, 3, 3, 0, 4, 1, sum(zlib.crc32(one.encode()) for one in texts))
    assert [one[:3] for one in OURS[1:]] == [(0, TRANSACTIONAL, 1), (1, IDEMPOTENT, 1)]


def test_a_reader_that_found_the_same_changes_no_verdict() -> None:
    assert judged(WHOLE, OURS, answer()) == WHOLE
    assert judged(Verdict(PARTIAL, (), "late"), OURS, answer()) == Verdict(PARTIAL, (), "late")


@pytest.mark.parametrize(
    "changed", [{"records": 2}, {"distinct": 2}, {"first": 1}, {"last": 5}, {"out_of_order": 0}, {"checksum": 1}]
)
def test_a_reader_that_found_something_else_fails_the_proof(changed: dict[str, int]) -> None:
    found = judged(WHOLE, OURS, answer(**changed))
    assert found.word == FAIL
    assert found.why.startswith("two readers found different records: partition 0, idempotent: 3 records from 0 to 4 ")


def test_a_reader_that_found_nothing_or_did_not_read_to_the_end_is_no_second_reader() -> None:
    assert judged(WHOLE, OURS, {}).word == FAIL
    found = judged(WHOLE, OURS, {"error": "no Java"})
    assert (found.word, found.why) == (INCONCLUSIVE, "the second reader did not reach the end: no Java")


def test_what_the_first_reader_found_wrong_stays_the_reason() -> None:
    lost = Verdict(FAIL, (), "topic t, partition 0, offset 4: 1 record acknowledged and lost")
    assert judged(lost, OURS, {"error": "no Java"}) == lost
