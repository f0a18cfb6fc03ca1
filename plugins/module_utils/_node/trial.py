# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Have the Java and the Kafka of a node judge what it would be started with, before anything of it is written.

One short JVM is started with the Java arguments of the node, and Kafka's own storage tool reads the properties in it
(C(info) builds a KafkaConfig, which checks types, ranges, and what does not go together). It listens nowhere, writes
nothing, and looks at the data directories alone.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core import commands
from ansible_collections.streamops.kafka.plugins.module_utils._core.commands import CommandTimeoutError
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import is_secret, parse
from ansible_collections.streamops.kafka.plugins.module_utils._node.format import MAIN
from ansible_collections.streamops.kafka.plugins.module_utils._node.java import find
from ansible_collections.streamops.kafka.plugins.module_utils._node.start_record import argument_file_words

#: Longest time for the JVM; it needs two seconds on a quiet machine.
SECONDS = 120.0
#: Beginnings of arguments that a JVM beside the running node must not have: they open its ports, write its files, or
#: take its memory.
NOT_TRIED = (
    *("-javaagent:", "-agentlib:", "-agentpath:", "-Xrunjdwp", "-Dcom.sun.management."),
    *(
        "-Xlog",
        "-Dlog4j",
        "-Dlogback.",
        "-XX:StartFlightRecording",
        "-XX:ArchiveClassesAtExit",
        "-XX:SharedArchiveFile",
    ),
    *("-Xms", "-XX:InitialHeapSize", "-XX:+AlwaysPreTouch", "-XX:+UseLargePages", "-XX:MinHeapSize"),
)
_JVM_FAILED = ("Could not create the Java Virtual Machine", "Error occurred during initialization of VM")
_BOILERPLATE = (
    *_JVM_FAILED,
    "A fatal exception has occurred",
    "Picked up ",
    "NOTE: Picked up ",
    "at ",
    "...",
    "OpenJDK 64-Bit",
    "SLF4J",
)
_EXCEPTION = re.compile(r'^(?:Exception in thread "main" |Caused by: )(?P<name>[\w.$]+)(?:: (?P<said>.*))?$', re.M)
_NO_CLASS = re.compile(r"^Error: (Could not find or load main class .*)$", re.M)


class TrialError(StreamopsError):
    """Java or Kafka does not take what the node would be started with."""


def trial(params: Mapping[str, Any], run: Callable[..., Any] = commands.run) -> dict[str, Any]:
    """Return {changed: False, judged}; what is on the node already, or cannot be tried yet, is not judged.

    Args:
        params: The options of the module node_trial.
        run: Runs a program: list of arguments, seconds -> (return code, output, errors).

    Raises:
        TrialError: The node would not start with these files.
    """
    files = [one for one in (params["jvm_options"], params["properties"]) if one]
    java, words = find(params["java"]), argument_file_words(params["jvm_options"]["content"])
    if all(_holds(one) for one in files) or not java or not _has_jars(words):
        return {"changed": False, "judged": False}
    properties = params["properties"]["content"] if params["properties"] else ""
    found = fault(_said(java, tried(words), properties, run))
    if found:
        raise TrialError(
            f"{params['name']} would not start with what this run would write: {shown(found, properties)}. "
            "fix: correct that value in the inventory. Nothing was written for this node by this step, and no process "
            "was touched."
        )
    return {"changed": False, "judged": True}


def tried(words: Sequence[str]) -> list[str]:
    """Return the Java arguments that are tried: all but NOT_TRIED."""
    return [word for word in words if not word.startswith(NOT_TRIED)]


def fault(said: str) -> str:
    """Return what is wrong by the words of the JVM, empty where it found nothing.

    Its status is not asked: the storage tool ends with 1 also for directories that are not formatted yet.
    """
    if any(mark in said for mark in _JVM_FAILED):
        lines = [line.strip() for line in said.splitlines()]
        told = [line for line in lines if line and not line.removeprefix("Error: ").startswith(_BOILERPLATE)]
        return f"Java does not take its arguments: {' / '.join(told[:3]) or 'it does not say which'}"
    if missing := _NO_CLASS.search(said):
        return f"the release is not whole: {missing[1]}"
    exceptions = list(_EXCEPTION.finditer(said))
    if not exceptions:
        return ""
    last = exceptions[-1]
    return f"Kafka does not take its properties: {last['said'] or last['name']}".rstrip(".")


def shown(text: str, properties: str) -> str:
    """Return a text without the secrets of properties, which an exception may quote."""
    secrets = [value for key, value in parse(properties).items() if is_secret(key) and value]
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "(secret)")
    return text


def _said(java: str, words: Sequence[str], properties: str, run: Callable[..., Any]) -> str:
    """Return all that a JVM says with these arguments; its files are of this user alone, and removed."""
    place = tempfile.mkdtemp(prefix="kafka-trial-")
    try:
        arguments, config = os.path.join(place, "arguments"), os.path.join(place, "server.properties")
        _write(arguments, "".join(_quoted(words)))
        _write(config, properties)
        what = [MAIN, "info", "-c", config] if properties else ["-version"]
        try:
            _code, out, err = run([java, f"@{arguments}", *what], SECONDS)
        except (OSError, CommandTimeoutError) as problem:
            return f"{_JVM_FAILED[0]}\n{problem}"
        return f"{out}\n{err}"
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _quoted(words: Sequence[str]) -> Iterator[str]:
    """Yield the lines of an argument file of java."""
    for word in words:
        escaped = word.replace("\\", "\\\\").replace('"', '\\"')
        yield f'"{escaped}"\n'


def _holds(file: Mapping[str, Any]) -> bool:
    """Whether a file is on the node, with this content."""
    try:
        with open(file["path"], encoding="utf-8") as there:
            return there.read() == str(file["content"])
    except (OSError, UnicodeDecodeError):
        return False


def _has_jars(words: Sequence[str]) -> bool:
    """Whether the class path is there; a node whose release is not installed yet has none."""
    places = [words[at + 1] for at, word in enumerate(words[:-1]) if word == "-cp"]
    return bool(places) and os.path.isdir(os.path.dirname(places[-1]))


def _write(path: str, text: str) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
