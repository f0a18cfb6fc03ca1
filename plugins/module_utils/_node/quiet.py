# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Keep the loggers of a tool of Kafka silent: what it says, it prints.

Without a configuration they would complain that nobody configured them (reload4j in 3.9, log4j2 in 4).
"""

from __future__ import annotations

import os

from .scratch import write

_FILES = {
    "log4j.properties": "log4j.rootLogger=OFF\n",
    "log4j2.properties": "status=off\nrootLogger.level=off\n",
}
_OPTIONS = {"log4j.properties": "-Dlog4j.configuration", "log4j2.properties": "-Dlog4j2.configurationFile"}


def prepare(place: str) -> None:
    """Write the configurations into a directory of scratch."""
    for name, text in _FILES.items():
        write(place, name, text)


def options(place: str) -> list[str]:
    """Return the arguments of Java that have a tool read them."""
    return [f"{option}=file:{os.path.join(place, name)}" for name, option in _OPTIONS.items()]
