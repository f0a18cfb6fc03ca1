# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What runs of Kafka, ZooKeeper, MirrorMaker and Connect on this machine, whoever installed it; nothing is changed.

What a process does not show to this user stands in C(unread), by path; everything else is told all the same.
"""

from __future__ import annotations

import functools
import grp
import os
import posixpath
import pwd
import re
from collections.abc import Mapping, Sequence
from typing import Any

from .._core import commands as programs
from .._core.commands import Rights, rights_of
from .._core.properties import READ_ENCODING, PropertiesError
from .._node import installed, processes, start_record, system
from .._node.disks import disks
from .._node.ports import ports_of
from .._node.process import read_record
from .._node.processes import GONE, arguments, credentials, is_shown, pids, read_text, started_at, stat
from .._release.lock import Lock
from . import commands, environment, masks, release, settings
from .commands import Command
from .file_look import RELATIVE, Files
from .service_look import Managed, has_own_mounts, managed
from .settings import Setting

#: Limits of a process that we tell, by their name in /proc/PID/limits.
_LIMITS = {
    "Max open files": "nofile",
    "Max processes": "nproc",
    "Max locked memory": "memlock",
    "Max core file size": "core",
    "Max address space": "as",
}
_OF_DISK = ("path", "exists", "metadata", "logs", "meta_properties", "myid", "mount", "device", "error")
_JAVA_VERSION = re.compile(r'^(?:JAVA_VERSION|JAVA_RUNTIME_VERSION)="([^"]+)"', re.MULTILINE)
_GONE_FILE = " (deleted)"
#: Directories that a unit may have for itself (PrivateTmp= of systemd.exec(5)).
_PRIVATE = ("/tmp/", "/var/tmp/")
_STATE = re.compile(r"^state='(.+)'$", re.MULTILINE)
_HIDES = re.compile(r"^\S+ /proc proc \S*hidepid=(?!0|off)", re.MULTILINE)


def look(locks: Sequence[Lock]) -> dict[str, Any]:
    """Return {machine, processes, unread} of this machine. locks -- of releases that jars are compared with."""
    entries: list[dict[str, Any]] = []
    unread: dict[str, str] = {}
    digests: dict[str, str] = {}
    if os.geteuid() and _HIDES.search(read_text("/proc/self/mounts") or ""):
        unread["/proc"] = "it is mounted with hidepid and shows only this user's processes; run as root"
    for pid in sorted(pids()):
        files = Files(digests)
        entry = process(pid, files, locks)
        if entry is not None:
            entries.append(entry)
            unread.update(files.unread)
    return {
        "machine": processes.machine(),
        "processes": entries,
        "unread": [{"path": path, "why": why} for path, why in sorted(unread.items())],
    }


def process(pid: int, files: Files, locks: Sequence[Lock] = ()) -> dict[str, Any] | None:
    """Describe a process; None where it runs none of the products, or ended meanwhile."""
    argv = arguments(pid)
    state, start_time = stat(pid)
    if not commands.is_java(argv) or start_time is None or state in GONE:
        return None
    directory = files.link(f"/proc/{pid}/cwd")
    command = commands.read(_expanded(argv, directory, files.named_by(Rights(*credentials(pid)))))
    if command is None:
        return None
    entry = _described(pid, command, directory, files, locks)
    entry.update(pid=pid, since=started_at(start_time), cwd=directory or None)
    return entry if is_shown(pid, start_time) else None


def _expanded(argv: Sequence[str], directory: str, files: Files) -> list[str]:
    contents = {}
    for name in commands.argument_files(argv):
        text = files.text(settings.absolute(name, directory))
        if text is not None:
            contents[name] = start_record.argument_file_words(text)
    return commands.expanded(argv, contents)


def _described(pid: int, command: Command, directory: str, files: Files, locks: Sequence[Lock]) -> dict[str, Any]:
    owner = Rights(*credentials(pid))
    environ = files.text(f"/proc/{pid}/environ")
    variables = None if environ is None else processes.variables(environ)
    service = managed(pid, variables, owner.user == os.geteuid(), files)
    entry: dict[str, Any] = {
        "product": command.product,
        "main_class": command.main_class,
        "user": _user_name(owner.user),
        "group": _group_name(owner.group),
        "service": service.shown(),
        "ours": _ours(command, service, pid),
    }
    if service.manager.kind == installed.CONTAINER:
        # Its paths are those of another machine, as it were: it is named and left alone.
        files.unread.clear()
        return {**_EMPTY, **entry}
    theirs = files.named_by(owner)
    properties = _settings(command, directory, theirs)
    values = settings.values(properties)
    layers = service.service.layers
    known = environment.joined(variables, layers, environment.asked_for(values))
    jvm_secrets = masks.secrets(command.system_properties)
    return {
        **entry,
        "java": _java(pid, command, owner, files),
        "jvm": command.parted(),
        "argument_files": list(command.argument_files),
        "logs_dir": command.logs_dir,
        "log_configuration": command.log_configuration,
        "jmx_port": command.jmx_port,
        "release": _release(command, variables, directory, theirs, locks),
        "properties_file": settings.absolute(command.properties_file, directory) if command.properties_file else "",
        "properties": masks.masked(values),
        "overrides": masks.masked(command.overrides),
        "origins": settings.origins(properties),
        "secrets": [
            *({"name": name, "origin": properties[name].origin} for name in settings.secret_names(values)),
            *({"name": name, "origin": "the command line of the JVM"} for name in jvm_secrets),
        ],
        "environment": environment.shown(known),
        "limits": limits(read_text(f"/proc/{pid}/limits") or ""),
        "dirs": _dirs(pid, command, values, directory, theirs),
        "stores": _stores(values, command.system_properties, directory, theirs),
        "login_files": settings.login_files(command.system_properties, directory),
        "ports": _ports(pid, files),
    }


#: What a process tells at least: a container is named and not looked into.
_EMPTY: dict[str, Any] = {
    "java": {"path": "", "version": None, "full": "", "error": None},
    "jvm": {},
    "argument_files": [],
    "logs_dir": "",
    "log_configuration": "",
    "jmx_port": None,
    "release": {},
    "properties_file": "",
    "properties": {},
    "overrides": {},
    "origins": {},
    "secrets": [],
    "environment": [],
    "limits": {},
    "dirs": [],
    "stores": [],
    "login_files": [],
    "ports": [],
}


def _user_name(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def _group_name(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def _ours(command: Command, service: Managed, pid: int) -> dict[str, str | None] | None:
    """Tell which node of this collection a process is, by its service or by its start record; None of another one."""
    if service.identity is not None:
        product, node_id, cluster = service.identity
        return {"product": product, "node_id": node_id, "cluster": cluster}
    # Its start script stands beside its properties, and names the directory of its start record.
    script = read_text(posixpath.join(posixpath.dirname(command.properties_file), "start")) or ""
    state = _STATE.search(script) if command.properties_file.startswith("/") else None
    known = start_record.identity(read_record(state[1])) if state else None
    if known is None or known != (pid, stat(pid)[1]):
        return None
    return {"product": command.product, "node_id": None, "cluster": None}


def _settings(command: Command, directory: str, files: Files) -> dict[str, Setting]:
    """Return the properties with their origins; where the file cannot be read, the overrides alone."""
    path = settings.absolute(command.properties_file, directory)
    text = files.text(path, READ_ENCODING) if command.properties_file else None
    try:
        return settings.settings(path, text or "", command.overrides)
    except PropertiesError as problem:
        files.unread[path] = str(problem)
        return settings.settings(path, "", command.overrides)


def _java(pid: int, command: Command, owner: Rights, files: Files) -> dict[str, Any]:
    """Return the path and version of the java that runs: by the file C(release) beside it, else it is asked.

    It is never run as root for another user, to whom the program may belong.
    """
    link = files.link(f"/proc/{pid}/exe")
    path = link or (command.java if command.java.startswith("/") else "")
    if path.endswith(_GONE_FILE):
        error = "it was replaced or deleted on the disk since the process started"
        return {"path": path[: -len(_GONE_FILE)], "version": None, "full": "", "error": error}
    if not path:
        return {"path": "", "version": None, "full": "", "error": "this user may not see which java runs"}
    home = posixpath.dirname(posixpath.dirname(os.path.realpath(path)))
    theirs = files.named_by(owner)
    for place in (home, posixpath.dirname(home)):
        match = _JAVA_VERSION.search(theirs.text(posixpath.join(place, "release"), is_optional=True) or "")
        if match:
            return {"path": path, "version": system.major(match[1]), "full": match[1], "error": None}
    if posixpath.basename(path) != "java":
        return {"path": path, "version": None, "full": "", "error": "it is not called java, so it is not asked"}
    run = functools.partial(programs.run, user=(owner.user, owner.group)) if os.geteuid() == 0 else programs.run
    return system.describe_java(path, run)


def _release(
    command: Command, variables: Mapping[str, str] | None, directory: str, files: Files, locks: Sequence[Lock]
) -> dict[str, Any]:
    entries = command.class_path or tuple((variables or {}).get("CLASSPATH", "").split(":"))
    places = [settings.absolute(entry, directory) for entry in entries if entry]
    paths = release.jars(places, {place: files.names(place) for place in release.directories(places)})
    _path, version = release.core(command.product, paths)
    digests: dict[str, str] = {}
    if release.lock_of(command.product, version, locks) is not None:
        read = ((path, files.digest(path)) for path in paths)
        digests = {path: digest for path, digest in read if digest is not None}
    known = release.release(command.product, paths, digests, locks)
    return {
        "version": known.version,
        "vendor": known.vendor,
        "dir": known.dir,
        "compared": known.compared,
        "differing": list(known.differing),
        "missing": list(known.missing),
        "added": known.added,
        "summary": known.summary,
    }


def limits(text: str) -> dict[str, dict[str, int | None]]:
    """Read the text of /proc/PID/limits: by name the soft and the hard limit, None for unlimited."""
    read = processes.limits(text, _LIMITS)
    return {_LIMITS[name]: {"soft": soft, "hard": hard} for name, (soft, hard) in read.items()}


def _dirs(pid: int, command: Command, values: Mapping[str, str], directory: str, files: Files) -> list[dict[str, Any]]:
    if not values:
        # Without properties it is not known where the data is.
        return []
    paths, metadata = settings.data_dirs(command.product, values, directory)
    with rights_of(files.rights):
        rows = disks([path for path in paths if path.startswith("/")], metadata if metadata.startswith("/") else "")
    files.unread.update({row["path"]: row["error"] for row in rows if row["error"]})
    files.unread.update({path: RELATIVE for path in [*paths, metadata] if path and not path.startswith("/")})
    if has_own_mounts(pid):
        error = "the process has a directory of its own there (PrivateTmp= of its unit), which was not looked into"
        files.unread.update({row["path"]: error for row in rows if row["path"].startswith(_PRIVATE)})
    # Only KRaft has a metadata log (KIP-500).
    is_kraft = command.product == installed.KAFKA and "process.roles" in values
    return [{**{key: row[key] for key in _OF_DISK}, "metadata": row["metadata"] and is_kraft} for row in rows]


def _stores(values: Mapping[str, str], system: Mapping[str, str], directory: str, files: Files) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for path in settings.store_files(values, system, directory):
        head = files.head(path)
        kind = None if head is None else settings.store_kind(head)
        error = files.unread.get(path) if head is None else None
        rows.append({"path": path, "kind": kind, "error": error if kind or error else "it is no JKS, PKCS12 or PEM"})
    return rows


def _ports(pid: int, files: Files) -> list[int]:
    ports = ports_of(pid)
    if ports is None:
        files.unread[f"/proc/{pid}/fd"] = "this user may not see the sockets of the process"
    return ports or []
