# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether the control node is thrown away after the run, and what of it is not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os.path import expanduser, isfile, realpath
from pathlib import Path, PurePosixPath

from .model import Node
from .variables import as_bool

KEPT = "streamops_control_node_is_kept"
#: What AWX sets in the environment of each job (awx/main/tasks/jobs.py, build_env).
AWX = "AWX_HOST"
#: What ansible-runner sets (ansible_runner/config/_base.py): in an execution environment a path below /runner, which
#: is where it mounts the files of the job, and elsewhere the directory of artifacts on the machine itself.
RUNNER, JOB = "AWX_ISOLATED_DATA_DIR", "/runner"
#: Mount points of a container that end with it.
_ENDING = ("/", "/tmp", "/dev/shm", "/run", "/var/run")  # nosec B108


def unkept_cas(nodes: Iterable[Node], environment: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Find the nodes whose development CA this run would make where it is lost, with its directory and the reason."""
    mounts = _mount_points()
    found = {}
    for node in nodes:
        if node.text("kafka_tls_source") != "development_ca":
            continue
        directory = expanduser(node.text("kafka_tls_ca_dir"))
        why = thrown_away(node.get(KEPT), environment)
        if why and not isfile(f"{directory}/ca.pem") and dies(realpath(directory), mounts):
            found[node.name] = directory, why
    return found


def thrown_away(said: object, environment: Mapping[str, str]) -> str:
    """Say why the control node is thrown away after the run; empty where it is kept. C(said): what the user set, which
    wins; None for nothing."""
    if said is not None and said != "":
        return "" if as_bool(said) else f"{KEPT} is false"
    if environment.get(AWX):
        return f"{AWX} is set, as AWX does in a job"
    if _below(environment.get(RUNNER, ""), JOB):
        return f"{RUNNER} is {environment[RUNNER]}, as ansible-runner sets it in an execution environment"
    return ""


def dies(directory: str, mounts: Iterable[str]) -> bool:
    """Return whether a directory is on no mount that outlives a container. C(mounts): its mount points."""
    mount = max((one for one in mounts if _below(directory, one)), key=len, default="/")
    return mount in _ENDING or _below(mount, JOB)


def _below(path: str, directory: str) -> bool:
    return PurePosixPath(path).is_relative_to(directory)


def _mount_points() -> list[str]:
    """Read where this machine has mounts (proc(5) mountinfo, field 5, blanks as \\040); nothing where it has no such
    file."""
    try:
        lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    return [line.split()[4].replace("\\040", " ") for line in lines if line.count(" ") > 4]
