"""One TLS handshake: reads JSON on standard input, prints the agreed version, or why there is none.

The first word says who ended it: `refused` by the other end, `distrusted` by this one, `unreachable` (no connection),
or `silent` (a connection without an answer).

Runs on any machine with Python alone. Given are `address`, `port`, `ca` (PEM text), and if wanted `certificate` and
`key` (PEM text), `version` (the only one offered, such as TLSv1_2) and `name` (what the other end must be called).
"""

from __future__ import annotations

import json
import socket
import ssl
import sys
import tempfile
from typing import Any

PATIENCE = 5.0


def context(given: dict[str, Any]) -> ssl.SSLContext:
    """What this end offers and demands."""
    made = ssl.create_default_context(cadata=given["ca"])
    if "version" in given:
        made.minimum_version = made.maximum_version = ssl.TLSVersion[given["version"]]
        made.set_ciphers("DEFAULT@SECLEVEL=0")
    if "certificate" in given:
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(given["key"] + given["certificate"])
            file.flush()
            made.load_cert_chain(file.name)
    return made


def main() -> None:
    """Connects; with TLS 1.3 a refused certificate shows only when something is read."""
    given = json.load(sys.stdin)
    offered = context(given)
    try:
        plain = socket.create_connection((given["address"], given["port"]), timeout=PATIENCE)
    except OSError as error:
        print("unreachable", error)
        return
    try:
        with plain, offered.wrap_socket(plain, server_hostname=given.get("name", given["address"])) as secure:
            secure.settimeout(PATIENCE)
            secure.sendall(b"\0\0\0\0")
            secure.recv(1)
            print("agreed", secure.version())
    except ssl.SSLCertVerificationError as error:
        print("distrusted", error)
    except TimeoutError as error:
        print("silent", error)
    except OSError as error:
        print("refused", error)


if __name__ == "__main__":
    main()
