"""The bounds of a read: whatever a reader or a record is, it costs no more than this. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

#: Records of one answer, and partitions that are read for it when all are asked.
RECORDS = PARTITIONS = 50
#: Records that a search looks through, of which the first RECORDS that fit are shown.
SEARCHED = 1000
#: Bytes of a value, of a key and of a header that are shown, and headers of a record.
VALUE, KEY, HEADER, HEADERS = 16_384, 2_048, 1_024, 30
#: Bytes of a value that is looked at as JSON, and of all in an answer: each MiB takes a second or two of the
#: processor, however many names of fields are masked.
JSON, ALL_JSON = 262_144, 2_097_152
#: Bytes that one request asks for, that all requests of a read may get, and of the largest answer that is taken: a
#: broker sends a batch of records whole, however large (KIP-74).
REQUEST, READ, ANSWER = 2_097_152, 16_777_216, 8_388_608
#: Bytes that the batches of a read may have, when they are decompressed.
UNPACKED = 16_777_216
#: Seconds after which no request begins, that one may take, and that a broker may wait for records.
SECONDS, REQUEST_SECONDS, WAIT_SECONDS = 10, 5, 0.5
#: Requests to one broker in a read.
ROUNDS = 100
#: Reads at once, of all readers; a reader has one.
READS = 4
