# SPDX-License-Identifier: GPL-3.0-or-later
"""Which batches of a log are copied: by offset, by time, within bounds; what a broker just writes is no error."""

from __future__ import annotations

import struct
import time
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._dump import segments_look as segments
from ansible_collections.streamops.kafka.plugins.module_utils._dump.asked import Asked
from ansible_collections.streamops.kafka.plugins.module_utils._dump.copy_look import Room, copy_log, end_of

#: Of each segment its first offset; each has batches of two records, of 100 bytes, one second a record.
BASES = (0, 10, 20)
SIZE = 100


def batch(base: int, count: int = 2) -> bytes:
    """A batch whose head says that it has these records from this offset on."""
    head = struct.pack(
        ">qiibIhiqqqhii",
        base,
        SIZE - 12,
        0,
        2,
        0,
        0,
        count - 1,
        base * 1000,
        (base + count - 1) * 1000,
        -1,
        -1,
        -1,
        count,
    )
    return head.ljust(SIZE, b"x")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of 30 records in three segments, with indexes of each second batch; the last index has room in front."""
    for base in BASES:
        stem = tmp_path / segments.SEGMENT.format(base)
        stem.with_suffix(".log").write_bytes(b"".join(batch(base + 2 * n) for n in range(5)))
        room = b"\0" * (80 if base == BASES[-1] else 0)
        places = [struct.pack(">ii", 2 * n + 1, n * SIZE) for n in (1, 3)]
        stem.with_suffix(".index").write_bytes(b"".join(places) + room)
        times = [struct.pack(">qi", (base + 2 * n + 1) * 1000, 2 * n + 1) for n in (1, 3, 4)]
        stem.with_suffix(".timeindex").write_bytes(b"".join(times) + room + room[:4])
    return tmp_path


def copied(log: Path, room: Room | None = None, **ranges: int | str) -> list[int]:
    """The first offsets of the batches that are copied."""
    target = log / "copy"
    target.unlink(missing_ok=True)
    asked = Asked("a-0", "a", 0, **ranges)  # type: ignore[arg-type]
    copy_log(asked, str(log), str(target), room or Room(10**6, asked.records))
    data = target.read_bytes()
    return [struct.unpack(">q", data[at : at + 8])[0] for at in range(0, len(data), SIZE)]


def test_without_a_range_all_is_copied(log: Path) -> None:
    assert copied(log) == list(range(0, 30, 2))


@pytest.mark.parametrize(
    ("ranges", "found"),
    [
        ({"offset_from": 13, "offset_to": 16}, [12, 14, 16]),
        ({"offset_from": 28}, [28]),
        ({"offset_from": -3}, [26, 28]),
        ({"offset_from": -1000, "offset_to": 1}, [0]),
        ({"offset_to": 0}, [0]),
        ({"time_from": 17_000, "time_to": 20_000}, [16, 18, 20]),
        ({"time_from": 29_000}, [28]),
        ({"time_from": 30_000}, []),
        ({"time_to": 1_000}, [0]),
        ({"offset_from": 99}, []),
    ],
)
def test_a_range_is_copied_and_no_more(log: Path, ranges: dict[str, int], found: list[int]) -> None:
    assert copied(log, **ranges) == found
    for path in [*log.glob("*.index"), *log.glob("*.timeindex")]:
        path.unlink()
    assert copied(log, **ranges) == found, "without indexes"


def test_segments_outside_of_the_range_are_not_opened(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    real = segments.batches

    def noted(file: int, position: int = 0) -> object:
        opened.append(position)
        return real(file, position)

    monkeypatch.setattr(segments, "batches", noted)
    assert copied(log, offset_from=17, offset_to=18) == [16, 18]
    assert opened == [3 * SIZE]
    opened.clear()
    assert copied(log, time_from=25_000)[0] == 24
    assert opened == [SIZE]


def test_bounds_end_the_copy_and_are_named(log: Path) -> None:
    few = Room(10**6, 3)
    assert copied(log, few) == [0, 2]
    assert few.reached == "records"
    small = Room(250, 1000)
    assert copied(log, small) == [0, 2]
    assert small.reached == "bytes"
    whole = Room(10**6, 30)
    assert len(copied(log, whole)) == 15
    assert whole.reached == ""
    # A key is only known once records are decoded.
    assert len(copied(log, Room(10**6, 3), key="k")) == 15


def test_a_batch_that_is_cut_ends_the_log(log: Path) -> None:
    last = log / f"{segments.SEGMENT.format(20)}.log"
    for rest in (batch(30)[:80], batch(30)[:30], b"\0" * 500):
        whole = last.read_bytes()
        last.write_bytes(whole + rest)
        assert copied(log, offset_from=28) == [28]
        assert end_of(str(log), list(BASES), Room(0, 0)) == 30
        last.write_bytes(whole)


def test_an_empty_log_has_its_first_offset_for_end(tmp_path: Path) -> None:
    (tmp_path / f"{segments.SEGMENT.format(7)}.log").touch()
    assert end_of(str(tmp_path), [7], Room(0, 0)) == 7
    assert copied(tmp_path) == []


@pytest.mark.parametrize("ranges", [{}, {"offset_from": -3}, {"time_to": 1_000}])
def test_the_time_bounds_the_reading_of_the_log_too(log: Path, ranges: dict[str, int]) -> None:
    over = Room(10**6, 1000, deadline=time.monotonic())
    assert copied(log, over, **ranges) == []
    assert over.reached == "seconds"
