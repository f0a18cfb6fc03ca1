# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The system of a machine: which java a node would be started with, the package that brings one, what SELinux does."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Callable
from typing import Any

from .._core import commands
from .._core.commands import CommandTimeoutError
from .processes import read_text

#: Longest time for java to tell its version.
SECONDS = 30.0
_VERSION = re.compile(r'version "([^"]+)"')
#: Where a system says what it is; the first one that is there counts (os-release(5)).
OS_RELEASE = ("/etc/os-release", "/usr/lib/os-release")
#: "1" where SELinux enforces its policy, "0" where it only logs; not there without SELinux (selinux(8)).
ENFORCE = "/sys/fs/selinux/enforce"
#: The attribute of a file that holds its SELinux label, USER:ROLE:TYPE:LEVEL.
_LABEL = "security.selinux"

#: The package that brings Java without a screen, by the ID of a system and its version; of several the oldest that
#: each release of Kafka here runs with, so that a new node gets the Java of the others. A system of which this is not
#: known is not here: a package that it does not have would end a run in its middle. Sources: the package searches of
#: Debian, Ubuntu and openSUSE, Amazon's guide of Corretto 17, Red Hat's of its builds of OpenJDK 17 and 21, and for 10
#: the change Java21 of Fedora 40, from which it comes.
JAVA_PACKAGES = {
    "debian 12": "openjdk-17-jre-headless",
    "debian 13": "openjdk-21-jre-headless",
    "ubuntu 22.04": "openjdk-17-jre-headless",
    "ubuntu 24.04": "openjdk-17-jre-headless",
    "ubuntu 26.04": "openjdk-17-jre-headless",
    "el 8": "java-17-openjdk-headless",
    "el 9": "java-17-openjdk-headless",
    "el 10": "java-21-openjdk-headless",
    "amzn 2023": "java-17-amazon-corretto-headless",
    "suse 15": "java-17-openjdk-headless",
}
# Red Hat's and its rebuilds name the release whose packages they have, whatever their own ID and version are.
_PLATFORM = re.compile(r"platform:el(\d+)")
_SUSE = ("sles", "opensuse-leap")


def find_java(given: str) -> str:
    """Return the path of java: the given one, else of JAVA_HOME, else of the search path; "" when there is none."""
    if given:
        return given
    home = os.environ.get("JAVA_HOME", "")
    in_home = os.path.join(home, "bin", "java")
    if home and os.access(in_home, os.X_OK):
        return in_home
    return shutil.which("java") or ""


def describe_java(given: str, run: Callable[..., Any] = commands.run) -> dict[str, Any]:
    """Return {path, version, full, error}: version is the major number (8, 11, 17, 21), None when it is unknown.

    run -- runs a program: list of arguments, seconds -> (return code, output, errors).
    """
    path = find_java(given)
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


def os_release(text: str) -> dict[str, str]:
    """Return the fields of an os-release file; values are quoted as a shell does (os-release(5))."""
    fields = {}
    for line in text.splitlines():
        name, equals, value = line.strip().partition("=")
        if equals and not name.startswith("#"):
            try:
                fields[name] = "".join(shlex.split(value))
            except ValueError:
                fields[name] = value
    return fields


def java_package(fields: dict[str, str]) -> str:
    """Return the package that brings Java to a system, by its os-release; "" where none is known."""
    name, version = fields.get("ID", ""), fields.get("VERSION_ID", "")
    platform = _PLATFORM.fullmatch(fields.get("PLATFORM_ID", ""))
    if platform:
        name, version = "el", platform.group(1)
    elif name in _SUSE:
        # Service packs (15.6) share the packages of their release.
        name, version = "suse", version.partition(".")[0]
    return JAVA_PACKAGES.get(f"{name} {version}", "")


def selinux(enforce: str | None) -> str:
    """Return enforcing, permissive or disabled, by what the kernel says of SELinux; None where it says nothing."""
    if enforce is None:
        return "disabled"
    return "enforcing" if enforce.strip() == "1" else "permissive"


def type_of(label: str) -> str:
    """Return the type of an SELinux label, "" of what is none."""
    parts = label.rstrip("\0").split(":")
    return parts[2] if len(parts) > 2 else ""


def new_type(directory: str) -> str:
    """Return the SELinux type that a new file of a directory gets, that of the directory; "" where none is known.

    Of a directory that is not there its nearest parent counts.
    """
    while directory:
        try:
            return type_of(os.getxattr(directory, _LABEL).decode("ascii", "replace"))
        except FileNotFoundError:
            parent = os.path.dirname(directory)
            directory = parent if parent != directory else ""
        except OSError:
            return ""
    return ""


def describe_system(config_dir: str) -> dict[str, Any]:
    """Return {name, java_package, selinux, config_type} of this machine.

    name -- as it calls itself. config_dir -- the directory whose start script systemd runs, "" for none.
    """
    texts = (read_text(path) for path in OS_RELEASE)
    fields = os_release(next((text for text in texts if text is not None), ""))
    mode = selinux(read_text(ENFORCE))
    return {
        "name": fields.get("PRETTY_NAME") or fields.get("ID") or "an unknown system",
        "java_package": java_package(fields),
        "selinux": mode,
        "config_type": new_type(config_dir) if mode != "disabled" else "",
    }
