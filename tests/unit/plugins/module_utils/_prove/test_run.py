"""The process of a stream gets what it has to write, notes what its writers are told, and ends when it is asked to."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._prove import run
from ansible_collections.streamops.kafka.plugins.module_utils._prove.api import Stream, Writing
from ansible_collections.streamops.kafka.plugins.module_utils._prove.ledger import (
    ASKED,
    FAILED,
    KINDS,
    Name,
    Place,
    acknowledged_by,
    acknowledged_line,
)

STREAM = Stream("5f0c2a91", "__streamops_prove", 3, 60, 100, {"bootstrap.servers": "a:1"})


def writer(kind: str) -> Callable[[Writing], None]:
    """Return a writer whose records are acknowledged at once: one in each partition at the begin and at the end."""

    def write(writing: Writing) -> None:
        """Write, with what came through the pipe."""
        assert (writing.stream, writing.rate) == (STREAM, 50.0)
        for round_ in range(2):
            for number in range(writing.stream.partitions):
                place = Place(writing.partition(Name(kind, number)), number + 3 * round_, time.time())
                writing.note(acknowledged_line(Name(kind, number + 3 * round_), place))
            while writing.goes_on():
                time.sleep(0.01)

    return write


def test_a_stream_writes_until_it_is_asked_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "_STREAMS", tuple(writer(kind) for kind in KINDS))
    directory = str(tmp_path / "prove")
    assert run.start(directory, lambda: STREAM, None) == STREAM
    assert run.alive(directory) is not None
    assert run.proof_in(directory) == STREAM.run
    with pytest.raises(run.StreamError, match="a stream is under way"):
        run.start(directory, lambda: STREAM, None)
    ledger = run.ended(directory, STREAM.run)
    assert run.alive(directory) is None
    assert acknowledged_by(ledger) == dict.fromkeys(KINDS, 6)
    assert (ledger.partitions, ledger.ended and ledger.ended[0]) == (3, ASKED)


def test_a_stream_whose_writer_fails_is_not_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(writing: Writing) -> None:
        """Fail as where a right is missing."""
        writing.failed = "not allowed"

    monkeypatch.setattr(run, "_STREAMS", (write,))
    with pytest.raises(run.StreamError, match="ended at once \\(not allowed\\)"):
        run.start(str(tmp_path), lambda: STREAM, None)
    assert run.ledger(str(tmp_path)).ended[::2] == (FAILED, "not allowed")  # type: ignore[index]
