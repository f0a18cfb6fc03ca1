# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Programs that a module runs, each within a number of seconds: run_command of Ansible waits for ever."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any, cast

from .errors import StreamopsError

#: Seconds that the output of a killed program may still take; a process that left its group may hold it open.
_LAST_WORDS = 5.0
#: Bytes of a program's output that are read at once.
_CHUNK = 65536
#: Seconds between two looks whether the answer of a program is still needed.
_MOMENT = 0.1


class CommandTimeoutError(StreamopsError):
    """A program did not end in time and was killed. Its arguments are not told, since they may hold secrets."""

    def __init__(self, program: str, seconds: float) -> None:
        super().__init__(
            f"{program} did not end within {seconds:g} s, so it was killed with all processes that it had started. "
            "fix: find out what it waited for (a disk or file system that does not answer, the network), then run "
            "again.",
            program=program,
            seconds=seconds,
        )


@dataclass(frozen=True)
class Rights:
    """The numbers of a user, of the main group, and of all other groups."""

    user: int
    group: int
    groups: tuple[int, ...] = ()


def run(
    argv: Sequence[str],
    seconds: float,
    umask: int = -1,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
    enough: Callable[[], bool] | None = None,
    user: tuple[int, int] | None = None,
) -> tuple[int, str, str]:
    """Run a program without input; its exit code, what it printed, and its errors.

    Raises OSError where it cannot be started, and CommandTimeoutError after C(seconds). Then its whole process group is
    killed, so that nothing that it started goes on unwatched. umask -- that of the program, -1 for our own. cwd, env --
    its working directory and its environment, None for ours. enough -- says that its answer is not needed any more: it
    is killed, and what it had printed is nothing. user -- the numbers of the user and the group that it runs as, None
    for ours.
    """
    started = time.monotonic()
    other: dict[str, Any] = {"user": user[0], "group": user[1], "extra_groups": []} if user else {}
    # Ansible's own run_command has no limit of time.
    process = subprocess.Popen(  # pylint: disable=ansible-bad-function
        list(argv),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        umask=umask,
        cwd=cwd,
        env=env,
        **other,
    )
    try:
        while enough is not None and _goes_on(process, seconds, started):
            if enough():
                _kill(process)
                return -signal.SIGKILL, "", ""
        out, err = process.communicate(timeout=max(0.0, seconds - (time.monotonic() - started)))
    except subprocess.TimeoutExpired:
        _kill(process)
        raise CommandTimeoutError(argv[0], seconds) from None
    except BaseException:
        _kill(process)
        raise
    return process.returncode, out.decode("utf-8", "replace"), err.decode("utf-8", "replace")


def _goes_on(process: subprocess.Popen[bytes], seconds: float, started: float) -> bool:
    """Wait a moment for a program; whether it still runs and has time. What it prints is kept for the next wait."""
    try:
        process.communicate(timeout=_MOMENT)
    except subprocess.TimeoutExpired:
        return time.monotonic() - started < seconds
    return False


def detach(
    argv: Sequence[str],
    env: Mapping[str, str] | None = None,
    user: tuple[int, int] | None = None,
    *,
    groups: Sequence[int] = (),
    cwd: str = "/",
    output: str = "",
) -> None:
    """Start a program that outlives this one, in a session of its own; its own arguments must bound its time.

    Raises OSError where it cannot be started. It holds no pipe of ours open, or Ansible would wait for its end. env --
    its environment, None for ours. user -- the numbers of the user and the group that it runs as, None for ours; groups
    -- its other groups. output -- the file that its output is added to, empty for none; it is opened with the rights of
    that user, who may have put a link in its place.
    """
    other: dict[str, Any] = {"user": user[0], "group": user[1], "extra_groups": list(groups)} if user else {}
    with contextlib.ExitStack() as opened:
        with rights_of(Rights(*user, tuple(groups)) if user else None):
            file = opened.enter_context(open(output or os.devnull, "ab"))
        subprocess.Popen(  # pylint: disable=ansible-bad-function
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
            cwd=cwd,
            env=env,
            **other,
        )


@contextlib.contextmanager
def rights_of(rights: Rights | None) -> Iterator[None]:
    """Act with the rights of another user for a moment, as root alone may; with ours for None."""
    if rights is None:
        yield
        return
    ours = (os.geteuid(), os.getegid(), os.getgroups())
    os.setgroups(list(rights.groups))
    os.setegid(rights.group)
    os.seteuid(rights.user)
    try:
        yield
    finally:
        os.seteuid(ours[0])
        os.setegid(ours[1])
        os.setgroups(ours[2])


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.communicate(timeout=_LAST_WORDS)
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


class Streamed:
    """The output of a program, read while it runs; it gets C(seconds), then it is killed, and C(is_over) says so.

    As a context it kills the program, and all processes that it started, when the reader has enough.
    """

    def __init__(
        self, argv: Sequence[str], seconds: float, errors: IO[bytes], env: Mapping[str, str] | None = None
    ) -> None:
        """Start it without input. Raises OSError.

        errors -- the file that its errors go to. env -- its environment, None for ours.
        """
        self._deadline = time.monotonic() + seconds
        self.is_over = False
        self._process = subprocess.Popen(  # pylint: disable=ansible-bad-function
            list(argv), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, start_new_session=True, env=env
        )
        # A pipe was asked for, so there is one.
        self._output = cast("IO[bytes]", self._process.stdout)

    def __enter__(self) -> Streamed:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            _kill(self._process)
        self._output.close()

    def chunks(self) -> Iterator[bytes]:
        """Yield what it prints, as it comes, to its end or to the end of its time."""
        while True:
            left = self._deadline - time.monotonic()
            if left <= 0 or not select.select([self._output], [], [], left)[0]:
                self.is_over = True
                return
            chunk = os.read(self._output.fileno(), _CHUNK)
            if not chunk:
                return
            yield chunk

    def code(self) -> int:
        """Its exit code, once it has printed all; it is killed where it does not end then."""
        try:
            return self._process.wait(_LAST_WORDS)
        except subprocess.TimeoutExpired:
            _kill(self._process)
            return -signal.SIGKILL
