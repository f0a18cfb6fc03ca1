"""The ledger of a proof is read back as it was written, up to where its process was killed."""

from __future__ import annotations

import json
import secrets

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._prove.ledger import (
    ASKED,
    IDEMPOTENT,
    TRANSACTIONAL,
    Begun,
    Name,
    Place,
    aborted_line,
    acknowledged_by,
    acknowledged_line,
    begun_line,
    ended_line,
    name_of,
    read_ledger,
    value_of,
)
from ansible_collections.streamops.kafka.plugins.module_utils._prove.topic import MOST_RECORDS

BEGUN = Begun("5f0c2a91", 1700000000.0, 6)
FIRST, SECOND = Name(IDEMPOTENT, 0), Name(TRANSACTIONAL, 7)
LINES = [
    acknowledged_line(FIRST, Place(2, 40, 1700000000.25)),
    aborted_line(SECOND),
    ended_line(ASKED, 1700000001.5, "asked to"),
    begun_line(BEGUN),
]


def test_a_ledger_is_read_as_it_was_written() -> None:
    ledger = read_ledger(LINES)
    assert ledger.acknowledged == {FIRST: Place(2, 40, 1700000000.25)}
    assert ledger.aborted == {SECOND}
    assert ledger.begun == BEGUN
    assert ledger.ended == (ASKED, 1700000001.5, "asked to")
    assert acknowledged_by(ledger) == {IDEMPOTENT: 1, TRANSACTIONAL: 0}


def test_another_reader_finds_records_and_lines_as_the_docs_say() -> None:
    assert value_of("5f0c2a91", SECOND) == b"5f0c2a91 transactional 7"
    assert [json.loads(line) for line in LINES] == [
        ["+", IDEMPOTENT, 0, 2, 40, 1700000000.25],
        ["-", TRANSACTIONAL, 7],
        [".", ASKED, 1700000001.5, "asked to"],
        ["*", "5f0c2a91", 1700000000.0, 6],
    ]


def test_a_line_that_was_cut_counts_for_nothing() -> None:
    ledger = read_ledger([LINES[0], LINES[1][:-4]])
    assert (len(ledger.acknowledged), ledger.aborted, ledger.ended) == (1, set(), None)


def test_a_value_names_its_record() -> None:
    assert name_of("run1", value_of("run1", SECOND)) == SECOND


def test_a_record_is_small_so_that_the_rate_bounds_what_is_written() -> None:
    assert len(value_of(secrets.token_hex(4), Name(TRANSACTIONAL, MOST_RECORDS))) < 50


@pytest.mark.parametrize("value", [None, b"", b"run2 idempotent 1", b"run1 other 1", b"run1 idempotent x", b"\xff\xfe"])
def test_what_this_run_did_not_write_is_no_record_of_it(value: bytes | None) -> None:
    assert name_of("run1", value) is None
