"""Which small files hold secrets that are no text: reads JSON on standard input, prints the files of each as JSON.

Runs on any machine with Python alone. The question has the `places` (directories) and the `contents` (names, and what
is looked for in hexadecimal).
"""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Iterator

LARGEST = 1 << 20


def files(places: list[str]) -> Iterator[str]:
    """Every regular file below the places that is small enough; a link is not followed."""
    for place in places:
        for directory, _, names in os.walk(place):
            for path in (f"{directory}/{name}" for name in names):
                try:
                    status = os.lstat(path)
                except OSError:
                    continue
                if stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST:
                    yield path


def main() -> None:
    """Looks once."""
    question = json.load(sys.stdin)
    contents = {name: bytes.fromhex(text) for name, text in question["contents"].items()}
    holders: dict[str, list[str]] = {}
    for path in sorted(set(files(question["places"]))):
        try:
            with open(path, "rb") as file:
                text = file.read()
        except OSError:
            continue
        for name in [name for name, content in contents.items() if content in text]:
            holders.setdefault(name, []).append(path)
    print(json.dumps(holders))


if __name__ == "__main__":
    main()
