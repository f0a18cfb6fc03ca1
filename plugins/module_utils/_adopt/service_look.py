# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Who manages a process of this machine, and what its service says, by systemctl and the files of supervisord."""

from __future__ import annotations

import glob
import os
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, replace

from .._core import commands
from .._core.commands import CommandTimeoutError, Rights
from .._node import installed
from .._node.beside import identity
from .._node.processes import arguments, credentials, parent, read_text
from . import environment, units
from .environment import Layer
from .file_look import Files
from .masks import masked_text
from .units import Manager, Service

#: Longest time for systemctl to answer.
_SECONDS = 10.0
#: Where supervisord looks for its file when it is given none (options.py of it, without its working directory).
_SUPERVISOR_FILES = ("/etc/supervisord.conf", "/etc/supervisor/supervisord.conf")
#: More generations of parents than any service has.
_DEEP = 20

_UNKNOWN = Service()


@dataclass(frozen=True)
class Managed:
    """A process's manager, and what is known of its service.

    identity -- product, id and cluster of a node of ours; control -- by what it is told to stop and start: of a unit
    its file, behind links, and of a program the file of its supervisord.
    """

    manager: Manager
    service: Service = _UNKNOWN
    enabled: str = ""
    needs_reload: bool = False
    identity: tuple[str, str, str] | None = None
    control: str = ""

    def shown(self) -> dict[str, object]:
        """Return it as a module returns it, without secrets."""
        service = self.service
        return {
            "manager": self.manager.kind,
            "name": self.manager.name,
            "scope": self.manager.scope,
            "control": self.control,
            "files": list(service.files),
            "user": service.user,
            "group": service.group,
            "directory": service.directory,
            "commands": [masked_text(text) for text in service.commands],
            "environment_files": [path for path, _is_optional in service.environment_files],
            "restart": service.restart,
            "enabled": self.enabled,
            "needs_reload": self.needs_reload,
            "limits": dict(service.limits),
            "unresolved": list(service.unresolved),
        }


def managed(pid: int, variables: Mapping[str, str] | None, is_own_user: bool, files: Files) -> Managed:
    """Tell who manages a process and read its service. variables -- its environment, None where it is not known."""
    parents = _parents(pid)
    names = [_program(above) for above in parents]
    manager = units.manager(
        read_text(f"/proc/{pid}/cgroup") or "", read_text("/proc/self/cgroup") or "", names, variables
    )
    if manager.kind == installed.CONTAINER:
        return Managed(manager)
    if _has_own_pids(pid):
        return Managed(Manager(installed.CONTAINER, "of an unknown engine (it has numbers of processes of its own)"))
    if manager.kind == installed.SYSTEMD:
        return _of_systemd(manager, is_own_user, files)
    if manager.kind == installed.SUPERVISOR:
        keeper = parents[names.index("supervisord")] if "supervisord" in names else 0
        # Without a keeper the path is one of ours.
        theirs = files.named_by(Rights(*credentials(keeper))) if keeper else files
        return _of_supervisor(manager, _supervisor_file(keeper), theirs)
    if _has_own_root(pid):
        return Managed(Manager(installed.CONTAINER, "of an unknown engine (it has a root directory of its own)"))
    return Managed(manager)


def _parents(pid: int) -> list[int]:
    """Return the processes above one, the nearest first, without the first of the machine."""
    parents: list[int] = []
    while len(parents) < _DEEP:
        pid = parent(pid)
        if pid <= 1:
            break
        parents.append(pid)
    return parents


def _program(pid: int) -> str:
    """Return what a process is called; a script by its own name, although python or sh runs it."""
    if "supervisord" in [posixpath.basename(word) for word in arguments(pid)[:3]]:
        return "supervisord"
    return (read_text(f"/proc/{pid}/comm") or "").strip()


def _has_own_pids(pid: int) -> bool:
    """Tell whether a process has another number of its own, in a namespace below ours (NSpid of proc(5))."""
    rows = [line.split() for line in (read_text(f"/proc/{pid}/status") or "").splitlines()]
    return any(len(row) > 2 for row in rows if row[:1] == ["NSpid:"])


