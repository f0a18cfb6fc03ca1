# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Stop and start a node by the service that ran it before this collection did; its files are never changed."""

from __future__ import annotations

import contextlib
import os
import pwd
import resource
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .._core import commands
from .._core.errors import StreamopsError
from . import adopted_look
from .adopted import Adopted, Start
from .installed import SUPERVISOR, SYSTEMD
from .processes import arguments, command, limits, parent, read_text, variables

#: Longest time for systemctl to enable or disable a unit, which reads all units anew.
_SECONDS = 60.0
#: Seconds between two looks at the processes.
_PAUSE = 0.5
#: Seconds within which the old service has its process, once it was told to start it.
_STARTS_WITHIN = 30.0
#: Limits that are kept of a process without a service, by what /proc/PID/limits calls them.
_LIMITS = {"Max open files": "NOFILE", "Max processes": "NPROC", "Max locked memory": "MEMLOCK"}


class OldServiceError(StreamopsError):
    """The old service does not do what it was told."""


def spawned(start: Start, user: str) -> None:
    """Start a process as it was started before, in a session of its own, with its limits as far as we may."""
    for name, (soft, hard) in start.limits.items():
        # What is not ours to raise stays as it is here.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (soft, hard))
    entry = pwd.getpwnam(user) if os.geteuid() == 0 and user else None
    commands.detach(
        start.argv,
        start.environment,
        user=(entry.pw_uid, entry.pw_gid) if entry else None,
        groups=os.getgrouplist(user, entry.pw_gid) if entry else (),
        cwd=start.directory,
        output=start.output,
    )


@dataclass(frozen=True)
class Machine:
    """What acts on a machine, so that tests can stand in for it.

    run -- runs a program: exit code, output, errors; find -- the number of the old process, None for none; kill --
    sends a signal; spawn -- starts a process without a service; clock, sleep -- in seconds; supervisorctl -- the
    program.
    """

    run: Callable[..., tuple[int, str, str]] = commands.run
    find: Callable[[Adopted], int | None] = adopted_look.old_process
    kill: Callable[[int, int], None] = os.kill
    spawn: Callable[[Start, str], None] = spawned
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    supervisorctl: str = "supervisorctl"


def control_argv(adopted: Adopted, verb: str, supervisorctl: str) -> list[str]:
    """Return the command by which the service of a node stops or starts it; empty of one without a service."""
    if adopted.manager == SYSTEMD:
        return ["systemctl", verb, adopted.name]
    if adopted.manager == SUPERVISOR:
        # A newer file of supervisord is not taken up by this: only `update` would, and restart programs.
        return [supervisorctl, "-c", adopted.control, verb, adopted.name]
    return []


def enable_argv(adopted: Adopted, is_enabled: bool) -> list[str]:
    """Return the command that has a service start at boot, or not; empty where nothing is to be done.

    A unit that did not start at boot is not made to. It is enabled by its file, since a link to a unit elsewhere goes
    away when it is disabled (systemctl(1), disable).
    """
    if adopted.manager != SYSTEMD or not adopted.enabled:
        return []
    return (
        ["systemctl", "enable", adopted.control or adopted.name]
        if is_enabled
        else ["systemctl", "disable", adopted.name]
    )


def stop(adopted: Adopted, timeout: float, watch: float, machine: Machine) -> bool:
    """Stop the old process and keep its service from starting it; return whether anything was done.

    timeout -- seconds that it may take to end; it is never killed. watch -- seconds for which nothing may start it
    again. Raises OldServiceError; then the service is enabled as it was.
    """
    before = machine.find(adopted)
    # A unit is told so also while nothing runs: it may be about to start the node again.
    is_told = before is not None or adopted.manager == SYSTEMD
    argv = control_argv(adopted, "stop", machine.supervisorctl) if is_told else []
    if argv:
        _run(argv, timeout, adopted, machine)
    elif before is not None:
        with contextlib.suppress(ProcessLookupError):
            machine.kill(before, signal.SIGTERM)
    deadline = machine.clock() + timeout
    while machine.find(adopted) == before and before is not None:
        if machine.clock() >= deadline:
            raise OldServiceError(
                f"process {before} of {adopted.service} was told to stop and has not ended within {timeout:g} s. It "
                "was not killed, and its service starts it at boot as before. fix: see in its log what it waits for, "
                "then run again: the run goes on with this node.",
                pid=before,
            )
        machine.sleep(_PAUSE)
    disable = enable_argv(adopted, is_enabled=False)
    if disable:
        _run(disable, _SECONDS, adopted, machine)
    _watch(adopted, watch, machine)
    return before is not None or bool(disable)


