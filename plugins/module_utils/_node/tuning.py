# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Kernel settings and limits of a machine: what to set, what is good already, and what the host does not allow.

Containers and hardened hosts forbid some of it. That is reported with its reason and stops nothing: Kafka runs without.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from . import files as node_files

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule

# Sizes and counts of which a host may well have more than we ask for; more does no harm.
AT_LEAST = ("vm.max_map_count", "fs.file-max", "fs.nr_open", "net.core.rmem_max", "net.core.wmem_max")
HUGEPAGES = "transparent_hugepage"
HUGEPAGES_PATH = "/sys/kernel/mm/transparent_hugepage/enabled"
OPEN_FILES = "limit of open files"
# Bit of CAP_SYS_RESOURCE in a capability set (capabilities(7)): who has it raises hard limits.
_SYS_RESOURCE = 1 << 24

AS_WANTED, SET, FORBIDDEN = "as_wanted", "set", "forbidden"


@dataclass(frozen=True)
class Setting:
    """One setting: what is wanted and found, and whether the host lets it be written (`reason` why it does not).

    path -- the file of the kernel; found -- None when the kernel has no such setting.
    """

    name: str
    path: str
    wanted: str
    found: str | None
    reason: str = ""

    @property
    def state(self) -> str:
        """as_wanted, set (or to be set), or forbidden."""
        if self.found is not None and _satisfied(self.name, self.wanted, self.found):
            return AS_WANTED
        return FORBIDDEN if self.reason else SET

    def shown(self) -> dict[str, str | None]:
        """Return what a module returns of it."""
        return {
            "name": self.name,
            "wanted": self.wanted,
            "found": self.found,
            "state": self.state,
            "reason": self.reason if self.state == FORBIDDEN else "",
        }


def _satisfied(name: str, wanted: str, found: str) -> bool:
    if name in AT_LEAST and wanted.isdigit() and found.isdigit():
        return int(found) >= int(wanted)
    return found.split() == wanted.split()


def tune(module: AnsibleModule) -> dict[str, Any]:
    """Bring the host as near to the wanted settings as it lets us: {changed, diff, settings, judged}.

    judged -- the same settings as objects, for the caller's own words about them.
    """
    options = module.params
    settings = read_settings(options["sysctl"], options["transparent_hugepage"])
    if not module.check_mode:
        settings = [write(one) if one.state == SET else one for one in settings]
    files = [
        {"path": path, "content": content, "mode": "0644"}
        for path, content in (
            (options["sysctl_file"], kept(settings, hugepages=False)),
            (options["tmpfiles_file"], kept(settings, hugepages=True)),
        )
        if content
    ]
    directories = [{"path": os.path.dirname(one["path"]), "mode": "0755"} for one in files]
    written = node_files.ensure(module, directories, files)
    if options["open_files"]:
        settings.append(open_files(options["open_files"], _text("/proc/1/limits"), _text("/proc/1/status")))
    set_now = [one for one in settings if one.state == SET]
    live = {
        "before_header": "kernel",
        "after_header": "kernel",
        "before": "".join(f"{one.name} = {one.found}\n" for one in set_now),
        "after": "".join(f"{one.name} = {one.wanted}\n" for one in set_now),
    }
    return {
        "changed": written["changed"] or bool(set_now),
        "diff": ([live] if set_now else []) + written["diff"],
        "settings": [one.shown() for one in settings],
        "judged": settings,
    }


def read_settings(sysctl: Mapping[str, object], hugepages: str) -> list[Setting]:
    """The settings as they are now on this host; hugepages "" leaves transparent huge pages alone."""
    found = [_read(name, "/proc/sys/" + name.replace(".", "/"), str(sysctl[name])) for name in sorted(sysctl)]
    if hugepages:
        found.append(_read(HUGEPAGES, HUGEPAGES_PATH, hugepages))
    return found


def _read(name: str, path: str, wanted: str) -> Setting:
    try:
        with open(path, encoding="ascii") as file:
            text = file.read().strip()
    except OSError as problem:
        why = "this kernel has no such setting" if problem.errno == errno.ENOENT else os.strerror(problem.errno or 0)
        return Setting(name, path, wanted, None, why)
    return Setting(name, path, wanted, chosen(text), writable(path))


def chosen(text: str) -> str:
    """The value of a kernel file: the word in brackets where it lists choices ("always [madvise] never")."""
    start, end = text.find("["), text.find("]")
    return text[start + 1 : end] if 0 <= start < end else text


def writable(path: str) -> str:
    """Say why a kernel file cannot be written; "" when it can. The file system answers, so nothing is tried out."""
    if os.access(path, os.W_OK):
        return ""
    mount = os.statvfs(path)
    return "read-only on this host" if mount.f_flag & os.ST_RDONLY else "needs root"


def write(setting: Setting) -> Setting:
    """The setting after it was written, or with the reason why the kernel refused."""
    try:
        with open(setting.path, "w", encoding="ascii") as file:
            file.write(setting.wanted)
    except OSError as problem:
        return replace(setting, reason=problem.strerror or str(problem))
    return setting


def open_files(wanted: int, limits: str, status: str) -> Setting:
    """Judge whether services of this host can have so many open files, from /proc/1/limits and /proc/1/status.

    Services get what their unit asks for as long as PID 1 may raise limits; else the hard limit of PID 1 is the end.
    """
    hard, capabilities = "", 0
    for line in limits.splitlines():
        if line.startswith("Max open files"):
            hard = line.split()[4]
    for line in status.splitlines():
        if line.startswith("CapEff:"):
            capabilities = int(line.split()[1], 16)
    enough = hard == "unlimited" or (hard.isdigit() and int(hard) >= wanted) or capabilities & _SYS_RESOURCE
    shown = str(wanted) if enough else hard or None
    return Setting(OPEN_FILES, "", str(wanted), shown, "" if enough else "PID 1 may not raise its own hard limit")


def kept(settings: Sequence[Setting], hugepages: bool) -> str:
    """The file that sets them again at boot: of sysctl.d, or with hugepages of tmpfiles.d; "" when none may be set."""
    lasting = [one for one in settings if _lasts(one) and (one.name == HUGEPAGES) == hugepages]
    if not lasting:
        return ""
    lines = [f"w {one.path} - - - - {one.wanted}" if hugepages else f"{one.name} = {one.wanted}" for one in lasting]
    return "\n".join(["# Managed by Ansible (streamops.kafka): for Apache Kafka.", *lines, ""])


def _lasts(one: Setting) -> bool:
    # What the host has more of comes from elsewhere; our file would lower it at the next boot.
    more = one.state == AS_WANTED and (one.found or "").split() != one.wanted.split()
    return bool(one.path) and one.state != FORBIDDEN and not more


def complaint(settings: Sequence[Setting]) -> str:
    """One sentence about all that the host forbids; "" when it forbids nothing."""
    by_reason: dict[str, list[str]] = {}
    for one in settings:
        if one.state == FORBIDDEN:
            stays = f"stays {one.found}, " if one.found is not None else ""
            by_reason.setdefault(one.reason, []).append(f"{one.name} ({stays}wanted {one.wanted})")
    parts = [f"{reason}: {', '.join(names)}" for reason, names in by_reason.items()]
    return f"Kafka runs, but this host does not allow to tune it. {'; '.join(parts)}." if parts else ""


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
