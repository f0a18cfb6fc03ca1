# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Lock files: every jar of a release with its Maven coordinates, file name, SHA-256 and size.

The file is JSON: schema (1), name, version, transitive (whether the jars were resolved from the roots, else they are
the roots), roots (coordinates, in the order that Maven is given them: of two versions equally near it takes the one of
the earlier root), jars (artifact, file, sha256, bytes, sorted). Coordinates are group:artifact:version or
group:artifact:version:classifier. tools/make_lock writes these files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from .errors import InvalidInput

SCHEMA = 1
_SHA256 = re.compile(r"[0-9a-f]{64}")
# What Maven allows in a coordinate, and no path separator: a coordinate becomes part of a POM and of a file name.
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]*")


class Artifact(NamedTuple):
    """Maven coordinates of one jar; C(classifier) is empty for the main jar."""

    group: str
    artifact: str
    version: str
    classifier: str = ""

    def __str__(self) -> str:
        return ":".join(part for part in self if part)

    @property
    def file(self) -> str:
        """The file name that Maven gives the jar."""
        return "-".join(part for part in self[1:] if part) + ".jar"


class Jar(NamedTuple):
    """One pinned jar: its coordinates, file name, SHA-256 in hexadecimal, and size in bytes."""

    artifact: Artifact
    file: str
    sha256: str
    bytes: int


@dataclass(frozen=True)
class Lock:
    """A lock file as read; C(jars) are sorted by file name."""

    name: str
    version: str
    transitive: bool
    roots: tuple[Artifact, ...]
    jars: tuple[Jar, ...]

    @property
    def digests(self) -> dict[str, str]:
        """The SHA-256 of each jar by file name."""
        return {jar.file: jar.sha256 for jar in self.jars}


def parse_artifact(text: str) -> Artifact:
    """Read group:artifact:version[:classifier]; ValueError says what is wrong."""
    parts = text.split(":")
    if len(parts) not in (3, 4) or not all(_PART.fullmatch(part) for part in parts):
        raise ValueError(f'"{text}" is not group:artifact:version[:classifier]')
    return Artifact(*parts)


def parse(text: str, where: str) -> Lock:
    """Read the text of a lock file; C(where) names it in errors. Raises InvalidInput."""
    try:
        return from_mapping(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise InvalidInput(
            f"Lock file {where}",
            f"it cannot be read: {why}",
            "Take it from the collection again, or make it with tools/make_lock.",
        ) from error


def from_mapping(data: Mapping[str, Any]) -> Lock:
    """Make a Lock of the parsed JSON; ValueError, KeyError or TypeError where it breaks the format."""
    if data["schema"] != SCHEMA:
        raise ValueError(f"schema is {data['schema']!r}, this collection reads {SCHEMA}")
    for key in ("name", "version"):
        if not _PART.fullmatch(data[key]):
            raise ValueError(f"{key} {data[key]!r} is not a plain name")
    jars = tuple(sorted((_jar(item) for item in data["jars"]), key=lambda jar: jar.file))
    files = [jar.file for jar in jars]
    twice = sorted({name for name in files if files.count(name) > 1})
    if twice or not jars:
        raise ValueError(f"jars named twice: {', '.join(twice)}" if twice else "it names no jars")
    roots = tuple(parse_artifact(root) for root in data["roots"])
    return Lock(data["name"], data["version"], bool(data.get("transitive", True)), roots, jars)


def _jar(item: Mapping[str, Any]) -> Jar:
    artifact = parse_artifact(item["artifact"])
    if item["file"] != artifact.file:
        raise ValueError(f"{artifact} has the file name {item['file']!r}, Maven calls it {artifact.file!r}")
    if not _SHA256.fullmatch(item["sha256"]):
        raise ValueError(f"the sha256 of {artifact} is not 64 hexadecimal digits")
    return Jar(artifact, item["file"], item["sha256"], int(item["bytes"]))


def dump(lock: Lock) -> str:
    """Write a lock as the text of its file: jars sorted, one on a line, so that a diff shows what moved."""
    jars = [
        json.dumps({"artifact": str(jar.artifact), "file": jar.file, "sha256": jar.sha256, "bytes": jar.bytes})
        for jar in sorted(lock.jars, key=lambda jar: jar.file)
    ]
    head = {
        "schema": SCHEMA,
        "name": lock.name,
        "version": lock.version,
        "transitive": lock.transitive,
        "roots": [str(root) for root in lock.roots],
    }
    return json.dumps(head, indent=2)[:-2] + ',\n  "jars": [\n    ' + ",\n    ".join(jars) + "\n  ]\n}\n"


def mismatches(expected: dict[str, str], found: dict[str, str]) -> list[str]:
    """Compare digests by file name; one sentence for each file that is missing, different or too much."""
    problems = []
    for name in sorted(set(expected) | set(found)):
        if name not in found:
            problems.append(f"{name}: expected sha256 {expected[name]}, found no such file")
        elif name not in expected:
            problems.append(f"{name}: expected no such file, found sha256 {found[name]}")
        elif expected[name] != found[name]:
            problems.append(f"{name}: expected sha256 {expected[name]}, found {found[name]}")
    return problems
