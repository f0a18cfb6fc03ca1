# SPDX-License-Identifier: GPL-3.0-or-later
"""The offset syncs of MirrorMaker 2 and the holes that they show."""

from __future__ import annotations

import struct

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.trail import (
    Range,
    Sync,
    skipped,
    sync_of,
    syncs_topic,
)

KEY = struct.pack(">h6si", 6, b"orders", 3)


def test_the_syncs_of_a_flow_are_never_taken_from_the_flow_back() -> None:
    """Cluster a holds those of a->b, or, with its source untouched, those of b->a, and each has another name."""
    assert syncs_topic(Flow("a", "b", ("t",))) == "mm2-offset-syncs.b.internal"
    # It is in the target.
    assert syncs_topic(Flow("a", "b", ("t",), untouched_source=True)) == "mm2-offset-syncs.a.internal"


def test_a_sync_is_read() -> None:
    assert sync_of(KEY, struct.pack(">qq", 150, 100)) == (("orders", 3), (150, 100))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (None, None),
        (KEY, None),
        (KEY, b"short"),
        (b"\x00\x09orders", struct.pack(">qq", 1, 1)),
        (struct.pack(">h2si", 2, b"\xff\xfe", 0), struct.pack(">qq", 1, 1)),
    ],
)
def test_what_is_no_sync_is_passed_over(key: bytes | None, value: bytes | None) -> None:
    assert sync_of(key, value) is None


@pytest.mark.parametrize(
    ("syncs", "holes"),
    [
        ([], []),
        ([(0, 0)], []),
        ([(40, 0)], []),  # A mirror begins where the log begins.
        ([(0, 0), (100, 100)], []),
        ([(0, 0), (150, 100)], [(100, 149)]),
        ([(0, 0), (150, 100), (151, 101), (303, 201)], [(100, 149), (251, 302)]),
        ([(0, 0), (90, 90), (80, 100), (120, 140)], []),  # Begun again, with repeats.
        ([(0, 0), (90, 90), (100, 0)], []),  # The topic of the target was made anew.
        ([(0, 0), (99, 99), (0, 100)], []),  # The topic of the source was.
    ],
)
def test_holes(syncs: list[Sync], holes: list[Range]) -> None:
    assert skipped(syncs) == holes
