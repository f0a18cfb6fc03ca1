# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Everything a play must know about a node on its host, certificates too, gathered in one call and without a change."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any

from .._core import commands
from .._core.compared import declare, same
from .._core.properties import PropertiesError, parse
from . import adopted as known
from . import adopted_look
from . import restart_reasons as reasons
from . import start_record as record
from .adopted import NOBODY, OLD, OURS, Adopted
from .beside import beside, installed_as
from .clock import synchronization
from .disks import disks
from .generations import CURRENT, FAILED, PROVEN, Generations, differing
from .log_lines import every_said, seconds_of
from .logins import SAYS, logins_of
from .network import busiest, names
from .ports import ports
from .process import process, read_record
from .processes import read_text
from .quorum import quorum
from .quorum_watch import watched
from .restart_reasons import reason, reason_line
from .start_record import JVM, PROPERTIES, version
from .system import describe_java, describe_system
from .unclean_log import unclean_elections

_WANTED = {
    "properties": {"type": "dict"},
    "jvm": {"type": "list", "elements": "str"},
    "files": {"type": "dict"},
    "limits": {"type": "dict"},
}
_BESIDE = {
    "note_file": {"type": "str", "required": True},
    "service_file": {"type": "str", "required": True},
}
_ISSUER = {
    "jwks_url": {"type": "str", "required": True},
    "ca": {"type": "str", "default": ""},
    "clock_skew": {"type": "int", "default": 30},
}
_KEYTAB: dict[str, dict[str, Any]] = {
    "path": {"type": "str", "required": True},
    "user": {"type": "str", "default": ""},
    "principals": {"type": "list", "elements": "str", "required": True},
    "copied": {"type": "int"},
}
#: Where to look for what is on the machine of a node, as AnsibleModule takes options; the module node_info says more.
LOOK: dict[str, dict[str, Any]] = {
    "log_dirs": {"type": "list", "elements": "str", "default": []},
    "metadata_dir": {"type": "str", "default": ""},
    "watch_quorum": {"type": "bool", "default": False},
    "log_dir": {"type": "str", "default": ""},
    "login_log": {"type": "str", "default": ""},
    "state_dir": {"type": "str", "default": ""},
    "config_file": {"type": "str", "default": ""},
    "jvm_file": {"type": "str", "default": ""},
    "config_dir": {"type": "str", "default": ""},
    "adopted_file": {"type": "str", "default": ""},
    "claim": {"type": "dict"},
    "wanted": {"type": "dict", "options": _WANTED},
    "ports": {"type": "list", "elements": "int", "default": []},
    "names": {"type": "list", "elements": "str", "default": []},
    "java": {"type": "str", "default": ""},
    "release_dir": {"type": "str", "default": ""},
    "certificate_files": {"type": "list", "elements": "str", "default": []},
    "trace_files": {"type": "list", "elements": "str", "default": []},
    "beside": {"type": "dict", "options": _BESIDE},
    "clock": {"type": "bool", "default": False},
    "issuer": {"type": "dict", "options": _ISSUER},
    "keytab": {"type": "dict", "options": _KEYTAB, "no_log": False},
    "network_seconds": {"type": "float", "default": 0},
}


def last_change(found: Generations) -> dict[str, Any] | None:
    """Return {since, changes, same_release} of the generation in use against the one behind it; None without one.

    since -- the name of the generation in use, which is the UTC time of its making. changes -- lines, one for each
    property and each other file. same_release -- whether both start the same version of Kafka.
    """
    link = found.doubted()
    before, now = found.texts(link) if link else None, found.texts(CURRENT)
    if before is None or now is None:
        return None
    return {
        "since": found.name(CURRENT),
        "changes": changes(before, now),
        "same_release": version(before.get(JVM)) == version(now.get(JVM)),
    }


