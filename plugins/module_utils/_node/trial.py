# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Have the Java and the Kafka of a node judge what it would be started with, before anything of it is written.

One short JVM is started with the Java arguments of the node, and Kafka's own storage tool reads the properties in it
(C(info) builds a KafkaConfig, which checks types, ranges, and what does not go together). It listens nowhere, writes
nothing but a directory that is removed, and is kept from the data directories: a disk that has failed, which a broker
may start without, must not fail it, nor one that hangs hold it up.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from .._core import commands
from .._core.commands import CommandTimeoutError
from .._core.compared import same_file
from .._core.errors import StreamopsError
from .._core.properties import is_secret, parse, to_text
from . import codec_trial, store_trial
from .format import MAIN
from .scratch import scratch, write
from .start_record import argument_file_words
from .system import find_java

#: Longest time for the JVM; it needs two seconds on a quiet machine.
SECONDS = 120.0
#: Beginnings of arguments that a JVM beside the running node must not have: they open its ports, write its files, take
#: its memory, run programs when it fails, or are read from files that may hold any of these.
NOT_TRIED = (
    *("-javaagent:", "-agentlib:", "-agentpath:", "-Xrun", "-Dcom.sun.management.", "-XX:+ManagementServer"),
    *("-Xlog", "-Dlog4j", "-Dlogback.", "-XX:LogFile", "-XX:+LogVMOutput", "-XX:ErrorFile"),
    *("-XX:StartFlightRecording", "-XX:FlightRecorderOptions", "-XX:+PerfDataSaveToFile", "-XX:PerfDataSaveFile"),
    *("-Xshare:dump", "-XX:ArchiveClassesAtExit", "-XX:SharedArchiveFile", "-XX:DumpLoadedClassList", "-XX:AOT"),
    *("-XX:+AutoCreateSharedArchive", "-XX:CRaC"),
    *("-XX:+HeapDump", "-XX:HeapDumpPath", "-XX:+CrashOnOutOfMemoryError", "-XX:+ShowMessageBoxOnError"),
    *("-XX:OnError", "-XX:OnOutOfMemoryError"),
    *("-Xms", "-XX:InitialHeapSize", "-XX:InitialRAM", "-XX:MinHeapSize", "-XX:+AlwaysPreTouch"),
    *("-XX:+UseLargePages", "-XX:+UseHugeTLBFS", "-XX:AllocateHeapAt"),
    *("-XX:Flags=", "-XX:VMOptionsFile="),
)
#: Variables out of which java takes further arguments, and a class path (its manual page, JDK_JAVA_OPTIONS). Those of
#: a login are not those of the service.
ARGUMENTS_OF_THE_LOGIN = ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH")
#: How the storage tool begins what it found (StorageTool.infoCommand): then it has read the properties.
_JUDGED = re.compile(r"^Found (?:log director|problem|metadata)", re.M)
#: What a JVM says that the machine has no room for now. The running node has taken it, and gives it back when it stops.
_NO_ROOM = re.compile(
    r"^.*(?:Could not reserve enough space|insufficient memory for the Java Runtime|unable to create native thread"
    r"|Cannot create VM thread|Could not allocate|Failed to (?:reserve|allocate|commit)).*$",
    re.M,
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
_NO_CLASS = re.compile(
    r"^Error: (?:Could not find or load|LinkageError occurred while loading|Unable to initialize) main class "
    r"(?P<name>.*)$(?:\n\s*(?P<cause>.+))?",
    re.M,
)
#: What stands for a character between double quotes (java Command-Line Argument Files).
_ESCAPED = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}
#: A value that its provider does not have: EnvVarConfigProvider knows the environment of the service alone.
_NOT_HERE = re.compile(r"\$\{\w+:[^}]*\}")
_NO_HEAP = "Java heap space"
_UNTOUCHED = "This step changed nothing on the node."
#: What Java makes of an option with a blank that is not quoted.
_A_WORD = (
    "Java takes a word of its arguments for the program to start, as it does not begin with -. An argument with a "
    "blank or a # in it needs double quotes around it"
)


class TrialError(StreamopsError):
    """Java or Kafka does not take what the node would be started with."""