def _has_own_root(pid: int) -> bool:
    """Tell whether a process has another root directory than we have; False where this user may not see it.

    Mounts of its own alone make no container: a unit with PrivateTmp= has them, and so has what it starts, sshd too.
    """
    try:
        return not os.path.samefile(f"/proc/{pid}/root/", "/")
    except OSError:
        return False


def has_own_mounts(pid: int) -> bool:
    """Tell whether a process sees other mounts than we do; False where this user may not see it."""
    try:
        return os.readlink(f"/proc/{pid}/ns/mnt") != os.readlink("/proc/self/ns/mnt")
    except OSError:
        return False


def _of_systemd(manager: Manager, is_own_user: bool, files: Files) -> Managed:
    unit = manager.name
    if manager.scope == "user" and not is_own_user:
        files.unread[unit] = "it is a unit of another user's own systemd"
        return Managed(manager)
    asked = ["systemctl", *(["--user"] if manager.scope == "user" else [])]
    text = _answer([*asked, "cat", "--no-pager", "--", unit], unit, files)
    shown = _answer(
        [*asked, "show", "--no-pager", "--property=UnitFileState,NeedDaemonReload", "--", unit], unit, files
    )
    state = dict(line.partition("=")[::2] for line in shown.splitlines())
    service = units.read_unit(text, unit)
    layers = [*service.layers]
    for path, is_optional in service.environment_files:
        for name in sorted(glob.glob(path)) or [path]:
            content = files.text(name, is_optional=is_optional)
            layers += [] if content is None else [Layer(name, environment.of_file(content))]
    return Managed(
        manager,
        # What files of the environment say counts before the unit's own lines (systemd.exec(5)).
        replace(service, layers=tuple(layers)),
        state.get("UnitFileState", ""),
        state.get("NeedDaemonReload") == "yes",
        identity(text),
        os.path.realpath(service.files[0]) if service.files else "",
    )


def _answer(argv: list[str], unit: str, files: Files) -> str:
    try:
        code, out, errors = commands.run(argv, _SECONDS)
    except (OSError, CommandTimeoutError) as problem:
        files.unread[unit] = f"{argv[0]}: {getattr(problem, 'strerror', None) or problem}"
        return ""
    if code:
        files.unread[unit] = f"{' '.join(argv[:2])} failed with {code}: {errors.strip()[:200]}"
    return "" if code else out


def _supervisor_file(pid: int) -> str:
    """Return the configuration file of a supervisord, by its command line or where it looks for one."""
    said = arguments(pid) if pid else []
    given = [said[at] for at in range(1, len(said)) if said[at - 1] in ("-c", "--configuration")]
    given += [word.partition("=")[2] for word in said if word.startswith("--configuration=")]
    candidates = given or [path for path in _SUPERVISOR_FILES if os.path.isfile(path)]
    if candidates and not os.path.isabs(candidates[0]):
        try:
            return os.path.join(os.readlink(f"/proc/{pid}/cwd"), candidates[0])
        except OSError:
            return candidates[0]
    return candidates[0] if candidates else ""


def _of_supervisor(manager: Manager, path: str, files: Files) -> Managed:
    if not manager.name:
        files.unread["the program of supervisord"] = "its name stands in the environment of the process"
    texts: dict[str, str] = {}
    text = files.text(path) if path else None
    if text is not None:
        texts[path] = text
        included = units.included(text, posixpath.dirname(path))
        paths = [match for pattern in included for match in sorted(glob.glob(pattern))]
        contents = ((part, files.text(part)) for part in paths)
        texts.update({part: content for part, content in contents if content is not None})
    service = units.read_program(texts, manager.name) if manager.name else None
    if service is None:
        return Managed(manager, control=path)
    return Managed(manager, service, service.autostart, False, identity(texts[service.files[0]]), path)