def changes(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """Return a line for each property that differs, and for each other file."""
    files = differing(before, now)
    try:
        properties = _properties(before.get(PROPERTIES, ""), now.get(PROPERTIES, ""))
    except PropertiesError:
        properties = []
    return properties + [f"file {one}" for one in files if one != PROPERTIES or not properties]


def _properties(before: str, now: str) -> list[str]:
    old, new = declare(parse(before)), declare(parse(now))
    return [
        reason_line(reason("property", key, old.get(key), new.get(key)))
        for key in sorted(old.keys() | new.keys())
        if not same(key, old.get(key), new.get(key))
    ]


# Base 64 alone stands between: of a certificate that is cut off nothing behind it is taken along.
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]*-----END CERTIFICATE-----")
# More than any bundle of CAs that is used; the CAs of a whole distribution are a quarter of it.
_LIMIT = 1 << 20


def certificates(paths: Iterable[str], started: Mapping[str, str] | None) -> dict[str, dict[str, Any]]:
    """Return for each file {exists, certificates, sha256, started, error}.

    certificates -- in PEM, as they stand in the file. started -- the digest that the running process was started with,
    "" when it was started without the file, None when no process runs whose start record says so; the argument is what
    that record says. error -- why the file could not be read.
    """
    return {path: {**_content(path), "started": None if started is None else started.get(path, "")} for path in paths}


def _content(path: str) -> dict[str, Any]:
    found: dict[str, Any] = {"exists": True, "certificates": [], "sha256": None, "error": None}
    try:
        with open(path, "rb") as file:
            content = file.read(_LIMIT)
    except FileNotFoundError:
        return {**found, "exists": False}
    except OSError as problem:
        return {**found, "error": problem.strerror or str(problem)}
    listed = _CERTIFICATE.findall(content.decode("ascii", "replace"))
    return {**found, "certificates": listed, "sha256": hashlib.sha256(content).hexdigest()}


MANIFEST = "MANIFEST.sha256"
UNREADABLE = "unreadable"


def node_info(params: Mapping[str, Any], run: Callable[..., Any] = commands.run) -> dict[str, Any]:
    """Gather what node_info returns; params are the module's, run runs a program (see system.describe_java)."""
    files = read_record(params["state_dir"]) if params["state_dir"] else {}
    adopted = _adopted(params)
    own_process = process(files, params["config_file"], adopted)
    last, unread = _started(files)
    started, damaged = (last, unread) if own_process["recorded"] else (None, None)
    wanted = dict(params["wanted"] or {})
    unreadable: list[str] = []
    if wanted.get("files") is not None:
        wanted["files"], unreadable = _wanted_files(wanted["files"], started["files"] if started else {})
    why = [damaged] if damaged else reasons.restart_reasons(started, wanted, own_process["running"])
    runs = _runner(**own_process)
    if adopted is not None and runs == OLD:
        runs_with = adopted_look.old_properties(adopted, own_process["pid"])
        why = reasons.take_over_reasons(adopted.service, runs_with, wanted.get("properties"))
    runs_by = started["properties"] if started and own_process["running"] else {}
    since = own_process["since"]
    return {
        "disks": disks(params["log_dirs"], params["metadata_dir"]),
        "quorum": _quorum(params, since),
        "unclean_elections": unclean_elections(params["log_dir"], time.time()) if params["log_dir"] else [],
        "process": own_process,
        "adopted": None if adopted is None else known.shown(adopted, runs),
        "needs_start": not own_process["running"],
        "restart_reasons": why,
        "live_properties": reasons.live_properties(started, wanted, own_process["running"]),
        "ports": ports(params["ports"], own_process["pid"]),
        "names": names(params["names"]),
        "java": describe_java(params["java"], run),
        "system": describe_system(params["config_dir"]),
        "clock": synchronization() if params["clock"] else None,
        "network": busiest(params["network_seconds"]) if params["network_seconds"] > 0 else None,
        "certificate_files": certificates(params["certificate_files"], started["files"] if started else None),
        "unreadable_files": unreadable,
        "beside": _beside(params),
        "installed_as": _installed_as(params),
        "advertised": record.advertised(runs_by),
        "mechanisms": record.mechanisms(runs_by),
        "logins": _logins(params["login_log"], since),
        "looked_at": time.time(),
        "copies": record.copies(last["properties"]) if last else {},
        "migrates": record.migrates(last["properties"]) if last else False,
        "traces": [path for path in params["trace_files"] if _left(path)],
        "start_files": _start_files(params["config_dir"]),
        "version": record.version(files.get(record.JVM)) or record.version(read_text(params["jvm_file"])),
        "installed": bool(params["release_dir"]) and _is_whole(params["release_dir"]),
    }


