# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Reads the kernel's settings, sets what differs, and keeps it in files for the next boot."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ansible_collections.streamops.kafka.plugins.module_utils._node import files as node_files
from ansible_collections.streamops.kafka.plugins.module_utils._node import tuning

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule


def tune(module: AnsibleModule) -> dict[str, Any]:
    """Bring the host as near to the wanted settings as it lets us: {changed, diff, settings, judged}.

    judged -- the same settings as objects, for the caller's own words about them.
    """
    options = module.params
    settings = tuning.read_settings(options["sysctl"], options["transparent_hugepage"])
    if not module.check_mode:
        settings = [tuning.write(one) if one.state == tuning.SET else one for one in settings]
    files = [
        {"path": path, "content": content, "mode": "0644"}
        for path, content in (
            (options["sysctl_file"], tuning.kept(settings, hugepages=False)),
            (options["tmpfiles_file"], tuning.kept(settings, hugepages=True)),
        )
        if content
    ]
    directories = [{"path": os.path.dirname(one["path"]), "mode": "0755"} for one in files]
    written = node_files.ensure(module, directories, files)
    if options["open_files"]:
        settings.append(tuning.open_files(options["open_files"], _text("/proc/1/limits"), _text("/proc/1/status")))
    set_now = [one for one in settings if one.state == tuning.SET]
    live = {
        "before_header": "kernel",
        "after_header": "kernel",
        "before": "".join(f"{one.name} = {one.found}\n" for one in set_now),
        "after": "".join(f"{one.name} = {one.wanted}\n" for one in set_now),
    }
    return {
        "changed": written["changed"] or bool(set_now),
        "diff": ([live] if set_now else []) + written["diff"],
        "settings": [one.shown() for one in settings],
        "judged": settings,
    }


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
