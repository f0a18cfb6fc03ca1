# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether the files of an inventory may be written where they shall be: over or beside those of others none is."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Union

from ...module_utils._core.names import capped
from ..findings import REFUSE, Finding
from ..inventory.model import PLACEHOLDER
from .clusters import END_ITS_WAY, ON_ITS_WAY

#: Files that a sentence names.
_SHOWN = 8


@dataclass(frozen=True)
class Placed:
    """The files of an inventory in their directory. missing -- those of its paths that are not there yet, in order."""

    directory: str
    files: Mapping[str, str]
    missing: tuple[str, ...]

    @property
    def parents(self) -> list[str]:
        """Return the directories of the files that are missing, outer ones first."""
        within = {path.rpartition("/")[0] for path in self.missing}
        parts = {"/".join(path.split("/")[:depth]) for path in within for depth in range(1, path.count("/") + 2)}
        return [self.directory, *(f"{self.directory}/{path}" for path in sorted(parts - {""}))]

    def result(self, existing: Collection[str]) -> dict[str, list[dict[str, str]]]:
        """Return what is missing as node_files takes it; what is there keeps its mode.

        existing -- those of the parents that exist
        """
        return {
            "directories": [{"path": path, "mode": "0755"} for path in self.parents if path not in existing],
            "files": [
                {"path": f"{self.directory}/{path}", "mode": "0644", "content": self.files[path]}
                for path in self.missing
            ],
        }


def placed(
    directory: str, files: Mapping[str, str], there: Mapping[str, str], entries: Collection[str]
) -> Union[Placed, Finding]:
    """Return the files to write, or why none is written.

    there -- by path within the directory what those files have that exist; entries -- the names of all that the
    directory has
    """
    fix = "give another directory with -e kafka_adopt_inventory=DIR, and compare the two"
    differing = [path for path, text in there.items() if path in files and text != files[path]]
    if differing:
        what = f"{directory} has an inventory with other content ({capped(differing, _SHOWN)}), and none is overwritten"
        return Finding(REFUSE, what, fix)
    if entries and not there:
        what = f"{directory} is not empty ({capped(sorted(entries), _SHOWN)}), and has no file of this inventory"
        return Finding(REFUSE, what, "give an empty directory, or one that does not exist yet")
    return Placed(directory, files, tuple(path for path in files if path not in there))


def not_writable(path: str) -> Finding:
    """Say why no file is written where this user may not write. path -- what exists there, or is a file."""
    what = f"{path} on the control node is no directory that this user may write into"
    return Finding(
        REFUSE, what, "correct its owner or mode, or give another directory with -e kafka_adopt_inventory=DIR"
    )


def written_lines(files: Placed, is_check: bool) -> list[str]:
    """Return the lines of a screen about the files of an inventory."""
    listed = ", ".join(files.missing)
    if not files.missing:
        words = f"{len(files.files)} files, which say what runs"
    else:
        words = f"{'a run without --check writes' if is_check else 'written:'} {listed}"
    return [f"Inventory    {files.directory}: {words}"]


def next_step(files: Placed, mode: str, is_check: bool) -> str:
    """Return what an operator does once the files of an inventory are written.

    mode -- of the cluster, as the screen shows it
    """
    if is_check and files.missing:
        return "run this without --check, which writes the files; nothing was changed"
    vault = "group_vars/all/vault.yml.example"
    steps = [f"seal the values that {files.directory}/{vault} names" if vault in files.files else ""]
    if filled := [path for path, text in files.files.items() if PLACEHOLDER in text and path != vault]:
        steps.append(f"fill in {PLACEHOLDER} in {', '.join(filled)}")
    if mode == ON_ITS_WAY:
        steps.append(END_ITS_WAY)
    else:
        steps.append(
            "look at what a take-over would change: ansible-playbook streamops.kafka.adopt "
            f"-i {shlex.quote(f'{files.directory}/hosts.yml')} --become -e kafka_adopt=take --check --diff"
        )
    return ", then ".join(step for step in steps if step)
