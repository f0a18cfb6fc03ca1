# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a proof does with Kafka: makes and deletes its topic, writes the two streams, reads back what is there."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from .._client.session import Session
from .._client.settle import wait_until_none
from .._cluster.api import cordoned_brokers, list_brokers, topics_at
from .._configs.api import TOPIC, alter_configs, topic_values
from .._core.errors import RefusedError, RequestFailedError, is_denial
from .._topics.api import TopicSpec, drop_topics, make_topic, require
from .judge import Found
from .ledger import IDEMPOTENT, TRANSACTIONAL, Name, Place, aborted_line, acknowledged_line, name_of, value_of
from .topic import KEPT_AS_EVIDENCE, assignment, configuration

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Seconds that a record may wait for its acknowledgement: a broker that starts slowly is no failure of the proof.
DELIVERY_SECONDS = 300
#: Seconds that the last records and the last transaction get once the stream is to end.
LAST_SECONDS = 45
#: Seconds of a transaction until the coordinator aborts it.
_TRANSACTION_SECONDS = 60
#: Each so many transactions one is aborted on purpose: no reader of committed records may see it.
_ABORTED_EACH = 10
#: Seconds for one call about a transaction, and between two attempts.
_CALL_SECONDS, _PAUSE = 20, 0.5
_SETTLE_SECONDS = 30


class Stream(NamedTuple):
    """What a stream writes: records of proof C(run), C(rate) a second, for C(seconds); C(config) is of librdkafka."""

    run: str
    topic: str
    partitions: int
    seconds: int
    rate: int
    config: Mapping[str, Any]


@dataclass
class Writing:
    """A stream under way. C(note) takes the lines of the ledger, from any thread.

    C(failed): why it can never go on, empty while it can.
    """

    stream: Stream
    note: Callable[[str], None]
    goes_on: Callable[[], bool]
    failed: str = ""

    @property
    def rate(self) -> float:
        """The records a second of each of the two producers."""
        return self.stream.rate / 2

    def partition(self, name: Name) -> int:
        """Return which partition a record goes to."""
        return name.number % self.stream.partitions


def make_proof_topic(session: Session, topic: str, seconds: int) -> int:
    """Create the topic anew, one of an earlier proof is deleted before; return how many partitions it has.

    Raises RefusedError where the earlier proof failed.
    """
    if _is_evidence(session, topic):
        what = (
            f"topic {topic} holds the records of a proof that failed. Look at them, then delete the topic, give this "
            "proof another one by kafka_prove_topic, or run without kafka_prove."
        )
        raise RefusedError("proof", [what])
    drop_topic(session, topic)
    racks = {broker.id: broker.rack for broker in list_brokers(session) if not broker.fenced}
    cordoned = cordoned_brokers(session, racks)
    placed = assignment({broker: rack for broker, rack in racks.items() if broker not in cordoned} or racks)
    spec = TopicSpec(topic, len(placed), len(placed[0]), configuration(len(placed[0]), seconds), placed)
    make_topic(session, spec, _SETTLE_SECONDS)
    return len(placed)


def drop_topic(session: Session, topic: str) -> None:
    """Delete the topic, and wait until it is gone; nothing where it is not there."""
    drop_topics(session, [topic], _SETTLE_SECONDS)


def keep_topic(session: Session, topic: str) -> None:
    """Keep the records of a proof that failed for as long as somebody needs them."""
    kept = {"retention.ms": KEPT_AS_EVIDENCE}
    require("alter configs of topic", alter_configs(session, TOPIC, {topic: kept}))


def _is_evidence(session: Session, topic: str) -> bool:
    values = topic_values(session, [topic], ["retention.ms"]).get(topic, {})
    return values.get("retention.ms") == KEPT_AS_EVIDENCE


