# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""A node that something else ran before: who that was, in a file beside its configuration, and where it stands.

Without the file a node is ours, or it is foreign and left alone. With it a node can be given back. The phase in the
file says who is to run the node; who runs it now is seen from its processes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from posixpath import join, normpath
from typing import Any, TypedDict

from .._core.errors import StreamopsError
from .installed import MANAGERS, NONE

#: The name of the file in the configuration directory of a node. Only root, or whoever runs the play, may read it.
FILE = "adopted.json"
#: The phases: ours is to run it and has not been whole yet; ours has been whole; the old service is to run it again.
CLAIMED, TAKEN, RETURNED = PHASES = ("claimed", "taken", "returned")
#: Who runs a node now.
OLD, OURS, NOBODY = "old", "ours", "nobody"
#: What the module adopted_node takes of a process; the rest is read on the machine.
CLAIM: dict[str, dict[str, Any]] = {
    "manager": {"type": "str", "required": True, "choices": list(MANAGERS)},
    "name": {"type": "str", "default": ""},
    "enabled": {"type": "bool", "default": False},
    "control": {"type": "str", "default": ""},
    "main_class": {"type": "str", "required": True},
    "properties_file": {"type": "str", "required": True},
    "release_dir": {"type": "str", "default": ""},
    "version": {"type": "str", "default": ""},
    "user": {"type": "str", "default": ""},
    "logs_dir": {"type": "str", "default": ""},
    "pid": {"type": "int"},
}


class AdoptedFileError(StreamopsError):
    """The file that says who ran a node before cannot be read, or is none."""


class Claim(TypedDict, total=False):
    """What is written of a process, by the keys of CLAIM."""

    manager: str
    name: str
    enabled: bool
    control: str
    main_class: str
    properties_file: str
    release_dir: str
    version: str
    user: str
    logs_dir: str
    pid: int


class Told(TypedDict):
    """What node_info tells of who ran a node before: nothing with which it is started."""

    phase: str
    runs: str
    service: str
    manager: str
    name: str
    version: str
    logs_dir: str


@dataclass(frozen=True)
class Start:
    """How a process without a service is started again, read from /proc while it ran; it may hold secrets.

    output -- the file that its output goes to, empty for none. limits -- by the name of setrlimit(2) soft and hard.
    """

    argv: tuple[str, ...]
    directory: str
    environment: Mapping[str, str]
    output: str = ""
    limits: Mapping[str, Sequence[int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Adopted:
    """Who ran a node before.

    manager -- one of MANAGERS; name -- of its unit or program; enabled -- whether it started at boot; control -- of a
    unit its file, of a program the file of its supervisord; main_class, properties_file -- by which its process is
    known; release_dir, version, user, logs_dir -- as it had them; start -- of a process without a service.
    """

    phase: str
    manager: str
    name: str
    enabled: bool
    control: str
    main_class: str
    properties_file: str
    release_dir: str = ""
    version: str = ""
    user: str = ""
    logs_dir: str = ""
    start: Start | None = None

    @property
    def service(self) -> str:
        """Return who ran it, in words."""
        return f"{self.manager} {self.name}" if self.manager != NONE else f"a process without a service ({self.user})"


def claimed(claim: Claim, start: Start | None = None) -> Adopted:
    """Return what is written of a process before anything is done to it. claim -- by the keys of CLAIM."""
    known = {name.name for name in fields(Adopted)}
    values: dict[str, Any] = {key: value for key, value in claim.items() if key in known}
    return Adopted(phase=CLAIMED, start=start, **values)


def dump(adopted: Adopted) -> str:
    """Return the text of the file."""
    return json.dumps(asdict(adopted), indent=1, sort_keys=True) + "\n"


def load(text: str, path: str) -> Adopted:
    """Read the text of the file. Raises AdoptedFileError: nothing may be done to a node of which it is not known."""
    try:
        values = json.loads(text)
        start = values.pop("start", None)
        if start is not None:
            start = Start(**{**start, "argv": tuple(start["argv"])})
        adopted = Adopted(start=start, **values)
    except (ValueError, TypeError, KeyError, AttributeError) as problem:
        raise AdoptedFileError(
            f"{path} does not say who ran this node before: {problem}. Nothing was changed. fix: put back the file as "
            "it was, or remove it if the node is never given back",
            path=path,
        ) from None
    if adopted.phase not in PHASES or adopted.manager not in MANAGERS:
        raise AdoptedFileError(
            f"{path} has the phase {adopted.phase!r} and the manager {adopted.manager!r}, which this collection does "
            "not know. Nothing was changed. fix: use the version of the collection that wrote it",
            path=path,
        )
    return adopted


def is_old(argv: Sequence[str], adopted: Adopted, directory: str) -> bool:
    """Tell whether a command line is that of the old process. directory -- where it runs, empty where not known.

    Ours has the same class with a file of our own.
    """
    if adopted.main_class not in argv:
        return False
    words = argv[argv.index(adopted.main_class) + 1 :]
    wanted = normpath(adopted.properties_file)
    return any(normpath(join(directory, word)) == wanted for word in words if word)


def shown(adopted: Adopted, runs: str) -> Told:
    """Return what node_info tells of it. runs -- OLD, OURS or NOBODY."""
    return {
        "phase": adopted.phase,
        "runs": runs,
        "service": adopted.service,
        "manager": adopted.manager,
        "name": adopted.name,
        "version": adopted.version,
        "logs_dir": adopted.logs_dir,
    }


def overrides(arguments: Sequence[str]) -> dict[str, str]:
    """Read --override name=value and --override=name=value; the later of one name counts (Kafka.getPropsFromArgs).

    One without a value is empty, as Kafka takes it (CommandLineUtils.parseKeyValueArgs).
    """
    pairs: dict[str, str] = {}
    at = 0
    while at < len(arguments):
        option, separator, text = arguments[at].partition("=")
        at += 1
        if option not in ("--override", "-override"):
            continue
        if not separator and at < len(arguments):
            text = arguments[at]
            at += 1
        name, _separator, value = text.partition("=")
        if name:
            pairs[name] = value
    return pairs
