# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a mirror's clients are set to where Kafka's defaults, made for a near cluster, do not serve one far away. Pure.

Mirrors run next to their target, so the consumer has the long way and the producer the short one.
"""

from __future__ import annotations

from collections.abc import Mapping

_KIB, _MIB = 1024, 1024 * 1024

#: Of the consumer that reads the source.
CONSUMER: Mapping[str, object] = {
    # What was aborted, or is not yet committed, must not arrive: a consumer of the target cannot tell it any more.
    # Exactly once (KIP-618) takes no other value.
    "isolation.level": "read_committed",
    # Left to the kernel, which grows the window with the way; a fixed 64 KiB (Kafka's default) are 0.65 MB/s at a round
    # trip of 100 ms.
    "receive.buffer.bytes": -1,
    # A fetch is under way to each broker once at a time, so what it brings divided by the round trip bounds the rate:
    # one partition 4 MiB (40 MB/s at 100 ms) instead of 1 MiB, one broker 16 MiB. Not more, since every task may hold
    # this of every broker on its heap. A larger record still comes, alone (KIP-74).
    "max.partition.fetch.bytes": 4 * _MIB,
    "fetch.max.bytes": 16 * _MIB,
    # Records that go on together; with exactly once each such batch is a transaction of its own (transaction.boundary
    # poll), and 500 records do not pay for one.
    "max.poll.records": 2000,
}

#: Of the producer that writes the target.
PRODUCER: Mapping[str, object] = {
    "acks": "all",
    # Connect turns idempotence off for the sake of brokers before 2.8 and then allows one request in flight; with it,
    # five keep their order, and a repeated request makes no duplicate.
    "enable.idempotence": True,
    "max.in.flight.requests.per.connection": 5,
    # Large batches, worth a wait that no one notices beside the long way.
    "batch.size": 256 * _KIB,
    "linger.ms": 20,
    # Records arrive unpacked, whatever they were packed with at the source, and would fill the target's disks so. lz4
    # costs the least of the processor, which is what a mirror runs out of first.
    "compression.type": "lz4",
    # A topic may allow larger records than the 1 MiB that producers send by default: such a record would end its task,
    # and that of every successor, for ever.
    "max.request.size": 32 * _MIB,
    # Room for one such record and what is on its way besides; taken only as it is needed.
    "buffer.memory": 64 * _MIB,
}