def trial(params: Mapping[str, Any], run: Callable[..., Any] = commands.run) -> dict[str, Any]:
    """Return {changed: False, judged, warnings}; what is on the node already, or cannot be tried yet, is not judged.

    Args:
        params: name (of the node, for messages), java (its path, empty to look for it), user (who must be able to write
            to the temporary directory), jvm_options, properties and start (each {path, content} or None), and stores
            ({keystore, truststore}, each {path, content}).
        run: Runs a program: list of arguments, seconds, cwd, env -> (return code, output, errors).

    Raises:
        TrialError: The node would not start with these files.
    """
    files = [path for path in (params["jvm_options"], params["properties"], params["start"]) if path]
    stores = params.get("stores") or {}
    java, words = find_java(params["java"]), argument_file_words(params["jvm_options"]["content"])
    nothing: dict[str, Any] = {"changed": False, "judged": False, "warnings": []}
    if not java or not _has_jars(words):
        return nothing
    properties = params["properties"]["content"] if params["properties"] else ""
    looks = []
    if not all(_holds(path) for path in files):
        looks.append(_files_tried(params["name"], java, words, properties, run))
        looks.append(_authorizer_tried(params["name"], java, words, properties, run))
    # What producers need follows from Java, its arguments and the release, which these two name.
    started_by = [path for path in (params["jvm_options"], params["start"]) if path]
    takes_records = codec_trial.has_tool(words) and codec_trial.takes_records(properties)
    if takes_records and not all(_holds(path) for path in started_by):
        looks.append(_codecs_tried(params["name"], java, words, properties, str(params.get("user") or ""), run))
    if stores and not all(_holds(path) for path in stores.values()) and store_trial.needs(properties, stores):
        looks.append(_stores_tried(params["name"], java, words, properties, stores, run))
    warnings = [warning for warning in looks if warning]
    return {"changed": False, "judged": bool(looks) and not warnings, "warnings": warnings}


def _tried_by(
    look: Callable[[], tuple[str, str]], hidden: Callable[[str], str], bad: str, unsure: str, fix: str
) -> str:
    """Carry out a trial; a warning where it could not judge. Raises TrialError where it finds a fault.

    look -- returns the fault and why there is no verdict, both empty where all is well; hidden -- takes secrets out of
    either; bad, unsure -- what each means for the node.
    """
    try:
        found, not_judged = look()
    except (OSError, CommandTimeoutError) as problem:
        found, not_judged = "", getattr(problem, "message", str(problem))
    if found:
        raise TrialError(f"{bad}{hidden(found)}. fix: {fix}. {_UNTOUCHED}")
    return not_judged and f"{unsure} would be seen at the start of the node alone: {hidden(not_judged)}"


def _files_tried(name: str, java: str, words: Sequence[str], properties: str, run: Callable[..., Any]) -> str:
    """Try arguments and properties, as C(_tried_by)."""

    def look() -> tuple[str, str]:
        """Have Java and Kafka read them."""
        code, said = _said(java, tried(words), properties, run)
        found = fault(said)
        if elsewhere_only := _NOT_HERE.search(found):
            return "", f"{elsewhere_only[0]} is not known here"
        return found, "" if found else why_not_judged(code, said, bool(properties))

    return _tried_by(
        look,
        partial(shown, properties=properties, words=words),
        bad=f"{name} would not start with what this run would write: ",
        unsure=f"{name}: Java and Kafka could not judge what this run writes, so a value that they do not take",
        fix="correct that value in the inventory",
    )


def _stores_tried(
    name: str,
    java: str,
    words: Sequence[str],
    properties: str,
    stores: Mapping[str, Mapping[str, Any]],
    run: Callable[..., Any],
) -> str:
    """Try key, certificates and CAs, as C(_tried_by)."""

    def look() -> tuple[str, str]:
        """Have a client of Kafka load the stores and talk to one that shows them."""
        with scratch("trial") as place:
            arguments = write(place, "arguments", "".join(quoted(tried(words))))
            return store_trial.said_by(java, [f"@{arguments}"], properties, stores, place, run)

    return _tried_by(
        look,
        partial(shown, properties=properties, words=words),
        bad=f"{name} would not start with the key and the certificates that this run would bring, as Java says: ",
        unsure=f"{name}: Java and Kafka could not judge the key and the certificates that this run brings, so what "
        "they do not take",
        fix="correct kafka_tls_certificate_file, kafka_tls_key_file or kafka_tls_ca_file",
    )


def _authorizer_tried(name: str, java: str, words: Sequence[str], properties: str, run: Callable[..., Any]) -> str:
    """Try the class of the authorizer, as C(_tried_by); that of principals is loaded with the properties."""
    authorizer = codec_trial.authorizer_to_load(properties)
    if not authorizer:
        return ""

    def look() -> tuple[str, str]:
        """Have Java load it."""
        with scratch("trial") as place:
            arguments = write(place, "arguments", "".join(quoted(tried(words))))
            _code, out, err = run([java, f"@{arguments}", authorizer], SECONDS, cwd=place, env=_environment())
        return codec_trial.class_fault(f"{out}\n{err}", authorizer), ""

    return _tried_by(
        look,
        partial(shown, properties=properties, words=words),
        bad=f"{name} would not start with what this run would write: ",
        unsure=f"{name}: Java could not judge the authorizer, so a class that it does not load",
        fix="correct authorizer.class.name in kafka_config, or bring the jar of the class to the node first",
    )