def write_idempotent(writing: Writing) -> None:
    """Write records one by one, each acknowledged by all replicas in sync, until the stream ends.

    It begins and ends with one in each partition, so that the first and the last look at the cluster are of all.
    """
    producer = _producer(writing)
    number = _round(producer, writing, 0)
    begun = time.monotonic() - number / writing.rate
    while writing.goes_on():
        if _sent(producer, writing, Name(IDEMPOTENT, number), partial(_acknowledged, writing)):
            number += 1
        else:
            # The buffer is full until answers come.
            producer.poll(0.1)
        # A poll returns with the first answer, which comes before the next record is due.
        while writing.goes_on() and (left := begun + number / writing.rate - time.monotonic()) > 0:
            producer.poll(min(1.0, left))
        producer.poll(0)
    _round(producer, writing, number)
    producer.flush(LAST_SECONDS)


def _round(producer: Any, writing: Writing, number: int) -> int:
    """Write a record into each partition; return the number of the next record."""
    until = time.monotonic() + LAST_SECONDS
    for one in range(number, number + writing.stream.partitions):
        while not _sent(producer, writing, Name(IDEMPOTENT, one), partial(_acknowledged, writing)):
            if time.monotonic() > until:
                return one
            producer.poll(0.1)
    return number + writing.stream.partitions


def write_transactional(writing: Writing) -> None:
    """Write transactions of about one second's records, one after the other, until the stream ends.

    It begins and ends with one that is committed and has a record in each partition.
    """
    transactions, turn, size = _Transactions(writing), 0, max(1, round(writing.rate))
    while writing.goes_on() and not transactions.write(writing.stream.partitions):
        time.sleep(_PAUSE)
    while writing.goes_on():
        begun, turn = time.monotonic(), turn + 1
        transactions.write(size, turn % _ABORTED_EACH == 0)
        while writing.goes_on() and time.monotonic() < begun + 1:
            time.sleep(0.05)
    until = time.monotonic() + LAST_SECONDS
    while not transactions.write(writing.stream.partitions) and not writing.failed and time.monotonic() < until:
        time.sleep(_PAUSE)


class _Transactions:
    """Transactions one after the other, whose records rise by one; after one that cannot go on the producer is new."""

    def __init__(self, writing: Writing) -> None:
        self._writing, self._producer, self._number = writing, None, 0

    def write(self, size: int, aborts: bool = False) -> bool:
        """Write one of so many records, which is aborted where that is asked for; tell whether it was committed."""
        self._producer = self._producer or _ready(self._writing)
        if self._producer is None:
            return False
        names = [Name(TRANSACTIONAL, self._number + at) for at in range(size)]
        self._number += size
        ended = _transaction(self._producer, self._writing, names, aborts)
        if ended is None:
            self._producer = None
        return ended is True


def _producer(writing: Writing, **more: Any) -> Any:
    from confluent_kafka import Producer

    fixed = {"acks": "all", "enable.idempotence": True, "linger.ms": 0, "log_level": 0}
    return Producer({**writing.stream.config, **fixed, "delivery.timeout.ms": DELIVERY_SECONDS * 1000, **more})


def _sent(producer: Any, writing: Writing, name: Name, answered: Callable[..., None]) -> bool:
    """Hand a record to the library; false where its buffer is full."""
    value = value_of(writing.stream.run, name)
    with suppress(BufferError):
        where = writing.partition(name)
        producer.produce(writing.stream.topic, value=value, partition=where, on_delivery=partial(answered, name))
        return True
    return False


def _acknowledged(writing: Writing, name: Name, error: Any, message: Any) -> None:
    if error is None:
        writing.note(acknowledged_line(name, Place(message.partition(), message.offset(), time.time())))
    else:
        _judge(writing, error)


def _judge(writing: Writing, error: Any) -> None:
    """Keep what no later attempt would mend: a right that is missing, or a producer that is fenced for good."""
    if is_denial(str(error.name())) or error.fatal():
        writing.failed = writing.failed or f"{error.str()} ({error.name()})"


def _ready(writing: Writing) -> Any:
    """Return a producer that may begin transactions, none where the cluster does not take one now.

    The transaction that one with the same id left open is ended by this.
    """
    from confluent_kafka import KafkaException

    limit = _TRANSACTION_SECONDS * 1000
    own = {"transactional.id": f"{writing.stream.topic}-{writing.stream.run}", "transaction.timeout.ms": limit}
    producer = _producer(writing, **own, **{"delivery.timeout.ms": limit})
    try:
        producer.init_transactions(_CALL_SECONDS)
    except KafkaException as error:
        if is_denial(str(error.args[0].name())):
            _judge(writing, error.args[0])
        return None
    return producer


