# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Have the Java and the Kafka of a node open a batch of records of each compression codec, as a broker does.

Snappy and zstd are native libraries that Java unpacks into its temporary directory at their first use. Where that one
is missing or forbids programs (noexec), the node starts and serves, and answers UNKNOWN_SERVER_ERROR to who writes with
the codec. Kafka's own DumpLogSegments reads the batches, with the Java arguments of the node. A batch without
compression, as large as the largest message, shows whether direct memory has room for one (sun.nio.ch.Util).
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .._core.properties import parse
from .rights import USE_DIRECTORY, may
from .scratch import write_bytes

#: The tool in all supported releases; it moved from Kafka's core to its tools.
MAINS = ("org.apache.kafka.tools.DumpLogSegments", "kafka.tools.DumpLogSegments")
#: Where Java keeps its temporary files when nothing names another place, on all Unixes but macOS.
DEFAULT_DIRECTORY = "/tmp"
#: Longest time for the JVM.
SECONDS = 120.0
_OPTION = "-Djava.io.tmpdir="
#: One batch of magic 2 a codec (MemoryRecords.withRecords of Kafka 4.4), with the text "streamops" four times.
_HEADER = "0000000000000000000000000000000000000000ffffffffffffffffffffffffffff00000001"
BATCHES: Mapping[str, str] = {
    "gzip": f"000000000000000000000057ffffffff021a07b4e60001{_HEADER}"
    "1f8b08000000000000ff0b61606060f4282e294a4dcccd2f28c6c360000077b5be2c2b000000",
    "lz4": f"00000000000000000000005affffffff02bdbbb7dc0003{_HEADER}"
    "04224d186040821a000000ff0054000000014873747265616d6f7073090004506d6f70730000000000",
    "snappy": f"00000000000000000000005bffffffff02da0681140002{_HEADER}"
    "82534e41505059000000000100000001000000162b3854000000014873747265616d6f70736a09000000",
    "zstd": f"000000000000000000000053ffffffff02f0bd325b0004{_HEADER}"
    "28b52ffd0058b400008054000000014873747265616d6f70730001000c4b1d010000",
}
#: Kafka's default of message.max.bytes, and the largest batch that is tried.
_LARGEST, _MOST = 1048588, 32 * 1024 * 1024
#: Kafka's own authorizers, which every release of its mode has.
OWN_AUTHORIZERS = (
    "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "kafka.security.authorizer.AclAuthorizer",
)
#: What a batch without compression is called among the codecs.
PLAIN = "none"
_DUMPED = re.compile(r"^Dumping \S*/(\w+)/0+\.log$", re.M)
_RECORD = re.compile(r"^\|? ?offset: 0 ", re.M)
_CAUSE = re.compile(r'^(?:Exception in thread "main" |Caused by: )[\w.$]+: (?P<said>.+)$', re.M)
_NO_DIRECT_MEMORY = "direct buffer memory"
#: What Java says where a native library cannot be unpacked or loaded, now or at an earlier attempt.
_NOT_LOADED = re.compile(r"UnsatisfiedLinkError|NoClassDefFoundError|ExceptionInInitializerError|SnappyError")


def temporary_directory(words: Sequence[str]) -> str:
    """Return the temporary directory of a JVM with these arguments; of several the last one holds."""
    named = [word[len(_OPTION) :] for word in words if word.startswith(_OPTION)]
    return named[-1] if named else DEFAULT_DIRECTORY


def directory_fault(words: Sequence[str], user: str) -> str:
    """Return why the node cannot write to its temporary directory; empty where it can.

    user -- who runs the node; empty for whoever runs this.
    """
    path = temporary_directory(words)
    if not os.path.isdir(path):
        return f"the temporary directory {path} of Java is missing"
    # Whoever runs this may have no name, as in a container.
    if not may(path, user, USE_DIRECTORY):
        return f"the temporary directory {path} of Java is not writable for {user or 'this user'}"
    return ""


def plain_batch(size: int) -> bytes:
    """Return a batch of magic 2 with one record and no compression, of about C(size) bytes (KIP-98)."""
    value = b"\0" * max(0, size - 100)
    record = b"\0\0\0\1" + _varint(len(value)) + value + b"\0"
    record = _varint(len(record)) + record
    tail = b"\0\0" + bytes.fromhex(_HEADER) + record
    # Kafka's checksum of the batch (CRC-32C) is not asked: the tool prints that it differs, and reads on.
    body = b"\xff\xff\xff\xff\2" + b"\0\0\0\0" + tail
    return b"\0" * 8 + len(body).to_bytes(4, "big") + body


