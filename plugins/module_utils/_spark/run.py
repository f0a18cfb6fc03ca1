# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Start a Spark job detached in a directory of its own, look at it, stop it."""

from __future__ import annotations

import contextlib
import glob
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import zipfile
from typing import IO, TYPE_CHECKING, Any

from .._core.errors import StreamopsError
from .._node.processes import is_shown, stat
from .job import CARRIED, CLUSTER, command, deploy_refusal, summary, travelling, with_properties

if TYPE_CHECKING:
    from collections.abc import Mapping

_LOG_LINES = 40
_ARGUMENTS, _WATCHED = "args.json", "watched"
# Spark gets this long to end by itself before it is killed (seconds).
_STOP_SECONDS = 10.0
#: A job that no look has found for so long has lost its run: interrupted, or its control node is gone (seconds). Looks
#: come every few seconds; a connection that stalls must not end a job.
UNWATCHED_SECONDS = 60
_BEAT = 2
# What the job runs in, its own session. Its arguments, secrets among them, come on standard input, which is no file of
# a disk, and go through a named pipe, since spark-submit hands no standard input on. Every look makes the file
# `watched`, and a subshell takes it away again: when it stays away, the whole group is ended. The exit code is written
# whole or not at all, after the job has ended for whatever reason; then all that it may have left running is ended.
_WRAPPER = """
log=$1 code=$2 arguments=$3 watched=$4 most=$5 beat=$6
shift 6
exec 3<&0 </dev/null
{ cat <&3 >"$arguments"; rm -f "$arguments"; } &
exec 3<&-
(
  missed=0
  while [ "$missed" -lt "$most" ]; do
    sleep "$beat"
    if rm "$watched"; then missed=0; else missed=$((missed + beat)); fi
  done 2>/dev/null
  echo "streamops ended this job: no run has watched it for $most s" >>"$log"
  rm -f "$arguments" carried-*
  trap : TERM
  kill -TERM 0
  sleep 10
  kill -KILL 0
) &
"$@" >>"$log" 2>&1
echo $? >"$code.new"
rm -f carried-*
mv "$code.new" "$code"
kill -TERM 0
"""


class JobStartError(StreamopsError):
    """The job cannot be started on this host."""

    def __init__(self, job_dir: str, why: str) -> None:
        super().__init__(f"Spark job in {job_dir}: {why}. Nothing was started.", job_dir=job_dir, why=why)


#: How a host gets a spark-submit.
_ADVICE = "; install PySpark there (requirements-spark.txt of this collection), or name another by spark_submit"


def start(params: Mapping[str, Any]) -> dict[str, Any]:
    """Write the job's files and start it in a session of its own; returns pid, start_time and command.

    Whoever starts a job has to look at it (`observe`): what nobody watches ends by itself.
    """
    job_dir = params["job_dir"]
    refused = deploy_refusal(params)
    if refused:
        raise JobStartError(job_dir, refused)
    os.makedirs(job_dir, mode=0o700, exist_ok=True)
    # Arguments without a process: a start that failed, or that has not ended yet.
    for name in ("exit_code", "process", "progress.jsonl", "result.json", _ARGUMENTS):
        if os.path.exists(os.path.join(job_dir, name)):
            raise JobStartError(job_dir, f"the directory holds an earlier run ({name} is there); give each run its own")
    for path in [params["spark_submit"], f"{params['package']}/__main__.py", *params["jars"]]:
        if not os.path.exists(path):
            raise JobStartError(job_dir, f"{path} does not exist{_ADVICE if path == params['spark_submit'] else ''}")
    archive, arguments_file = os.path.join(job_dir, "spark_validation.zip"), os.path.join(job_dir, _ARGUMENTS)
    _pack(params["package"], archive)
    os.mkfifo(arguments_file, 0o600)
    params, names = travelling(params, os.path.isfile)
    argv = command(params, archive, arguments_file, _carried(names, job_dir))
    log, code = os.path.join(job_dir, "spark.log"), os.path.join(job_dir, "exit_code")
    _touch_watched(job_dir)
    wrapped = [log, code, arguments_file, os.path.join(job_dir, _WATCHED), str(UNWATCHED_SECONDS), str(_BEAT)]
    with _in_memory(json.dumps(with_properties(params))) as given:
        # It outlives the module.
        process = subprocess.Popen(  # pylint: disable=ansible-bad-function
            ["/bin/sh", "-c", _WRAPPER, "spark-job", *wrapped, *argv],
            stdin=given,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=job_dir,
            env=_environment(params),
            start_new_session=True,
        )
    life = {"pid": process.pid, "start_time": stat(process.pid)[1]}
    _write_private(os.path.join(job_dir, "process"), json.dumps(life))
    _link_latest(params["output_dir"], job_dir)
    return dict(life, command=argv, unwatched_seconds=UNWATCHED_SECONDS)


def observe(job_dir: str, offset: int, interval: float) -> dict[str, Any]:
    """Watch a job for up to ``interval`` seconds (less when it ends); returns what is new since byte ``offset``."""
    deadline = time.monotonic() + interval
    while True:
        _touch_watched(job_dir)
        alive, code = _alive(job_dir) is not None, _exit_code(job_dir)
        if code is not None or not alive or time.monotonic() >= deadline:
            break
        time.sleep(0.2)
    if not alive and code is None:
        # It may have ended between the two looks.
        code = _exit_code(job_dir)
    lines, offset = _new_lines(os.path.join(job_dir, "progress.jsonl"), offset)
    found: dict[str, Any] = {"running": alive and code is None, "exit_code": code, "progress": lines, "offset": offset}
    if not found["running"]:
        found.update(outcome(job_dir))
    return found


