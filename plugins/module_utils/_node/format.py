# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Format the directories of one node with Kafka's own storage tool, and never one that is not empty."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .._core import commands
from .._core.commands import CommandTimeoutError
from .._core.errors import RefusedError, StreamopsError
from .._core.properties import READ_ENCODING, PropertiesError, parse, to_text
from .disks import disk
from .scratch import options, prepare, scratch, write
from .system import find_java

MAIN = "kafka.tools.StorageTool"
# Formatting needs little; a small heap and the simplest compiler halve its time on a small machine.
JVM = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
# Directories and files that the tool makes: none for others (bootstrap.checkpoint may hold SCRAM keys).
UMASK = 0o027
# Longest time for the tool; it needs some seconds.
SECONDS = 600.0
_QUORUM_OPTIONS = ("initial_controllers", "standalone", "no_initial_controllers")


class FormatError(StreamopsError):
    """The storage tool ended with an error, or did not write what was asked for."""


def storage_format(params: Mapping[str, Any], check: bool, run: Callable[..., Any] = commands.run) -> dict[str, Any]:
    """Format what is empty and return {changed, formatted, meta_properties, diff}.

    params -- the module's options; check -- only say what would be done; run -- runs a program in a number of seconds.
    A directory that carries the very same ids and was never started is left as it is: a first format that was cut
    between two directories goes on. Raises RefusedError when any directory holds anything else, else FormatError.
    """
    _one_quorum_option(params)
    paths = directories(params)
    found = [disk(path) for path in paths]
    if not all(_is_same(one, params) for one in found):
        refuse(params, found)
    empty = [one["path"] for one in found if one["empty"]]
    if empty and not check:
        try:
            _run_tool(params, empty, run)
        finally:
            # Also what a failed tool left: the next look at it must find it as the node itself would.
            give_away(empty, params["owner"], params["group"])
        found = [disk(path) for path in paths]
        _verify(params, found)
    return _result(params, found, empty)


def directories(params: Mapping[str, Any]) -> list[str]:
    """Return all directories of the node, the metadata directory among them, each once."""
    return list(dict.fromkeys([*params["log_dirs"], *([params["metadata_dir"]] if params["metadata_dir"] else [])]))


def _one_quorum_option(params: Mapping[str, Any]) -> None:
    given = [name for name in _QUORUM_OPTIONS if params[name]]
    if len(given) > 1:
        raise FormatError(
            f"format of {_name(params)}: {' and '.join(given)} exclude each other. Nothing was formatted."
        )


def _is_same(found: Mapping[str, Any], params: Mapping[str, Any]) -> bool:
    meta = found["meta_properties"] or {}
    return meta.get("cluster.id") == params["cluster_id"] and meta.get("node.id") == str(params["node_id"])


def _name(params: Mapping[str, Any]) -> str:
    return f"node {params['node_id']} of cluster {params['cluster_id']}"


def refuse(params: Mapping[str, Any], found: Sequence[Mapping[str, Any]]) -> None:
    """Raise RefusedError unless every directory is absent, empty, or formatted with these ids and never started."""
    wrong = [
        f"{one['path']}: found {_content(one)}"
        for one in found
        if not one["empty"] and (one["error"] or one["started"] or not _is_same(one, params))
    ]
    if wrong:
        rule = "; allowed: an absent or empty directory. Empty it yourself if it is worth nothing, or correct log.dirs"
        raise RefusedError(f"format of {_name(params)}", [line + rule for line in wrong])


def _content(found: Mapping[str, Any]) -> str:
    meta = found["meta_properties"]
    if found["error"]:
        return str(found["error"])
    if meta:
        return f"cluster id {meta['cluster.id']}, node id {meta.get('node.id', meta.get('broker.id'))}"
    if found["cut_format"]:
        return f"a format that was cut ({', '.join(found['entries'])}); no process ever used it"
    return f"files without meta.properties ({', '.join(found['entries'])})"


def arguments(params: Mapping[str, Any], dirs: Sequence[str], config_file: str) -> list[str]:
    """Return the arguments of the storage tool; each value is joined to its option, so none is taken for another.

    Without the metadata directory among dirs there is no voter to describe: its directory id stands there already.
    """
    words = ["format", f"--config={config_file}", f"--cluster-id={params['cluster_id']}"]
    with_metadata = metadata_dir(params) in dirs
    if params["initial_controllers"] and with_metadata:
        words.append(f"--initial-controllers={params['initial_controllers']}")
    elif params["standalone"] and with_metadata:
        words.append("--standalone")
    elif any(params[name] for name in _QUORUM_OPTIONS):
        words.append("--no-initial-controllers")
    if params["release_version"]:
        words.append(f"--release-version={params['release_version']}")
    words += [f"--feature={name}={level}" for name, level in sorted((params["features"] or {}).items())]
    return words + [f"--add-scram={credential}" for credential in params["scram"] or []]


