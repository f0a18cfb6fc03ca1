# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Who manages a process, from its cgroup, and what its service says: a unit of systemd, a program of supervisord.

Texts in, values out. What the manager would fill in is filled in as far as it follows from the text, and named where
it does not (specifiers of systemd such as %H, expansions of supervisord such as %(ENV_HOME)s).
"""

from __future__ import annotations

import configparser
import contextlib
import posixpath
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .._node.installed import CONTAINER, NONE, OTHER, SUPERVISOR, SYSTEMD
from .environment import Layer

#: How `systemctl cat` begins each file: a comment with its path, first in the text or behind an empty line.
_FILE = re.compile(r"# (/\S.*(?:\.service|service\.d/[^/]+\.conf))")
#: What each limit of a unit is called in setrlimit(2), and so in our results.
_LIMITS = re.compile(r"Limit([A-Z]+)")
_SPECIFIER = re.compile(r"%(.)", re.DOTALL)
_EXPANSION = re.compile(r"%\((\w+)\)[sd]|%%")
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[0-7]{3}|.)", re.DOTALL)
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "s": " "}
#: Engines of containers by what they call a group of processes. What runs within is named behind it.
_ENGINES = (
    ("podman", re.compile(r"libpod(?:-payload|-conmon)?-(?P<name>[0-9a-f]{12,64})")),
    ("docker", re.compile(r"(?:^|/)(?:docker/|docker-)(?P<name>[0-9a-f]{12,64})(?:\.scope)?(?:/|$)")),
    ("containerd", re.compile(r"cri-containerd-(?P<name>[0-9a-f]{12,64})")),
    ("cri-o", re.compile(r"crio-(?P<name>[0-9a-f]{12,64})")),
    ("kubernetes", re.compile(r"/kubepods[^/]*/(?:.*/)?(?P<name>[\w-]+)")),
    ("lxc", re.compile(r"/lxc(?:\.payload)?[./](?P<name>[^/]+)")),
    ("nspawn", re.compile(r"/machine\.slice/(?:machine-|systemd-nspawn@)(?P<name>[^/]+?)\.(?:scope|service)")),
)
_UNIT = re.compile(r"/([^/]+\.service)(?:/|$)")
#: Services that start what somebody types or plans; a process below them has no unit of its own.
_NO_SERVICE = re.compile(
    r"(sshd?(@.*|-session@?.*)?|crond?|atd|user@\d+|getty@.*|serial-getty@.*|supervisord?)\.service"
)
_NO = ("no", "false", "off", "0")
#: Programs that start others again, by the name of their process.
_KEEPERS = ("runsv", "s6-supervise", "supervise", "monit", "circusd", "god", "pm2", "nomad")


@dataclass(frozen=True)
class Manager:
    """Who starts a process again. name -- of unit, program or container. scope -- "user" of a user's own systemd."""

    kind: str
    name: str = ""
    scope: str = ""


@dataclass(frozen=True)
class Service:
    """What the files of a service say. Nothing in it is masked.

    commands -- ExecStart, or the command of a program. autostart -- of a program, whether supervisord starts it by
    itself: enabled or disabled, as systemctl calls it of a unit. environment_files -- path, and whether it may be
    missing. unresolved -- what the manager fills in and this text does not tell.
    """

    files: tuple[str, ...] = ()
    user: str = ""
    group: str = ""
    directory: str = ""
    commands: tuple[str, ...] = ()
    restart: str = ""
    autostart: str = ""
    layers: tuple[Layer, ...] = ()
    environment_files: tuple[tuple[str, bool], ...] = ()
    limits: Mapping[str, str] = field(default_factory=dict)
    unresolved: tuple[str, ...] = ()


def container(cgroup: str) -> Manager | None:
    """Return the container that a process runs in, by the text of its /proc/PID/cgroup; None outside of one."""
    for path in _paths(cgroup):
        for engine, pattern in _ENGINES:
            match = pattern.search(path)
            if match:
                return Manager(CONTAINER, f"{engine} {match['name'][:64]}")
    return None


