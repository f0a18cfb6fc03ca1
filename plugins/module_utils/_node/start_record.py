# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The start record: what the start script writes down just before it becomes the java process.

A directory `started` holds pid, start_time (field 22 of /proc/PID/stat), server.properties and jvm.options (copies of
what the process was started with), files.sha256 (sha256sum of watched files) and limits (what its service gave it:
lines NAME VALUE). The text is passed in; pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .._core.properties import PropertiesError, parse

DIRECTORY = "started"
PROPERTIES, JVM, FILES, LIMITS = "server.properties", "jvm.options", "files.sha256", "limits"
PID, START_TIME = "pid", "start_time"
#: Of a broker or controller that migrates from ZooKeeper to KRaft (KIP-866).
MIGRATION_FLAG = "zookeeper.metadata.migration.enable"

_DOUBLE, _SINGLE = r'"((?:\\.|[^"\\])*)"?', r"'((?:\\.|[^'\\])*)'?"
_QUOTED = re.compile(f"{_DOUBLE}|{_SINGLE}", re.DOTALL)
# A word, and the comment that begins within it, if one does.
_WORD = re.compile(rf"""(?P<word>(?:{_DOUBLE}|{_SINGLE}|[^\s"'#])*)(?P<comment>#[^\r\n]*)?""", re.DOTALL)
_RELEASE = re.compile(r"/(?:kafka|zookeeper)-(?P<version>\d+(?:\.\d+)+)-[0-9a-f]{12}/libs/")
#: The port of an address of Kafka's listeners, and of a server's address of election (the second of server.N).
_LISTENER = re.compile(r":(\d+)$")
_ELECTION = re.compile(r":\d+:(\d+)")
_CLIENT_PORTS = ("clientPort", "secureClientPort")
_MECHANISMS = re.compile(r"listener\.name\.([^.]+)\.sasl\.enabled\.mechanisms")
_COPIES = re.compile(r"(^default|\.topic|\.log)\.replication\.factor$|\.min\.isr$|^min\.insync\.replicas$")
_ESCAPE = re.compile(r"\\(.)[ \t]*", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}


def contents(files: Mapping[str, str | None]) -> dict[str, Any] | None:
    """Read the texts of a record into {properties, jvm, files, limits}; None without the properties or the arguments.

    files -- name -> text, None for a file that is not there. Raises PropertiesError on unreadable properties.
    """
    properties, jvm = files.get(PROPERTIES), files.get(JVM)
    if properties is None or jvm is None:
        return None
    return {
        "properties": parse(properties),
        "jvm": argument_file_words(jvm),
        "files": digests(files.get(FILES) or ""),
        "limits": dict(line.split(" ", 1) for line in (files.get(LIMITS) or "").splitlines() if " " in line),
    }


def copies(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties that say how many copies Kafka makes by itself, and how many must be in sync."""
    return {key: value for key, value in properties.items() if _COPIES.search(key)}


def migrates(properties: Mapping[str, str]) -> bool:
    """Tell whether a node was started with the flag of a migration from ZooKeeper to KRaft (KIP-866)."""
    return properties.get(MIGRATION_FLAG, "").strip().lower() == "true"


def advertised(properties: Mapping[str, str]) -> dict[str, str]:
    """Return where each listener of a node of Kafka is advertised, host:port by its name; empty of another node."""
    entries = (entry.strip().partition("://") for entry in properties.get("advertised.listeners", "").split(","))
    return {name: address for name, _separator, address in entries if address}


def mechanisms(properties: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the SASL mechanisms that each listener offers, by its name in small letters."""
    offered = ((_MECHANISMS.fullmatch(key), value) for key, value in properties.items())
    return {match[1]: [name.strip() for name in value.split(",")] for match, value in offered if match}


def version(text: str | None) -> str | None:
    """Return the version of the release whose jars a java argument file names, None without such a file.

    The directory of a release is named product-version-digest (plugins/filter/release_name).
    """
    matches = [_RELEASE.search(word) for word in argument_file_words(text or "")]
    return next((match["version"] for match in matches if match), None)


def identity(files: Mapping[str, str | None]) -> tuple[int, int] | None:
    """Return (pid, start time in clock ticks since boot) of a record, None when it does not name a process."""
    try:
        return int((files.get(PID) or "").strip()), int((files.get(START_TIME) or "").strip())
    except ValueError:
        return None


def opened_ports(files: Mapping[str, str | None], wanted: Sequence[int]) -> list[int]:
    """Return the ports that the process of a record opens; where its properties do not say, the wanted ones.

    They differ where a node went back to older files and the inventory names a new port. No port is wanted of a process
    that listens nowhere.
    """
    try:
        properties = parse(files.get(PROPERTIES) or "")
    except PropertiesError:
        return list(wanted)
    listeners = [_LISTENER.search(one.strip()) for one in properties.get("listeners", "").split(",")]
    if not wanted or any(listeners):
        return [int(one[1]) for one in listeners if one] if wanted else []
    clients = [int(properties[key]) for key in _CLIENT_PORTS if properties.get(key, "").isdecimal()]
    servers = [value for key, value in properties.items() if key.startswith("server.")]
    elections = {int(found[1]) for one in servers if (found := _ELECTION.search(one))}
    # Which of the servers it is, its properties do not say; and one alone holds no election.
    return clients + [port for port in wanted if port in elections and port not in clients] if clients else list(wanted)


def argument_file_words(text: str) -> list[str]:
    """Split the text of a java argument file into arguments, as the java launcher does.

    Blanks and line ends separate; single or double quotes keep them; inside quotes a backslash escapes the next
    character, or joins the next line ("java Command-Line Argument Files", Java 9 and later). # starts a comment, also
    within a word without quotes, and then takes the word with it: seen on Java 17, -Da=1#b sets nothing.
    """
    found = (match.group("word") for match in _WORD.finditer(text) if not match.group("comment"))
    return [_QUOTED.sub(_unquote, word) for word in found if word]


def _unquote(found: re.Match[str]) -> str:
    inside = found.group(1) if found.group(1) is not None else found.group(2)
    return _ESCAPE.sub(_unescape, inside)


def _unescape(found: re.Match[str]) -> str:
    char = found.group(1)
    if char in "\r\n":
        # The launcher drops the white space that a continued line starts with.
        return ""
    return _ESCAPES.get(char, char) + found.group()[2:]


def digests(text: str) -> dict[str, str]:
    """Read the lines of sha256sum: {path: sha256}; lines that are none are left out."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        digest, separator, path = line.lstrip("\\").partition(" ")
        if separator and len(digest) == 64 and path[:1] in (" ", "*"):
            found[path[1:]] = digest.lower()
    return found
