"""What OpenSSL says of a store in a real handshake, as a client of librdkafka or Python does it."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from pathlib import Path


def openssl_verdict(store: Path, trust: Path, host: str, level: int) -> str:
    """Connect to a server that shows this store, trusting these CAs; why the client refuses it, empty where not.

    level -- the security level of the client. The server has none, so that it shows whatever it is given.
    """
    ours, theirs = socket.socketpair()
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.set_ciphers(f"DEFAULT@SECLEVEL={level}")
    client.load_verify_locations(trust)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.set_ciphers("DEFAULT@SECLEVEL=0")
    try:
        server.load_cert_chain(store)
    except ssl.SSLError as problem:
        return f"the store cannot be loaded: {problem}"

    def serve() -> None:
        with contextlib.suppress(OSError), server.wrap_socket(theirs, server_side=True) as found:
            found.recv(1)

    other = threading.Thread(target=serve)
    other.start()
    try:
        client.wrap_socket(ours, server_hostname=host).close()
        return ""
    except (OSError, ValueError) as problem:
        return str(problem)
    finally:
        ours.close()
        other.join(10)
        theirs.close()