def _codecs_tried(
    name: str, java: str, words: Sequence[str], properties: str, user: str, run: Callable[..., Any]
) -> str:
    """Try what records of each codec need, as C(_tried_by)."""

    def look() -> tuple[str, str]:
        """Look at the temporary directory, then have Kafka read records; some codecs would make one that is missing."""
        if missing := codec_trial.directory_fault(words, user):
            return missing, ""
        directory = codec_trial.temporary_directory(words)
        with scratch("trial") as place:
            arguments = write(place, "arguments", "".join(quoted(tried(words))))
            unread, not_judged = codec_trial.said_by(
                java, [f"@{arguments}"], properties, directory, place, run, _environment()
            )
        return unread, not_judged

    return _tried_by(
        look,
        partial(shown, properties=properties, words=words),
        bad=f"{name} would start, and refuse records of some producers: ",
        unsure=f"{name}: Kafka could not try the compression codecs, so one that it cannot load",
        fix="give kafka_jvm_options -Djava.io.tmpdir=DIRECTORY, a directory that the node may write to, on a mount "
        "without noexec; where direct memory is too small, raise -XX:MaxDirectMemorySize there",
    )


def _environment() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key not in ARGUMENTS_OF_THE_LOGIN}


def tried(words: Sequence[str]) -> list[str]:
    """Return the Java arguments that are tried: all but NOT_TRIED."""
    return [word for word in words if not word.startswith(NOT_TRIED)]


def fault(said: str) -> str:
    """Return what is wrong by the words of the JVM, empty where it found nothing or the machine has no room for it.

    Its status is not asked: the storage tool ends with 1 also for directories that are not formatted yet.
    """
    if _NO_ROOM.search(said):
        return ""
    if any(mark in said for mark in _JVM_FAILED):
        lines = [line.strip() for line in said.splitlines()]
        told = [line for line in lines if line and not line.removeprefix("Error: ").startswith(_BOILERPLATE)]
        return f"Java does not take its arguments: {' / '.join(told[:3]) or 'it does not say which'}"
    if missing := _NO_CLASS.search(said):
        # The word itself may be a part of a secret.
        return _no_class(missing) if missing["name"].strip() == MAIN else _A_WORD
    exceptions = list(_EXCEPTION.finditer(said))
    if not exceptions:
        return ""
    last = exceptions[-1]
    if last["said"] == _NO_HEAP:
        return f"Java has too little memory with its arguments: {_NO_HEAP}"
    return f"Kafka does not take its properties: {last['said'] or last['name']}".rstrip(".")


def _no_class(missing: re.Match[str]) -> str:
    cause = (missing["cause"] or "").removeprefix("Caused by: ").strip()
    return f"this Java cannot load {MAIN} of the release: {cause or 'it does not say why'}"


def why_not_judged(code: int, said: str, has_properties: bool) -> str:
    """Return why a JVM that found no fault has judged nothing, empty where it has."""
    if no_room := _NO_ROOM.search(said):
        return f"this machine has no room for a second JVM now ({no_room[0].strip()})"
    if _JUDGED.search(said) if has_properties else code == 0:
        return ""
    return f"the JVM ended with {code} without an answer"


def shown(text: str, properties: str, words: Sequence[str] = ()) -> str:
    """Return a text without the secrets of properties and of arguments of Java, which an exception may quote."""
    own = [word[2:].partition("=") for word in words if word.startswith("-D")]
    named = [*parse(properties).items(), *((key, value) for key, _equals, value in own)]
    for secret in sorted((value for key, value in named if is_secret(key) and value), key=len, reverse=True):
        text = text.replace(secret, "(secret)")
    return text


def _said(java: str, words: Sequence[str], properties: str, run: Callable[..., Any]) -> tuple[int, str]:
    """Return the status of a JVM with these arguments and all that it says.

    Its files, and those that a JVM leaves where it crashes, are of this user alone, and removed.
    """
    with scratch("trial") as place:
        arguments = write(place, "arguments", "".join(quoted(words)))
        what = ["-version"]
        if properties:
            moved = elsewhere(properties, os.path.join(place, "data"))
            what = [MAIN, "info", "-c", write(place, "server.properties", moved)]
        code, out, err = run([java, f"@{arguments}", *what], SECONDS, cwd=place, env=_environment())
    return code, f"{out}\n{err}"


def elsewhere(properties: str, directory: str) -> str:
    """Return properties whose data directories are another one, which is not there (a later line of a key wins)."""
    named = parse(properties)
    moved: dict[str, str] = {key: directory for key in ("log.dirs", "log.dir", "metadata.log.dir") if key in named}
    return f"{properties.rstrip()}\n{to_text(moved)}"


def quoted(words: Sequence[str]) -> Iterator[str]:
    """Yield the lines of an argument file of java, which argument_file_words reads back."""
    for word in words:
        escaped = "".join(_ESCAPED.get(char, char) for char in word)
        yield f'"{escaped}"\n'


def _holds(file: Mapping[str, Any]) -> bool:
    """Return whether a file is on the node, with this content, in whichever order its sets are."""
    try:
        with open(file["path"], encoding="utf-8") as there:
            return same_file(file["path"], there.read(), str(file["content"]))
    except (OSError, UnicodeDecodeError):
        return False


def _has_jars(words: Sequence[str]) -> bool:
    """Return whether the class path is there; a node whose release is not installed yet has none."""
    places = [words[at + 1] for at, word in enumerate(words[:-1]) if word == "-cp"]
    return bool(places) and os.path.isdir(os.path.dirname(places[-1]))
