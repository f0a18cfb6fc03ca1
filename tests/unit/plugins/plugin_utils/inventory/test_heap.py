# SPDX-License-Identifier: GPL-3.0-or-later
"""The size of a heap is read as Java reads it."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.heap import heap_bytes


def test_heaps_are_read_as_java_reads_them() -> None:
    assert [heap_bytes(text, "kafka_heap_size") for text in ("512m", "2G", "1024")] == [512 << 20, 2 << 30, 1024]


@pytest.mark.parametrize("text", ["much", "", "0", "1.5g", "1t", " 1g", "1 g", "-1g"])
def test_what_java_does_not_read_is_named_with_its_variable(text: str) -> None:
    with pytest.raises(ValueError, match=r"mirror_maker_heap_size is .*cannot read"):
        heap_bytes(text, "mirror_maker_heap_size")