def metadata_dir(params: Mapping[str, Any]) -> str:
    """Return the directory of the metadata log: the named one, else the first."""
    return str(params["metadata_dir"] or params["log_dirs"][0])


def overridden(text: str, params: Mapping[str, Any], dirs: Sequence[str]) -> str:
    """Return the properties with the directories replaced by those to format (a later line of a key wins).

    The tool formats every directory that the properties name, so the metadata directory is named only among these.
    Raises FormatError when the properties are those of another node.
    """
    stated = parse(text).get("node.id")
    if stated != str(params["node_id"]):
        raise FormatError(
            f"format of {_name(params)}: {params['config']} states node.id {stated}; it must be {params['node_id']}, "
            "since the tool formats for the id of that file. Nothing was formatted."
        )
    metadata = metadata_dir(params)
    named = {"log.dirs": list(dirs), "metadata.log.dir": metadata if metadata in dirs else dirs[0]}
    return f"{text.rstrip()}\n{to_text(named)}"


def _run_tool(params: Mapping[str, Any], dirs: Sequence[str], run: Callable[..., Any]) -> None:
    java = find_java(params["java"])
    if not java:
        raise FormatError(f"format of {_name(params)}: no java found; set java. Nothing was formatted.")
    with _scratch(params, dirs) as (place, argument_file):
        class_path = params["class_path"] or os.path.join(params["release_dir"], "libs", "*")
        command = [java, *JVM, *options(place), "-cp", class_path, MAIN, f"@{argument_file}"]
        try:
            code, out, err = run(command, SECONDS, umask=UMASK)
        except OSError as problem:
            raise FormatError(f"format of {_name(params)}: {java} cannot be run: {problem}", java=java) from problem
        except CommandTimeoutError as problem:
            raise FormatError(
                f"format of {_name(params)}: the storage tool: {problem.message} "
                f"(directories: {', '.join(dirs)}; one that is not empty now is refused by the next run)",
                java=java,
            ) from problem
    if code != 0:
        raise FormatError(
            f"format of {_name(params)}: the storage tool failed with {code}: {why(out, err, params)} "
            f"(directories: {', '.join(dirs)}; one that is not empty now is refused by the next run)",
            rc=code,
        )


def give_away(dirs: Sequence[str], owner: str | None, group: str | None) -> None:
    """Give directories and all in them to the user and group that will run the node; None leaves them."""
    user: Any = owner or None
    for top in dirs:
        for path, _names, files in os.walk(top) if owner or group else ():
            for one in [path, *(os.path.join(path, name) for name in files)]:
                shutil.chown(one, user, group or None)


def why(out: str, err: str, params: Mapping[str, Any]) -> str:
    """Return the tool's own error, at most 10 lines; with SCRAM credentials only what names none of them.

    Standard output is never returned: it prints the bootstrap records, with salts and keys of SCRAM users.
    """
    lines = [line.strip() for line in (err or out).splitlines() if line.strip()]
    said = [line for line in lines if not line.startswith(("at ", "log4j:", "SLF4J", "Bootstrap metadata:"))]
    if params["scram"]:
        said = [line for line in said if not any(word in line.lower() for word in ("password", "scram", "salt"))]
    return " / ".join(said[-10:]) or "it said nothing that may be shown"


@contextlib.contextmanager
def _scratch(params: Mapping[str, Any], dirs: Sequence[str]) -> Iterator[tuple[str, str]]:
    """A directory of our own (0700), removed in the end, with the argument file and the properties (0600).

    Arguments go through a file since argv is readable by every user of the host, and may hold SCRAM credentials.
    """
    try:
        with scratch("format") as place:
            with open(params["config"], encoding=READ_ENCODING) as file:
                config = write(place, "server.properties", overridden(file.read(), params, dirs))
            prepare(place)
            words = arguments(params, dirs, config)
            yield place, write(place, "arguments", "".join(f"{word}\n" for word in words))
    except (OSError, PropertiesError) as problem:
        raise FormatError(f"format of {_name(params)}: {problem}. Nothing was formatted.") from problem


def _verify(params: Mapping[str, Any], found: Sequence[Mapping[str, Any]]) -> None:
    wrong = [
        f"{one['path']}: {_content(one) if not one['empty'] else 'empty'}" for one in found if not _is_same(one, params)
    ]
    if wrong:
        raise FormatError(f"format of {_name(params)}: the tool reported success, but found {'; '.join(wrong)}")


def _result(params: Mapping[str, Any], found: Sequence[Mapping[str, Any]], formatted: Sequence[str]) -> dict[str, Any]:
    line = f"cluster.id={params['cluster_id']} node.id={params['node_id']}"
    before = "".join(f"{one}: not formatted\n" for one in formatted)
    after = "".join(f"{one}: {line}\n" for one in formatted)
    return {
        "changed": bool(formatted),
        "formatted": list(formatted),
        "meta_properties": {one["path"]: one["meta_properties"] for one in found},
        "diff": {"before": before, "after": after},
    }
