# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The mirror of one run on its machine: start it, end it, and look at the machine."""

from __future__ import annotations

import contextlib
import grp
import os
import pwd
import shutil
import signal
import stat as stat_module
import time
from collections.abc import Mapping, Sequence
from typing import Any

from .._core import commands, network
from .._core.addresses import split_host_port
from .._core.errors import StreamopsError
from .._node.processes import arguments, is_alive, read_text
from .watch import LOG, PID, PROPERTIES, SAMPLES, SCRIPT, TEXT, complaints, samples_of

LOOKED, STARTED, STOPPED = "looked", "started", "stopped"
#: Seconds that a mirror may take to stop before it is killed, and that one which was killed may take to be gone.
_GRACE, _KILLED = 20.0, 10.0
#: Tries of a connection, of which the quickest is the round trip; seconds for each.
_TRIES, _SECONDS = 5, 10.0
#: What the kernel lets a receive buffer grow to where it tells nothing (tcp(7)).
_RECEIVE_BYTES = 6_291_456


class TuneProcessError(StreamopsError):
    """The mirror of a run cannot be started, or its machine has no room for it."""


def work(params: Mapping[str, Any], check: bool) -> dict[str, Any]:
    """The result of the module mirror_tune_process."""
    state, directory = params["state"], params["directory"]
    if state == LOOKED:
        return {"changed": False, **look(directory, params["addresses"], params["heap_bytes"])}
    if state == STOPPED:
        return _stopped(directory, check)
    if check:
        return {"changed": True}
    return _started(params)


def look(directory: str, addresses: Sequence[str], heap_bytes: int) -> dict[str, Any]:
    """Return {cores, round_trip (seconds), receive_bytes, left (whether an earlier run left something)}.

    Raises TuneProcessError where no address takes a connection, or memory is too small for a second mirror.
    """
    available = _available()
    # Beside its heap a JVM takes about as much as half of it: code, threads, buffers.
    need = heap_bytes + heap_bytes // 2
    if available is not None and available < need:
        raise TuneProcessError(
            f"this machine has {available / 1e9:.1f} GB of memory left; a second mirror needs {need / 1e9:.1f} GB (one "
            "and a half heaps, mirror_maker_heap_size). Nothing was started."
        )
    return {
        "cores": len(os.sched_getaffinity(0)),
        "round_trip": _round_trip(addresses),
        "receive_bytes": _receive_bytes(),
        "left": os.path.isdir(directory),
    }


def _available() -> int | None:
    for line in (read_text("/proc/meminfo") or "").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _receive_bytes() -> int:
    """The largest receive buffer that the kernel gives a connection by itself."""
    words = (read_text("/proc/sys/net/ipv4/tcp_rmem") or "").split()
    return int(words[2]) if len(words) == 3 else _RECEIVE_BYTES


def _round_trip(addresses: Sequence[str]) -> float:
    """Seconds that the quickest connection took; a handshake of TCP is one round trip."""
    problems = []
    for address in addresses:
        try:
            found = network.resolve(*split_host_port(address))
            return round(min(_handshake(found) for _try in range(_TRIES)), 6)
        except (OSError, ValueError) as error:
            problems.append(f"{address}: {error}")
    raise TuneProcessError(
        f"no broker of the source takes a connection from this machine ({'; '.join(problems)}). Check the line and the "
        "firewall. Nothing was started."
    )


def _handshake(addresses: Sequence[Any]) -> float:
    begun = time.monotonic()
    with network.connect_to(addresses, _SECONDS):
        return time.monotonic() - begun


