# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Requests in versions of the protocol that Kafka 4.0 removed (KIP-896), as a broker before it has counted them.

Kafka 3.7 and later count them by client since the start of the process, in the MBean DeprecatedRequestsPerSec. What the
MBeans hold is read by Kafka's own JmxTool as the user of the process: an answer of it is not trusted more than that.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from .._core import commands
from .._core.errors import StreamopsError
from . import start_record as record
from .attach import local_jmx_address
from .process import process, read_record
from .scratch import scratch, write
from .system import find_java
from .trial import ARGUMENTS_OF_THE_LOGIN, quoted

#: Longest time for JmxTool; it needs one second on a quiet machine.
SECONDS = 60.0
MAIN = "org.apache.kafka.tools.JmxTool"
MBEAN = "kafka.network:type=RequestMetrics,name=DeprecatedRequestsPerSec"
_JVM = ("-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")
#: How the tool says that no such MBean is there.
_NONE = "No matched attributes"
#: Each of their requests is counted under the name of its API as well.
_TWICE = ("FetchConsumer", "FetchFollower", "AddPartitionsToTxnVerification")


class ReadError(StreamopsError):
    """The counters of a broker cannot be read; the message has no secret in it."""


def deprecated_requests(params: Mapping[str, Any], run: Callable[..., Any] = commands.run) -> dict[str, Any]:
    """Return {requests, since, unread}: what a broker counted since it started, or why that cannot be told.

    Args:
        params: The options of the module deprecated_requests.
        run: Runs a program: list of arguments, seconds, cwd, env, user -> (return code, output, errors).
    """
    files = read_record(params["state_dir"])
    node = process(files)
    nothing: dict[str, Any] = {"requests": [], "since": node["since"], "unread": ""}
    if not node["running"]:
        return dict(nothing, unread="it does not run")
    try:
        owner = _owner(params["state_dir"], node["pid"])
        said = _read(node["pid"], owner, find_java(params["java"]), _class_path(files), run)
    except PermissionError as problem:
        return dict(nothing, unread=f"this user may not look into its process ({problem.filename or problem})")
    except OSError as problem:
        return dict(nothing, unread=str(problem))
    except StreamopsError as problem:
        return dict(nothing, unread=problem.message)
    return dict(nothing, requests=counted(said.splitlines()))


def counted(lines: Iterable[str]) -> list[dict[str, Any]]:
    """Return what lines of JmxTool say: of each client, API and version how many requests came."""
    found = []
    for line in lines:
        name, _attribute, count = line.strip().rpartition(":Count=")
        if not name.startswith(MBEAN) or not count.isdecimal():
            continue
        keys = {key: value.strip('"') for key, _equals, value in (one.partition("=") for one in name.split(","))}
        if keys.get("request") not in _TWICE and int(count):
            found.append(
                {
                    "software": keys.get("clientSoftwareName", ""),
                    "software_version": keys.get("clientSoftwareVersion", ""),
                    "api": keys.get("request", ""),
                    "api_version": int(keys.get("version", "0")),
                    "count": int(count),
                }
            )
    return sorted(found, key=lambda one: [one[key] for key in ("software", "software_version", "api", "api_version")])


def _owner(state_dir: str, pid: int) -> os.stat_result:
    """Return whose process it is. Raises ReadError where its start record is not of the same user, and OSError.

    The record lies where the user of the node may write. It must not lead root into a process of somebody else, nor
    have it run a class path of one user as another.
    """
    owner = os.stat(f"/proc/{pid}")
    place = os.lstat(os.path.join(state_dir, record.DIRECTORY))
    if not stat.S_ISDIR(place.st_mode) or place.st_uid != owner.st_uid:
        raise ReadError("its start record belongs to another user than its process")
    return owner


def _read(pid: int, owner: os.stat_result, java: str, class_path: str, run: Callable[..., Any]) -> str:
    """Return what JmxTool prints of the counters."""
    if not java or not class_path:
        raise ReadError("its Java or its release is not known")
    own = owner.st_uid == os.geteuid()
    env = {key: value for key, value in os.environ.items() if key not in ARGUMENTS_OF_THE_LOGIN}
    words = [*_JVM, "-cp", class_path, MAIN, "--jmx-url", local_jmx_address(pid), "--object-name", f"{MBEAN},*"]
    words += ["--attributes", "Count", "--one-time", "--report-format", "properties"]
    with scratch("requests") as place:
        # Every user may read command lines, and the address admits to all that the broker can do.
        arguments = write(place, "arguments", "".join(quoted(words)))
        if not own:
            for path in (arguments, place):
                os.chown(path, owner.st_uid, owner.st_gid)
        user = None if own else (owner.st_uid, owner.st_gid)
        code, out, err = run([java, f"@{arguments}"], SECONDS, cwd="/", env=env, user=user)
    if code != 0 and _NONE not in err:
        lines = [line.strip() for line in err.splitlines() if line.strip() and "service:jmx" not in line]
        raise ReadError(f"JmxTool ended with {code}: {' '.join(lines)[:200]}")
    return str(out)


def _class_path(files: Mapping[str, str | None]) -> str:
    """Return the class path that the process was started with."""
    words: Sequence[str] = record.argument_file_words(files.get(record.JVM) or "")
    return next((words[at + 1] for at, word in enumerate(words[:-1]) if word == "-cp"), "")
