# SPDX-License-Identifier: GPL-3.0-or-later
"""Where records of each codec are written, and what an answer to them means."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._brokers import api, election_apply
from ansible_collections.streamops.kafka.plugins.module_utils._brokers.codec_apply import proof_place, prove_codecs
from ansible_collections.streamops.kafka.plugins.module_utils._brokers.election_apply import ensure_leaders
from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._cluster import pace_look
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import STATE_TOPIC, Partition
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError


def part(topic: str, index: int, replicas: tuple[int, ...], isr: tuple[int, ...] | None = None) -> Partition:
    return Partition(topic, index, replicas[-1], replicas, replicas if isr is None else isr, 1, False)


STATE, PROOF = part(STATE_TOPIC, 0, (1, 2)), part("__streamops_prove", 3, (2, 1))


class Answers:
    """A session whose broker answers to each codec with these errors."""

    connection = Connection(("a:1",))

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


def test_a_codec_that_is_not_taken_is_named_with_where_to_look() -> None:
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


def test_a_follower_that_leaves_the_isr_meanwhile_is_no_fault_of_the_broker() -> None:
    """The records were acknowledged; who does not copy from whom is for the wait behind the election."""
    session: Any = Answers()
    assert prove_codecs(session, STATE, 1) == ""


def test_a_client_that_cannot_log_in_proves_nothing_and_says_so() -> None:
    session: Any = Answers(gzip=("UNKNOWN", "never asked"))
    session.connection = Connection(("a:1",), "SASL_PLAINTEXT", "GSSAPI")
    assert prove_codecs(session, STATE, 1) == "confluent-kafka, which would write it, cannot log in by GSSAPI"


class Brokers:
    """A cluster whose broker 1 leads nothing yet, with the order in which it is asked for things."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, taken: bool = True, slow: str = "") -> None:
        self.orders = [part("orders", index, (1, 2)) for index in range(3)]
        self.leaders = {(one.topic, one.index): one.leader for one in (*self.orders, STATE)}
        self.order: list[Any] = []
        self._taken, self._slow, self._now = taken, slow, 0.0
        broker = type("Broker", (), {"id": 1})
        monkeypatch.setattr(election_apply, "list_topics", lambda _session: {"all": [*self.orders, STATE]})
        monkeypatch.setattr(election_apply, "list_brokers", lambda _session: [broker])
        monkeypatch.setattr(election_apply, "require_describe", lambda *_: None)
        monkeypatch.setattr(election_apply, "elect", self._elected)
        monkeypatch.setattr(election_apply, "_leaders", self._listed)
        monkeypatch.setattr(election_apply, "prove_codecs", self._proven)
        monkeypatch.setattr(election_apply.time, "monotonic", lambda: self._now)
        monkeypatch.setattr(pace_look, "change_seconds", self._changed)
        monkeypatch.setattr(pace_look, "describe_quorum", lambda _session: type("Quorum", (), {"leader_id": 2}))

    def _elected(self, _session: Any, keys: list[Any], _unclean: bool) -> dict[Any, str]:
        self.order.append(sorted(keys))
        self.leaders.update(dict.fromkeys(keys, 1))
        self._now += 30 if self._slow == "election" else 0.1
        return {}

    def _listed(self, _session: Any) -> dict[Any, Any]:
        self._now += 30 if self._slow == "list" else 0
        return self.leaders

    def _proven(self, _session: Any, place: Partition, _seconds: float) -> str:
        self.order.append(f"records to {place.topic}")
        if not self._taken:
            raise RequestFailedError("write", "x", "UNKNOWN", "y")
        return ""

    def _changed(self, _session: Any, _before: float) -> tuple[float | None, str]:
        self.order.append("change of metadata")
        return (None, "why") if self._slow == "unknown" else (30.0 if self._slow == "change" else 0.05, "")

    def give_back(self, **options: Any) -> dict[str, Any]:
        """Give broker 1 its leaders back."""
        asked = {"type": "preferred", "broker": 1, "partitions": None, "step_seconds": 0, "timeout": 1, "proves": True}
        session: Any = None
        return ensure_leaders(session, {**asked, "metadata_before": 0.0, **options}, False, False)


@pytest.mark.parametrize("taken", [True, False])
def test_a_broker_leads_no_other_partition_before_it_has_taken_records(
    monkeypatch: pytest.MonkeyPatch, taken: bool
) -> None:
    brokers = Brokers(monkeypatch, taken)
    if taken:
        result = brokers.give_back()
        assert (result["codecs"], result["not_proven"]) == (list(api.CODECS), "")
        assert len(brokers.order) == 3
        assert [key for key in brokers.order[2] if key[0] == "orders"] == [("orders", index) for index in range(3)]
    else:
        with pytest.raises(RequestFailedError) as refused:
            brokers.give_back()
        assert refused.value.done["changed"] is True
    assert brokers.order[:2] == [[(STATE_TOPIC, 0)], "records to _streamops_state"]
    assert (brokers.leaders[("orders", 0)] == 1) is taken


def test_a_slow_change_of_metadata_ends_it_before_the_broker_leads_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    brokers = Brokers(monkeypatch, slow="change")
    with pytest.raises(RequestFailedError) as refused:
        brokers.give_back(metadata_before=0.03)
    said = "slower than before: a change of metadata takes 30 s instead of 0.03 s"
    assert refused.value.why == f"{said}; controller 2 is active, whose files decide that"
    assert brokers.order == ["change of metadata"]


def test_a_slow_election_ends_it_at_the_first_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    brokers = Brokers(monkeypatch, slow="election")
    with pytest.raises(RequestFailedError, match=r"slower than before: an election takes 30 s instead of 0\.03 s"):
        brokers.give_back(metadata_before=0.03)
    assert brokers.order == ["change of metadata", [(STATE_TOPIC, 0)]]


def test_neither_many_elections_at_once_nor_a_long_list_of_partitions_are_a_slow_election(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    brokers = Brokers(monkeypatch, slow="election")
    assert brokers.give_back(metadata_before=0.03, proves=False)["changed"]
    brokers = Brokers(monkeypatch, slow="list")
    assert brokers.give_back(metadata_before=0.03, step_seconds=0.001)["changed"]


def test_what_it_took_is_returned_or_why_it_was_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    result = Brokers(monkeypatch).give_back(metadata_before=0.03)
    assert (result["metadata_seconds"], result["not_timed"]) == (0.05, "")
    result = Brokers(monkeypatch, slow="unknown").give_back(metadata_before=0.03)
    assert (result["metadata_seconds"], result["not_timed"]) == (None, "why")
    brokers = Brokers(monkeypatch, slow="election")
    assert brokers.give_back()["metadata_seconds"] is None
    assert "change of metadata" not in brokers.order


def test_a_controller_that_is_no_broker_is_timed_without_an_election(monkeypatch: pytest.MonkeyPatch) -> None:
    brokers = Brokers(monkeypatch)
    result = brokers.give_back(broker=None, partitions=[], proves=False, metadata_before=0.03)
    assert (result["changed"], result["metadata_seconds"]) == (False, 0.05)
    assert brokers.order == ["change of metadata"]
