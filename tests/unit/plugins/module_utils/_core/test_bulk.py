"""How changes are cut into requests."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.module_utils._core.bulk import MAX_RECORDS, batches, failures, parts


def test_parts_hold_all_items_in_order() -> None:
    assert list(parts(range(7), 3)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert list(parts([], 3)) == []


@given(st.lists(st.integers(1, MAX_RECORDS)))
def test_batches_keep_every_name_in_order_within_the_limit(sizes: list[int]) -> None:
    named = [(str(number), size) for number, size in enumerate(sizes)]
    cut = list(batches(named))
    assert [name for batch in cut for name in batch] == [name for name, _size in named]
    assert all(sum(sizes[int(name)] for name in batch) <= MAX_RECORDS for batch in cut)


def test_what_is_well_is_no_failure() -> None:
    assert failures({"a": None, "b": ("POLICY_VIOLATION", "too few")}) == {"b": ("POLICY_VIOLATION", "too few")}
