# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The CA files of clusters outside of the inventory, on the control node."""

from __future__ import annotations

from collections.abc import Iterable

from ..inventory.certificates import ca_fault
from ..inventory.model import PLACEHOLDER, Node
from .external import VARIABLE, external_clusters, text_of


def unread_cas(mirrors: Iterable[Node]) -> dict[str, str]:
    """Return the files of mirror_external_clusters that hold no CA, as they are named there, each with what was found.

    A placeholder is told by its own rule.
    """
    entries = (entry for mirror in mirrors for entry in external_clusters(mirror.get(VARIABLE)).values())
    files = {text_of(entry, "ca_file") for entry in entries}
    faults = {file: ca_fault(file) for file in sorted(files) if file and PLACEHOLDER not in file}
    return {file: fault for file, fault in faults.items() if fault}