def manager(cgroup: str, machine_cgroup: str, parents: Sequence[str], variables: Mapping[str, str] | None) -> Manager:
    """Tell who manages a process.

    cgroup -- the text of its /proc/PID/cgroup. machine_cgroup -- that of the process which looks: what runs in the
    same container runs on this machine. parents -- the names of the programs above it, the nearest first.
    variables -- its environment, None where it cannot be read.
    """
    its_container, our_container = container(cgroup), container(machine_cgroup)
    if its_container is not None and its_container != our_container:
        return its_container
    program = (variables or {}).get("SUPERVISOR_PROCESS_NAME", "")
    if program:
        group = (variables or {}).get("SUPERVISOR_GROUP_NAME", "") or program
        return Manager(SUPERVISOR, program if group == program else f"{group}:{program}")
    if "supervisord" in parents:
        return Manager(SUPERVISOR)
    keeper = next((name for name in parents if name in _KEEPERS), "")
    if keeper:
        return Manager(OTHER, keeper)
    for path in _paths(cgroup):
        units = [unit for unit in _UNIT.findall(path) if not _NO_SERVICE.fullmatch(unit)]
        if units:
            return Manager(SYSTEMD, units[-1], "user" if "/user@" in path else "")
    return Manager(NONE)


def _paths(cgroup: str) -> list[str]:
    """Return the paths of a /proc/PID/cgroup, that of systemd's own hierarchy first (cgroups(7): number:names:path)."""
    rows = [line.split(":", 2) for line in cgroup.splitlines() if line.count(":") >= 2]
    rows.sort(key=lambda row: row[1] not in ("", "name=systemd"))
    return [row[2] for row in rows]


def read_unit(text: str, name: str = "") -> Service:
    """Read a unit with its drop-ins, as C(systemctl cat) prints them. name -- of the unit, for its specifiers.

    A later line of one name counts, of lists all, and an empty one takes away what stood before (systemd.syntax(7)).
    """
    files: list[str] = []
    layers: list[Layer] = []
    lists: dict[str, list[str]] = {"ExecStart": [], "EnvironmentFile": []}
    single: dict[str, str] = {}
    unresolved: list[str] = []
    for path, key, value in _assignments(text):
        if path not in files and path:
            files.append(path)
        if key == "Environment":
            words = _resolved(value, name, unresolved)
            layers = [*layers, Layer(path, _pairs(words))] if value else []
        elif key in lists:
            lists[key] = [*lists[key], _resolved(value, name, unresolved)] if value else []
        elif key:
            single[key] = _resolved(value, name, unresolved)
    matched = [(_LIMITS.fullmatch(key), value) for key, value in single.items()]
    return Service(
        files=tuple(files),
        user=single.get("User", ""),
        group=single.get("Group", ""),
        directory=single.get("WorkingDirectory", ""),
        commands=tuple(lists["ExecStart"]),
        restart=single.get("Restart", "no"),
        layers=tuple(layers),
        environment_files=tuple((path.lstrip("-"), path.startswith("-")) for path in lists["EnvironmentFile"]),
        limits={match[1].lower(): value for match, value in matched if match and value},
        unresolved=tuple(dict.fromkeys(unresolved)),
    )


def _assignments(text: str) -> list[tuple[str, str, str]]:
    """Return (path, key, value) of each line of the section [Service], and (path, "", "") where a file begins."""
    rows: list[tuple[str, str, str]] = []
    path, section = "", ""
    parts: list[str] = []
    was_empty = True
    for line in text.splitlines():
        header = _FILE.fullmatch(line) if was_empty and not parts else None
        was_empty = not line.strip()
        if header:
            path, section = header[1], ""
            rows.append((path, "", ""))
            continue
        bare = line.strip()
        # Comments stand between continued lines too, and are passed over there.
        if bare[:1] in ("#", ";") or (not bare and not parts):
            continue
        if bare.endswith("\\"):
            parts.append(bare[:-1].rstrip())
            continue
        whole = " ".join([*parts, bare]).strip()
        parts = []
        if whole.startswith("[") and whole.endswith("]"):
            section = whole
            continue
        key, separator, value = whole.partition("=")
        if separator and section == "[Service]":
            rows.append((path, key.strip(), value.strip()))
    return rows


def _resolved(value: str, name: str, unresolved: list[str]) -> str:
    """Fill in the specifiers of a unit that its name tells (systemd.unit(5)); adds the others to a list."""
    base = name.rpartition(".")[0] or name
    prefix, _at, instance = base.partition("@")
    known = {"%": "%", "n": name, "N": base, "p": prefix, "i": instance, "I": _path_like(instance), "t": "/run"}
    known.update({"S": "/var/lib", "C": "/var/cache", "L": "/var/log", "E": "/etc"})

    def fill(match: re.Match[str]) -> str:
        if match[1] in known and (name or match[1] not in "nNpiI"):
            return known[match[1]]
        unresolved.append(match[0])
        return match[0]

    return _SPECIFIER.sub(fill, value)


