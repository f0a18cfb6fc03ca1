# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Why a node must restart: what its process was started with against what is wanted now. Nothing here touches a host.

The start itself writes down what it started with (the start record). So a run that was cut after rendering files
still knows, in the next run, exactly which nodes to restart, and a file edited by hand and edited back costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .._configs.dynamic import CLUSTER_LEVEL, is_dynamic
from .._core.compared import declare, same
from .._core.properties import is_secret
from .start_record import argument_file_words

# Options of the java launcher that take the next argument as their value (java -h, "to specify an argument").
_TAKES_NEXT = ("-cp", "-classpath", "--class-path", "-p", "--module-path", "--add-modules", "-jar")
_CLASS_PATH = ("-cp", "-classpath", "--class-path")


def reason(kind: str, name: str, before: str | None, after: str | None) -> dict[str, Any]:
    """Return one restart reason (property, jvm, file, limit or record); a secret is named, its value never shown."""
    if kind in ("property", "jvm") and is_secret(name):
        before, after = (None if before is None else "(secret)"), (None if after is None else "(another secret)")
    return {"kind": kind, "name": name, "from": before, "to": after}


def reason_line(one: Mapping[str, Any]) -> str:
    """Say one restart reason in a line for people.

    Of a file no digest is said: where one holds a password, that would be found by trying.
    """
    if one["kind"] == "file":
        return f"file {one['name']}: changed"
    before, after = ("(not set)" if one[side] is None else one[side] for side in ("from", "to"))
    return f"{one['kind']} {one['name']}: {before} -> {after}"


def restart_reasons(
    started: Mapping[str, Any] | None, wanted: Mapping[str, Any], running: bool
) -> list[dict[str, Any]]:
    """Compare the start record of a running process with what is wanted and return the reasons to restart it.

    started -- {properties: dict, jvm: list of java arguments, files: {path: sha256}, limits: {name: value}}, None when
    there is no record.
    wanted -- the same four, each optional: what is left out is not compared.
    A node that does not run has no reason: it needs a start, which never needs a gate.
    """
    if not running:
        return []
    if started is None:
        why = "no start record: the process was started by something else"
        return [reason("record", "process", why, "a start by the service")]
    reasons: list[dict[str, Any]] = []
    if wanted.get("properties") is not None:
        reasons += _property_reasons(declare(started["properties"]), declare(wanted["properties"]))
    if wanted.get("jvm") is not None:
        reasons += _jvm_reasons(started["jvm"], argument_file_words("\n".join(wanted["jvm"])))
    if wanted.get("files") is not None:
        reasons += _file_reasons(started["files"], wanted["files"])
    if wanted.get("limits") is not None:
        reasons += _limit_reasons(started["limits"], wanted["limits"])
    return reasons


def take_over_reasons(service: str, runs: Mapping[str, str], wanted: Mapping[str, str] | None) -> list[dict[str, Any]]:
    """Return why a node restarts that its old service runs: that, and each property that it will have differently.

    service -- in words; runs -- the properties of the old process, empty where they are not known; wanted -- those that
    it will have, None where they are not compared. Properties that Kafka takes live count too: nothing is sent to a
    process that is not ours.
    """
    why = [reason("record", "process", f"it is run by {service}", "this run takes it over")]
    if not runs or wanted is None:
        return why
    before, after = declare(runs), declare(wanted)
    return why + [
        reason("property", key, before.get(key), after.get(key))
        for key in sorted(before.keys() | after.keys())
        if not same(key, before.get(key), after.get(key))
    ]


def live_properties(
    started: Mapping[str, Any] | None, wanted: Mapping[str, Any], running: bool
) -> dict[str, str | None]:
    """Return what each property that Kafka takes live should be overridden with; None means by nothing.

    A value that the process was started with needs no override; one that differs does until the next start. An
    override that outlives its purpose would win over the file for ever, so it is taken away.
    """
    if wanted.get("properties") is None:
        return {}
    after = declare(wanted["properties"])
    before = declare(started["properties"]) if running and started is not None else after
    live = (key for key in before.keys() | after.keys() if _is_live(key, after))
    return {key: None if same(key, before.get(key), after.get(key)) else after.get(key) for key in sorted(live)}


def _is_live(key: str, after: Mapping[str, str]) -> bool:
    return key not in CLUSTER_LEVEL and is_dynamic(key) and _is_broker(after)


def _needs_restart(key: str, before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    if same(key, before.get(key), after.get(key)) or key in CLUSTER_LEVEL:
        # A cluster-level value lives in the metadata log from the first start on; the file is not read any more.
        return False
    # Removed: nothing can be sent that takes the file's value away from the running process, only a start does it.
    return key not in after or not is_dynamic(key) or not _is_broker(after)


def _is_broker(properties: Mapping[str, str]) -> bool:
    # An isolated controller takes no broker setting live; without process.roles it is a broker of ZooKeeper mode.
    return "broker" in properties.get("process.roles", "broker").replace(" ", "").split(",")


def _property_reasons(before: Mapping[str, str], after: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        reason("property", key, before.get(key), after.get(key))
        for key in sorted(before.keys() | after.keys())
        if _needs_restart(key, before, after)
    ]


def _file_reasons(before: Mapping[str, str], after: Mapping[str, str]) -> list[dict[str, Any]]:
    return [
        reason("file", path, before.get(path), after.get(path))
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
    ]


def _limit_reasons(before: Mapping[str, str], after: Mapping[str, object]) -> list[dict[str, Any]]:
    # A record of before limits were recorded does not tell them, and that alone restarts no node.
    return [
        reason("limit", name, before[name], str(after[name]))
        for name in sorted(before.keys() & after.keys())
        if before[name] != str(after[name])
    ]


def _jvm_reasons(before: Sequence[str], after: Sequence[str]) -> list[dict[str, Any]]:
    if list(before) == list(after):
        return []
    old, new = _by_name(before), _by_name(after)
    reasons = [
        reason("jvm", name, _joined(old.get(name)), _joined(new.get(name)))
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    ]
    # Only the order differs: the last one of two contradicting options wins, so it may well matter.
    return reasons or [reason("jvm", "order of the arguments", " ".join(old), " ".join(new))]


def _joined(values: Sequence[str] | None) -> str | None:
    return None if values is None else " ".join(values)


def _by_name(arguments: Iterable[str]) -> dict[str, list[str]]:
    """Group java arguments by their name: {"-Dx": ["1"], "-Xmx": ["512m"], "-XX:UseG1GC": ["+"]}."""
    named: dict[str, list[str]] = {}
    words = iter(arguments)
    for word in words:
        if word in _TAKES_NEXT:
            name = "class path" if word in _CLASS_PATH else word
            value = next(words, "")
        else:
            name, value = _name_and_value(word)
        named.setdefault(name, []).append(value)
    return named


def _name_and_value(word: str) -> tuple[str, str]:
    if word.startswith("-XX:") and word[4:5] in ("+", "-"):
        return "-XX:" + word[5:], word[4]
    for short in ("-Xmx", "-Xms", "-Xss", "-Xmn"):
        if word.startswith(short):
            return short, word[len(short) :]
    name, _equals, value = word.partition("=")
    return name, value