def _adopted(params: Mapping[str, Any]) -> Adopted | None:
    """Return who ran the node before; in check mode the claim that a run would write counts as written."""
    if params["claim"]:
        return known.claimed(params["claim"])
    return adopted_look.read(params["adopted_file"]) if params["adopted_file"] else None


def _runner(running: bool, recorded: bool, **_others: object) -> str:
    """Return who runs a node that was run by something else before; of the keys of process."""
    return (OURS if recorded else OLD) if running else NOBODY


def _start_files(directory: str) -> dict[str, Any] | None:
    """Return the generations of a configuration directory, what changed last there, and of which release what was
    given up is."""
    if not directory:
        return None
    generations = Generations(directory)
    look = generations.look()
    given_up = (generations.texts(FAILED) or {}) if look[FAILED] else {}
    return {
        **look,
        "failed_release": record.version(given_up.get(record.JVM)),
        "last_change": last_change(generations),
        "switched_at": generations.led_since(CURRENT),
        "proven_at": generations.led_since(PROVEN),
    }


def _quorum(params: Mapping[str, Any], since: float | None) -> dict[str, Any] | None:
    """Return what the metadata log says of the quorum, watched where that is wanted and worth it."""
    directory = params["metadata_dir"] or next(iter(params["log_dirs"]), "")
    if not directory:
        return None
    if not params["watch_quorum"]:
        return quorum(directory)
    return watched(lambda: quorum(directory), since, time.time, time.sleep)


def _is_whole(release: str) -> bool:
    """Say whether a release has its manifest and each file named there; one without a jar is found at a start.

    Digests are not compared: that would read all of it at each run.
    """
    text = read_text(os.path.join(release, MANIFEST))
    return text is not None and all(_left(os.path.join(release, path)) for path in record.digests(text))


def _beside(params: Mapping[str, Any]) -> list[dict[str, Any]]:
    own = params["beside"]
    if own is None:
        return []
    data = [*params["log_dirs"], *([params["metadata_dir"]] if params["metadata_dir"] else [])]
    return beside(data, own["note_file"], own["service_file"])


def _installed_as(params: Mapping[str, Any]) -> dict[str, Any] | None:
    own = params["beside"]
    return None if own is None else installed_as(own["note_file"], own["service_file"])


def _logins(path: str, since: float | None) -> list[dict[str, Any]] | None:
    """Return the logins that a log has from then on (seconds since 1970), None without such a log.

    What was logged before its first entry is not known: the roles keep 4 MiB and as much of the file before, which is
    some 50,000 logins.
    """
    if not path or not os.path.exists(path):
        return None
    timed = ((line, seconds_of(line)) for line in every_said([f"{path}.1", path], SAYS, since))
    return [asdict(entry) for entry in logins_of((line, at) for line, at in timed if at is not None)]


def _left(path: str) -> bool:
    """Return whether a file is there and not empty; what cannot be looked at is taken for that."""
    try:
        return os.stat(path).st_size > 0
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def _wanted_files(given: Mapping[str, str], started: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Return (path -> digest wanted, paths that this user may not read); an empty digest means: as on disk now.

    A file that cannot be read is taken as unchanged, and named: a roll over a whole cluster needs a better reason.
    """
    wanted = {path: digest or file_digest(path) for path, digest in given.items()}
    unreadable = sorted(path for path, digest in wanted.items() if digest == UNREADABLE)
    for path in unreadable:
        if path in started:
            wanted[path] = started[path]
        else:
            del wanted[path]
    return wanted, unreadable


def _started(files: Mapping[str, str | None]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Return (what the process was started with, None) or (None, a reason that says why this is not known)."""
    try:
        return record.contents(files), None
    except PropertiesError as problem:
        return None, reasons.reason("record", "process", f"damaged start record: {problem}", "a readable one")


def file_digest(path: str) -> str:
    """Return the SHA-256 of a file, "missing" when it does not exist, "unreadable" when this user may not read it."""
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            for block in iter(lambda: file.read(1 << 20), b""):
                digest.update(block)
    except FileNotFoundError:
        return "missing"
    except OSError:
        return UNREADABLE
    return digest.hexdigest()
