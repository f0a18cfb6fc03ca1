# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Run the tools of the node's own release on copies: at the lowest priority, in a small heap, for a bounded time."""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Iterator, Sequence

from .._core import commands
from .._core.errors import StreamopsError
from .._node import scratch
from .._node.trial import ARGUMENTS_OF_THE_LOGIN
from .asked import DECODERS, Asked

#: The tool by its classes: it moved between releases, from Kafka's core to its tools.
_DUMP = ("org.apache.kafka.tools.DumpLogSegments", "kafka.tools.DumpLogSegments")
_SHELL = "org.apache.kafka.shell.MetadataShell"
_JARS = ("kafka-tools-", "kafka_2", "kafka-shell-")
#: What both print is read as UTF-8: Java 17 knows the second property, later ones the third.
_JVM = (
    "-Xmx256m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:-UsePerfData",
    "-Dfile.encoding=UTF-8",
    "-Dsun.stdout.encoding=UTF-8",
    "-Dstdout.encoding=UTF-8",
)


class DumpError(StreamopsError):
    """What was asked for cannot be dumped. Nothing was changed."""


class Tool:
    """The Java tools of a release; C(place) is a directory of scratch, where their errors go too."""

    def __init__(self, java: str, release_dir: str, place: str) -> None:
        """Look for the tools in the jars. Raises DumpError without a release."""
        self._java, self._libs, self._place = java, os.path.join(release_dir, "libs"), place
        self._errors = os.path.join(place, "errors")
        self._classes = _classes(self._libs)
        scratch.prepare(place)

    @property
    def has_shell(self) -> bool:
        """Return whether the release has the metadata shell."""
        return _SHELL in self._classes

    def dump(self, asked: Asked, files: Sequence[str], seconds: float) -> Printed:
        """Start DumpLogSegments on files."""
        main = next((name for name in _DUMP if name in self._classes), "")
        if not main:
            raise DumpError(
                f"{self._libs} has no jar with the tool DumpLogSegments. fix: install the release whole with playbook "
                "site. Nothing was changed."
            )
        return self._start([main, DECODERS.get(asked.topic, "--print-data-log"), "--files", ",".join(files)], seconds)

    def tree(self, snapshot: str, seconds: float) -> Printed:
        """Start the shell, which prints the tree of a snapshot."""
        return self._start([_SHELL, "--snapshot", snapshot, "tree", "/"], seconds)

    def _start(self, words: Sequence[str], seconds: float) -> Printed:
        class_path = os.path.join(self._libs, "*")
        command = [*_least_priority(), self._java, *_JVM, *scratch.options(self._place), "-cp", class_path, *words]
        return Printed(command, seconds, self._errors)


class Printed:
    """What a tool prints, while it runs; C(is_over): its time ended, C(why): how it failed, empty when it did not."""

    def __init__(self, command: Sequence[str], seconds: float, errors: str) -> None:
        """C(errors) -- the file for its errors."""
        self._command, self._seconds, self._errors = command, seconds, errors
        self.is_over, self.why = False, ""

    def chunks(self) -> Iterator[bytes]:
        """Yield what it prints, as it comes. It is killed when the reader has enough. Raises DumpError."""
        with open(self._errors, "wb") as errors:
            try:
                running = commands.Streamed(self._command, self._seconds, errors, _environment())
            except OSError as problem:
                raise DumpError(
                    f"{self._command[0]} cannot be run: {problem}. fix: set kafka_java_home. Nothing was changed."
                ) from problem
            with running:
                yield from running.chunks()
                self.is_over = running.is_over
                if not running.is_over and running.code() != 0:
                    self.why = self._last_error()

    def _last_error(self) -> str:
        with open(self._errors, encoding="utf-8", errors="replace") as file:
            said = [line.strip() for line in file.read(100_000).splitlines()]
        # Only the kind of an error: its message may quote what is in a record.
        kinds = [line.split(":")[0] for line in said if "Exception" in line or "Error" in line]
        return (kinds or ["it said nothing"])[0][:200]


def _environment() -> dict[str, str]:
    """Return the environment of the login without what the JVM and Kafka take arguments from."""
    return {
        key: value
        for key, value in os.environ.items()
        if key not in ARGUMENTS_OF_THE_LOGIN and not key.startswith("KAFKA_")
    }


def _least_priority() -> list[str]:
    """Return the words that leave processor and disks to others, as far as the machine has them."""
    words = [("nice", "-n", "19"), ("ionice", "-c", "3")]
    return [word for one in words if shutil.which(one[0]) for word in one]


def _classes(libs: str) -> set[str]:
    try:
        jars = [name for name in os.listdir(libs) if name.startswith(_JARS) and name.endswith(".jar")]
    except OSError as problem:
        raise DumpError(
            f"the release {libs} cannot be read: {problem.strerror or problem}. fix: install it with playbook site. "
            "Nothing was changed."
        ) from problem
    found = set()
    for jar in jars:
        try:
            with zipfile.ZipFile(os.path.join(libs, jar)) as content:
                names = set(content.namelist())
        except (OSError, zipfile.BadZipFile):
            continue
        found |= {name for name in (*_DUMP, _SHELL) if f"{name.replace('.', '/')}.class" in names}
    return found
