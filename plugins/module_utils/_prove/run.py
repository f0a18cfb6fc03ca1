# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The process of a stream: started beside the run, ended by a file, by its time, or with its run.

Its secrets stay in its memory: it is a fork of the module, and has neither arguments nor an environment of its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import IO

from .._core.errors import StreamopsError
from .._node.processes import is_shown, stat
from .api import LAST_SECONDS, Stream, Writing, write_idempotent, write_transactional
from .ledger import (
    ASKED,
    FAILED,
    RUN_ENDED,
    TIME_OVER,
    Begun,
    Ledger,
    begun_line,
    ended_line,
    read_ledger,
    silent_since,
)

#: Seconds that the process has beyond its stream: for the last answers, and the calls that they wait in.
_GRACE = 2 * LAST_SECONDS + 60
#: Seconds in which each partition has to acknowledge a first record and a first transaction.
_FIRST_SECONDS = 60
#: Seconds between two looks at whether the stream goes on.
_LOOK = 0.25
_STOP, _PROCESS, _LEDGER = "stop", "process", "ledger.jsonl"


class StreamError(StreamopsError):
    """The process of a stream cannot be started, or another one is there."""


def start(directory: str, prepare: Callable[[], Stream], watched: tuple[int, int] | None) -> Stream:
    """Start the process of a stream; return what C(prepare) returned.

    It is forked before C(prepare) opens a client, whose threads no fork has, and waits for what that returns.
    C(watched): the process of the run, and when that started; the stream ends with it.
    """
    if alive(directory) is not None:
        raise StreamError(
            f"a stream is under way in {directory} already. Nothing was started. fix: wait until its run has ended, "
            "or end it with state=stopped"
        )
    os.makedirs(directory, mode=0o700, exist_ok=True)
    for name in (_STOP, _PROCESS):
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(directory, name))
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _detached(directory, reader, watched)
    os.close(reader)
    os.waitpid(child, 0)
    with os.fdopen(writer, "w", encoding="utf-8") as told:
        stream = prepare()
        told.write(json.dumps(stream))
    if why := _unacknowledged(directory, stream.run):
        end(directory)
        raise StreamError(
            f"{why}, so nothing can be proven. The stream was ended. fix: see by playbook status whether all "
            "partitions have a leader and replicas in sync, or run without kafka_prove"
        )
    return stream


def _unacknowledged(directory: str, proof: str) -> str:
    """Wait until each partition has acknowledged a record and a committed transaction; say why not all did."""
    until = time.monotonic() + _FIRST_SECONDS
    while True:
        told = _read(directory) or Ledger()
        begun = told.begun if told.begun and told.begun.proof == proof else None
        silent = silent_since(told, begun.at) if begun else {}
        if begun and not silent:
            return ""
        if begun and told.ended:
            return f"the stream ended at once ({told.ended[2] or told.ended[0]})"
        if time.monotonic() > until:
            where = [f"no {kind} one in {len(some)} partitions, such as {some[0]}" for kind, some in silent.items()]
            said = "; ".join(where) or "none was written"
            return f"the cluster did not acknowledge all first records within {_FIRST_SECONDS} s ({said})"
        time.sleep(_LOOK)


def alive(directory: str) -> int | None:
    """Return the id of the process in this directory, where it is still the one that was started."""
    try:
        with open(os.path.join(directory, _PROCESS), encoding="utf-8") as stream:
            pid, started = json.load(stream)
    except (OSError, ValueError):
        return None
    return pid if is_shown(pid, started) else None


