"""Switches of the line between two data centres: reads what to do as JSON on standard input, prints its state then.

Runs on the line's own machine with Python alone. `do` is one of: `look`; `cut`, which ends every connection and takes
no new one; `freeze`, which keeps connections open and lets nothing through, as a line does whose packets get lost; and
`restore`. Prints what toxiproxy says of each proxy, by name.
"""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from typing import Any

API = "http://127.0.0.1:8474"
STREAMS = ("upstream", "downstream")


def call(method: str, path: str, body: dict[str, Any] | None = None, expected: int = 200) -> Any:
    """One request; the answer, or an error when its status is not the expected one."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(API + path, data=data, method=method)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        if error.code != expected:
            raise
        return None


def cut(name: str) -> None:
    """Ends the connections of a proxy and takes no new one."""
    call("POST", f"/proxies/{name}", {"enabled": False})


def freeze(name: str) -> None:
    """Lets nothing through, and says so to nobody: a timeout of 0 never ends."""
    for stream in STREAMS:
        toxic = {"name": f"frozen-{stream}", "type": "timeout", "stream": stream, "attributes": {"timeout": 0}}
        call("POST", f"/proxies/{name}/toxics", toxic, expected=409)


def restore(name: str) -> None:
    """Takes both away; the latency stays. Connections that were frozen end: toxiproxy threw away what they sent."""
    cut(name)
    for stream in STREAMS:
        call("DELETE", f"/proxies/{name}/toxics/frozen-{stream}", expected=404)
    call("POST", f"/proxies/{name}", {"enabled": True})


def look(_name: str) -> None:
    """Leaves it as it is."""


SWITCHES = {"look": look, "cut": cut, "freeze": freeze, "restore": restore}


def main() -> None:
    """Does it to every proxy."""
    switch = SWITCHES[json.load(sys.stdin)["do"]]
    for name in call("GET", "/proxies"):
        switch(name)
    print(json.dumps(call("GET", "/proxies")))


if __name__ == "__main__":
    main()
