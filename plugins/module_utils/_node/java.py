# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which java a node would be started with, and its version."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from typing import Any

from .._core import commands
from .._core.commands import CommandTimeoutError

#: Longest time for java to tell its version.
SECONDS = 30.0
_VERSION = re.compile(r'version "([^"]+)"')


def find(given: str) -> str:
    """Return the path of java: the given one, else of JAVA_HOME, else of the search path; "" when there is none."""
    if given:
        return given
    home = os.environ.get("JAVA_HOME", "")
    in_home = os.path.join(home, "bin", "java")
    if home and os.access(in_home, os.X_OK):
        return in_home
    return shutil.which("java") or ""


def describe(given: str, run: Callable[..., Any] = commands.run) -> dict[str, Any]:
    """Return {path, version, full, error}: version is the major number (8, 11, 17, 21), None when it is unknown.

    run -- runs a program: list of arguments, seconds -> (return code, output, errors).
    """
    path = find(given)
    found: dict[str, Any] = {"path": path, "version": None, "full": "", "error": None}
    if not path:
        return dict(found, error="no java in JAVA_HOME or on the search path")
    if not os.access(path, os.X_OK) or os.path.isdir(path):
        return dict(found, error=f"{path} is no program that this user can run")
    try:
        code, out, err = run([path, "-version"], SECONDS)
    except OSError as problem:
        return dict(found, error=f"{path} cannot be run: {problem.strerror or problem}")
    except CommandTimeoutError as problem:
        return dict(found, error=problem.message)
    match = _VERSION.search(err + out)
    if code != 0 or match is None:
        return dict(found, error=f"{path} -version failed with {code}: {(err or out).strip()[:300]}")
    return dict(found, full=match.group(1), version=major(match.group(1)))


def major(full: str) -> int | None:
    """Return the major version: 17 of "17.0.15", 8 of "1.8.0_392" (the old scheme, before JEP 223)."""
    numbers = re.findall(r"\d+", full)
    if not numbers:
        return None
    return int(numbers[1] if numbers[0] == "1" and len(numbers) > 1 else numbers[0])