def _watch(adopted: Adopted, seconds: float, machine: Machine) -> None:
    """Look for some seconds whether anything starts the old process again."""
    deadline = machine.clock() + seconds
    while True:
        again = machine.find(adopted)
        if again is not None:
            enable = enable_argv(adopted, is_enabled=True)
            if enable:
                _run(enable, _SECONDS, adopted, machine)
            raise OldServiceError(
                f"{adopted.service} was stopped, and something else has started the node again (process {again}, by "
                f"{_parent(again)}). It runs as before, and this collection has started nothing. fix: take away what "
                "starts it (a watchdog, a timer, a line in cron), then run again.",
                pid=again,
            )
        if machine.clock() >= deadline:
            return
        machine.sleep(_PAUSE)


def _parent(pid: int) -> str:
    """Return the command line of the process above one, or words for one that is not known."""
    above = parent(pid)
    return command(above) if above > 1 else "a process that is not known"


def start(adopted: Adopted, machine: Machine) -> bool:
    """Start the node by its old service, which starts it at boot again if it did; return whether anything was done.

    Raises OldServiceError where no process of it comes within 30 s.
    """
    enable = enable_argv(adopted, is_enabled=True)
    if enable:
        _run(enable, _SECONDS, adopted, machine)
    if machine.find(adopted) is not None:
        return bool(enable)
    argv = control_argv(adopted, "start", machine.supervisorctl)
    if argv:
        _run(argv, _SECONDS * 5, adopted, machine)
    elif adopted.start is not None:
        machine.spawn(adopted.start, adopted.user)
    deadline = machine.clock() + _STARTS_WITHIN
    while machine.find(adopted) is None:
        if machine.clock() >= deadline:
            raise OldServiceError(
                f"{adopted.service} was told to start the node, and no process of it came within {_STARTS_WITHIN:g} s. "
                f"fix: look at its log{f' in {adopted.logs_dir}' if adopted.logs_dir else ''}, start it by hand, and "
                "run again."
            )
        machine.sleep(_PAUSE)
    return True


def _run(argv: Sequence[str], seconds: float, adopted: Adopted, machine: Machine) -> None:
    try:
        code, out, errors = machine.run(argv, seconds)
    except OSError as problem:
        raise OldServiceError(
            f"{argv[0]} cannot be run: {problem.strerror or problem}. fix: install it there."
        ) from None
    # supervisorctl of before 4.0 ends with 0 whatever happens, and says ERROR.
    said = " ".join(f"{out} {errors}".split())
    harmless = "not running" in said or "already started" in said
    if (code or "ERROR" in out) and not harmless:
        raise OldServiceError(
            f"{' '.join(argv)} failed with {code}: {said[-300:]}. fix: correct that for {adopted.service} on that "
            "machine, then run again."
        )


def start_of(pid: int) -> Start:
    """Read how a process without a service is started again. Raises OldServiceError where this user may not see it."""
    argv = arguments(pid)
    text = read_text(f"/proc/{pid}/environ")
    directory = adopted_look.directory_of(pid)
    if not argv or text is None or not directory:
        raise OldServiceError(
            f"process {pid} has no service, and this user may not see how it was started, so it could not be started "
            "again. Nothing was changed. fix: run with become, or as the user that runs it.",
            pid=pid,
        )
    try:
        output = os.readlink(f"/proc/{pid}/fd/1")
    except OSError:
        output = ""
    return Start(
        argv=(os.path.realpath(f"/proc/{pid}/exe"), *argv[1:]),
        directory=directory,
        environment=variables(text),
        output=output if output.startswith("/") and os.path.isfile(output) else "",
        limits=_limits(read_text(f"/proc/{pid}/limits") or ""),
    )


def _limits(text: str) -> dict[str, list[int]]:
    return {
        _LIMITS[name]: [resource.RLIM_INFINITY if number is None else number for number in both]
        for name, both in limits(text, _LIMITS).items()
    }
