# SPDX-License-Identifier: GPL-3.0-or-later
"""What workers of Kafka Connect run, by the bytes that their group keeps of them."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._groups import api
from ansible_collections.streamops.kafka.plugins.module_utils._groups.messages import tasks_of
from ansible_collections.streamops.kafka.plugins.module_utils._groups.model import Listed

Lists = dict[str, list[int]]


def text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


def listed(connectors: Lists | None) -> bytes:
    if connectors is None:
        return struct.pack(">i", -1)
    parts = [text(name) + struct.pack(f">{len(ids) + 1}i", len(ids), *ids) for name, ids in connectors.items()]
    return struct.pack(">i", len(parts)) + b"".join(parts)


def assignment(added: Lists | None, revoked: Lists | None = None, version: int = 2) -> bytes:
    head = struct.pack(">hh", version, 0) + text("leader") + text("https://m1:8083/") + struct.pack(">q", 7)
    return head + listed(added) + (listed(revoked) + struct.pack(">i", 0) if version else b"")


def metadata(before: bytes | None, version: int = 2) -> bytes:
    head = struct.pack(">h", version) + text("https://m1:8083/") + struct.pack(">q", 7)
    kept = struct.pack(">i", -1) if before is None else struct.pack(">i", len(before)) + before
    return head + (kept if version else b"")


@pytest.mark.parametrize(
    ("known", "given", "runs"),
    [
        (metadata(None), assignment({"source": [-1, 0], "beat": [0]}), {("source", -1), ("source", 0), ("beat", 0)}),
        # What a worker had before is not assigned again.
        (metadata(assignment({"source": [0, 1]})), b"", {("source", 0), ("source", 1)}),
        (metadata(assignment({"source": [0, 1]})), assignment(None, {"source": [1]}), {("source", 0)}),
        (metadata(assignment({"source": [0]}), 1), assignment({"beat": [0]}, None, 1), {("source", 0), ("beat", 0)}),
        # The eager protocol assigns everything anew.
        (metadata(None, 0), assignment({"source": [0]}, None, 0), {("source", 0)}),
        (b"", b"", set()),
    ],
)
def test_a_worker_runs_what_it_had_and_got_without_what_was_taken_away(
    known: bytes, given: bytes, runs: set[tuple[str, int]]
) -> None:
    assert tasks_of(known, given) == runs


@pytest.mark.parametrize("length", range(1, 60))
def test_bytes_that_end_too_early_are_no_assignment(length: int) -> None:
    whole = assignment({"source": [0]})
    with pytest.raises(ValueError, match="not of a worker"):
        tasks_of(metadata(None), whole[: min(length, len(whole) - 5)])


@pytest.mark.parametrize(
    ("protocol", "known", "runs"),
    [
        ("connect", metadata(None), frozenset({("source", 0)})),
        ("connect", b"\x00\x02\x00", None),
        ("consumer", b"", None),
    ],
)
def test_members_of_groups_of_connect_have_their_tasks(protocol: str, known: bytes, runs: Any) -> None:
    given = assignment({"source": [0]}) if protocol == "connect" else b""
    member = SimpleNamespace(
        member_id="m-1",
        client_id="b->a",
        client_host="/10.0.0.7",
        group_instance_id=None,
        member_metadata=known,
        member_assignment=given,
    )
    read = api._classic_member(Listed("b-mm2", "classic", "Stable", protocol, 1), member)
    assert (read.tasks, read.assigned) == (runs, {})
