# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Proves that a broker takes records of each compression codec: all replicas in sync acknowledge them.

A broker that cannot load a codec starts, is in sync and answers UNKNOWN_SERVER_ERROR to those producers alone. The
records go to partitions of topics of our own: that of states, where their key is read by nobody, or that of a proof,
which counts records of its own run alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from .._client.login import TICKETS
from .._client.session import Session
from .._cluster.snapshot import STATE_TOPIC, Partition
from .._core.errors import RequestFailedError, is_denial
from .api import write_each_codec

#: How names of topics of a proof begin (_prove/topic.py).
_PROOF = "__streamops_prove"
#: What Kafka and librdkafka call an error that the broker has no name for (Errors.UNKNOWN_SERVER_ERROR).
_NAMELESS = ("UNKNOWN", "UNKNOWN_SERVER_ERROR")
#: The topic itself takes no records now, from whichever leader.
_TOO_FEW = ("NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS_AFTER_APPEND")
_WHY_NAMELESS = (
    "the broker cannot load the codec. Its log has the cause. Often its temporary directory (java.io.tmpdir in "
    "kafka_jvm_options, else /tmp) is missing, not writable for it, or mounted noexec"
)


def proof_place(partitions: Iterable[Partition], broker: int) -> tuple[Partition | None, str]:
    """Return a partition of our own topics that prefers a broker, or why there is none to write to.

    Where a replica is missing, a record may wait for another broker than this one.
    """
    ours = [
        partition for partition in partitions if partition.topic == STATE_TOPIC or partition.topic.startswith(_PROOF)
    ]
    preferring = sorted(
        (partition for partition in ours if partition.replicas[:1] == (broker,)),
        key=lambda partition: (partition.topic, partition.index),
    )
    if not preferring:
        return None, f"broker {broker} prefers no partition of {STATE_TOPIC} or of a proof"
    whole = [partition for partition in preferring if {*partition.isr} == {*partition.replicas}]
    if not whole:
        return None, f"{preferring[0].topic}-{preferring[0].index} misses replicas"
    return whole[0], ""


def prove_codecs(session: Session, place: Partition, seconds: float) -> str:
    """Write one record of each codec, acknowledged by all replicas in sync; return why that was not possible.

    seconds -- for all of them together. Raises RequestFailedError where a record is not acknowledged. A follower that
    leaves the in-sync replicas meanwhile says nothing of this broker: the wait behind the election tells who is at
    fault.
    """
    if session.connection.sasl_mechanism == TICKETS:
        return f"confluent-kafka, which would write it, cannot log in by {TICKETS}"
    name = f"{place.topic}-{place.index}"
    failed: Mapping[str, tuple[str, str]] = session.call(
        f"write to {name}", partial(write_each_codec, session, place.topic, place.index, seconds)
    )
    for codec, (code, why) in failed.items():
        if is_denial(code):
            return f"the user may not write to {place.topic}"
        if code in _TOO_FEW:
            return f"{name} has fewer replicas in sync than its min.insync.replicas"
        said = f"{why}: {_WHY_NAMELESS}" if code in _NAMELESS else why
        what = f"broker {place.replicas[0]}: write a record with compression {codec} to"
        raise RequestFailedError(what, name, code, said)
    return ""