def _varint(number: int) -> bytes:
    """Return a number as Kafka's records have it: zigzag, seven bits a byte (ByteUtils.writeVarint)."""
    rest, made = number * 2, bytearray()
    while rest > 0x7F:
        made.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*made, rest])


def has_tool(words: Sequence[str]) -> bool:
    """Tell whether the class path is that of a release of Kafka: ZooKeeper has no records."""
    places = [words[at + 1] for at, word in enumerate(words[:-1]) if word == "-cp"]
    return bool(places) and bool(glob.glob(os.path.join(os.path.dirname(places[-1]), "kafka-clients-*.jar")))


def takes_records(properties: str) -> bool:
    """Tell whether clients send records to a node: a controller that is no broker gets none, nor opens batches."""
    return parse(properties).get("process.roles", "").strip() != "controller"


def largest_message(properties: str) -> int:
    """Return the size of the batch that is tried for direct memory: the largest message, within reason."""
    given = parse(properties).get("message.max.bytes", "")
    return min(int(given), _MOST) if given.strip().isdigit() else _LARGEST


def said_by(
    java: str,
    words: Sequence[str],
    properties: str,
    directory: str,
    place: str,
    run: Callable[..., Any],
    env: Mapping[str, str],
) -> tuple[str, str]:
    """Return what the node cannot open, and why that was not judged; both are empty where it opens all.

    words -- what gives its Java arguments; directory -- its temporary one; place -- a directory that is removed.
    """
    files = [
        write_bytes(place, f"{name}/00000000000000000000.log", content)
        for name, content in (
            *((codec, bytes.fromhex(batch)) for codec, batch in BATCHES.items()),
            (PLAIN, plain_batch(largest_message(properties))),
        )
    ]
    code, said = 1, ""
    for main in MAINS:
        code, out, err = run(
            [java, *words, main, "--deep-iteration", "--files", ",".join(files)], SECONDS, cwd=place, env=env
        )
        said = f"{out}\n{err}"
        if f"main class {main}" not in err:
            break
    return judged(code, said, directory)


def judged(code: int, said: str, directory: str) -> tuple[str, str]:
    """Return the fault and why there is no verdict, by what the tool printed."""
    if code == 0 and len(_RECORD.findall(said)) == len(BATCHES) + 1:
        return "", ""
    tried, causes = _DUMPED.findall(said), [cause["said"] for cause in _CAUSE.finditer(said)]
    if not tried or not causes:
        return "", f"DumpLogSegments ended with {code} without an answer"
    if _NO_DIRECT_MEMORY in said:
        return f"direct memory (-XX:MaxDirectMemorySize) has no room for one message: {causes[-1]}", ""
    if not _NOT_LOADED.search(said):
        return "", f"DumpLogSegments: {causes[-1]}"
    flags = "" if not _forbids_programs(directory) else ", which is mounted noexec"
    where = f"the temporary directory of Java is {directory}{flags}"
    return f"Kafka cannot read the codec {tried[-1]}: {causes[-1]} ({where})", ""


def _forbids_programs(directory: str) -> bool:
    try:
        return bool(os.statvfs(directory).f_flag & os.ST_NOEXEC)
    except OSError:
        return False


def class_fault(said: str, name: str) -> str:
    """Return why Java does not load a class, by what it says when the class is started like a program.

    A class that is there has no main method, which Java tells only after it has loaded it.
    """
    if "Main method not found" in said or f"main class {name}" not in said:
        return ""
    cause = re.search(r"^(?:Caused by: |\t)(?P<said>\S.*)$", said, re.M)
    return f"Java does not load authorizer.class.name {name}: {cause['said'] if cause else 'it does not say why'}"


def authorizer_to_load(properties: str) -> str:
    """Return the class that decides what clients may do, which Kafka loads at its start alone; empty without one."""
    name = parse(properties).get("authorizer.class.name", "").strip()
    return "" if name in OWN_AUTHORIZERS or "${" in name else name