def outcome(job_dir: str) -> dict[str, Any]:
    """Return what a job left behind: the summary of its result, the report's path, the last lines of its log."""
    for path in [os.path.join(job_dir, name) for name in (_ARGUMENTS, _WATCHED)] + _copies(job_dir):
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)
    result = os.path.join(job_dir, "result.json")
    found: dict[str, Any] = {"report": os.path.join(job_dir, "report.html"), "log_tail": _tail(job_dir), "result": None}
    if os.path.exists(result):
        with open(result, encoding="utf-8") as stream:
            found["result"] = summary(json.load(stream))
    return found


def stop(job_dir: str) -> dict[str, Any]:
    """End a job that still runs, by its process group and by no name; returns whether anything had to be ended."""
    pid = _alive(job_dir)
    if pid is not None:
        os.killpg(pid, signal.SIGTERM)
        deadline = time.monotonic() + _STOP_SECONDS
        while _group_lives(pid) and time.monotonic() < deadline:
            time.sleep(0.2)
        if _group_lives(pid):
            os.killpg(pid, signal.SIGKILL)
    return dict(outcome(job_dir), stopped=pid is not None)


def _environment(params: Mapping[str, Any]) -> dict[str, str]:
    environment = dict(os.environ)
    # Another Spark of the machine must not be taken: the one of this spark-submit finds itself.
    environment.pop("SPARK_HOME", None)
    python, worker_python = params["python"], params["worker_python"] or params["python"]
    environment["PATH"] = os.path.dirname(python) + os.pathsep + environment.get("PATH", os.defpath)
    driver_python = worker_python if params["deploy_mode"] == CLUSTER else python
    environment.update(PYSPARK_PYTHON=worker_python, PYSPARK_DRIVER_PYTHON=driver_python)
    if params["hadoop_conf_dir"]:
        environment["HADOOP_CONF_DIR"] = params["hadoop_conf_dir"]
    if params["master"].startswith("local"):
        # A host name that resolves to nowhere useful is common on laptops and in containers.
        environment.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    if params["java_home"]:
        environment["JAVA_HOME"] = params["java_home"]
    return environment


def _carried(names: Mapping[str, str], job_dir: str) -> list[str]:
    """Copy the files that travel with a job into its directory under these names; the wrapper removes them."""
    for path, name in names.items():
        with open(path, "rb") as source, open(os.path.join(job_dir, name), "wb", opener=_private) as copy:
            shutil.copyfileobj(source, copy)
    return _copies(job_dir)


def _copies(job_dir: str) -> list[str]:
    return sorted(glob.glob(os.path.join(glob.escape(job_dir), f"{CARRIED}*")))


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _pack(package: str, target: str) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for directory, _directories, names in sorted(os.walk(package)):
            for path in (os.path.join(directory, name) for name in sorted(names) if name.endswith((".py", ".css"))):
                archive.write(path, os.path.join("spark_validation", os.path.relpath(path, package)))


def _link_latest(output_dir: str, job_dir: str) -> None:
    """Point ``latest`` at this run in one step, so that it is never missing while somebody looks."""
    fresh = os.path.join(job_dir, ".latest")
    os.symlink(os.path.relpath(job_dir, output_dir), fresh)
    os.replace(fresh, os.path.join(output_dir, "latest"))


def _touch_watched(job_dir: str) -> None:
    """Say that a run still looks at the job; a directory that is gone says it of none."""
    with contextlib.suppress(OSError):
        _write_private(os.path.join(job_dir, _WATCHED), "")


def _in_memory(text: str) -> IO[bytes]:
    """Put a text into a file without a name, in memory where the system can; its position is the start."""
    if hasattr(os, "memfd_create"):
        stream = os.fdopen(os.memfd_create("arguments"), "w+b")
    else:
        stream = tempfile.TemporaryFile()  # noqa: SIM115  (the caller closes it)
    stream.write(text.encode())
    stream.seek(0)
    return stream


def _write_private(path: str, text: str) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as stream:
        stream.write(text)


def _alive(job_dir: str) -> int | None:
    """The id of the job's process (and group) when it is still the one that was started."""
    try:
        with open(os.path.join(job_dir, "process"), encoding="utf-8") as stream:
            life = json.load(stream)
    except OSError:
        return None
    return life["pid"] if is_shown(life["pid"], life["start_time"]) else None


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def _exit_code(job_dir: str) -> int | None:
    try:
        with open(os.path.join(job_dir, "exit_code"), encoding="utf-8") as stream:
            return int(stream.read())
    except OSError:
        return None


def _new_lines(path: str, offset: int) -> tuple[list[dict[str, Any]], int]:
    try:
        with open(path, "rb") as stream:
            stream.seek(offset)
            data = stream.read()
    except OSError:
        return [], offset
    whole = data[: data.rfind(b"\n") + 1]
    return [json.loads(line) for line in whole.splitlines()], offset + len(whole)


def _tail(job_dir: str) -> list[str]:
    try:
        with open(os.path.join(job_dir, "spark.log"), encoding="utf-8", errors="replace") as stream:
            return [line.rstrip("\n") for line in stream.readlines()[-_LOG_LINES:]]
    except OSError:
        return []
