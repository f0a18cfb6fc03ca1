# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The manifest of a node (plugin_utils/node) as tasks read it: each part as the module takes it that it is for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..node import kinds
from ..node.manifest import Manifest, hidden, shown
from ..node.texts import TEMPLATES, text
from .parts import Parts


class ManifestParts(Parts):
    """The key C(manifest) of the model; docs/development/house.md lists its own keys.

    managed -- returns the line by which Ansible is known in a file that this template (a path) makes.
    """

    def __init__(self, model: Mapping[str, Any], managed: Callable[[str], str]) -> None:
        self._model, self._managed = model, managed
        super().__init__(
            {
                "properties": lambda: self._bare.properties,
                "limits": lambda: self._bare.limits,
                "watched": lambda: [file.path for file in self._bare.watched()],
                # Without its lambda a part would be made here, before anybody asks for it.
                "wanted": lambda: self._whole.wanted(),  # pylint: disable=unnecessary-lambda
                "directories": lambda: [one.plain() for one in self._bare.directories],
                "start_files": lambda: shown(self._whole.start_files()),
                "secret_start_files": lambda: hidden(self._whole.start_files()),
                "other_files": lambda: shown(self._whole.other_files()),
                "secret_other_files": lambda: hidden(self._whole.other_files()),
                "trial": lambda: kinds.trial(model),
                "note": lambda: [kinds.note(model).plain()],
                "data_directories": lambda: [one.plain() for one in kinds.identity(model)[0]],
                "myid": lambda: kinds.identity(model)[1].plain(),  # pylint: disable=unnecessary-lambda
            }
        )

    @property
    def _bare(self) -> Manifest:
        """The manifest without the files that templates make, which read it."""
        made: Manifest = self._once("bare manifest", lambda: kinds.unwritten(self._model))
        return made

    @property
    def _whole(self) -> Manifest:
        made: Manifest = self._once("whole manifest", lambda: kinds.written(self._model, self._bare, self._text))
        return made

    def _text(self, template: str) -> str:
        return text(template, self._model, self._managed(str(TEMPLATES / template)))
