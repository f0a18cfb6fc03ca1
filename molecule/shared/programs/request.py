"""One request over HTTPS: reads JSON on standard input, prints the status of the answer, or why there is none.

Runs on any machine with Python alone. Given are `address`, `port`, `ca` (PEM text), `method`, `path`, and if wanted
`headers`, a `body` that is sent as JSON, a `certificate` with its `key` (PEM text) to show, and `show`: print the text
of the answer below its status.
"""

from __future__ import annotations

import http.client
import json
import ssl
import sys
import tempfile
from typing import Any

PATIENCE = 20.0


def context(given: dict[str, Any]) -> ssl.SSLContext:
    """What this end shows and demands."""
    made = ssl.create_default_context(cadata=given["ca"])
    if "certificate" in given:
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(given["key"] + given["certificate"])
            file.flush()
            made.load_cert_chain(file.name)
    return made


def main() -> None:
    """Asks once."""
    given = json.load(sys.stdin)
    connection = http.client.HTTPSConnection(
        given["address"], given["port"], timeout=PATIENCE, context=context(given)
    )  # fmt: skip
    headers = {"Content-Type": "application/json", **given.get("headers", {})}
    body = json.dumps(given["body"]) if "body" in given else None
    try:
        connection.request(given["method"], given["path"], body, headers)
        answer = connection.getresponse()
        print(answer.status, *([answer.read().decode()] if given.get("show") else []), sep="\n")
    except OSError as error:
        print("refused", error)


if __name__ == "__main__":
    main()
