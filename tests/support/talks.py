"""Servers of one talk each: what a broker, a process that is stopped, or something else says to who connects."""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Callable
from pathlib import Path

from tests.support.certificates import Issued

Talk = Callable[[socket.socket], None]
Serve = Callable[..., str]


def read(connection: socket.socket) -> bytes:
    """A request without its size; ConnectionError where the client has gone, which ends a talk."""
    head = connection.recv(4)
    if len(head) < 4:
        raise ConnectionError("the client has gone")
    return connection.recv(*struct.unpack(">i", head))


def reply(connection: socket.socket, body: bytes) -> None:
    """An answer."""
    connection.sendall(struct.pack(">ii", len(body) + 4, 1) + body)


def broker(connection: socket.socket) -> None:
    """Answers ApiVersions and then takes the password s3cret by PLAIN."""
    read(connection)
    reply(connection, struct.pack(">hi", 0, 0))
    if mechanism := connection.recv(4):
        (size,) = struct.unpack(">i", mechanism)
        wanted = connection.recv(size)[-5:]
        reply(connection, struct.pack(">hi", 0 if wanted == b"PLAIN" else 33, 0))
        known = read(connection).endswith(b"\0s3cret")
        reply(connection, struct.pack(">hhi", 0 if known else 58, -1, 0))


def node(node_id: int, cluster_id: str, refuses: int = 0, is_controller: bool = False) -> Talk:
    """A broker or controller that says who it is (DescribeCluster, DescribeConfigs), as Kafka 4.3 words it.

    `refuses` is Kafka's error to who asks for its configuration without the right to.
    """

    def cluster(body: bytes) -> bytes:
        """The answer to DescribeCluster, with its tags; 114 is MISMATCHED_ENDPOINT_TYPE."""
        right = body[-2] == (2 if is_controller else 1)
        told = cluster_id.encode()
        return struct.pack(">bihbbb", 0, 0, 0 if right else 114, 0, body[-2], len(told) + 1) + told

    def configs(body: bytes) -> bytes:
        """The answer to DescribeConfigs of one broker."""
        (length,) = struct.unpack_from(">h", body, 5)
        wanted = body[7 : 7 + length].decode()
        why, error = "", refuses
        if not refuses and wanted != str(node_id):
            why, error = f"Unexpected broker id, expected {node_id} or empty string, but received {wanted}", 42
        return struct.pack(">iihh", 0, 1, error, len(why)) + why.encode() + struct.pack(">bhi", 4, 0, 0)

    def talk(connection: socket.socket) -> None:
        """Answer whatever comes."""
        while size := connection.recv(4):
            request = connection.recv(struct.unpack(">i", size)[0])
            (number, _version, _sent, client) = struct.unpack_from(">hhih", request)
            body = request[10 + client :]
            answers = {60: cluster, 32: configs}
            reply(connection, answers[number](body) if number in answers else struct.pack(">hi", 0, 0))

    return talk


def lagging(connection: socket.socket) -> None:
    """Does not know the user yet."""
    read(connection)
    reply(connection, struct.pack(">hi", 0, 0))
    read(connection)
    reply(connection, struct.pack(">hi", 0, 0))
    read(connection)
    reply(connection, struct.pack(">hhi", 58, -1, 0))


def silent(connection: socket.socket) -> None:
    """Takes the connection and never answers, as a process that is stopped."""
    while connection.recv(4096):
        pass


def babbles(connection: socket.socket) -> None:
    """Speaks something else."""
    read(connection)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def shows(certificate: Issued, directory: Path, client_ca: str = "") -> ssl.SSLContext:
    """What a server shows, and whose certificates it asks clients for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate.write(directory, "server"))
    if client_ca:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(client_ca)
    return context