def _started(params: Mapping[str, Any]) -> dict[str, Any]:
    directory = params["directory"]
    end(directory)
    owner = _owner(params["user"], params["group"])
    write(directory, {PROPERTIES: params["properties"], SCRIPT: TEXT}, owner)
    command = [
        "/bin/sh",
        os.path.join(directory, SCRIPT),
        str(params["seconds"]),
        os.path.join(params["release_dir"], "bin", "connect-mirror-maker.sh"),
        os.path.join(directory, PROPERTIES),
    ]
    env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LC_ALL": "C.UTF-8"}
    env["KAFKA_HEAP_OPTS"] = f"-Xms{params['heap_bytes'] // 1024}k -Xmx{params['heap_bytes'] // 1024}k"
    home = os.path.dirname(os.path.dirname(params["java"])) if params["java"] else os.environ.get("JAVA_HOME", "")
    if home:
        env["JAVA_HOME"] = home
    # It lives on after this module, until it is stopped or its time is over.
    commands.detach(command, env, owner)
    until = time.monotonic() + _KILLED
    while alive(directory) is None:
        if time.monotonic() > until:
            said = complaints(_text(directory, LOG))
            raise TuneProcessError(f"the mirror of the tuning did not start: {' / '.join(said) or 'it says nothing'}")
        time.sleep(0.1)
    return {"changed": True}


def _owner(user: str, group: str) -> tuple[int, int] | None:
    """The numbers of the user and group of the mirror; None where it runs as whoever runs the play."""
    if not user or os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam(user).pw_uid, grp.getgrnam(group).gr_gid
    except KeyError as error:
        raise TuneProcessError(f"{error.args[0]}. Install the mirror first (site.yml). Nothing was started.") from error


def write(directory: str, files: Mapping[str, str], owner: tuple[int, int] | None) -> None:
    """Make the directory with these files, and give it to its owner.

    Where it stands belongs to the user of Kafka, while this may run as root. So it is known by its descriptor once it
    is made, and no link is followed: whatever that user puts in its place, nothing else is written or given away.
    """
    os.mkdir(directory, 0o700)
    place = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        for name, text in files.items():
            opened = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=place)
            with open(opened, "w", encoding="utf-8") as file:
                file.write(text)
                if owner:
                    os.fchown(opened, *owner)
        if owner:
            os.fchown(place, *owner)
    finally:
        os.close(place)


def _text(directory: str, name: str) -> str:
    """A file that the process wrote, which may be anything: a link or a pipe counts as empty."""
    try:
        opened = os.open(os.path.join(directory, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(opened, encoding="utf-8", errors="backslashreplace") as file:
            return file.read() if stat_module.S_ISREG(os.fstat(opened).st_mode) else ""
    except OSError:
        return ""


def _stopped(directory: str, check: bool) -> dict[str, Any]:
    """End the mirror, read what was written down of it, and remove its directory."""
    there = os.path.isdir(directory)
    if check or not there:
        return {"changed": there, "samples": [], "complaints": [], "ran": False}
    ran = alive(directory) is not None
    text = _text(directory, SAMPLES)
    said = complaints(_text(directory, LOG))
    end(directory)
    return {"changed": True, "samples": samples_of(text, os.sysconf("SC_CLK_TCK")), "complaints": said, "ran": ran}


def end(directory: str) -> None:
    """End what runs from this directory, and remove it; nothing where it is not there."""
    for sign, seconds in ((signal.SIGTERM, _GRACE), (signal.SIGKILL, _KILLED)):
        pid = alive(directory)
        if pid is None:
            break
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, sign)
        until = time.monotonic() + seconds
        while alive(directory) is not None and time.monotonic() < until:
            time.sleep(0.1)
    if (pid := alive(directory)) is not None:
        raise TuneProcessError(f"tuning mirror (pid {pid}) still runs after SIGKILL")
    if os.path.isdir(directory):
        shutil.rmtree(directory)


def alive(directory: str) -> int | None:
    """The id of the mirror's process, where it is still the one that was started.

    Its file is of the user of Kafka, so it does not prove which process that is: one counts that runs as the owner of
    the directory, with the properties of the directory in its command line.
    """
    words = _text(directory, PID).split()
    if len(words) != 2 or not (words[0].isdecimal() and words[1].isdecimal()):
        return None
    pid = int(words[0])
    if not is_alive(pid, int(words[1])):
        return None
    said = arguments(pid)
    try:
        is_own = os.stat(f"/proc/{pid}").st_uid == os.lstat(directory).st_uid
    except OSError:
        return None
    return pid if is_own and os.path.join(directory, PROPERTIES) in said else None
