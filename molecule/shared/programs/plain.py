"""What a port answers to plain text: reads `address`, `port` and `text` as JSON, prints the answer or `closed`.

Runs on any machine with Python alone.
"""

from __future__ import annotations

import json
import socket
import sys

PATIENCE = 10.0


def main() -> None:
    """Sends the text and reads one answer; a port that cannot be reached is an error, which is no answer."""
    given = json.load(sys.stdin)
    with socket.create_connection((given["address"], given["port"]), timeout=PATIENCE) as plain:
        plain.sendall(given["text"].encode())
        try:
            answer = plain.recv(1000)
        except ConnectionError:
            answer = b""
    print(answer.decode(errors="replace") or "closed")


if __name__ == "__main__":
    main()
