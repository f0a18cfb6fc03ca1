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
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import STATE_TOPIC, Partition
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError, is_denial

#: All codecs of Kafka's producers (CompressionType), and none.
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
#: How names of topics of a proof begin (_prove/topic.py).
_PROOF = "__streamops_prove"
_KEY = b"codec-proof"
#: JSON, as all values of the topic of states are. A library sends what compression makes no smaller without it.
_VALUE = b'"' + b"streamops" * 100 + b'"'
#: What Kafka and librdkafka call an error that the broker has no name for (Errors.UNKNOWN_SERVER_ERROR).
_NAMELESS = ("UNKNOWN", "UNKNOWN_SERVER_ERROR")
#: The topic itself takes no records now, from whichever leader.
_TOO_FEW = ("NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS_AFTER_APPEND")
#: A broker that has just become leader is asked so often, with so many milliseconds between. An election is over by
#: then, and the last error is told, where a limit of time would tell no more than that it has passed.
_RETRIES = {"retries": 10, "retry.backoff.ms": 500}
_WHY_NAMELESS = (
    "the broker cannot load the codec. Its log has the cause. Often its temporary directory (java.io.tmpdir in "
    "kafka_jvm_options, else /tmp) is missing, not writable for it, or mounted noexec"
)


def proof_place(partitions: Iterable[Partition], broker: int) -> tuple[Partition | None, str]:
    """Return a partition of our own topics that prefers a broker, or why there is none to write to.

    Where a replica is missing, a record may wait for another broker than this one.
    """
    ours = [one for one in partitions if one.topic == STATE_TOPIC or one.topic.startswith(_PROOF)]
    preferring = sorted((one for one in ours if one.replicas[:1] == (broker,)), key=lambda one: (one.topic, one.index))
    if not preferring:
        return None, f"broker {broker} prefers no partition of {STATE_TOPIC} or of a proof"
    whole = [one for one in preferring if {*one.isr} == {*one.replicas}]
    if not whole:
        return None, f"{preferring[0].topic}-{preferring[0].index} misses replicas"
    return whole[0], ""


def prove_codecs(session: Session, place: Partition, seconds: float) -> str:
    """Write one record of each codec, acknowledged by all replicas in sync; return why that was not possible.

    seconds -- for all of them together. Raises RequestFailedError where a record is not acknowledged. A follower that
    leaves the in-sync replicas meanwhile says nothing of this broker: the wait behind the election tells who is at
    fault.
    """
    name = f"{place.topic}-{place.index}"
    failed: Mapping[str, tuple[str, str]] = session.call(f"write to {name}", partial(_written, session, place, seconds))
    for codec, (code, why) in failed.items():
        if is_denial(code):
            return f"the user may not write to {place.topic}"
        if code in _TOO_FEW:
            return f"{name} has fewer replicas in sync than its min.insync.replicas"
        said = f"{why}: {_WHY_NAMELESS}" if code in _NAMELESS else why
        what = f"broker {place.replicas[0]}: write a record with compression {codec} to"
        raise RequestFailedError(what, name, code, said)
    return ""


def _written(session: Session, place: Partition, seconds: float) -> dict[str, tuple[str, str]]:
    """Write a record of each codec; return name and words of the error of each that failed."""
    from confluent_kafka import Producer

    failed: dict[str, tuple[str, str]] = {}

    def answered(codec: str, error: Any, _message: Any) -> None:
        """Keep what went wrong."""
        if error is None:
            del failed[codec]
        else:
            failed[codec] = str(error.name()), str(error.str())

    producers = []
    for codec in CODECS:
        fixed = {"acks": "all", "linger.ms": 0, "log_level": 0, "compression.type": codec, **_RETRIES}
        producer = Producer({**session.confluent_config(), **fixed, "delivery.timeout.ms": int(seconds * 1000)})
        failed[codec] = "_TIMED_OUT", f"no answer in {seconds:g} s"
        sent = partial(answered, codec)
        producer.produce(place.topic, value=_VALUE, key=_KEY, partition=place.index, on_delivery=sent)
        producers.append(producer)
    for producer in producers:
        producer.flush(seconds + 1)
    return failed