def end(directory: str) -> None:
    """Ask the process to end, wait for its last answers, and kill it when it takes longer than it may."""
    if os.path.isdir(directory):
        with open(os.path.join(directory, _STOP), "w", encoding="utf-8"):
            pass
    until = time.monotonic() + _GRACE
    while (pid := alive(directory)) is not None and time.monotonic() < until:
        time.sleep(0.1)
    if pid is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def ended(directory: str, proof: str) -> Ledger:
    """End the stream of a proof, and return what it was told."""
    if (other := proof_in(directory)) != proof:
        there = f"the stream in {directory} is of another proof ({other})" if other else f"no stream is in {directory}"
        raise StreamError(
            f"{there}, so nothing was proven; it was left as it is. fix: run again with kafka_prove, and give clusters "
            "of one name that are changed at the same time a kafka_cache_dir each"
        )
    end(directory)
    return ledger(directory)


def proof_in(directory: str) -> str:
    """Return which proof the stream in this directory is of, empty where none has begun."""
    told = _read(directory)
    return told.begun.proof if told and told.begun else ""


def ledger(directory: str) -> Ledger:
    """Return what the stream in this directory was told until now."""
    if (told := _read(directory)) is None:
        raise StreamError(f"no stream has begun in {directory}, so nothing was proven. fix: run again with kafka_prove")
    return told


def _read(directory: str) -> Ledger | None:
    try:
        with open(os.path.join(directory, _LEDGER), encoding="utf-8") as stream:
            return read_ledger(stream)
    except FileNotFoundError:
        return None


def _detached(directory: str, reader: int, watched: tuple[int, int] | None) -> None:
    """Be the process, in a session of its own and without a file of the module; never returns."""
    code = 1
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        _close_all_but(reader)
        with open(os.path.join(directory, _PROCESS), "w", encoding="utf-8") as own:
            json.dump([os.getpid(), stat(os.getpid())[1]], own)
        with os.fdopen(reader, encoding="utf-8") as told:
            text = told.read()
        # Empty where the module failed before the stream could begin.
        if text:
            _write(directory, Stream(*json.loads(text)), watched)
        code = 0
    finally:
        os._exit(code)


def _close_all_but(kept: int) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    for number in range(3, os.sysconf("SC_OPEN_MAX") if os.sysconf("SC_OPEN_MAX") < 65536 else 65536):
        if number != kept:
            with contextlib.suppress(OSError):
                os.close(number)


def _write(directory: str, stream: Stream, watched: tuple[int, int] | None) -> None:
    """Write until something ends the stream, and note why."""
    # Whatever a library hangs in: the kernel ends the process then.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(int(stream.seconds + _GRACE))
    ends, lock = threading.Event(), threading.Lock()
    with open(os.path.join(directory, _LEDGER), "w", encoding="utf-8", buffering=1) as lines:
        _note(lines, lock, begun_line(Begun(stream.run, time.time(), stream.partitions)))
        writing = Writing(stream, lambda line: _note(lines, lock, line), lambda: not ends.is_set())
        threads = [threading.Thread(target=one, args=(writing,), daemon=True) for one in _STREAMS]
        for one in threads:
            one.start()
        why = _watch(directory, writing, time.monotonic() + stream.seconds, watched, threads)
        at = time.time()
        ends.set()
        last = time.monotonic() + _GRACE / 2
        for one in threads:
            one.join(max(0.0, last - time.monotonic()))
        _note(lines, lock, ended_line(why, at, writing.failed))


_STREAMS = (write_idempotent, write_transactional)


def _watch(
    directory: str, writing: Writing, until: float, watched: tuple[int, int] | None, threads: list[threading.Thread]
) -> str:
    """Wait until something ends the stream; return what."""
    while True:
        if os.path.exists(os.path.join(directory, _STOP)):
            return ASKED
        if writing.failed:
            return FAILED
        if not all(one.is_alive() for one in threads):
            writing.failed = "a thread of the stream ended by an error of its own"
            return FAILED
        if time.monotonic() > until:
            return TIME_OVER
        if not os.path.isdir(directory) or (watched and stat(watched[0])[1] != watched[1]):
            return RUN_ENDED
        time.sleep(_LOOK)


def _note(lines: IO[str], lock: threading.Lock, line: str) -> None:
    with lock:
        lines.write(line)
