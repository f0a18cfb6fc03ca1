"""Which record goes where."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_validation.smoke.geometry import Geometry, Lane, writers_for


@st.composite
def shapes(draw: st.DrawFn) -> Geometry:
    records = draw(st.integers(1, 400))
    return Geometry(records, draw(st.integers(1, min(records, 20))), draw(st.integers(1, min(records, 12))))


def dealt(shape: Geometry) -> dict[tuple[int, int], list[int]]:
    """The rule of the module, record by record: (writer, partition) -> sequences in the order they are sent."""
    lanes: dict[tuple[int, int], list[int]] = {}
    for writer in range(shape.writers):
        for number in range(shape.first(writer), shape.first(writer + 1)):
            sequence = (number - shape.first(writer)) // shape.partitions
            lanes.setdefault((writer, number % shape.partitions), []).append(sequence)
    return lanes


@given(shapes())
def test_every_lane_carries_a_sequence_without_gap_from_zero(shape: Geometry) -> None:
    lanes = dealt(shape)
    for (writer, partition), sequences in lanes.items():
        assert sequences == list(range(shape.lane_size(writer, partition)))
    expected = {
        (lane.writer, lane.partition): size for lane, size in shape.lanes(dict.fromkeys(range(shape.writers), 0))
    }
    assert expected == {lane: len(sequences) for lane, sequences in lanes.items()}


@given(shapes())
def test_nothing_is_left_over_and_every_partition_is_reached(shape: Geometry) -> None:
    sizes = [shape.partition_size(partition) for partition in range(shape.partitions)]
    assert sum(sizes) == shape.records
    assert min(sizes) >= 1
    assert max(sizes) - min(sizes) <= 1


@given(st.integers(0, 999_999), st.integers(0, 999_999), st.integers(0, 9_999))
def test_a_lane_number_names_one_lane(partition: int, writer: int, attempt: int) -> None:
    lane = Lane(partition, writer, attempt)
    assert Lane.of(lane.number) == lane
    assert len(str(lane.number)) <= 16


@pytest.mark.parametrize(("records", "partitions", "writers"), [(2, 3, 1), (3, 3, 4), (1, 0, 1), (0, 1, 1)])
def test_a_shape_that_cannot_reach_everything_is_refused(records: int, partitions: int, writers: int) -> None:
    with pytest.raises(ValueError, match="records cannot"):
        Geometry(records, partitions, writers)


def test_writers_grow_with_cores_and_records_but_never_beyond_records() -> None:
    assert writers_for(100_000, 2) == 4
    assert writers_for(10_000_000, 2) == 40
    assert writers_for(3, 8) == 3