def _transaction(producer: Any, writing: Writing, names: Sequence[Name], aborts: bool) -> bool | None:
    """Write one transaction; tell whether it was committed, none where the producer can begin no other one.

    Its records are acknowledged once it is committed. Where no answer comes, their fate is unknown.
    """
    from confluent_kafka import KafkaException

    places: dict[Name, tuple[int, int]] = {}

    def answered(name: Name, error: Any, message: Any) -> None:
        """Keep the place of a record."""
        if error is None:
            places[name] = (message.partition(), message.offset())

    try:
        producer.begin_transaction()
        for name in names:
            _sent(producer, writing, name, answered)
        producer.flush(LAST_SECONDS)
        aborts = aborts or len(places) < len(names)
        _repeated(producer.abort_transaction if aborts else producer.commit_transaction)
    except KafkaException as error:
        if not error.args[0].txn_requires_abort():
            return None
        aborts = True
        try:
            _repeated(producer.abort_transaction)
        except KafkaException:
            return None
    at = time.time()
    for name in names:
        if aborts:
            writing.note(aborted_line(name))
        elif name in places:
            writing.note(acknowledged_line(name, Place(*places[name], at)))
    return not aborts


def _repeated(call: Callable[[float], None]) -> None:
    """Call until it is done, as long as the library says that the same call may be made again."""
    from confluent_kafka import KafkaException

    until = time.monotonic() + LAST_SECONDS
    while True:
        try:
            return call(_CALL_SECONDS)
        except KafkaException as error:
            if not error.args[0].retriable() or time.monotonic() > until:
                raise
            time.sleep(_PAUSE)


def read_back(session: Session, topic: str, run: str, partitions: int, seconds: float) -> list[Found]:
    """Return the records of this run that a reader of committed records finds, partition by partition, by offset.

    Raises RequestFailedError when the end was not reached within C(seconds).
    """
    # A broker that has not heard of the topic, or of all of its partitions, is no proof that its records are gone.
    wait_until_none(
        "read topic",
        lambda: [topic] if len(topics_at(session, None, [topic]).get(topic, ())) < partitions else [],
        _SETTLE_SECONDS,
    )
    records = session.call(f"read {topic}", lambda: _consumed(session, topic, run, range(partitions), seconds))
    return sorted(records, key=lambda record: record[:2])


def _consumed(session: Session, topic: str, run: str, partitions: Iterable[int], seconds: float) -> list[Found]:
    from kafka import KafkaConsumer, TopicPartition

    options = {"group_id": None, "auto_offset_reset": "none", "isolation_level": "read_committed"}
    with closing(KafkaConsumer(**session.python_config(), **options)) as consumer:
        places = [TopicPartition(topic, one) for one in partitions]
        consumer.assign(places)
        ends = _ends(session, places)
        consumer.seek_to_beginning(*places)
        found: list[Found] = []
        deadline = time.monotonic() + seconds
        # Markers of transactions and aborted records are passed over: the position knows of them, the records do not.
        # Behind a transaction that is still open nothing comes until the coordinator has ended it.
        while any(consumer.position(one) < ends[one] for one in places):
            if time.monotonic() > deadline:
                raise RequestFailedError("read", topic, "TIMED_OUT", f"its end was not reached in {seconds:g} s")
            for records in consumer.poll(timeout_ms=200).values():
                for one in records:
                    if name := name_of(run, one.value):
                        found.append(Found(one.partition, one.offset, name))
        return found


def _ends(session: Session, places: Sequence[Any]) -> dict[Any, int]:
    """Return where the log of each partition ends.

    A reader of committed records is told the last stable offset instead: what lies behind an open transaction would be
    left unread, and count as lost.
    """
    from kafka import KafkaConsumer

    options = {"group_id": None, "isolation_level": "read_uncommitted"}
    with closing(KafkaConsumer(**session.python_config(), **options)) as consumer:
        return dict(consumer.end_offsets(places))
