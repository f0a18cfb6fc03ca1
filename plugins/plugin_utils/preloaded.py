# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Load in Ansible's main process what tasks need.

Ansible forks a process for each task on each host. A process compiles what it imports from a collection from source,
and parses the documentation of each plugin that it loads; what the main process has loaded before, it finds loaded.
The main process templates the hosts of a play, so the filter that our first plays call there is in this file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module

from ansible.plugins.loader import become_loader, connection_loader, lookup_loader, shell_loader

#: Parts of the model that are imported when a task first asks for them (render/run_view.py).
_PARTS = ("answers", "manifest", "node_run", "reports", "view")
_ROOM = "ansible_collections.streamops.kafka.plugins.plugin_utils"
_PLUGINS = (
    (connection_loader, ("ansible.builtin.local", "ansible.builtin.ssh")),
    (shell_loader, ("ansible.builtin.sh",)),
    (become_loader, ("ansible.builtin.sudo",)),
    (lookup_loader, ("streamops.kafka.model", "ansible.builtin.template", "ansible.builtin.env")),
)


def present(names: Iterable[str], groups: Mapping[str, Sequence[str]]) -> list[str]:
    """Return those of the groups that have a host in the inventory."""
    return [name for name in names if groups.get(name)]


def _load() -> None:
    for part in _PARTS:
        import_module(f"{_ROOM}.render.{part}")
    import_module(f"{_ROOM}.inventory.task").trusted_defaults()
    for loader, plugins in _PLUGINS:
        for plugin in plugins:
            loader.get(plugin, class_only=True)


_load()
