# SPDX-License-Identifier: GPL-3.0-or-later
"""Where records of each codec are written, and what an answer to them means."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._brokers import api, codec_apply, election_apply
from ansible_collections.streamops.kafka.plugins.module_utils._brokers.codec_apply import proof_place, prove_codecs
from ansible_collections.streamops.kafka.plugins.module_utils._brokers.election_apply import ensure_leaders
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import STATE_TOPIC, Partition
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError


def part(topic: str, index: int, replicas: tuple[int, ...], isr: tuple[int, ...] | None = None) -> Partition:
    return Partition(topic, index, replicas[-1], replicas, replicas if isr is None else isr, 1, False)


STATE, PROOF = part(STATE_TOPIC, 0, (1, 2)), part("__streamops_prove", 3, (2, 1))


class Answers:
    """A session whose broker answers to each codec with these errors."""

    def __init__(self, **failed: tuple[str, str]) -> None:
        self._failed = failed

    def call(self, _what: str, _run: Any) -> dict[str, tuple[str, str]]:
        return self._failed


def test_only_a_whole_partition_of_ours_that_prefers_the_broker_is_written_to() -> None:
    assert proof_place([part("orders", 0, (1, 2)), PROOF, STATE], 1) == (STATE, "")
    assert proof_place([PROOF, STATE], 2) == (PROOF, "")
    none, why = proof_place([part("orders", 0, (3, 2)), PROOF, STATE], 3)
    assert none is None
    assert why == "broker 3 prefers no partition of _streamops_state or of a proof"
    assert proof_place([part(STATE_TOPIC, 0, (1, 2), (1,))], 1) == (None, "_streamops_state-0 misses replicas")


def test_a_codec_that_is_not_taken_is_named_with_where_to_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec_apply, "topics_at", lambda *_: {STATE_TOPIC: [STATE]})
    session: Any = Answers(zstd=("UNKNOWN", "Unknown broker error"))
    with pytest.raises(RequestFailedError) as refused:
        prove_codecs(session, STATE, 1)
    for words in ("broker 1: write a record with compression zstd to _streamops_state-0", "java.io.tmpdir", "noexec"):
        assert words in refused.value.message
    session = Answers(gzip=("_TIMED_OUT", "no answer in 1 s"))
    with pytest.raises(RequestFailedError, match="compression gzip to _streamops_state-0: no answer in 1 s"):
        prove_codecs(session, STATE, 1)
    session = Answers(none=("TOPIC_AUTHORIZATION_FAILED", "x"))
    assert prove_codecs(session, STATE, 1) == "the user may not write to _streamops_state"
    session = Answers(none=("NOT_ENOUGH_REPLICAS", "x"))
    assert "min.insync.replicas" in prove_codecs(session, STATE, 1)


def test_a_follower_that_leaves_the_isr_instead_of_copying_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    session: Any = Answers()
    monkeypatch.setattr(codec_apply, "topics_at", lambda *_: {STATE_TOPIC: [STATE]})
    assert prove_codecs(session, STATE, 1) == ""
    left = part(STATE_TOPIC, 0, (1, 2), (1,))
    monkeypatch.setattr(codec_apply, "topics_at", lambda *_: {STATE_TOPIC: [left]})
    with pytest.raises(RequestFailedError, match="broker 2 left the in-sync replicas"):
        prove_codecs(session, STATE, 1)


@pytest.mark.parametrize("taken", [True, False])
def test_a_broker_leads_no_other_partition_before_it_has_taken_records(
    monkeypatch: pytest.MonkeyPatch, taken: bool
) -> None:
    orders = [part("orders", index, (1, 2)) for index in range(3)]
    leaders = {(one.topic, one.index): one.leader for one in (*orders, STATE)}
    order: list[Any] = []

    def elected(_session: Any, keys: list[Any], _unclean: bool) -> dict[Any, str]:
        order.append(sorted(keys))
        leaders.update(dict.fromkeys(keys, 1))
        return {}

    def proven(_session: Any, place: Partition, _seconds: float) -> str:
        order.append(f"records to {place.topic}")
        if not taken:
            raise RequestFailedError("write", "x", "UNKNOWN", "y")
        return ""

    broker = type("Broker", (), {"id": 1})
    monkeypatch.setattr(election_apply, "list_topics", lambda _session: {"all": [*orders, STATE]})
    monkeypatch.setattr(election_apply, "list_brokers", lambda _session: [broker])
    monkeypatch.setattr(election_apply, "require_describe", lambda *_: None)
    monkeypatch.setattr(election_apply, "elect", elected)
    monkeypatch.setattr(election_apply, "_leaders", lambda _session: leaders)
    monkeypatch.setattr(election_apply, "prove_codecs", proven)
    options = {"type": "preferred", "broker": 1, "partitions": None, "step_seconds": 0, "timeout": 1, "proves": True}
    session: Any = None
    if taken:
        found = ensure_leaders(session, options, False, False)
        assert (found["codecs"], found["not_proven"]) == (list(api.CODECS), "")
        assert len(order) == 3
        assert [key for key in order[2] if key[0] == "orders"] == [("orders", index) for index in range(3)]
    else:
        with pytest.raises(RequestFailedError) as refused:
            ensure_leaders(session, options, False, False)
        assert refused.value.done["changed"] is True
    assert order[:2] == [[(STATE_TOPIC, 0)], "records to _streamops_state"]
    assert (leaders[("orders", 0)] == 1) is taken
