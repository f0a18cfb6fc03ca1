# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What the services have alike that this collection writes in Python, the page and the canary: where they stand, how
their code comes to the host, and who may read their configuration."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from os.path import expanduser
from pathlib import Path
from typing import Any

from ...module_utils._core.addresses import host_port, plain_host, reached_here
from ..inventory.kerberos import Kerberos
from .paths import SYSTEMD, service_file, shared

_DIGITS = 12


def service_paths(service: str, install: str, config: str, wheels: str, settings: Mapping[str, Any]) -> dict[str, str]:
    """Return where everything of a service is on its machine but for its code; C(wheels) -- what pins its libraries."""
    return {
        "install": install,
        "wheels": f"{install}/wheels",
        "venv": f"{install}/venv-{digest(wheels)}",
        "config": config,
        "started": f"{config}/started",
        "log": f"{settings['kafka_log_dir']}/{service}.log",
        "supervisor": shared(settings)["supervisor"],
        "service_file": service_file(service, settings),
    }


def code_place(install: str, files: Mapping[str, str]) -> str:
    """Return the directory of the code, which is named by what is in it: a change is another directory."""
    return f"{install}/code-{digest(json.dumps(files))}"


def code_entries(place: str, files: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the files of the code, as the module node_files takes them."""
    return [{"path": f"{place}/{name}", "content": content, "mode": "0644"} for name, content in files.items()]


def secret_entries(files: Mapping[str, str], user: str, settings: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what only the service may read, as the module node_files takes it: by its user where it has one."""
    owner = user if settings["kafka_service_manager"] == SYSTEMD else None
    return [
        {"path": path, "content": content, "mode": "0600", "owner": owner, "group": owner}
        for path, content in files.items()
    ]


def krb5_path(said: Kerberos, config: str) -> str:
    """Return which krb5.conf a service reads, in its directory where the role writes one; empty for /etc/krb5.conf."""
    return said.krb5_file or (f"{config}/krb5.conf" if said.kdcs else "")


def url(scheme: str, host: str, port: int) -> str:
    """Return where a service answers on its own machine."""
    return f"{scheme}://{host_port(reached_here(plain_host(host)), port)}"


def configuration_text(configuration: Mapping[str, Any]) -> str:
    """Return the text of a configuration file."""
    return json.dumps(configuration, indent=2, sort_keys=True) + "\n"


def read_here(path: str) -> str:
    """Return a file of the control node as text; ValueError, with what to do, where it cannot be read."""
    try:
        return Path(expanduser(path)).read_text(encoding="utf-8")
    except OSError as error:
        why = "run site.yml for its cluster first, which makes or checks it"
        raise ValueError(f"{path} on the control node cannot be read ({error.strerror}); fix: {why}") from error


def digest(text: str) -> str:
    """Return the digest by which a directory on the host is named."""
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