def _path_like(instance: str) -> str:
    """Return the instance of a unit unescaped: - is /, and \\x2d a character (systemd-escape(1))."""
    return re.sub(r"\\x([0-9a-fA-F]{2})", lambda match: chr(int(match[1], 16)), instance.replace("-", "/"))


def _pairs(text: str) -> dict[str, str]:
    """Read the value of Environment=: words NAME=value, quoted as a whole or within, with escapes of C."""
    pairs = (word.partition("=") for word in _words(text))
    return {name: value for name, separator, value in pairs if separator}


def _words(text: str) -> list[str]:
    words: list[str] = []
    word: str | None = None
    quote = ""
    at = 0
    while at < len(text):
        char = text[at]
        escape = _ESCAPE.match(text, at) if char == "\\" else None
        if escape:
            word = (word or "") + _unescaped(escape[1])
            at = escape.end()
            continue
        if char == quote:
            quote = ""
        elif not quote and char in "\"'":
            quote = char
            word = word or ""
        elif not quote and char.isspace():
            words += [] if word is None else [word]
            word = None
        else:
            word = (word or "") + char
        at += 1
    return words if word is None else [*words, word]


def _unescaped(code: str) -> str:
    if len(code) == 1:
        return _ESCAPES.get(code, code)
    return chr(int(code, 8)) if code.isdigit() else chr(int(code[1:], 16))


def read_program(texts: Mapping[str, str], name: str) -> Service | None:
    """Read a program of supervisord, by the texts of its files; None where they have none of this name.

    name -- PROGRAM or GROUP:PROCESS. A program that runs several times is the group of its processes, and one in a
    group of others is its process. What a section says stands in one file; of two with one name the later counts.
    """
    wanted = [f"program:{part}" for part in reversed(name.split(":"))]
    for path, text in reversed(list(texts.items())):
        parser = _sections(text)
        section = next((section for section in wanted if parser.has_section(section)), "")
        if section:
            return _program(path, dict(parser.items(section)), section.partition(":")[2])
    return None


def included(text: str, directory: str) -> list[str]:
    """Return the patterns of the files that a configuration of supervisord includes, from its own directory on."""
    parser = _sections(text)
    patterns = parser.get("include", "files", fallback="").replace("%(here)s", directory).split()
    return [posixpath.join(directory, pattern) for pattern in patterns]


def _sections(text: str) -> configparser.RawConfigParser:
    """Read the sections of a file of supervisord; what cannot be read, and what stands behind it, has none."""
    parser = configparser.RawConfigParser(strict=False, inline_comment_prefixes=(";",), interpolation=None)
    with contextlib.suppress(configparser.Error):
        parser.read_string(text)
    return parser


def _program(path: str, said: Mapping[str, str], program: str) -> Service:
    unresolved: list[str] = []
    here = path.rpartition("/")[0]

    def fill(match: re.Match[str]) -> str:
        known = {"program_name": program, "here": here, "group_name": program}
        if match[0] == "%%":
            return "%"
        if match[1] not in known:
            unresolved.append(match[0])
        return known.get(match[1], match[0])

    values = {key: _EXPANSION.sub(fill, value) for key, value in said.items()}
    return Service(
        files=(path,),
        user=values.get("user", ""),
        directory=values.get("directory", ""),
        commands=(values["command"],) if values.get("command") else (),
        # What supervisord does where the section does not say.
        restart=values.get("autorestart", "unexpected"),
        autostart="disabled" if values.get("autostart", "true").lower() in _NO else "enabled",
        layers=(Layer(path, _program_environment(values.get("environment", ""))),),
        unresolved=tuple(dict.fromkeys(unresolved)),
    )


def _program_environment(text: str) -> dict[str, str]:
    """Read environment= of supervisord: NAME="value",NAME=value, over several lines too (datatypes.py of it)."""
    lexer = shlex.shlex(text, posix=True)
    lexer.wordchars += "/.+-():@!*?~&|$%<>{}[]^"
    lexer.commenters = ""
    try:
        tokens = list(lexer)
    except ValueError:
        return {}
    variables = {}
    for at in range(0, len(tokens) - 2, 4):
        if tokens[at + 1] != "=":
            break
        variables[tokens[at]] = tokens[at + 2]
    return variables
