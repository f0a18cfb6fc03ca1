# SPDX-License-Identifier: GPL-3.0-or-later
"""A client from before Kafka 0.11, by hand, since libraries send no versions that new brokers do not know."""

from __future__ import annotations

import socket
import struct

#: ListOffsets v0 of a consumer (replica -1) that asks for no topic; Kafka 4.0 does not answer it (KIP-896).
_CLIENT = b"old"
_REQUEST = struct.pack(">hhih", 2, 0, 7, len(_CLIENT)) + _CLIENT + struct.pack(">ii", -1, 0)


def ask_as_of_old(port: int) -> bytes:
    """Sends it to a broker of this machine; its answer, empty where the broker hangs up instead."""
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        connection.sendall(struct.pack(">i", len(_REQUEST)) + _REQUEST)
        size = connection.recv(4)
        return connection.recv(struct.unpack(">i", size)[0]) if size else b""
